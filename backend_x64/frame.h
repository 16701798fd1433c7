// What translated code keeps besides the wave: one Frame per thread. Translated code addresses it
// through one register; the layout is shared by the emitters and by the C++ helpers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backend_x64/gathered_lanes.h"
#include "backend_x64/writable_memory.h"
#include "machine/engine.h"

namespace wj::x64 {

// Why translated code came back to the dispatcher. Values below 64 are machine::ExitKind.
enum class Leave : uint32_t {
    Link = 64,    // a jump that is not linked yet; Frame::leave_address names it
    Budget,       // the block's budget check failed; Frame::leave_address names the block
    Lookup,       // indirect jump that missed the table: wave.pc is the target
    CallStopped,  // a helper call left wave.exit.kind != None
    Fault,        // a checked access failed, wave.exit is filled
};

// Numbers of the host registers that an access out of line has its operands in, and leaves what it
// loads in.
struct AccessRegisters {
    uint8_t lo = 0, hi = 0;  // halves of the lanes' addresses
    uint8_t mask = 0;        // of a mask register with AVX-512
    uint8_t data[4] = {};
};

// Describes one lane memory operation to the out-of-line path; lives behind the block's code.
struct MemoryOp {
    uint64_t pc = 0;
    int64_t offset = 0;
    uint8_t space = 0;   // Space
    uint8_t access = 0;  // ir::Access
    uint8_t dwords = 0;  // tuple length
    uint8_t store = 0;
    uint8_t flags = 0;          // MemoryFlags
    AccessRegisters registers;  // but of atomics, whose operands are in the exchange area
    uint8_t atomic = 0;  // 0, or 1 + ir::AtomicOp: data and data2 in Frame::data, old values back
    uint8_t atomic_flags = 0;  // ir::AtomicFlags
};
// What then need not be there.
enum MemoryFlags : uint8_t { all_lanes = 1, no_upper_halves = 2, of_line = 4 };
// With of_line: the lanes' addresses are base + stride * (lane mod width) + step * (lane div width)
// modulo 2^32.
struct LineOp : MemoryOp {
    // A constant, or the offset of what holds it in the frame or in the wave.
    enum Place : uint8_t { Constant, InFrame, InWave };
    uint32_t base = 0, step = 0, stride = 0;
    Place base_place = Constant, step_place = Constant;
    uint8_t width = 0;
};
enum Space : uint8_t { global_space, flat_space, lds_space, scratch_space, buffer_space };

// Stubs that do a chunk's loads and stores, by what the access is (asm/memory_stubs.h). They are
// called by Frame::access_stub: operands are in Frame::saved_vectors, where results go; the carry
// flag says that C++ has to do it.
inline constexpr uint32_t memory_stub_count = 48;
struct MemoryStubs {
    std::atomic<const void*> entry[memory_stub_count] = {};
};
// What Frame::access_stub is told in rax.
struct StubAccess {
    uint8_t stub = 0;  // its number
    bool all_lanes = false;
    AccessRegisters registers;
    int32_t offset = 0;  // what is added to all lanes' addresses

    // First bits of fields.
    static constexpr uint32_t all_lanes_at = 6, lo_at = 8, hi_at = 13, mask_at = 28, offset_at = 42;
    static constexpr std::array<uint32_t, 4> data_at = {18, 23, 32, 37};
    static constexpr uint32_t stub_mask = 0x3f, register_mask = 0x1f, mask_mask = 0xf;

