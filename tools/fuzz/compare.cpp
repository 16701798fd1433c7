#include "tools/fuzz/compare.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "backend_x64/translator.h"
#include "frontend/buffer_layout.h"
#include "interpreter/interpreter.h"
#include "lift/liveness.h"
#include "machine/guard.h"
#include "memory/window.h"
#include "tools/fuzz/registers.h"

namespace wj::fuzz {
namespace {

using machine::ExitKind;

constexpr uint32_t code_bytes = 1 << 20, margin = 4096, empty_bytes = 1 << 22;
constexpr uint64_t window_bytes = memory::Window::least_bytes;
constexpr const char* mode_names[] = {"identity", "checked", "window"};
// Where the parts of State::memory lie.
constexpr size_t row_bytes = size_t{vgprs + agprs} * 256, lds_at = row_bytes + margin,
                 scratch_at = lds_at + lds_bytes + margin,
                 state_bytes = scratch_at + scratch_bytes * 64 + margin;
// Programs that the interpreter does not finish in so many instructions are given up.
constexpr int64_t most_instructions = 20000;

uint32_t random_dword(Rng& rng) {
    static constexpr uint32_t special[] = {
        0,          1,          2,          31,         32,         0x7fffffff,
        0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x807fffff, 0x00800000,
        0x7f7fffff, 0x3c003c00, 0x7c007e01, 0x00018000, 0x4b000000, 0x4f000000,
        0xcf000000, 0x3ff00000, 0x7ff00000, 0x7ff80000, 0x000fffff, 0x43e00000};
    switch (rng() % 4) {
        case 0:
            return special[rng() % std::size(special)];
        case 1:
            return static_cast<uint32_t>(rng() % 300) - 40;
        case 2:
            return (static_cast<uint32_t>(rng()) & 0x807fffff) |
                   (120u + static_cast<uint32_t>(rng() % 16)) << 23;
        default:
            return static_cast<uint32_t>(rng());
    }
}

uint64_t random_exec(Rng& rng) {
    static constexpr uint64_t masks[] = {~0ull,
                                         ~0ull,
                                         ~0ull - 1,
                                         0xffff,
                                         0xfffe,
                                         0x5555555555555555,
                                         0xaaaaaaaaaaaaaaaa,
                                         1,
                                         0,
                                         0x8000000000000000,
                                         0xffffffff00000000,
                                         0x0000ffff00ff0100};
    if (rng() % 4 == 0) return ~0ull;
    return rng() % 4 ? masks[rng() % std::size(masks)] : rng();
}

// Offsets of 64 lanes. Every pattern that the translators test for, and near misses.
void random_pattern(Rng& rng, uint32_t (&offset)[64], uint32_t limit) {
    static constexpr uint32_t element[] = {4, 4, 8, 8, 16, 1};
    const uint32_t smallest = element[rng() % 6], alignment = std::max(smallest, 1u << rng() % 5),
                   stride = std::max(smallest, 1u << rng() % 8),
                   first = static_cast<uint32_t>(rng() % limit) & ~(alignment - 1);
    const uint32_t kind = static_cast<uint32_t>(rng() % 10);
    for (uint32_t lane = 0; lane < 64; ++lane) {
        switch (kind) {
            case 0:
            case 1:
                offset[lane] = first + lane * std::max(smallest, 4u);
                break;
            case 2:
                offset[lane] = first + lane * stride;
                break;
            case 3:
                offset[lane] = first;
                break;
            case 4:
                offset[lane] = first + (63 - lane) * std::max(smallest, 4u);
                break;
            case 5:  // anywhere
                offset[lane] = static_cast<uint32_t>(rng() % limit) & ~(alignment - 1);
                break;
            case 6:  // a few addresses: lanes collide
                offset[lane] = first + static_cast<uint32_t>(rng() % (1 + stride / 4)) * smallest;
                break;
            case 7:  // the same in every group of lanes
                offset[lane] = first + lane % (stride / 4 + 1) * std::max(smallest, 4u);
                break;
            case 8:  // rows of a matrix
                offset[lane] = first + lane / 16 * 256 + lane % 16 * std::max(smallest, 4u);
                break;
            default:  // overlapping neighbours
                offset[lane] = first + lane * std::max(smallest, stride % 3 + 1);
        }
    }
    if (rng() % 6 == 0)  // one astray
        offset[rng() % 64] = static_cast<uint32_t>(rng() % limit) & ~(smallest - 1);
}

}  // namespace

Comparison::State::State() : memory(state_bytes + 64), global(global_bytes) {}

uint8_t* Comparison::State::at(size_t offset) {
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) &
                                      ~uintptr_t{63}) +
           offset;
}

