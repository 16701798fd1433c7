#include "lift/profile.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

namespace wj::lift {

using machine::Wave;

namespace {

// Between lanes' values in a row, for it to be taken for a line, and between rows of lanes. Wider
// steps come from the sizes of arrays and need not be the same in all launches, but for work-item
// ids packed in v0.
constexpr uint32_t most_stride = 512, most_step = 1 << 28;

using Row = std::array<uint32_t, machine::lanes>;

Row lanes_at(uint32_t first, uint32_t stride, uint32_t width, uint32_t step) {
    Row out;
    for (uint32_t l = 0; l < out.size(); ++l)
        out[l] = first + stride * (l % width) + step * (l / width);
    return out;
}

std::string print_row(uint32_t number, const Row& row) {
    for (uint32_t width = machine::lanes; width >= 2; width /= 2) {
        const uint32_t step = width < machine::lanes ? row[width] - row[0] : 0;
        if (row == lanes_at(row[0], row[1] - row[0], width, step))
            return fmt::format("v{} {:#x} stride {:#x} width {} step {:#x}\n", number, row[0],
                               row[1] - row[0], width, step);
    }
    return fmt::format("v{} {:#x}\n", number, fmt::join(row, " "));
}

// The words of one line.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}
    std::string_view next() {
        while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        good_ &= !word.empty();
        return word;
    }
    uint64_t number() {
        std::string_view word = next();
        const bool negative = word.starts_with('-');
        if (negative) word.remove_prefix(1);
        const int base = word.starts_with("0x") ? 16 : 10;
        if (base == 16) word.remove_prefix(2);
        uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(word.data(), word.data() + word.size(), value, base);
        good_ &= error == std::errc() && end == word.data() + word.size();
        return negative ? 0 - value : value;
    }
    uint32_t dword() { return static_cast<uint32_t>(number()); }
    // The number behind this word.
    uint32_t named(std::string_view name) {
        good_ &= next() == name;
        return dword();
    }
    bool done() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
    bool good() const { return good_; }
    void fail() { good_ = false; }

private:
    std::string_view rest_;
    bool good_ = true;
};

// A line of text into the profile; false: it is not one.
bool read_line(Profile& p, std::string_view line) {
    Words words(line);
    const std::string_view what = words.next();
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(what.data() + 1, what.data() + what.size(), number);
    const bool numbered = what.size() > 1 && error == std::errc() && end == what.end();
    if (what == "mode") {
        p.mode = words.dword();
    } else if (what == "launch") {
        p.whole_lanes = words.named("lanes");
        p.lane_layout = words.named("layout");
        p.exclusive = words.named("exclusive") != 0;
    } else if (what == "next") {
        p.next.waves = words.named("waves");
        p.next.ids_step = words.named("step");
        p.next.group_sgpr = static_cast<int32_t>(words.named("group"));
    } else if (what == "memory") {
        const uint64_t at = words.number();
        const std::string_view digits = words.next();
        for (size_t i = 0; i + 1 < digits.size(); i += 2) {
            uint8_t byte = 0;
            const char* const from = digits.data() + i;
            if (std::from_chars(from, from + 2, byte, 16).ptr != from + 2) words.fail();
            p.memory[at].push_back(byte);
        }
        if (digits.size() % 2) words.fail();
    } else if (numbered && what[0] == 's' && number < Wave::first_exec) {
        p.scalars[number] = words.dword();
    } else if (numbered && what[0] == 'v' && number < 512) {
        Row& row = p.rows[number];
        row[0] = words.dword();
        if (line.find("stride") != std::string_view::npos) {
            const uint32_t stride = words.named("stride"), width = words.named("width"),
                           step = words.named("step");
            if (width < 2 || width > machine::lanes || !std::has_single_bit(width)) return false;
            row = lanes_at(row[0], stride, width, step);
        } else {
            for (uint32_t l = 1; l < row.size(); ++l) row[l] = words.dword();
        }
    } else {
        return false;
    }
    return words.good() && words.done();
}

}  // namespace

RowLines lines_of_rows(const Wave& wave, uint32_t lanes, uint32_t vector_lanes) {
    return [&wave, lanes, vector_lanes](uint32_t row) -> std::optional<ir::RowLine> {
        if (row >= wave.vgpr_count || !wave.vgpr) return {};
        const uint32_t* v = wave.vgpr + size_t{row} * machine::lanes;
        const uint32_t stride = v[1] - v[0];
        if (stride > most_stride) return {};
        uint32_t width = 2;  // as far as it goes; a power of two
        while (width < lanes && v[width] - v[width - 1] == stride) ++width;
        width = width == lanes ? machine::lanes : std::bit_floor(width);
        const uint32_t step = width < machine::lanes ? v[width] - v[0] : 0;
        if (step > most_step) return {};
        for (uint32_t l = 0; l < lanes; ++l)
            if (v[l] != v[0] + stride * (l % width) + step * (l / width)) return {};
        const bool known = ir::RowLine::keeps_step(width, step, vector_lanes) ||
                           (row == 0 && std::has_single_bit(step));
        return ir::RowLine{row, stride, width, known ? step : 0, !known};
    };
}

