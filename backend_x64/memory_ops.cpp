// The out-of-line path of lane memory operations: any space, any pattern, both memory modes, lane
// by lane.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "backend_x64/asm/memory_stubs.h"
#include "backend_x64/frame.h"
#include "ir/buffer.h"
#include "ir/ir.h"
#include "memory/access.h"
#include "memory/fault_reasons.h"
#include "memory/page_hooks.h"

namespace wj::x64 {
namespace {

using ir::Access;
using machine::Wave;

uint32_t extend(Access access, uint32_t raw) {
    switch (access) {
        case Access::S8:
            return static_cast<uint32_t>(static_cast<int8_t>(raw));
        case Access::S16:
            return static_cast<uint32_t>(static_cast<int16_t>(raw));
        default:
            return raw;
    }
}

// Private byte `offset` of a lane.
uint8_t* scratch_byte(Wave& w, uint64_t offset, uint32_t lane) {
    return w.scratch + (offset / 4 * w.size + lane) * 4 + offset % 4;
}

// LDS and scratch: memory of the work-group, which runs on one thread.
struct Private {
    template <size_t Bytes>
    static void move(void* memory, void* element, bool store) {
        store ? std::memcpy(memory, element, Bytes) : std::memcpy(element, memory, Bytes);
    }
};

struct Global {
    template <size_t Bytes>
    static void move(void* memory, void* element, bool store) {
        store ? memory::store_guest<Bytes>(memory, element)
              : memory::load_guest<Bytes>(element, memory);
    }
};

// Constant sizes: single moves.
template <class Memory>
void copy(void* memory, void* element, uint32_t bytes, bool store) {
    switch (bytes) {
        case 1:
            return Memory::template move<1>(memory, element, store);
        case 2:
            return Memory::template move<2>(memory, element, store);
        case 4:
            return Memory::template move<4>(memory, element, store);
        case 8:
            return Memory::template move<8>(memory, element, store);
        case 12:
            return Memory::template move<12>(memory, element, store);
        default:
            return Memory::template move<16>(memory, element, store);
    }
}

bool access_global(machine::ExecContext& ctx, uint64_t address, void* element, uint32_t bytes,
                   bool store) {
    const uint64_t masked = ctx.reach(address);
    if (ctx.memory_mode != machine::MemoryMode::Checked) {
        copy<Global>(reinterpret_cast<void*>(masked), element, bytes, store);
        return true;
    }
    if (void* at = memory::host_pointer(ctx, masked, bytes, store)) {
        copy<Global>(at, element, bytes, store);
        return true;
    }
    return store ? memory::write_bytes(ctx, masked, element, bytes)
                 : memory::read_bytes(ctx, masked, element, bytes);
}

struct Place {
    uint8_t space;  // not flat_space
    uint64_t address;
};

Place place_of(const MemoryOp& op, const Frame& f, uint32_t l) {
    if (op.space == buffer_space) {
        if (f.address_base & ir::buffer_private)
            return {scratch_space, static_cast<uint32_t>(f.address_base + f.address_lo[l])};
        return {buffer_space, 0};
    }
    if (op.space != global_space && op.space != flat_space)
        return {op.space, static_cast<uint32_t>(f.address_lo[l] + op.offset)};  // wraps around
    const uint64_t address =
        (f.address_base +
         (f.address_lo[l] | uint64_t{op.flags & no_upper_halves ? 0 : f.address_hi[l]} << 32)) +
        static_cast<uint64_t>(op.offset);
    if (op.space == flat_space) {
        const uint64_t aperture = address >> 32 << 32;
        if (aperture == machine::shared_aperture) return {lds_space, address & 0xffffffff};
        if (aperture == machine::private_aperture) return {scratch_space, address & 0xffffffff};
    }
    return {global_space, address};
}

void find_addresses(const Wave& w, Frame& f, const LineOp& op, uint32_t first_lane) {
    auto value = [&](uint32_t x, LineOp::Place place) {
        if (place == LineOp::Constant) return x;
        const void* const from = place == LineOp::InFrame ? static_cast<const void*>(&f) : &w;
        std::memcpy(&x, static_cast<const uint8_t*>(from) + x, sizeof x);
        return x;
    };
    const uint32_t base = value(op.base, op.base_place), step = value(op.step, op.step_place);
    for (uint32_t l = 0; l < f.chunk_lanes; ++l) {
        const uint32_t lane = first_lane + l;
        f.address_lo[l] = base + op.stride * (lane % op.width) + step * (lane / op.width);
    }
}

uint64_t chunk_mask(const Frame& f) {
    return (uint64_t{1} << f.chunk_lanes) - 1;
}

uint8_t* saved_vector(Frame& f, uint32_t number) {
    return f.saved_vectors + size_t{number} * 64;
}

uint32_t saved_mask(Frame& f, uint32_t number) {
    uint32_t mask = 0;
    if (f.chunk_lanes == 16) {
        std::memcpy(&mask, f.saved_vectors + Frame::saved_masks + size_t{number} * 8, sizeof mask);
        return mask;
    }
    uint32_t lanes[8];
    std::memcpy(lanes, saved_vector(f, number), sizeof lanes);
    for (uint32_t l = 0; l < 8; ++l) mask |= lanes[l] >> 31 << l;
    return mask;
}

// What the access has in registers, into the exchange area.
void take_operands(Frame& f, const MemoryOp& op) {
    const size_t bytes = size_t{f.chunk_lanes} * 4;
    const AccessRegisters& r = op.registers;
    if (!(op.flags & of_line)) std::memcpy(f.address_lo, saved_vector(f, r.lo), bytes);
    if (!(op.flags & no_upper_halves)) std::memcpy(f.address_hi, saved_vector(f, r.hi), bytes);
    if (!(op.flags & all_lanes)) f.mask = saved_mask(f, r.mask);
    for (uint32_t d = 0; op.store && d < op.dwords; ++d)
        std::memcpy(f.data[d], saved_vector(f, r.data[d]), bytes);
}

// And back.
void put_loaded(Frame& f, const MemoryOp& op) {
    const size_t bytes = size_t{f.chunk_lanes} * 4;
    for (uint32_t d = 0; !op.store && d < op.dwords; ++d)
        std::memcpy(saved_vector(f, op.registers.data[d]), f.data[d], bytes);
}

// False = fault. `result`: the old value, or the new one; 0 for a lane beyond the LDS.
bool lane_atomic(Wave& w, const MemoryOp& op, Place place, uint32_t lane, uint64_t data,
                 uint64_t data2, uint64_t& result) {
    const uint32_t bytes = ir::atomic_bytes(op.dwords, op.atomic_flags);
    auto apply = [&](uint64_t x) {
        return ir::atomic_apply(static_cast<ir::AtomicOp>(op.atomic - 1), op.dwords,
                                op.atomic_flags, place.space == lds_space, x, data, data2);
    };
    auto put_result = [&](uint64_t old, uint64_t now) {
        result = op.atomic_flags & ir::new_values ? now : old;
    };
    if (place.address % bytes) return false;
    if (place.space == global_space) {
        memory::AtomicPlace at(*w.ctx, place.address, bytes);
        if (!at.get()) return false;
        auto exchange = [&]<class T>(T*) {
            const std::atomic_ref<T> memory(*static_cast<T*>(at.get()));
            T old = memory.load(), now;
            do now = static_cast<T>(apply(old));
            while (!memory.compare_exchange_weak(old, now));
            put_result(old, now);
        };
        if (bytes == 8)
            exchange(static_cast<uint64_t*>(nullptr));
        else if (bytes == 4)
            exchange(static_cast<uint32_t*>(nullptr));
        else
            exchange(static_cast<uint16_t*>(nullptr));
        return at.finish();
    }
    uint8_t* half[2] = {};
    if (place.space == lds_space) {
        if (place.address + bytes > w.lds_size) return true;
        half[0] = w.lds + place.address;
        half[1] = half[0] + 4;
    } else {
        if (place.address + bytes > w.scratch_bytes || !w.scratch) return false;
        half[0] = scratch_byte(w, place.address, lane);
        half[1] = half[0] + 4 * w.size;
    }
    uint32_t words[2] = {};
    const uint32_t word_bytes = std::min(bytes, 4u);
    for (uint32_t d = 0; d < op.dwords; ++d) std::memcpy(&words[d], half[d], word_bytes);
    const uint64_t old = words[0] | uint64_t{words[1]} << 32, now = apply(old);
    for (uint32_t d = 0; d < op.dwords; ++d) {
        words[d] = static_cast<uint32_t>(now >> 32 * d);
        std::memcpy(half[d], &words[d], word_bytes);
    }
    put_result(old, now);
    return true;
}

// What a hook has refused, it has been asked for last.
void name_refusal(machine::ExitInfo& exit) {
    if (memory::refused_address() == memory::no_address) return;
    exit.address = memory::refused_address();
    exit.reason = memory::refused_by_hook;
}

// The first lane that faults ends the operation; lower lanes have happened (docs/design/memory.md).
bool run_atomic_op(Wave& w, Frame& f, const MemoryOp& op, uint32_t first_lane) {
    w.exit.pc = op.pc;  // for a signal in identity mode
    auto element = [&](uint32_t row, uint32_t l) {
        return f.data[row][l] | (op.dwords == 2 ? uint64_t{f.data[row + 1][l]} << 32 : 0);
    };
    for (uint64_t m = f.mask & chunk_mask(f); m; m &= m - 1) {
        const auto l = static_cast<uint32_t>(__builtin_ctzll(m));
        const Place place = place_of(op, f, l);
        uint64_t result = 0;
        if (lane_atomic(w, op, place, first_lane + l, element(0, l), element(op.dwords, l),
                        result)) {
            for (uint32_t d = 0; d < op.dwords; ++d)
                f.data[d][l] = static_cast<uint32_t>(result >> 32 * d);
            continue;
        }
        w.exit = {};
        w.exit.kind = machine::ExitKind::MemoryFault;
        w.exit.access = machine::Access::Atomic;
        w.exit.access_bytes = ir::atomic_bytes(op.dwords, op.atomic_flags);
        w.exit.pc = op.pc;
        w.exit.address = place.address + (place.space == lds_space       ? machine::shared_aperture
                                          : place.space == scratch_space ? machine::private_aperture
                                                                         : 0);
        w.exit.lane_mask = 1ull << (first_lane + l);
        if (place.address % w.exit.access_bytes) w.exit.reason = memory::misaligned_atomic;
        name_refusal(w.exit);
        return false;
    }
    return true;
}

bool run_access(Wave& w, Frame& f, const MemoryOp& op, uint32_t first_lane) {
    take_operands(f, op);
    const auto access = static_cast<Access>(op.access);
    const uint32_t bytes = ir::access_bytes(access, op.dwords);
    machine::ExecContext& ctx = *w.ctx;
    uint64_t failed = 0, first_address = 0, failed_address = 0;
    const char* reason = nullptr;
    const uint64_t lanes = chunk_mask(f);
    for (uint64_t m = op.flags & all_lanes ? lanes : f.mask & lanes; m; m &= m - 1) {
        const auto l = static_cast<uint32_t>(__builtin_ctzll(m));
        uint32_t element[4] = {};
        if (op.store) {
            for (uint32_t d = 0; d < op.dwords; ++d) element[d] = f.data[d][l];
            if (access == Access::U8D16Hi || access == Access::U16D16Hi) element[0] >>= 16;
        }
        const Place place = place_of(op, f, l);
        bool ok = true;
        uint64_t whole = 0;  // address of an element of a buffer that lies in one piece, in range
        if (place.space == scratch_space) {
            ok = place.address + bytes <= w.scratch_bytes && place.address + bytes >= place.address;
            for (uint32_t b = 0; ok && b < bytes; ++b)
                copy<Private>(scratch_byte(w, place.address + b, first_lane + l),
                              reinterpret_cast<uint8_t*>(element) + b, 1, op.store);
        } else if (place.space == global_space) {
            ok = access_global(ctx, place.address, element, bytes, op.store);
        } else if (place.space == buffer_space && !ir::apart_by_dwords(f.buffer_limit) &&
                   ir::buffer_address(f.address_base, f.buffer_limit, first_lane + l,
                                      f.address_lo[l], bytes, whole)) {
            ok = access_global(ctx, whole, element, bytes, op.store);
            if (!ok) failed_address = whole;
        } else {  // what can be out of range, dword by dword
            for (uint32_t b = 0; ok && b < bytes; b += 4) {
                const uint32_t part = std::min(bytes, 4u);
                uint64_t address = 0;
                if (place.space == lds_space) {
                    address = place.address + b;
                    if (address + part <= w.lds_size)
                        copy<Private>(w.lds + address, element + b / 4, part, op.store);
                } else if (ir::buffer_address(f.address_base, f.buffer_limit, first_lane + l,
                                              uint64_t{f.address_lo[l]} + b, part, address)) {
                    ok = access_global(ctx, address, element + b / 4, part, op.store);
                    if (!ok) failed_address = address;
                }
            }
        }
        if (!ok) {
            if (!failed)
                first_address = place.space == buffer_space ? failed_address
                                : place.space == scratch_space
                                    ? place.address | machine::private_aperture
                                    : place.address;
            if (!failed && place.space == scratch_space) reason = memory::beyond_private_segment;
            failed |= 1ull << (first_lane + l);
            if (memory::refused_address() != memory::no_address) break;
            continue;
        }
        if (!op.store) {
            f.data[0][l] = bytes < 4 ? extend(access, element[0]) : element[0];
            for (uint32_t d = 1; d < op.dwords; ++d) f.data[d][l] = element[d];
        }
    }
    if (!failed) {
        put_loaded(f, op);
        return true;
    }
    w.exit = {};
    w.exit.kind = machine::ExitKind::MemoryFault;
    w.exit.access = op.store ? machine::Access::Write : machine::Access::Read;
    w.exit.access_bytes = bytes;
    w.exit.pc = op.pc;
    w.exit.address = first_address;
    w.exit.lane_mask = failed;
    w.exit.reason = reason;
    name_refusal(w.exit);
    return false;
}

}  // namespace

bool run_memory_op(Wave& w, Frame& f, const MemoryOp& op, uint32_t first_lane) {
    f.running = &op;
    w.exit.pc = op.pc;  // for a signal in identity mode
    if (op.flags & of_line) find_addresses(w, f, static_cast<const LineOp&>(op), first_lane);
    const bool ok =
        op.atomic ? run_atomic_op(w, f, op, first_lane) : run_access(w, f, op, first_lane);
    if (ok) f.running = nullptr;
    return ok;
}

bool run_stub_access(Wave& w, Frame& f, uint64_t bits, uint32_t first_lane) {
    if (f.patience < 0) {
        f.patience = Frame::most_patience;
        f.often = f.running;
    }
    const auto access = StubAccess::of(bits);
    MemoryOp op = MemoryStub::at(access.stub).operation();
    op.offset = access.offset;
    op.registers = access.registers;
    if (access.all_lanes) op.flags |= all_lanes;
    const bool ok = run_access(w, f, op, first_lane);
    if (ok) f.running = nullptr;
    return ok;
}

static bool is_line(const Wave& w, const ir::RowLine& line) {
    const uint32_t lanes = w.ctx->whole_lanes;  // those that may be on
    const uint32_t* const v = w.vgpr + size_t{line.row} * machine::lanes;
    if (line.width == machine::lanes) {  // most often
        uint32_t different = 0;
        for (uint32_t l = 0; l < lanes; ++l) different |= v[l] ^ (v[0] + line.stride * l);
        return !different;
    }
    const uint32_t step = line.any_step ? v[line.width % machine::lanes] - v[0] : line.step;
    const auto shift = static_cast<uint32_t>(std::countr_zero(line.width));
    const uint32_t in_row = line.width - 1, first = v[0], stride = line.stride;
    uint32_t different = 0;
    for (uint32_t l = 0; l < lanes; ++l)
        different |= v[l] ^ (first + stride * (l & in_row) + step * (l >> shift));
    return !different;
}

bool find_shapes(Wave& w, const uint8_t* wanted) {
    for (; wanted[1]; wanted += 2) {
        uint8_t& known =
            wanted[0] < 64 ? w.row_shapes[wanted[0]] : w.upper_row_shapes[wanted[0] - 64];
        if (known == wanted[1]) continue;
        if (!is_line(w, ir::RowLine::of_shape(wanted[0], wanted[1]))) return false;
        known = wanted[1];
    }
    return true;
}

bool checked_uload(Wave& w, uint64_t address, uint32_t bytes, uint64_t* value) {
    uint64_t v = 0;
    bool ok;
    if (bytes == 4) {
        uint32_t x = 0;
        ok = memory::read_scalar(*w.ctx, address, x);
        v = x;
    } else {
        ok = memory::read_scalar(*w.ctx, address, v);
    }
    *value = v;
    if (ok) return true;
    w.exit = {};
    w.exit.kind = machine::ExitKind::MemoryFault;
    w.exit.access = machine::Access::Read;
    w.exit.access_bytes = bytes;
    w.exit.address = w.ctx->reach(address);
    name_refusal(w.exit);
    return false;
}

}  // namespace wj::x64
