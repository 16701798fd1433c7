#include "ir/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <set>

namespace wj::ir {
namespace {

constexpr std::string_view type_names[] = {"none", "u32", "u64", "v32", "v64", "mask", "tuple"};
constexpr std::string_view access_names[] = {"u8",     "s8",        "u16",       "s16",
                                             "dwords", "u8_d16_hi", "u16_d16_hi"};
constexpr std::string_view exit_names[] = {"none",    "end",           "barrier", "yield", "fault",
                                           "illegal", "unimplemented", "trap",    "halt"};

struct AuxFlag {
    std::string_view name;
    uint32_t bit;
};
constexpr AuxFlag aux_flags[] = {{"from_afar", from_afar},
                                 {"within_lds", within_lds},
                                 {"of_lanes", of_lanes},
                                 {"far_lanes", far_lanes}};

struct BlockFlag {
    std::string_view name;
    bool Block::*flag;
};
constexpr BlockFlag block_flags[] = {
    {"exec_full", &Block::exec_full},       {"exec_changed", &Block::exec_changed},
    {"mode_changed", &Block::mode_changed}, {"guarded", &Block::guarded},
    {"lanes_apart", &Block::lanes_apart},   {"loads_in_order", &Block::loads_in_order}};

bool is_access(Class cls) {
    return cls == Class::LaneLoad || cls == Class::LaneStore;
}

std::string aux_text(const Inst& inst) {
    const Class cls = op_info(inst.op).cls;
    if (cls == Class::LaneAtomic)
        return fmt::format(" {}x{} flags {}", atomic_name(aux_atomic(inst.aux)),
                           aux_dwords(inst.aux), aux_atomic_flags(inst.aux));
    std::string text;
    uint32_t left = inst.aux;
    if (is_access(cls)) {
        text = fmt::format(" {}x{}", access_names[static_cast<size_t>(aux_access(inst.aux))],
                           aux_dwords(inst.aux));
        left &= ~0xffffu;
    }
    if (is_access(cls) || cls == Class::ULoad)
        for (const AuxFlag& f : aux_flags)
            if (left & f.bit) text += fmt::format(" {}", f.name), left &= ~f.bit;
    if (left) text += fmt::format(" aux {:#x}", left);
    return text;
}

std::string print_inst(const Block& block, Value v) {
    const Inst& inst = block.insts[v];
    const OpInfo& info = op_info(inst.op);
    std::string line = "        ";
    if (info.result != Type::N) line += fmt::format("%{}:{} = ", v, type_name(info.result));
    line += info.name;
    for (const Value arg : inst.args)
        if (arg != no_value) line += fmt::format(" %{}", arg);
    line += aux_text(inst);
    if (inst.imm || inst.op == Op::Const32 || inst.op == Op::Const64 ||
        inst.op == Op::CodeAddress || info.cls == Class::GetS || info.cls == Class::SetS ||
        info.cls == Class::GetV || info.cls == Class::SetV)
        line += fmt::format(" #{:#x}", inst.imm);
    return line + "\n";
}

std::string print_terminator(const Terminator& t) {
    switch (t.kind) {
        case Terminator::Kind::Jump:
            return fmt::format("jump {:#x}", t.target);
        case Terminator::Kind::Branch:
            return fmt::format("branch %{} {:#x} else {:#x}", t.cond, t.target, t.next);
        case Terminator::Kind::Indirect:
            return fmt::format("indirect %{}", t.cond);
        case Terminator::Kind::Called:
            return "called";
        case Terminator::Kind::Exit:
            break;
    }
    std::string text =
        fmt::format("exit {} next {:#x}", exit_names[static_cast<size_t>(t.exit)], t.next);
    if (t.detail) text += fmt::format(" detail {}", t.detail);
    if (t.reason) text += fmt::format(" because {}", t.reason);
    return text;
}

}  // namespace

std::string_view type_name(Type type) {
    return type_names[static_cast<size_t>(type)];
}

std::string print(const Block& block) {
    std::string out = fmt::format("block {:#x}..{:#x}", block.pc, block.end_pc);
    if (block.begin_pc) out += fmt::format(" from {:#x}", block.begin_pc);
    out += fmt::format(" instructions {}", block.guest_count);
    if (block.wave_size != machine::lanes) out += fmt::format(" wave_size {}", block.wave_size);
    if (block.lanes != machine::lanes) out += fmt::format(" lanes {}", block.lanes);
    if (block.unordered_from) out += fmt::format(" unordered_from {}", block.unordered_from);
    for (const BlockFlag& f : block_flags)
        if (block.*f.flag) out += fmt::format(" {}", f.name);
    out += "\n";
    if (block.next.waves)
        out += fmt::format("    next {} step {} sgpr {}\n", block.next.waves, block.next.ids_step,
                           block.next.group_sgpr);
    for (const auto& table : block.lane_tables)
        out += fmt::format("    table {}\n", fmt::join(table, " "));
    for (const Call& call : block.calls)
        out += fmt::format("    call {:#x} next {:#x}\n", call.pc, call.next_pc);
    size_t printed = 0, current = 0;
    auto print_guests = [&](size_t end) {
        for (; printed < end; current = printed++)
            out += fmt::format("    {:#x}:\n", block.guest_pcs[printed]);
    };
    for (Value v = 0; v < block.insts.size(); ++v) {
        const size_t guest = block.insts[v].guest;
        print_guests(guest + 1);
        if (guest != current) out += fmt::format("    of {}:\n", current = guest);
        out += print_inst(block, v);
    }
    print_guests(block.guest_pcs.size());
    return out + "        " + print_terminator(block.term) + "\n";
}

namespace {

// Static text with the lifetime of the process, as Terminator::reason is.
const char* lasting(std::string text) {
    static std::mutex mutex;
    static std::set<std::string> texts;
    std::lock_guard lock(mutex);
    return texts.insert(std::move(text)).first->c_str();
}

// Blank-separated words of one line.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line.substr(0, line.find(';'))) { skip(); }
    bool empty() const { return rest_.empty(); }
    std::string_view peek() const { return rest_.substr(0, rest_.find(' ')); }
    std::string_view next() {
        const std::string_view word = peek();
        rest_.remove_prefix(word.size());
        skip();
        return word;
    }
    bool take(std::string_view word) {
        if (peek() != word) return false;
        next();
        return true;
    }
    std::string_view all() {
        const std::string_view rest = rest_;
        rest_ = {};
        return rest;
    }
    template <class T>
    bool number(T& out) {
        return to_number(next(), out);
    }
    template <class T>
    static bool to_number(std::string_view word, T& out) {
        const bool hex = word.starts_with("0x");
        if (hex) word.remove_prefix(2);
        const char* end = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data(), end, out, hex ? 16 : 10);
        return error == std::errc() && stop == end && !word.empty();
    }

private:
    void skip() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\r'))
            rest_.remove_prefix(1);
        while (!rest_.empty() && (rest_.back() == ' ' || rest_.back() == '\r'))
            rest_.remove_suffix(1);
    }
    std::string_view rest_;
};