std::string Profile::print() const {
    std::string out = fmt::format("mode {:#x}\nlaunch lanes {} layout {} exclusive {}\n", mode,
                                  whole_lanes, lane_layout, uint32_t{exclusive});
    if (next.waves)
        out += fmt::format("next waves {} step {} group {}\n", next.waves, next.ids_step,
                           next.group_sgpr);
    for (const auto& [number, value] : scalars) out += fmt::format("s{} {:#x}\n", number, value);
    for (const auto& [number, row] : rows) out += print_row(number, row);
    for (const auto& [at, bytes] : memory)
        out += fmt::format("memory {:#x} {:02x}\n", at, fmt::join(bytes, ""));
    return out;
}

Result<Profile> Profile::parse(std::string_view text) {
    Profile out;
    for (uint32_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view code = line.substr(0, line.find(';'));
        if (code.find_first_not_of(' ') == std::string_view::npos) continue;
        if (!read_line(out, code))
            return Status(
                Code::InvalidArgument,
                fmt::format("line {} of the profile is not understood: '{}'", number, line));
    }
    return out;
}

ProfileRecorder::ProfileRecorder(const Wave& wave, Options& options) : wave_(wave) {
    profile_.mode = options.mode;
    profile_.whole_lanes = options.lanes;
    profile_.lane_layout = wave.ctx->lane_layout;
    profile_.exclusive = wave.ctx->exclusive_memory;
    profile_.next = options.next;
    for (uint32_t s = 0; s < Wave::first_exec; ++s)
        if (wave.sgpr[s]) profile_.scalars[s] = wave.sgpr[s];
    options.read_memory = [this, read = options.read_memory](uint64_t at, uint32_t bytes) {
        const std::optional<uint64_t> value = read(at, bytes);
        if (!value) return value;
        std::vector<uint8_t>& noted = profile_.memory[at];
        noted.resize(std::max<size_t>(noted.size(), bytes));
        std::memcpy(noted.data(), &*value, bytes);
        return value;
    };
}

Profile ProfileRecorder::profile(const ir::Block& block) const {
    Profile out = profile_;
    for (const ir::Inst& i : block.insts) {
        if (i.op != ir::Op::GetV && i.op != ir::Op::GuardRow && i.op != ir::Op::GuardOff) continue;
        const auto row = static_cast<uint32_t>(i.imm);
        if (row >= wave_.vgpr_count || !wave_.vgpr) continue;
        std::memcpy(out.rows[row].data(), wave_.vgpr + size_t{row} * machine::lanes, sizeof(Row));
    }
    return out;
}

ProfiledWave::ProfiledWave(const Profile& profile, uint32_t vgpr_count)
    : profile_(profile), vgprs_(size_t{vgpr_count} * machine::lanes) {
    // What is not known is no line.
    for (uint32_t i = 0; i < vgprs_.size(); ++i) vgprs_[i] = i * i * 0x9e3779b1u;
    for (const auto& [row, lanes] : profile.rows)
        if (row < vgpr_count)
            std::memcpy(&vgprs_[size_t{row} * machine::lanes], lanes.data(), sizeof lanes);
    for (const auto& [number, value] : profile.scalars) wave_.sgpr[number] = value;
    wave_.vgpr = vgprs_.data();
    wave_.vgpr_count = vgpr_count;
    wave_.mode = profile.mode;
    wave_.ctx = &context_;
    context_.whole_lanes = profile.whole_lanes;
    context_.lane_layout = profile.lane_layout;
    context_.exclusive_memory = profile.exclusive;
}

void ProfiledWave::apply(Options& options) const {
    options.mode = profile_.mode;
    options.observed = !profile_.exclusive;
    options.lanes = profile_.whole_lanes;
    options.next = profile_.next;
    options.now = &wave_;
    options.row_lines =
        lines_of_rows(wave_, options.exec_full ? options.lanes : options.target->traits.wave_size,
                      options.vector_lanes);
    options.read_memory = [this](uint64_t at, uint32_t bytes) -> std::optional<uint64_t> {
        const auto noted = profile_.memory.find(at);
        if (noted == profile_.memory.end() || noted->second.size() < bytes) return {};
        uint64_t value = 0;
        std::memcpy(&value, noted->second.data(), bytes);
        return value;
    };
}

}  // namespace wj::lift