    static constexpr bool fits(int64_t offset) { return offset >= -0x200000 && offset < 0x200000; }
    constexpr uint64_t bits() const {
        uint64_t bits = stub | uint64_t{all_lanes} << all_lanes_at |
                        uint64_t{registers.lo} << lo_at | uint64_t{registers.hi} << hi_at |
                        uint64_t{registers.mask} << mask_at |
                        static_cast<uint64_t>(int64_t{offset}) << offset_at;
        for (size_t d = 0; d < data_at.size(); ++d)
            bits |= uint64_t{registers.data[d]} << data_at[d];
        return bits;
    }
    static constexpr StubAccess of(uint64_t bits) {
        auto field = [bits](uint32_t at, uint32_t mask) {
            return static_cast<uint8_t>(bits >> at & mask);
        };
        StubAccess a;
        a.stub = field(0, stub_mask);
        a.all_lanes = bits >> all_lanes_at & 1;
        a.registers.lo = field(lo_at, register_mask);
        a.registers.hi = field(hi_at, register_mask);
        a.registers.mask = field(mask_at, mask_mask);
        for (size_t d = 0; d < data_at.size(); ++d)
            a.registers.data[d] = field(data_at[d], register_mask);
        a.offset = static_cast<int32_t>(static_cast<int64_t>(bits) >> offset_at);
        return a;
    }
};

// A helper call; lives behind the block's code.
struct CallRecord {
    void (*fn)(machine::Wave&, const void*) = nullptr;
    const void* arg = nullptr;
    uint64_t next_pc = 0, pc = 0;
};

// Direct-mapped by guest PC; read by translated code, entry before pc is published.
struct JumpEntry {
    uint64_t pc = ~0ull;
    const void* entry[2] = {nullptr, nullptr};  // [exec_full]
    uint64_t pad = 0;
};
inline constexpr uint32_t jump_entries = 1024;

inline constexpr uint32_t slot_count = 1536;  // 8 bytes each: uniform values, lane masks
inline constexpr uint32_t spill_count = 192;  // 64 bytes each: registers of a chunk
inline constexpr uint32_t temp_rows = 320;    // 256 bytes each: lane values between regions

// 64-byte constants, laid out for full vectors (AVX2 uses the first or the named half).
enum Constant : uint32_t {
    const_pair_split,    // qword permutation: pairs of lanes -> even pairs, odd pairs
    const_pair_join,     // its inverse
    const_odd_dwords,    // vpermt2d: odd dwords of two registers, interleaved
    const_lane_numbers,  // 0..15
    const_nibble_popcount,
    const_nibble_reverse_low,  // reversed low nibble, shifted to the high half of a byte
    const_nibble_reverse_high,
    const_bswap,
    const_low_words,  // AVX2: gathers the low word of each dword of a 128-bit half into its low 8
                      // bytes
    const_count_,
};

// Indices of permutations and offsets of lanes that many blocks use (find_table()): here once
// instead of behind the code of each.
inline constexpr uint32_t table_count = 44;

// Rows of dwords for columns of a matrix that wait for the rows of the waves behind
// (column_store.h): of one store, `waves` times so many rows of `width` dwords as a wave has; or
// the rows of so many waves as `beside` says, side by side.
struct HeldColumns {
    uint32_t waves = 0, width = 0, beside = 1;
    uint32_t most = 0;            // waves that are held, then all is written
    const void* store = nullptr;  // the ColumnStore, if there are any rows
    uint64_t at = 0, step = 0;    // address of the first column, distance of the others
    uint64_t next = 0;            // `at` of a wave that goes on with these columns
    uint64_t ahead[2] = {};       // what `next` grows by then, in turns
    WritableMemory memory;
    static constexpr uint32_t rows = 16;  // a cache line of each column
    alignas(64) uint32_t data[rows * machine::lanes] = {};
};

// What is read and written in vectors lies on cache lines of its own. Translated code's register
// points to `link_stub`: what is within 128 bytes of it takes one byte of displacement, vectors of
// 64 bytes within 8 KiB do.
struct alignas(64) Frame {
    static constexpr int32_t most_patience = 32768;
    // Slot 0 is the last one.
    uint64_t slots[slot_count] = {};

    // The line in front of the register: AVX2's lanes as bits of a mask, and scalars.
    uint32_t lane_bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const void* access_stub = nullptr;  // rax = StubAccess::bits(), rcx = base of global addresses
    uint64_t mask = 0;                  // of the exchange area below
    uint64_t prefetch_items = 0;        // ExecContext::prefetch_items
    uint64_t address_base = 0;          // of the exchange area

    // Entry points of stubs.
    const void* link_stub = nullptr;
    const void* budget_stub = nullptr;
    const void* turn_stub = nullptr;    // eax: Barrier or EndProgram, wave.pc is behind it
    const void* memory_stub = nullptr;  // rax = MemoryOp*, rcx = base
    const void* settle_stub = nullptr;  // WaveSource::settle()
    // Whole programs of one block: edx = guest instructions; al: which wave has been started
    // (none_next to next_in_group). By the run, if it holds one, else by WaveSource::again().
    const void* again_stub = nullptr;
    // Bits of an address that must be 0 for a store that goes around the caches; none may, when
    // ExecContext::streaming is off: no address of an access is 0.
    uint64_t not_streamed = ~0ull;
    // Global accesses of the running block that met addresses without a pattern since it was
    // entered, a byte each: they do not look for one again. Those that prefetch count their
    // gathers.
    uint8_t scattered[8] = {};