void Comparison::State::attach() {
    wave.vgpr = reinterpret_cast<uint32_t*>(at(0));
    wave.agpr = wave.vgpr + vgprs * 64;
    wave.lds = at(lds_at);
    wave.scratch = at(scratch_at);
    wave.scratch_base = reinterpret_cast<uint64_t>(wave.scratch);
}

void Comparison::State::copy_from(const State& other) {
    wave = other.wave;
    std::memcpy(at(0), const_cast<State&>(other).at(0), state_bytes);
    global = other.global;
    attach();
}

Comparison::Comparison(const Target& target, MemoryModes modes, size_t code_kib, bool cache,
                       bool hostile)
    : target_(target), modes_(modes), cache_(cache), noise_((1 << 17) + state_bytes / 4) {
    machine::install_fault_handler();
    // Around the buffer nothing is mapped: accesses beyond it fault on every engine. The window
    // serves all memory modes.
    if (!space_.confine(window_bytes)) std::abort();
    code_ = space_.allocate(code_bytes, memory::read_write | memory::executable, "code").value();
    const uint64_t empty = space_.allocate(empty_bytes, memory::no_access, "nothing").value();
    global_ = space_.allocate(global_bytes, memory::read_write, "buffer").value();
    if (!space_.free(empty)) std::abort();
    if (hostile) canaries_ = std::make_unique<Canaries>(*space_.window(), global_, global_bytes);
    context_.target = &target_;
    context_.memory = &space_;
    Rng rng(0);
    for (uint32_t& x : noise_) x = random_dword(rng);
    engines_.push_back(interp::make_interpreter(target_));
    // On some targets as many chunks of a loop run together as fit, whether it pays or not.
    static constexpr uint32_t loop_chunks[] = {0, 2, 4};
    const auto variety = static_cast<size_t>(target_.name.back()) % std::size(loop_chunks);
    for (x64::Isa isa : {x64::Isa::Avx512, x64::Isa::Avx2}) {
        if (!x64::host_supports(isa)) continue;
        for (bool keep_registers : {true, false})
            if (auto engine =
                    x64::make_translator(target_, isa,
                                         {.code_bytes = code_kib << 10,
                                          .keep_registers = keep_registers,
                                          .loop_chunks = loop_chunks[variety],
                                          .slice_iterations = keep_registers ? 1u : 0u,
                                          .all_patterns = keep_registers == (isa == x64::Isa::Avx2),
                                          .cache = cache,
                                          .cache_directory = "/dev/null/nowhere"}))
                engines_.push_back(std::move(*engine));
    }
}

