// The state of one wavefront and of its work-group: plain structs that every engine shares.
// Translated code addresses these fields directly; keep them standard layout.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace wj {
struct Target;
}
namespace wj::memory {
class AddressSpace;
}

namespace wj::machine {

inline constexpr uint32_t lanes = 64;               // row length; waves of 32 use the lower half
inline constexpr uint64_t program_alignment = 256;  // bytes (SEED-ELF-47)

// Indices into Wave::sgpr are operand encodings.
enum Sgpr : uint32_t {
    flat_scratch_lo = 102,
    xnack_mask_lo = 104,
    vcc_lo = 106,
    ttmp0 = 108,
    group_yz = ttmp0 + 7,  // Traits::workgroup_ids_in_ttmp
    wave_id = ttmp0 + 8,   // from bit wave_id_shift on
    group_x = ttmp0 + 9,
    m0 = 124,
    exec_lo = 126
};
inline constexpr uint32_t wave_id_shift = 25;

// Aperture bases of gfx9 (as the Linux driver programs SH_MEM_BASES). Not canonical host addresses.
inline constexpr uint64_t shared_aperture = 0x0001'0000'0000'0000;
inline constexpr uint64_t private_aperture = 0x0002'0000'0000'0000;
// Of Traits::flat_scratch_has_lane: the bits that tell private memory's addresses from others, and
// where they have the lane. A wave's differ from another's by its base.
inline constexpr uint64_t lane_aperture = 1;
inline constexpr uint32_t lane_aperture_shift = 58, scratch_lane_shift = 52;
inline constexpr uint64_t flat_scratch_base(uint64_t scratch_base) {
    return lane_aperture << lane_aperture_shift | scratch_base;
}
inline constexpr uint64_t scratch_of_lane(uint64_t lane) {
    return lane << scratch_lane_shift;
}

enum class ExitKind : uint8_t {
    None,        // still running
    EndProgram,  // s_endpgm
    Barrier,     // pc points behind the s_barrier
    Yield,       // budget used up or s_sleep: may be resumed at pc
    MemoryFault,
    IllegalInstruction,  // the decoder rejects the bytes, or a register beyond the allocation
    Unimplemented,       // valid, but refused by name
    Trap,                // s_trap: detail = trap id
    Halt,                // s_sethalt, s_endpgm_saved and others that only a debugger could resume
    Exception,           // an enabled one: detail has its bits (namespace exception)
    BarrierMisuse,       // reason says which; detail: the barrier's number, as int32_t
};

enum class Access : uint8_t { None, Read, Write, Atomic, Execute };

struct ExitInfo {
    ExitKind kind = ExitKind::None;
    Access access = Access::None;
    uint32_t access_bytes = 0;
    uint32_t detail = 0;
    uint64_t pc = 0;               // guest address of the instruction that stopped the wave
    uint64_t address = 0;          // first faulting guest address
    uint64_t lane_mask = 0;        // lanes that fault; 0 for scalar accesses
    const char* reason = nullptr;  // static text or null
    // Memory faults in translated code: the block [block_begin, block_end) has partly happened, and
    // its registers may be in host registers. 0: the wave's registers are those of the instruction.
    uint64_t block_begin = 0, block_end = 0;
};

enum class MemoryMode : uint8_t {
    Identity,  // a guest address is the host's
    Checked,   // it goes through the page table
    Window     // it is the host's in a part of the address space that no guest address leaves
};

// Guest bytes of one page that may be accessed: all of it, or what an allocation has of it.
struct TlbEntry {
    uint64_t begin = 0;  // first guest address
    uint64_t bytes = 0;  // 0 = empty
    uint64_t delta = 0;  // host address = guest address + delta
    uint64_t unused = 0;
};
inline constexpr uint32_t tlb_bits = 10, tlb_entries = 1u << tlb_bits;
inline constexpr uint32_t tlb_hash = 0x9e3779b1;
// Kernels step through memory by powers of two: a hash spreads such pages over the entries.
inline constexpr uint32_t tlb_index(uint64_t address) {
    return static_cast<uint32_t>(address >> 12) * tlb_hash >> (32 - tlb_bits);
}

// A global wave sync resource (ds_gws_*): a barrier over all waves of a cooperative dispatch. The
// runtime owns gws_resources of them per dispatch; ds_gws_init sets the number of waves.
struct GwsResource {
    std::atomic<uint32_t> members{0};  // waves that take part in a barrier
    std::atomic<uint32_t> arrived{0};
    std::atomic<uint32_t> phase{0};  // grows when a barrier completes
    std::atomic<int64_t> semaphore{0};
    std::atomic<uint32_t> releases{0};  // ds_gws_sema_release_all so far
};
inline constexpr uint32_t gws_resources = 64;

// Global data share: one memory for all waves of a device (SEED-DISP-62). `mutex` is held for the
// length of an instruction, so that one is atomic to all others.
struct GlobalDataShare {
    static constexpr uint32_t size = 65536;  // of the largest; Traits::gds_bytes counts
    std::mutex mutex;
    uint32_t oldest_wave = 0;  // logical wave id whose turn it is in ds_ordered_count
    bool used = false;         // else it holds zeros
    alignas(64) uint8_t bytes[size] = {};
};

// What the waves behind one have that differs from it.
struct NextWaves {
    static constexpr uint32_t most = 4096;  // that are looked at as one
    // Of a work-group so many waves follow each other whose v0 is ids_step more each time, in all
    // lanes; 0: nobody knows.
    uint32_t waves = 0, ids_step = 0;
    // These are all of it, and this scalar register is one more in the next work-group, nothing
    // else; or -1.
    int32_t group_sgpr = -1;
};

// Of ExecContext::lane_layout.
inline constexpr uint32_t one_row_layout = 0, any_row_layout = 1, first_row_layout = 2,
                          row_layout_widths = 8;
// Lanes of the rows that a wave holds several of, or 64.
inline constexpr uint32_t row_lanes(uint32_t layout) {
    return layout < first_row_layout ? lanes
                                     : 1u << (layout - first_row_layout) % row_layout_widths;
}

// EXEC with the first `count` lanes on.
inline constexpr uint64_t first_lanes(uint32_t count) {
    return count >= lanes ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

struct Coverage;  // machine/coverage.h

// One per worker thread; constant during a dispatch apart from TLB and counters.
struct ExecContext {
    const Target* target = nullptr;
    memory::AddressSpace* memory = nullptr;
    MemoryMode memory_mode = MemoryMode::Identity;
    uint64_t kernel = 0;  // guest address where its waves start
    // Registers (or -1) in which these find the number of their work-group, and the one in the
    // midst of the launch: what is guessed of all waves is guessed from it. The first one lies in a
    // corner.
    struct GroupIds {
        int32_t sgpr[3] = {-1, -1, -1};
        uint32_t middle[3] = {};
    } group_ids;
    NextWaves next_waves;
    // Launches whose work-groups lay their lanes out alike have the same number here: what
    // translators expect of rows they expect of one kind of them only.
    uint32_t lane_layout = one_row_layout;
    // The same of launches whose work-groups follow each other alike: what one wave finds out for
    // the next ones depends on how many these are and whether it is at an edge of the grid.
    uint32_t grid_layout = 0;
    // Most waves begin with the first lanes on, so many of them: all, or those of work-groups that
    // are smaller than a wave. Translated code is made for waves that have them.
    uint32_t whole_lanes = lanes;
    uint64_t whole_exec() const { return first_lanes(whole_lanes); }
    // This thread alone touches the memory that is updated by atomics: they need not be atomic.
    bool exclusive_memory = false;
    // The waves that run are so many that what they write does not stay in the caches: stores may
    // go around them. Who asks for it fences (_mm_sfence) before telling anybody that waves ended.
    bool streaming = false;
    // How many work-items later, in x, data is wanted that is to be fetched already; 0: none is.
    uint32_t prefetch_items = 0;
    // The same in y, where rows of work-groups are so short that what lies behind them in x is not
    // what comes next; 0: they are not.
    uint32_t prefetch_rows = 0;
    // And how many bytes of a work-item's row are worth it at least.
    uint32_t prefetch_row = ~0u;
    // Set by the engine: waves stored parts of columns that did not become whole cache lines, as
    // the waves behind them stored other columns.
    bool columns_cut = false;
    // Set by translated code: waves updated memory by locked operations.
    bool locked_atomics = false;
    // What every global address goes through before it is used: clears bit 47 while aliases of
    // registered host memory exist; keeps it in the window.
    struct Reach {
        uint64_t mask = ~uint64_t{0}, base = 0;
        uint64_t operator()(uint64_t address) const { return (address & mask) | base; }
    } reach;
    uint64_t tlb_epoch = 0;
    TlbEntry read_tlb[tlb_entries];
    TlbEntry write_tlb[tlb_entries];
    uint64_t interpreted = 0;        // instructions run by the interpreter's handlers
    GwsResource* gws = nullptr;      // gws_resources of them, or null: ds_gws_* is refused
    GlobalDataShare* gds = nullptr;  // or null: refused
    // Where edges of the guest's code are counted, or null. The same as long as the engine lives:
    // translated code either counts or does not.
    const Coverage* coverage = nullptr;
    // Clocks tell how many instructions have been executed: so many when the running wave's budget
    // is used up. Code is then cut into blocks as the guest has them.
    bool counts_time = false;
    uint64_t time_at_end = 0;
    // What accesses are checked for besides what the memory mode says (machine/checks.h), as long
    // as the engine lives.
    uint32_t checks = 0;
};

struct WorkGroup;

struct alignas(64) Wave {
    // Of the first VGPR rows: the shape (ir::RowLine::shape) that translated code has found them to
    // have, or 0. It forgets them before it calls others who may write rows.
    static constexpr uint32_t shaped_rows = 128;
    uint8_t upper_row_shapes[64] = {};  // of rows 64 to 127
    uint8_t row_shapes[64] = {};
    int64_t budget = 0;      // instructions left before Yield; engines subtract per block
    uint64_t pc = 0;         // guest address of the next instruction
    uint8_t* lds = nullptr;  // the work-group's LDS
    // Bytes: beyond reads 0, writes are dropped. The allocation, rounded to the granule; or what M0
    // says, where that bounds it (Traits::m0_bounds_lds).
    uint32_t lds_size = 0;
    uint32_t scratch_bytes = 0;  // per lane
    uint8_t* scratch = nullptr;  // dword-interleaved by lane (docs/design/architecture.md)
    ExecContext* ctx = nullptr;
    uint32_t scc = 0;   // 0 or 1
    uint32_t mode = 0;  // MODE hardware register
    uint32_t status = 0, trapsts = 0;
    // What is above and these begin cache lines: translated code points here. Behind the guest's
    // registers is a mask of the lanes that the wave began with.
    static constexpr uint32_t first_exec = 128;
    uint32_t sgpr[first_exec + 2] = {};
    uint32_t* vgpr = nullptr;  // vgpr_count rows of 64 dwords; 64-byte aligned
    // AccVGPR rows (gfx908: own file; gfx90a: vgpr + accum_offset rows), or the rows of v256 and
    // what is above, or null.
    uint32_t* agpr = nullptr;
    WorkGroup* group = nullptr;
    uint32_t vgpr_count = 0, agpr_count = 0, sgpr_count = 0;
    uint32_t wave_in_group = 0;
    uint32_t hw_id = 0;
    uint64_t scratch_base =
        0;  // guest flat address of this wave's private memory: what FLAT_SCRATCH and the
            // private segment buffer descriptor's base name
    uint32_t lds_alloc = 0;     // LDS_ALLOC hardware register: LDS_SIZE at bit 12
    bool trap_enabled = false;  // there is a trap handler: enabled exceptions stop the wave
    // Of code that goes by both names: the allocation's size, whose last registers VCC and its
    // neighbours are (Aliases); or 0.
    uint8_t sgpr_aliases = 0;
    uint8_t vgpr_msb = 0;  // Traits::vgpr_msb: what s_set_vgpr_msb has set
    bool gws_waiting =
        false;  // at a GWS barrier or semaphore of phase gws_phase; the instruction runs again
    // Lanes: 64 or 32 (Traits::wave_size). Waves of 32 have no use for the rest of a row.
    uint8_t size = lanes;
    uint32_t gws_phase = 0;
    ExitInfo exit;

    uint32_t* row(uint32_t r) { return vgpr + size_t{r} * lanes; }
    uint32_t* arow(uint32_t r) { return agpr + size_t{r} * lanes; }
    uint64_t s64(uint32_t r) const { return sgpr[r] | uint64_t{sgpr[r + 1]} << 32; }
    void set_s64(uint32_t r, uint64_t v) {
        sgpr[r] = static_cast<uint32_t>(v);
        sgpr[r + 1] = static_cast<uint32_t>(v >> 32);
    }
    // A lane mask is a register of the wave's size: a pair of SGPRs, or one.
    uint64_t mask(uint32_t r) const { return size == lanes ? s64(r) : sgpr[r]; }
    void set_mask(uint32_t r, uint64_t v) {
        if (size == lanes)
            set_s64(r, v);
        else
            sgpr[r] = static_cast<uint32_t>(v);
    }
    uint64_t exec() const { return mask(exec_lo); }
    uint64_t vcc() const { return mask(vcc_lo); }
};

// Where FLAT_SCRATCH, XNACK_MASK and VCC are in the register file: they are the last ones of the
// allocation. A kernel whose code goes by both names has them twice here, equal behind each
// instruction.
struct Aliases {
    static constexpr uint32_t count = 6, first = flat_scratch_lo;
    // The register that is the same one as `reg` in an allocation of `size` SGPRs, or `reg`.
    static constexpr uint32_t other(uint32_t reg, uint32_t size) {
        if (reg - first < count) return reg - first + size - count;
        return reg + count - size < count ? reg + count - size + first : reg;
    }
};

// Bits of TRAPSTS, where they stay; MODE has one for each, from excp_en_shift on, that enables it.
namespace exception {
inline constexpr uint32_t invalid = 1, input_denormal = 2, divide_by_zero = 4, overflow = 8,
                          underflow = 16, inexact = 32, integer_divide_by_zero = 64, all = 127;
}

// MODE register fields (SEED-ELF-60..69).
namespace mode {
inline constexpr uint32_t round32_shift = 0, round64_shift = 2, denorm32_shift = 4,
                          denorm64_shift = 6;
inline constexpr uint32_t dx10_clamp = 1u << 8, ieee = 1u << 9, lod_clamped = 1u << 10,
                          debug = 1u << 11, fp16_ovfl = 1u << 23, pops_packer0 = 1u << 24,
                          gpr_idx_en = 1u << 27, vskip = 1u << 28;
inline constexpr uint32_t excp_en_shift = 12, excp_en = exception::all << excp_en_shift;
// Not the hardware's, which has nothing there, and hidden from the wave: its code reads TRAPSTS.
inline constexpr uint32_t reads_trapsts = 1u << 22;
// The same: its code goes straight from a barrier's signal to the wait, so that nobody counts them.
inline constexpr uint32_t whole_barriers = 1u << 21;
// With any of these somebody learns of exceptions.
inline constexpr uint32_t watches_exceptions = excp_en | reads_trapsts;
// With one of these vector instructions do something else than they say.
inline constexpr uint32_t changes_vector_code = gpr_idx_en | vskip;
}  // namespace mode

}  // namespace wj::machine