    // Of the exchange area of the out-of-line memory path, one chunk: what is loaded or stored.
    uint32_t data[4][16] = {};

    // Further stubs.
    const void* call_stub = nullptr;
    const void* leave_stub = nullptr;     // eax = reason
    const void* indirect_stub = nullptr;  // rax = target
    const void* division_stub = nullptr;  // eax = Division
    // Where the waves that follow go on with what the running one has found out.
    const void* ahead_stub = nullptr;
    const void* fewer_stub = nullptr;
    const void* together_stub = nullptr;
    const void* step_stub = nullptr;
    const void* step_ids_stub = nullptr;
    const void* even_row_stub = nullptr;    // BlockCompiler::test_even_row()
    const void* rows_stub = nullptr;        // RowStubs::load
    const void* open_rows_stub = nullptr;   // RowStubs::open
    const void* store_rows_stub = nullptr;  // RowStubs::store
    const void* row_order_stub = nullptr;   // rows_in_any_order()
    uint32_t prefetch_row = ~0u;            // ExecContext::prefetch_row
    uint64_t prefetch_rows = 0;             // ExecContext::prefetch_rows
    // Waves that the next wave's guards are about at most, behind that one.
    uint32_t most_ahead = machine::NextWaves::most;
    // Of the running block: ir::Op::WavesAhead, and then how many of them have not begun.
    uint32_t waves_ahead = 0;
    uint32_t offered_ahead = 0;  // waves_ahead, but for most_ahead
    const MemoryStubs* memory_stubs = nullptr;
    uint64_t stub_base = 0;    // what a memory stub adds to the lanes' addresses
    uint64_t stub_access = 0;  // StubAccess::bits()
    uint32_t chunk_lanes = 0;
    // Calls of memory stubs until one is taken for typical: its block will do without them.
    int32_t patience = most_patience;
    const void* often = nullptr;  // where that one returned to; perhaps in an engine that is gone

    uint64_t buffer_limit = 0;
    uint64_t whole_exec = ~0ull;  // ExecContext::whole_exec()
    uint64_t first_in_line = 0;   // of a chunk, between two instructions
    // Out of line at this moment: MemoryOp, ColumnStore, or where a memory stub returns to.
    const void* running = nullptr;
    const void* column_stub = nullptr;    // store_columns()
    const void* shapes_stub = nullptr;    // rsi: what is wanted; al: find_shapes()
    const void* gather_stub = nullptr;    // rsi: GatherPlan; reg::rows: gathered.rows
    const void* spread_stub = nullptr;    // back
    const void* regather_stub = nullptr;  // together, or as they are
    const void* uload32_stub = nullptr;   // rax = address -> value (checked mode)
    const void* uload64_stub = nullptr;
    uint64_t saved_sp = 0;
    uint64_t leave_address = 0;
    JumpEntry* jump_table = nullptr;
    static constexpr uint8_t none_next = 0, next_anywhere = 1, next_in_group = 2;
    bool (*again)(machine::Wave& wave, Frame& frame, uint32_t executed) = nullptr;
    machine::WaveRun* run = nullptr;
    machine::WaveSource* source = nullptr;
    void (*settle)(machine::WaveSource& source) = nullptr;
    const std::atomic<bool>* flush_wanted = nullptr;
    // Waves that translated code goes on to by itself, and where it says which one runs.
    machine::WaveRow* row = nullptr;
    machine::Wave** running_wave[2] = {};

    // Of the exchange area: where to.
    alignas(64) uint32_t address_lo[16] = {}, address_hi[16] = {};

    alignas(64) uint32_t constants[const_count_][16] = {};
    alignas(64) uint32_t lane_id[64] = {};
    alignas(64) uint32_t tables[table_count][16] = {};
    // The LDS begins a page, and most kernels use its first KiB most: loads from there would wait
    // for stores to rows at the same place of a page (hist_lds 10 %).
    static constexpr size_t most_used_lds = 1024;
    uint8_t apart_from_lds[832] = {};
    alignas(64) uint32_t temps[temp_rows][64] = {};
    alignas(64) uint8_t spills[spill_count][64] = {};

