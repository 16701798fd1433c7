// What the policy bits of an access say of the caches.
#pragma once

#include "frontend/inst.h"

namespace wj {

// It goes around the caches of its compute unit: loads of atomic and volatile variables, and stores
// that wait to be seen. (GLC and SLC together are accesses that want no room in caches; gfx12's
// have a scope beyond their compute unit; AMDGPU usage guide, "Memory Model".)
inline bool is_coherent(const Inst& inst) {
    return (inst.glc && !inst.slc) || inst.scc || inst.scope || inst.gds;
}

}  // namespace wj
