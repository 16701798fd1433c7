#include "runtime/hidden_layout.h"

#include <algorithm>
#include <cstring>

#include "frontend/decode.h"

namespace wj::runtime {
namespace {

constexpr int64_t libclc_bytes = 16;

}  // namespace

HiddenLayout detect_hidden_layout(const CodeObject& object, const KernelInfo& kernel,
                                  const Target& target) {
    if (object.version < 5 || kernel.metadata.language != "OpenCL C") return HiddenLayout::Standard;
    if (kernel.descriptor.user_sgpr(UserSgpr::DispatchPtr) < 0) return HiddenLayout::Standard;
    int kernarg = kernel.descriptor.user_sgpr(UserSgpr::KernargSegmentPtr);
    uint32_t hidden = UINT32_MAX;
    for (const KernelArg& arg : kernel.metadata.args)
        if (is_hidden(arg.kind)) hidden = std::min(hidden, arg.offset);
    if (kernarg < 0 || hidden == UINT32_MAX) return HiddenLayout::Standard;
    auto code = object.bytes_at(kernel.entry_address, kernel.code_size);
    for (size_t at = 0; code && at + 4 <= code->size();) {
        uint32_t words[4] = {};
        size_t count = std::min<size_t>(4, (code->size() - at) / 4);
        std::memcpy(words, code->data() + at, count * 4);
        Inst inst;
        bool valid = decode(target, std::span<const uint32_t>(words, count), inst);
        at += valid ? inst.size : 4;
        if (!valid || inst.format != Format::SMEM || !inst.sbase().is(Operand::Kind::Sgpr) ||
            inst.sbase().reg != kernarg)
            continue;
        if (inst.offset >= int64_t{hidden} + libclc_bytes) return HiddenLayout::Standard;
    }
    return HiddenLayout::Libclc;
}

}  // namespace wj::runtime
