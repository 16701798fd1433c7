#include "runtime/guest_code.h"

#include <cstring>

#include "frontend/decode.h"

namespace wj::runtime {
bool fetch_inst(const Target& target, const memory::AddressSpace& memory, uint64_t pc, Inst& inst) {
    uint32_t words[4] = {};
    size_t count = 4;
    const void* code = nullptr;
    while (count && !(code = memory.translate(pc, count * 4, memory::readable))) count--;
    if (!code) return false;
    std::memcpy(words, code, count * 4);
    return decode(target, std::span<const uint32_t>(words, count), inst);
}

bool may_jump(const Inst& inst) {
    return contains_any(op_info(inst.op).name, {"branch", "setpc", "swappc", "s_call", "endpgm",
                                                "s_barrier", "s_sleep", "s_rfe", "s_trap"});
}

bool only_loads(const Inst& inst) {
    if (inst.format != Format::SMEM && inst.format < Format::DS)
        return !contains_any(op_info(inst.op).name, {"sendmsg", "s_trap"});
    return !inst.gds &&
           contains_any(op_info(inst.op).name,
                        {"load", "ds_read", "inv", "wb", "time", "bpermute", "swizzle"}) &&
           !inst.lds;
}

}  // namespace wj::runtime
