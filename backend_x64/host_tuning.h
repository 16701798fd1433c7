// What is best on one maker's processors and not on another's.
#pragma once

#include <cstdint>

namespace wj::x64 {

struct HostTuning {
    // Whether waves that read rows one behind the other fetch those to come: for processors that
    // do not do so well enough by themselves.
    bool fetches_streams = true;
    // How many waves ahead.
    uint32_t prefetch_waves = 64;
};

HostTuning host_tuning();

}  // namespace wj::x64