class Parser {
public:
    Result<Block> run(std::string_view text) {
        for (size_t begin = 0; begin < text.size();) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            ++line_number_;
            Words words(text.substr(begin, end - begin));
            begin = end + 1;
            if (words.empty()) continue;
            if (ended_) return fail("something behind the block's end");
            const std::string problem = header_seen_ ? line(words) : header(words);
            if (!problem.empty()) return fail(problem);
            if (!words.empty())
                return fail(fmt::format("superfluous: {}", std::string(words.all())));
        }
        if (!ended_) return fail("the block has no end (jump, branch, indirect, called, exit)");
        if (const std::string problem = verify(block_); !problem.empty()) return fail(problem);
        return std::move(block_);
    }

private:
    Status fail(const std::string& what) const {
        return {Code::InvalidArgument, fmt::format("line {}: {}", line_number_, what)};
    }

    std::string header(Words& w) {
        if (!w.take("block")) return "a block begins with: block FIRST..END";
        const std::string_view range = w.next();
        const size_t dots = range.find("..");
        if (dots == range.npos || !Words::to_number(range.substr(0, dots), block_.pc) ||
            !Words::to_number(range.substr(dots + 2), block_.end_pc))
            return "a block begins with: block FIRST..END";
        block_.guest_count = 1;
        header_seen_ = true;
        while (!w.empty()) {
            const std::string_view word = w.next();
            bool known = true;
            if (word == "from")
                known = w.number(block_.begin_pc);
            else if (word == "instructions")
                known = w.number(block_.guest_count);
            else if (word == "wave_size")
                known = w.number(block_.wave_size);
            else if (word == "lanes")
                known = w.number(block_.lanes);
            else if (word == "unordered_from")
                known = w.number(block_.unordered_from);
            else
                known = set_flag(word);
            if (!known) return fmt::format("{} is nothing that a block has", std::string(word));
        }
        return {};
    }

    bool set_flag(std::string_view word) {
        for (const BlockFlag& f : block_flags)
            if (word == f.name) return block_.*f.flag = true;
        return false;
    }

    std::string line(Words& w) {
        const std::string_view first = w.peek();
        if (w.take("of")) return guest(w, [this](uint64_t n) { guest_ = n; });
        if (first.back() == ':' && first.front() != '%')
            return guest(w, [this](uint64_t pc) {
                guest_ = block_.guest_pcs.size();
                block_.guest_pcs.push_back(pc);
            });
        if (w.take("next"))
            return w.number(block_.next.waves) && w.take("step") &&
                           w.number(block_.next.ids_step) && w.take("sgpr") &&
                           w.number(block_.next.group_sgpr)
                       ? ""
                       : "next WAVES step N sgpr N";
        if (w.take("table")) return table(w);
        if (w.take("call")) {
            Call c;
            if (!w.number(c.pc) || !w.take("next") || !w.number(c.next_pc))
                return "call PC next PC";
            block_.calls.push_back(c);
            return {};
        }
        if (std::string problem; terminator(w, problem)) return problem;
        return instruction(w);
    }

    template <class Use>
    static std::string guest(Words& w, Use use) {
        const std::string_view word = w.next();
        uint64_t number = 0;
        if (!word.ends_with(':') || !Words::to_number(word.substr(0, word.size() - 1), number))
            return "a guest instruction is its address (0x1000:), or its number again (of 0:)";
        use(number);
        return {};
    }

    std::string table(Words& w) {
        auto& lanes = block_.lane_tables.emplace_back();
        for (uint8_t& lane : lanes)
            if (!w.number(lane)) return "a table has 64 numbers of lanes";
        return {};
    }

    bool terminator(Words& w, std::string& problem) {
        Terminator& t = block_.term;
        const std::string_view kind = w.peek();
        bool ok = true;
        if (kind == "jump") {
            w.next();
            t.kind = Terminator::Kind::Jump;
            ok = w.number(t.target);
        } else if (kind == "branch") {
            w.next();
            t.kind = Terminator::Kind::Branch;
            ok = value(w, t.cond) && w.number(t.target) && w.take("else") && w.number(t.next);
        } else if (kind == "indirect") {
            w.next();
            t.kind = Terminator::Kind::Indirect;
            ok = value(w, t.cond);
        } else if (kind == "called") {
            w.next();
            t.kind = Terminator::Kind::Called;
        } else if (kind == "exit") {
            w.next();
            ok = exit(w, t);
        } else {
            return false;
        }
        ended_ = true;
        if (!ok) problem = fmt::format("{}: see the forms in ir/text.h", std::string(kind));
        return true;
    }

    static bool exit(Words& w, Terminator& t) {
        t.kind = Terminator::Kind::Exit;
        const auto* const name = std::ranges::find(exit_names, w.next());
        if (name == std::end(exit_names)) return false;
        t.exit = static_cast<machine::ExitKind>(name - std::begin(exit_names));
        if (!w.take("next") || !w.number(t.next)) return false;
        if (w.take("detail") && !w.number(t.detail)) return false;
        if (w.take("because")) t.reason = lasting(std::string(w.all()));
        return true;
    }

    bool value(Words& w, Value& out) {
        const std::string_view word = w.next();
        const auto found = values_.find(word);
        if (!word.starts_with('%') || found == values_.end()) return false;
        out = found->second;
        return true;
    }

    std::string instruction(Words& w) {
        Inst inst{};
        std::string_view name, type;
        if (w.peek().starts_with('%')) {
            const std::string_view defined = w.next();
            const size_t colon = defined.find(':');
            if (colon == defined.npos || !w.take("=")) return "a value is defined so: %name:type =";
            name = defined.substr(0, colon);
            type = defined.substr(colon + 1);
        }
        const std::string_view op = w.next();
        size_t number = 0;
        while (number < static_cast<size_t>(Op::count_) && op_infos[number].name != op) ++number;
        if (number == static_cast<size_t>(Op::count_))
            return fmt::format("no operation {}", std::string(op));
        inst.op = static_cast<Op>(number);
        if (block_.guest_pcs.empty()) block_.guest_pcs.push_back(block_.pc);
        inst.guest = static_cast<uint16_t>(guest_);
        const OpInfo& info = op_info(inst.op);
        if ((info.result == Type::N) != name.empty() ||
            (!name.empty() && type != type_name(info.result)))
            return fmt::format("{} gives {}", info.name, type_name(info.result));
        size_t count = 0;
        while (w.peek().starts_with('%')) {
            if (count == inst.args.size()) return "too many arguments";
            // Data of stores and atomics stand behind the fourth.
            const size_t at = count < info.arg_count ? count : 4 + (count - info.arg_count);
            const std::string word(w.peek());
            if (at >= inst.args.size() || !value(w, inst.args[at]))
                return fmt::format("{} is not defined before", word);
            ++count;
        }
        if (std::string problem = attributes(w, inst); !problem.empty()) return problem;
        if (!name.empty() && !values_.emplace(name, static_cast<Value>(block_.insts.size())).second)
            return fmt::format("{} is defined twice", std::string(name));
        block_.insts.push_back(inst);
        return {};
    }

    std::string attributes(Words& w, Inst& inst) {
        while (!w.empty()) {
            const std::string_view word = w.next();
            bool ok = true;
            if (word.starts_with('#')) {
                ok = Words::to_number(word.substr(1), inst.imm);
            } else if (word == "aux") {
                uint32_t aux = 0;
                ok = w.number(aux);
                inst.aux |= aux;
            } else if (word == "flags") {
                uint32_t flags = 0;
                ok = w.number(flags) && flags < 256;
                inst.aux |= flags << 16;
            } else {
                ok = set_aux_flag(word, inst) || set_shape(word, inst);
            }
            if (!ok) return fmt::format("{}: not understood", std::string(word));
        }
        return {};
    }

    static bool set_aux_flag(std::string_view word, Inst& inst) {
        for (const AuxFlag& f : aux_flags)
            if (word == f.name) return inst.aux |= f.bit, true;
        return false;
    }

    // "dwordsx4", "addx1"
    static bool set_shape(std::string_view word, Inst& inst) {
        const size_t x = word.rfind('x');
        uint32_t dwords = 0;
        if (x == word.npos || !Words::to_number(word.substr(x + 1), dwords) || dwords > 255)
            return false;
        const std::string_view kind = word.substr(0, x);
        const Class cls = op_info(inst.op).cls;
        if (cls == Class::LaneAtomic) {
            for (uint32_t a = 0; a < static_cast<uint32_t>(AtomicOp::count_); ++a)
                if (atomic_name(static_cast<AtomicOp>(a)) == kind)
                    return inst.aux |= make_atomic_aux(static_cast<AtomicOp>(a), dwords), true;
            return false;
        }
        const auto* const access = std::ranges::find(access_names, kind);
        if (!is_access(cls) || access == std::end(access_names)) return false;
        inst.aux |= make_aux(static_cast<Access>(access - std::begin(access_names)), dwords);
        return true;
    }

    Block block_;
    std::map<std::string, Value, std::less<>> values_;
    size_t guest_ = 0;
    size_t line_number_ = 0;
    bool header_seen_ = false, ended_ = false;
};

}  // namespace

Result<Block> parse(std::string_view text) {
    return Parser().run(text);
}

}  // namespace wj::ir