Comparison::Setup Comparison::prepare(State& s, uint64_t seed, uint64_t values_seed, uint64_t pc) {
    Rng rng(seed), values(values_seed);
    s.attach();
    std::memcpy(s.at(0), &noise_[values() % (1 << 17)], state_bytes);
    std::memcpy(s.global.data(), &noise_[values() % (1 << 17)], global_bytes);
    machine::Wave& w = s.wave;
    for (uint32_t& x : std::span(w.sgpr).first<machine::Wave::first_exec>())
        x = random_dword(values);
    w.size = static_cast<uint8_t>(target_.traits.wave_size);
    // Small work-groups: most of their waves begin with the same lanes.
    static constexpr uint32_t whole[] = {64, 64, 64, 16, 32, 48};
    context_.whole_lanes = std::min<uint32_t>(whole[rng() % std::size(whole)], w.size);
    context_.lane_layout = static_cast<uint32_t>(rng() % 8);
    w.set_mask(machine::exec_lo, context_.whole_lanes < w.size && rng() % 4 ? context_.whole_exec()
                                                                            : random_exec(rng));
    w.vgpr_count = vgprs;
    w.agpr_count = target_.traits.has_agprs ? agprs : 0;
    w.sgpr_count = 0;
    w.pc = pc;
    w.scc = rng() & 1;
    w.mode = rng() % 4 ? 0x3f0 : static_cast<uint32_t>(rng()) & 0x8003ff;
    static constexpr uint32_t lds_sizes[] = {lds_bytes, lds_bytes, lds_bytes, 4096, 512, 0};
    w.lds_size = lds_sizes[rng() % std::size(lds_sizes)];
    w.lds_alloc = w.lds_size / target_.traits.lds_size_unit() << 12;
    w.scratch_bytes = scratch_bytes;
    w.ctx = &context_;
    addresses(s, values);
    if (canaries_) hostile_addresses(w, values);
    run_whole(w, seed);

    Setup setup;
    setup.slice = rng() % 4 ? most_instructions : 1 + static_cast<int64_t>(rng() % 60);
    static constexpr machine::MemoryMode all[] = {
        machine::MemoryMode::Checked, machine::MemoryMode::Window, machine::MemoryMode::Identity,
        machine::MemoryMode::Identity};
    setup.mode = modes_ == MemoryModes::All ? all[rng() % std::size(all)]
                                            : static_cast<machine::MemoryMode>(modes_);
    if (canaries_ && setup.mode == machine::MemoryMode::Identity)
        setup.mode = machine::MemoryMode::Window;
    const bool window = setup.mode == machine::MemoryMode::Window;
    if (window && rng() % 4) leave_window(w, values);
    context_.memory_mode = setup.mode;
    context_.reach.mask = window ? space_.window()->mask() : ~uint64_t{0};
    context_.reach.base = window ? space_.window()->base() : 0;
    context_.exclusive_memory = rng() & 1;
    setup.keep_registers = rng() % 4 != 0;
    setup.change_dead_registers = rng() % 4 == 0 && !w.sgpr_aliases;
    return setup;
}

// Some programs watch exceptions, some have registers with two names (interpreter/exceptions.h).
void Comparison::run_whole(machine::Wave& w, uint64_t seed) {
    using machine::Aliases;
    Rng rng(seed ^ 0x9e3779b97f4a7c15);
    w.trapsts = 0;
    w.trap_enabled = false;
    if (rng() % 16 == 0) {
        w.mode |= machine::mode::reads_trapsts;
        w.trap_enabled = rng() % 4 == 0;
        if (w.trap_enabled) w.mode |= 1u << (machine::mode::excp_en_shift + rng() % 7);
    }
    w.sgpr_aliases = rng() % 16 ? 0 : static_cast<uint8_t>(16 * (2 + rng() % 2));
    if (!w.sgpr_aliases) return;
    for (uint32_t r = Aliases::first; r < Aliases::first + Aliases::count; ++r)
        w.sgpr[r] = w.sgpr[Aliases::other(r, w.sgpr_aliases)];
}

