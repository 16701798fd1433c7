#include "runtime/guest_code.h"

#include <cstring>
#include <string_view>

#include "frontend/decode.h"

namespace wj::runtime {
namespace {

std::string_view name_of(const Inst& inst) {
    return op_info(inst.op).name;
}

bool any_of(std::string_view name, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts)
        if (name.find(part) != std::string_view::npos) return true;
    return false;
}

}  // namespace

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
    return any_of(name_of(inst), {"branch", "setpc", "swappc", "s_call", "endpgm", "s_barrier",
                                  "s_sleep", "s_rfe", "s_trap"});
}

bool only_loads(const Inst& inst) {
    if (inst.format != Format::SMEM && inst.format < Format::DS)
        return !any_of(name_of(inst), {"sendmsg", "s_trap"});
    return !inst.gds &&
           any_of(name_of(inst), {"load", "ds_read", "inv", "wb", "time", "bpermute", "swizzle"}) &&
           !inst.lds;
}

}  // namespace wj::runtime
