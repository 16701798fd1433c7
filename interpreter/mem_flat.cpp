// FLAT, GLOBAL and SCRATCH instructions.

#include "interpreter/atomics.h"
#include "interpreter/mem_address.h"
#include "interpreter/transposed.h"
#include "machine/work_group.h"

namespace wj::interp {
namespace {

// There are no caches to empty.
void no_operation(Wave&, const Inst&) {}

// Up to 32 registers of a lane, those whose bit of M0 is set; holes keep their place in memory,
// too.
template <class Address>
void load_block(Wave& w, const Inst& inst) {
    const Address address(w, inst);
    const uint32_t mask = w.sgpr[machine::m0];
    const uint64_t exec = w.exec();
    alignas(64) uint32_t values[32][lanes];
    bool good = true;
    for_each_lane(mask, [&](uint32_t d) {
        for_each_lane(exec, [&](uint32_t lane) {
            good &= read_spot(w, address.spot(lane, 4 * d), lane, values[d][lane]);
        });
    });
    if (!good) return stop_with_fault(w, inst);
    for_each_lane(mask, [&](uint32_t d) { write_row(vrow(w, inst.dst[0], d), values[d], exec); });
}

template <class Address>
void store_block(Wave& w, const Inst& inst) {
    const Address address(w, inst);
    bool good = true;
    for_each_lane(w.exec(), [&](uint32_t lane) {
        for_each_lane(w.sgpr[machine::m0], [&](uint32_t d) {
            good = good &&
                   write_spot(w, address.spot(lane, 4 * d), lane, vrow(w, inst.vdata(), d)[lane]);
        });
    });
    if (!good) stop_with_fault(w, inst);
}

// global_load_tr16_b128 of gfx12.5, which transposes as ds_load_tr16_b128 does (CDNA5 ISA 11.2.4).
// With some lanes off it is undefined, without any it does nothing (10.9.2).
void load_transposed(Wave& w, const Inst& inst) {
    if (!w.exec()) return;
    if (w.exec() != machine::first_lanes(w.size))
        return stop(w, ExitKind::Unimplemented, "a transposed load with inactive lanes");
    const GlobalAddress address(w, inst);
    B128 read[lanes];
    bool good = true;
    for (uint32_t lane = 0; lane < w.size; ++lane) good &= address.read(w, lane, read[lane]);
    if (!good) return stop_with_fault(w, inst);
    write_transposed<16, 8>(w, inst, read);
}

// global_load_async_to_lds_*, global_store_async_from_lds_*: a VGPR holds the place in the LDS; the
// offset counts in both (CDNA5 ISA, 10.8.1). Done when they are issued, which is one of the orders
// that s_wait_asynccnt allows.
uint32_t lds_place(Wave& w, const Inst& inst, uint32_t lane) {
    return vrow(w, inst.vdata())[lane] + static_cast<uint32_t>(inst.offset);
}
template <class T>
void load_to_lds(Wave& w, const Inst& inst) {
    const GlobalAddress address(w, inst);
    const uint64_t exec = w.exec();
    T values[lanes] = {};
    bool good = true;
    for_each_lane(exec, [&](uint32_t lane) { good &= address.read(w, lane, values[lane]); });
    if (!good) return stop_with_fault(w, inst);
    for_each_lane(exec,
                  [&](uint32_t lane) { lds_write(w, lds_place(w, inst, lane), values[lane]); });
}
template <class T>
void store_from_lds(Wave& w, const Inst& inst) {
    const GlobalAddress address(w, inst);
    bool good = true;
    for_each_lane(w.exec(), [&](uint32_t lane) {
        good = good && address.write(w, lane, lds_read<T>(w, lds_place(w, inst, lane)));
    });
    if (!good) stop_with_fault(w, inst);
}

// Outside of clusters of several work-groups those of one are global loads (CDNA5 ISA, 10.7).
template <Handler plain>
void cluster_load(Wave& w, const Inst& inst) {
    if (w.group && w.group->in_cluster.cluster)
        return stop(
            w, ExitKind::Unimplemented,
            "cluster_load in clusters of several work-groups, to which M0 may send the data");
    plain(w, inst);
}

// clang-format off
#define WJ_LOADS_STORES(prefix, Address)                                                   \
    {Opcode::prefix##_load_ubyte, load<Address, Load::U8>},                                \
    {Opcode::prefix##_load_sbyte, load<Address, Load::I8>},                                \
    {Opcode::prefix##_load_ushort, load<Address, Load::U16>},                              \
    {Opcode::prefix##_load_sshort, load<Address, Load::I16>},                              \
    {Opcode::prefix##_load_dword, load<Address, Load::B32>},                               \
    {Opcode::prefix##_load_dwordx2, load<Address, Load::B64>},                             \
    {Opcode::prefix##_load_dwordx3, load<Address, Load::B96>},                             \
    {Opcode::prefix##_load_dwordx4, load<Address, Load::B128>},                            \
    {Opcode::prefix##_load_ubyte_d16, load<Address, Load::D16U8>},                         \
    {Opcode::prefix##_load_ubyte_d16_hi, load<Address, Load::D16HiU8>},                    \
    {Opcode::prefix##_load_sbyte_d16, load<Address, Load::D16I8>},                         \
    {Opcode::prefix##_load_sbyte_d16_hi, load<Address, Load::D16HiI8>},                    \
    {Opcode::prefix##_load_short_d16, load<Address, Load::D16B16>},                        \
    {Opcode::prefix##_load_short_d16_hi, load<Address, Load::D16HiB16>},                   \
    {Opcode::prefix##_store_byte, store<Address, Store::B8>},                              \
    {Opcode::prefix##_store_byte_d16_hi, store<Address, Store::HiB8>},                     \
    {Opcode::prefix##_store_short, store<Address, Store::B16>},                            \
    {Opcode::prefix##_store_short_d16_hi, store<Address, Store::HiB16>},                   \
    {Opcode::prefix##_store_dword, store<Address, Store::B32>},                            \
    {Opcode::prefix##_store_dwordx2, store<Address, Store::B64>},                          \
    {Opcode::prefix##_store_dwordx3, store<Address, Store::B96>},                          \
    {Opcode::prefix##_store_dwordx4, store<Address, Store::B128>}

constexpr HandlerEntry table[] = {
    WJ_LOADS_STORES(global, GlobalAddress),
    WJ_LOADS_STORES(flat, FlatAddress),
    WJ_LOADS_STORES(scratch, ScratchAddress),
    WJ_INTEGER_ATOMICS(global_atomic, GlobalAddress),
    WJ_INTEGER_ATOMICS(flat_atomic, FlatAddress),
    WJ_FLOAT_ATOMICS(global_atomic, GlobalAddress),
    WJ_FLOAT_ATOMICS(flat_atomic, FlatAddress),
    WJ_FLOAT_EXTREMES(global_atomic, GlobalAddress),
    WJ_FLOAT_EXTREMES(flat_atomic, FlatAddress),
    {Opcode::flat_atomic_csub, atomic<FlatAddress, rmw::CSub<uint32_t>>},
    {Opcode::global_atomic_cond_sub_u32, atomic<GlobalAddress, rmw::CondSub<uint32_t>>},
    {Opcode::flat_atomic_cond_sub_u32, atomic<FlatAddress, rmw::CondSub<uint32_t>>},
    {Opcode::global_load_tr_b128, load_transposed},
    {Opcode::global_load_monitor_b32, load<GlobalAddress, Load::B32>},
    {Opcode::global_load_monitor_b64, load<GlobalAddress, Load::B64>},
    {Opcode::global_load_monitor_b128, load<GlobalAddress, Load::B128>},
    {Opcode::flat_load_monitor_b32, load<FlatAddress, Load::B32>},
    {Opcode::flat_load_monitor_b64, load<FlatAddress, Load::B64>},
    {Opcode::flat_load_monitor_b128, load<FlatAddress, Load::B128>},
    {Opcode::cluster_load_b32, cluster_load<load<GlobalAddress, Load::B32>>},
    {Opcode::cluster_load_b64, cluster_load<load<GlobalAddress, Load::B64>>},
    {Opcode::cluster_load_b128, cluster_load<load<GlobalAddress, Load::B128>>},
    {Opcode::cluster_load_async_to_lds_b8, cluster_load<load_to_lds<uint8_t>>},
    {Opcode::cluster_load_async_to_lds_b32, cluster_load<load_to_lds<uint32_t>>},
    {Opcode::cluster_load_async_to_lds_b64, cluster_load<load_to_lds<uint64_t>>},
    {Opcode::cluster_load_async_to_lds_b128, cluster_load<load_to_lds<B128>>},
    {Opcode::global_load_async_to_lds_b8, load_to_lds<uint8_t>},
    {Opcode::global_load_async_to_lds_b32, load_to_lds<uint32_t>},
    {Opcode::global_load_async_to_lds_b64, load_to_lds<uint64_t>},
    {Opcode::global_load_async_to_lds_b128, load_to_lds<B128>},
    {Opcode::global_store_async_from_lds_b8, store_from_lds<uint8_t>},
    {Opcode::global_store_async_from_lds_b32, store_from_lds<uint32_t>},
    {Opcode::global_store_async_from_lds_b64, store_from_lds<uint64_t>},
    {Opcode::global_store_async_from_lds_b128, store_from_lds<B128>},
    {Opcode::global_load_block, load_block<GlobalAddress>},
    {Opcode::global_store_block, store_block<GlobalAddress>},
    {Opcode::scratch_load_block, load_block<ScratchAddress>},
    {Opcode::scratch_store_block, store_block<ScratchAddress>},
    {Opcode::global_inv, no_operation},
    {Opcode::global_wb, no_operation},
    {Opcode::global_wbinv, no_operation},
    {Opcode::global_prefetch_b8, no_operation},
    {Opcode::flat_prefetch_b8, no_operation},
    {Opcode::global_atomic_csub, atomic<GlobalAddress, rmw::CSub<uint32_t>>},
    {Opcode::global_load_dword_addtid, load<LaneAddress, Load::B32>},
    {Opcode::global_store_dword_addtid, store<LaneAddress, Store::B32>},
    {Opcode::global_load_lds_ubyte, load_lds<GlobalAddress, Load::U8>},
    {Opcode::global_load_lds_sbyte, load_lds<GlobalAddress, Load::I8>},
    {Opcode::global_load_lds_ushort, load_lds<GlobalAddress, Load::U16>},
    {Opcode::global_load_lds_sshort, load_lds<GlobalAddress, Load::I16>},
    {Opcode::global_load_lds_dword, load_lds<GlobalAddress, Load::B32>},
    {Opcode::global_load_lds_dwordx3, load_lds<GlobalAddress, Load::B96>},
    {Opcode::global_load_lds_dwordx4, load_lds<GlobalAddress, Load::B128>},
    {Opcode::scratch_load_lds_ubyte, load_lds<ScratchAddress, Load::U8>},
    {Opcode::scratch_load_lds_sbyte, load_lds<ScratchAddress, Load::I8>},
    {Opcode::scratch_load_lds_ushort, load_lds<ScratchAddress, Load::U16>},
    {Opcode::scratch_load_lds_sshort, load_lds<ScratchAddress, Load::I16>},
    {Opcode::scratch_load_lds_dword, load_lds<ScratchAddress, Load::B32>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> mem_flat_handlers() {
    return table;
}

}  // namespace wj::interp
