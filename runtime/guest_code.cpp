#include "runtime/guest_code.h"

#include <cstring>

#include "frontend/decode.h"
#include "frontend/effects.h"

namespace wj::runtime {
bool fetch_inst(const Target& target, const memory::AddressSpace& memory, uint64_t pc, Inst& inst) {
    uint32_t words[most_instruction_words] = {};
    size_t count = 4;
    const void* code = nullptr;
    while (count && !(code = memory.translate(pc, count * 4, memory::readable))) count--;
    if (!code) return false;
    std::memcpy(words, code, count * 4);
    return decode(target, std::span<const uint32_t>(words, count), inst);
}

bool may_jump(const Inst& inst) {
    return leaves_block(effects(inst.op));
}

bool only_loads(const Inst& inst) {
    const Effects& e = effects(inst.op);
    return e.access != MemoryAccess::Store && e.access != MemoryAccess::Atomic && !e.messages &&
           !e.unmasked && !inst.gds && !inst.lds && inst.format != Format::EXP;
}

}  // namespace wj::runtime