void Comparison::addresses(State& s, Rng& rng) {
    machine::Wave& w = s.wave;
    uint32_t offset[64];
    auto set = [&](uint32_t reg, auto value) {
        for (uint32_t lane = 0; lane < 64; ++lane)
            w.row(reg)[lane] = static_cast<uint32_t>(value(lane));
    };
    auto set64 = [&](uint32_t reg, auto value) {
        set(reg, [&](uint32_t lane) { return value(lane); });
        set(reg + 1, [&](uint32_t lane) { return value(lane) >> 32; });
    };
    const uint64_t origin = global_ + global_origin;
    const uint32_t scratch_room = scratch_bytes - (rng() % 16 ? 288 : 0);  // or beyond the end
    for (uint32_t reg : {v_global_a, v_global_b, v_flat}) {
        random_pattern(rng, offset, rng() % 3 ? 4096 : 64);
        // Flat: in some programs some or all lanes in the apertures.
        const uint64_t where = reg == v_flat ? rng() : 0;
        set64(reg, [&](uint32_t lane) -> uint64_t {
            const uint64_t kind = where % 4 == 0 ? where >> (2 + lane % 16) & 3 : where % 4;
            if (reg == v_flat && kind == 2) return machine::shared_aperture + offset[lane];
            if (reg == v_flat && kind == 3)
                return machine::private_aperture + offset[lane] % scratch_room;
            return origin + offset[lane];
        });
    }
    for (uint32_t reg : {v_lds_a, v_lds_b}) {
        random_pattern(rng, offset, rng() % 3 ? 4096 : rng() % 4 ? 64 : lds_bytes + 64);
        const uint32_t bias = rng() % 16 == 0 ? 0xffffff80 : 0;  // wraps around
        set(reg, [&](uint32_t lane) { return offset[lane] + bias; });
    }
    for (uint32_t reg : {v_scratch_a, v_scratch_b, v_offset}) {
        random_pattern(rng, offset, reg == v_offset ? 4096 : scratch_room);
        const uint32_t limit = reg == v_offset ? 8192 : scratch_room;
        set(reg, [&](uint32_t lane) { return offset[lane] % limit; });
    }
    // Work-items of a work-group of one dimension, of nothing in particular, of two dimensions with
    // packed ids, or of elements of a matrix; sometimes with one lane astray.
    const uint64_t index_kind = rng() % 4, astray = rng() % 8 ? 64 : rng() % 64;
    const uint32_t width = 8u << rng() % 3,
                   first = static_cast<uint32_t>(rng() % 4 ? 0 : rng() % 64),
                   stride = 1 + static_cast<uint32_t>(rng() % 3 ? 0 : rng() % 40),
                   row = static_cast<uint32_t>(rng() % 2 ? rng() % 200 : rng() % 4);
    set(v_index, [&](uint32_t lane) {
        const uint32_t x = lane % width, y = lane / width;
        if (lane == astray) return static_cast<uint32_t>(rng() % 80);
        if (index_kind == 2) return x | (first / 8 + y) << 10;
        if (index_kind == 3) return first + x * stride + y * row;
        return index_kind && rng() % 8 == 0 ? static_cast<uint32_t>(rng() % 80) : lane;
    });
    set(v_lane, [](uint32_t lane) { return lane; });
    const uint32_t trips = 1 + static_cast<uint32_t>(rng() % 9);
    set(v_trips, [&](uint32_t lane) { return rng() % 4 ? rng() % trips : lane % trips; });

    // What inactive lanes hold is no address: never a host address that means something.
    if (rng() % 4 == 0)
        for (uint32_t lane = 0; lane < 64; ++lane) {
            if (w.exec() >> lane & 1) continue;
            for (uint32_t reg = 0; reg < first_free_vgpr; ++reg) {
                const bool high =
                    reg == v_global_a + 1 || reg == v_global_b + 1 || reg == v_flat + 1;
                w.row(reg)[lane] = high ? 0xdead0000 : random_dword(rng);
            }
        }

    w.set_s64(s_global, origin);
    w.set_s64(s_global_b, origin + rng() % 64 * 4);
    put_descriptor(&w.sgpr[s_buffer], origin, false, rng);
    put_descriptor(&w.sgpr[s_buffer + 4], origin, true, rng);
    for (uint32_t d = 0; d <= max_depth; ++d) w.sgpr[s_counter + d] = rng() % 12;
    w.sgpr[s_offset] = static_cast<uint32_t>(rng() % 64) * (rng() % 4 ? 4 : 1);
    w.sgpr[s_step] = 4u << rng() % 6;
}

// Addresses that are others than those of the window, and lead to the same places.
void Comparison::leave_window(machine::Wave& w, Rng& rng) const {
    // To be added to an address's upper half.
    const auto upper = [&rng] {
        static constexpr uint32_t some[] = {0, 8, 0x7ff8, 0x8000, 0xfff8, 0x7ffffff8, ~7u};
        constexpr auto others = static_cast<uint32_t>(~(window_bytes - 1) >> 32);
        return (rng() % 2 ? some[rng() % std::size(some)] : static_cast<uint32_t>(rng())) & others;
    };
    for (const uint32_t reg : {v_global_a, v_global_b}) {
        const uint32_t same = upper();
        const bool alike = rng() % 2;
        for (uint32_t lane = 0; lane < 64; ++lane) w.row(reg + 1)[lane] += alike ? same : upper();
    }
    for (const uint32_t reg : {s_global, s_global_b}) w.sgpr[reg + 1] += upper();
    for (const uint32_t reg : {s_buffer, s_buffer + 4}) {
        const machine::BufferField high =
            machine::fields_of(buffer_layout(target_.traits)).base_high;
        high.put(&w.sgpr[reg], high.get(&w.sgpr[reg]) + upper());
    }
}