    // Where accesses of a block that repeats itself were in its last iteration: of each chunk, at
    // its place in a row.
    static constexpr uint32_t most_steady = 4;
    alignas(64) uint64_t last_address[most_steady][32] = {};
    // Where loads of a block that ends at a barrier began when a wave ran it last: each load's of
    // the waves with the same number modulo `most_tile_waves`.
    static constexpr uint32_t most_tile_loads = 8, most_tile_waves = 16;
    uint64_t tile_address[most_tile_loads][most_tile_waves] = {};
    // How many waves a store still goes without store_columns() (column_store.h).
    uint8_t columns_wait[64] = {};
    // Checked mode: host addresses of a chunk's elements. And those of rows to come (lane_rows).
    alignas(64) uint64_t lane_hosts[16] = {};
    // Out of line: a vector after the other, in 64 bytes each, then AVX-512's masks in 8.
    static constexpr size_t saved_masks = size_t{32} * 64;
    alignas(64) uint8_t saved_vectors[saved_masks + 64] = {};
    alignas(64) HeldColumns held;
    // What lanes that walk along memory come to next: of each access in `scattered` as many dwords
    // of every lane as a vector has, dword by dword.
    alignas(64) uint32_t lane_rows[8][16][16] = {};
    // Loops of lanes that go along rows (row_loop.h): where they are, and for how many entries such
    // a loop still goes without.
    alignas(64) uint64_t row_lanes[4][64] = {};
    alignas(64) uint64_t row_moves[64] = {};  // ~0, of lanes that are off 0
    alignas(64) uint8_t nowhere[64] = {};     // what these store
    uint8_t rows_wait[64] = {};
    WritableMemory rows_memory;
    GatheredLanes gathered;

    // Elements of the LDS that all waves of a work-group need alike, in temps: which block has left
    // them there (Schedule::kept_region), and what they depend on.
    struct Kept {
        static constexpr uint32_t most_bases = 4;
        const void* block = nullptr;
        uint64_t epoch = 0;
        const uint8_t* lds = nullptr;
        uint32_t base[most_bases] = {};
    } kept;
    uint64_t kept_epoch = 0;  // another one when the LDS or temps may have changed
    machine::ExecContext::Reach reach;
};

static_assert(offsetof(Frame, temps) % 4096 >= Frame::most_used_lds);

// Of a field, from the address in translated code's register.
inline constexpr size_t frame_bias = offsetof(Frame, link_stub);
static_assert(frame_bias % 64 == 0 && offsetof(Frame, data) == frame_bias + 64);
inline constexpr int32_t in_frame(size_t offset) {
    return static_cast<int32_t>(offset) - static_cast<int32_t>(frame_bias);
}
inline constexpr size_t slot_offset(uint32_t slot) {
    return offsetof(Frame, slots) + 8 * size_t{slot_count - 1 - slot};
}

void fill_constants(Frame& frame);
// The number of the table that begins with these bytes, or table_count.
uint32_t find_table(const void* bytes, uint32_t size);

// Out-of-line execution of a memory operation for the chunk whose first lane is `first_lane`.
// Returns false on a guest fault, wave.exit is filled then.
bool run_memory_op(machine::Wave& wave, Frame& frame, const MemoryOp& op, uint32_t first_lane);
// The same for an access that a stub leaves to C++.
bool run_stub_access(machine::Wave& wave, Frame& frame, uint64_t bits, uint32_t first_lane);
// Out-of-line divisions of elements of a chunk, those of the bits of `mask`: numerators in data[2]
// and [3], denominators in address_lo and address_hi, quotients to data[0] and [1].
enum class Division : uint32_t {
    Steps32,  // gf::div_by_steps
    Steps64,
    Fractions32,  // gf::div_by_fractions
    FractionsReciprocalFirst32
};
bool run_division(machine::Wave& wave, Frame& frame, uint64_t division, uint32_t first_lane);
// Whether rows have the shapes that are wanted: pairs of both, up to a shape of 0. Notes with the
// wave what it finds.
bool find_shapes(machine::Wave& wave, const uint8_t* wanted);
bool checked_uload(machine::Wave& wave, uint64_t address, uint32_t bytes, uint64_t* value);

}  // namespace wj::x64
