// Two layouts of OpenCL's implicit arguments exist in code objects V5 and V6 that are otherwise
// alike. The metadata always describes LLVM's: block counts, group sizes, remainders, global
// offsets. libclc (get_global_offset.cl, get_work_dim.cl for amdgcn) however reads an older one at
// the same address: four dwords work_dim, global offset x, y, z. Only the code tells which library
// a kernel was linked with.
#pragma once

#include "frontend/code_object.h"
#include "frontend/target.h"

namespace wj::runtime {

enum class HiddenLayout : uint8_t {
    Standard,
    Libclc,
    Unknown,  // the kernel may read implicit arguments, and nothing shows which
};

// Looks at what the kernel, and if it calls any the functions of the object, load from the implicit
// arguments: libclc never reads behind the four dwords, or parts of dwords, and takes sizes from
// the dispatch packet. Names of ROCm's device libraries say it, too.
HiddenLayout detect_hidden_layout(const CodeObject& object, const KernelInfo& kernel,
                                  const Target& target);

}  // namespace wj::runtime