// Most programs keep some good addresses, or they would end at their first access.
void Comparison::hostile_addresses(machine::Wave& w, Rng& rng) const {
    const auto set = [&](uint32_t pair) {
        const uint64_t address = canaries_->hostile_address(rng);
        const bool alike = rng() % 2;
        for (uint32_t lane = 0; lane < 64; ++lane) {
            const uint64_t at = alike ? address + lane * 4 : canaries_->hostile_address(rng);
            w.row(pair)[lane] = static_cast<uint32_t>(at);
            w.row(pair + 1)[lane] = static_cast<uint32_t>(at >> 32);
        }
    };
    for (const uint32_t pair : {v_global_a, v_global_b, v_flat})
        if (rng() % 3 == 0) set(pair);
    for (uint32_t n = static_cast<uint32_t>(rng() % 4); n; --n)
        set(first_free_vgpr + static_cast<uint32_t>(rng() % (end_free_vgpr - first_free_vgpr - 1)));
    for (uint32_t pair = s_global; pair < end_free_sgpr; pair += 2)
        if (rng() % 4 == 0) w.set_s64(pair, canaries_->hostile_address(rng));
    for (const uint32_t reg : {s_buffer, s_buffer + 4}) {
        if (rng() % 3) continue;
        put_descriptor(&w.sgpr[reg], canaries_->hostile_address(rng), true, rng);
        if (rng() % 2) w.sgpr[reg + 2] = ~0u;  // records
    }
    for (const uint32_t reg : {v_lds_a, v_lds_b, v_scratch_a, v_scratch_b, v_offset, v_index})
        if (rng() % 6 == 0)
            for (uint32_t lane = 0; lane < 64; ++lane) w.row(reg)[lane] = random_dword(rng);
    for (const uint32_t reg : {s_offset, s_step})
        if (rng() % 4 == 0) w.sgpr[reg] = random_dword(rng);
}

// What a program has done to memory that it must not reach.
std::string Comparison::escaped() const {
    const uint64_t at = canaries_ ? canaries_->find_damage() : 0;
    return at ? fmt::format("  escaped: it has written to host memory at {:#x}\n", at) : "";
}

// of_any_kind: strided, swizzled and of random formats. Else of 32-bit floats, with bytes counted.
void Comparison::put_descriptor(uint32_t* words, uint64_t base, bool of_any_kind, Rng& rng) const {
    static constexpr uint32_t strides[] = {0, 4, 16, 12, 64};
    const machine::BufferFields& f = machine::fields_of(buffer_layout(target_.traits));
    const uint32_t stride = of_any_kind ? strides[rng() % std::size(strides)] : 0;
    const uint32_t most = stride ? 8192 / stride : 4096;  // records, or bytes
    std::fill_n(words, 4, 0);
    f.put_base(words, base);
    f.stride.put(words, stride);
    f.put_records(words, rng() % 3 ? most : rng() % most);
    f.select.put(words, 4u | 5u << 3 | 6u << 6 | 7u << 9);  // x y z w
    f.number_format.put(words, 7);
    f.data_format.put(words, 4);
    f.format.put(words, 22);  // both in one
    f.oob_select.put(words, f.raw);
    if (!of_any_kind) return;
    if (rng() % 4 == 0) f.swizzle.put(words, 1 + static_cast<uint32_t>(rng() % f.swizzle.mask()));
    f.oob_select.put(words, static_cast<uint32_t>(rng()));
    if (rng() % 2) return;
    for (const machine::BufferField field : {f.select, f.number_format, f.data_format, f.format,
                                             f.element_size, f.index_stride, f.stride_scale})
        field.put(words, static_cast<uint32_t>(rng()));
}

// False when the program did not end within the limit.
bool Comparison::execute(machine::Engine& engine, State& s, int64_t slice, int64_t limit) {
    std::memcpy(reinterpret_cast<void*>(global_), s.global.data(), global_bytes);
    ExitKind kind;
    int64_t visits = limit / slice + 200;
    do {
        s.wave.exit = {};
        s.wave.budget = slice;
        kind = engine.run(s.wave);
    } while ((kind == ExitKind::Yield || kind == ExitKind::Barrier) && --visits > 0);
    std::memcpy(s.global.data(), reinterpret_cast<void*>(global_), global_bytes);
    return visits > 0;
}

