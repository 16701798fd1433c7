// /tmp/perf-PID.map, so that `perf` names translated blocks. Written when WAVEJIT_PERF=1.
#pragma once

#include "backend_x64/code_cache.h"

namespace wj::x64 {

class PerfMap {
public:
    PerfMap();
    ~PerfMap();
    PerfMap(const PerfMap&) = delete;
    PerfMap& operator=(const PerfMap&) = delete;
    void add(const BlockRecord& block);

private:
    void* file_ = nullptr;
};

}  // namespace wj::x64