// Guest address of the program's code; 0 when it is too long.
uint64_t Comparison::place(const std::vector<uint32_t>& words) {
    const uint64_t bytes = words.size() * 4;
    // What the cache keeps is bound to the contents of pages.
    const uint64_t alignment = cache_ ? memory::page_size : 64;
    const uint64_t needed = (bytes + alignment - 1) & ~(alignment - 1);
    if (needed + 64 > code_bytes) return 0;
    // Hostile programs must not change code: engines may go on with what it was.
    const auto allow = [&](uint32_t rights) {
        if (canaries_ && !space_.protect(code_, code_bytes, rights)) std::abort();
    };
    allow(memory::read_write | memory::executable);
    if (used_ + needed + 64 > code_bytes) {
        for (auto& engine : engines_) engine->invalidate(code_, code_ + code_bytes);
        if (cache_) std::memset(reinterpret_cast<void*>(code_), 0, code_bytes);
        used_ = 0;
    }
    const uint64_t pc = code_ + used_;
    std::memcpy(reinterpret_cast<void*>(pc), words.data(), bytes);
    allow(memory::readable | memory::executable);
    used_ += needed;
    return pc;
}

std::optional<std::string> Comparison::differs(const Program& program, uint64_t seed) {
    const std::vector<uint32_t> words = assemble(target_, program);
    const uint64_t pc = place(words);
    auto difference = differs_at(pc, words, seed, seed);
    // With other values: what the first run made the translators expect may not hold.
    if (!difference && seed % 2)
        if (difference = differs_at(pc, words, seed, ~seed); difference)
            return "with other values, " + *difference;
    // Elsewhere, from what was kept of the first translation.
    if (cache_ && !difference)
        if (difference = differs_at(place(words), words, seed, seed); difference)
            return "from the cache, " + *difference;
    return difference;
}

uint64_t Comparison::blocks_loaded() const {
    uint64_t n = 0;
    for (const auto& engine : engines_) n += engine->counters().blocks_loaded;
    return n;
}

std::optional<std::string> Comparison::differs_at(uint64_t pc, const std::vector<uint32_t>& words,
                                                  uint64_t seed, uint64_t values_seed) {
    if (!pc) return std::nullopt;
    const Setup setup = prepare(initial_, seed, values_seed, pc);
    reference_.copy_from(initial_);
    if (!execute(*engines_[0], reference_, setup.slice, most_instructions)) {
        ++counters_.endless;
        return std::nullopt;
    }
    if (const std::string what = escaped(); !what.empty())
        return fmt::format("{}:\n{}", engines_[0]->name(), what);
    const ExitKind kind = reference_.wave.exit.kind;
    counters_.faults += kind == ExitKind::MemoryFault;
    counters_.refused += kind == ExitKind::Unimplemented || kind == ExitKind::IllegalInstruction;
    if (setup.change_dead_registers) {
        other_.copy_from(initial_);
        change_dead_registers(other_.wave, words);
        execute(*engines_[0], other_, setup.slice, most_instructions);
        const std::string what = compare(true);
        if (!what.empty()) return fmt::format("with other values in dead registers:\n{}", what);
    }
    for (size_t e = setup.keep_registers ? 1 : 2; e < engines_.size(); e += 2) {
        other_.copy_from(initial_);
        if (!execute(*engines_[e], other_, setup.slice, 2 * most_instructions))
            return fmt::format("{}: does not end\n", engines_[e]->name());
        std::string what = escaped();
        if (what.empty()) what = compare(setup.keep_registers);
        if (!what.empty()) return fmt::format("{}:\n{}", engines_[e]->name(), what);
    }
    return std::nullopt;
}

// Registers that the lifter takes for dead must not matter.
void Comparison::change_dead_registers(machine::Wave& w, const std::vector<uint32_t>& words) {
    const uint64_t begin = w.pc;
    lift::Liveness liveness(
        target_,
        [&](uint64_t pc) {
            return std::span(words).subspan(std::min(words.size(), (pc - begin) / 4));
        },
        true);
    const lift::LiveSet live =
        liveness.after({.kind = ir::Terminator::Kind::Jump, .target = begin});
    constexpr uint32_t change = 0x5ac31e97;
    for (uint32_t r = 0; r < 108; ++r)  // s0-s101 and VCC: the others never count as dead
        if (!live.scalars[r] && (r < 102 || r >= machine::vcc_lo)) w.sgpr[r] ^= change;
    if (!live.scalars[lift::LiveSet::scc]) w.scc ^= 1;
    for (uint32_t r = 0; r < vgprs + w.agpr_count; ++r) {
        const uint32_t at = r < vgprs ? r : 256 + r - vgprs;
        for (uint32_t lane = 0; lane < 64; ++lane)
            if (!(w.exec() >> lane & 1 ? live.on[at] : live.off[at]))
                w.vgpr[r * 64 + lane] ^= change;
    }
}

std::string Comparison::compare(bool registers) const {
    const machine::Wave &a = reference_.wave, &b = other_.wave;
    if (a.exit.kind != b.exit.kind)
        return fmt::format(
            "  exit {} instead of {} access {} ({}) at {:#x}\n", static_cast<int>(b.exit.kind),
            static_cast<int>(a.exit.kind), static_cast<int>(a.exit.access),
            b.exit.reason ? b.exit.reason : (a.exit.reason ? a.exit.reason : "no reason"),
            b.exit.pc ? b.exit.pc : a.exit.pc);
    // Lanes run chunk by chunk: of several instructions that fault, another one may come first.
    if (a.exit.kind == ExitKind::MemoryFault) return "";
    // Of a wave that was refused, the place and memory are defined.
    const bool ended = a.exit.kind == ExitKind::EndProgram;
    std::string out;
    uint32_t shown = 0;
    auto differ = [&](const std::string& name, uint64_t x, uint64_t y) {
        if (x != y && ++shown <= 12)
            out += fmt::format("  {} = {:#x} instead of {:#x}\n", name, y, x);
    };
    ended ? differ("pc", a.pc, b.pc) : differ("exit pc", a.exit.pc, b.exit.pc);
    if (a.exit.kind == ExitKind::Exception) {
        differ("exceptions", a.exit.detail, b.exit.detail);
        differ("lanes", a.exit.lane_mask, b.exit.lane_mask);
    }
    if (registers && ended) {
        differ("scc", a.scc, b.scc);
        differ("mode", a.mode, b.mode);
        differ("trapsts", a.trapsts, b.trapsts);
        for (uint32_t r = 0; r < 128; ++r)
            if (a.sgpr[r] != b.sgpr[r]) differ(fmt::format("s{}", r), a.sgpr[r], b.sgpr[r]);
        for (uint32_t i = 0; i < (vgprs + agprs) * 64; ++i)
            if (a.vgpr[i] != b.vgpr[i])
                differ(
                    fmt::format("{}{} lane {}", i / 64 < vgprs ? 'v' : 'a', i / 64 % vgprs, i % 64),
                    a.vgpr[i], b.vgpr[i]);
    }
    auto bytes = [&](const char* name, const uint8_t* x, const uint8_t* y, size_t size) {
        if (std::memcmp(x, y, size) == 0) return;
        for (size_t i = 0; i < size; ++i)
            if (x[i] != y[i]) differ(fmt::format("{} byte {:#x}", name, i), x[i], y[i]);
    };
    bytes("LDS (from 4096 before)", a.lds - margin, b.lds - margin, lds_bytes + 2 * margin);
    bytes("scratch (from 4096 before)", a.scratch - margin, b.scratch - margin,
          scratch_bytes * 64 + 2 * margin);
    bytes("global", reference_.global.data(), other_.global.data(), global_bytes);
    if (shown > 12) out += fmt::format("  and {} more\n", shown - 12);
    return out;
}

std::string Comparison::describe(uint64_t seed) {
    const Setup setup = prepare(initial_, seed, seed, code_);
    const machine::Wave& w = initial_.wave;
    return fmt::format(
        "  exec {:#x}, mode {:#x}, scc {}, LDS {} bytes, {} memory, slices of {}, {}\n", w.exec(),
        w.mode, w.scc, w.lds_size, mode_names[static_cast<size_t>(setup.mode)], setup.slice,
        setup.keep_registers ? "all registers" : "only memory is compared");
}

Program minimise(Comparison& comparison, Program program, uint64_t seed) {
    for (size_t chunk = std::max<size_t>(program.size() / 2, 1);;) {
        bool dropped = false;
        for (size_t i = 0; i < program.size();) {
            Program shorter(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(i));
            for (size_t j = i; j < program.size(); ++j)  // labels stay
                if (j >= i + chunk || program[j].label >= 0) shorter.push_back(program[j]);
            if (shorter.size() < program.size() && comparison.differs(shorter, seed)) {
                program = std::move(shorter);
                dropped = true;
            } else {
                i += chunk;
            }
        }
        if (chunk == 1 && !dropped) return program;
        chunk = std::max<size_t>(chunk / 2, 1);
    }
}

}  // namespace wj::fuzz
