#include "backend_x64/writable_memory.h"

#include <new>

namespace wj::x64 {

bool WritableMemory::covers(const memory::AddressSpace& space, uint64_t begin, uint64_t end) try {
    const uint64_t epoch = space.epoch();
    if (space_ != &space || epoch_ != epoch || begin < begin_ || end > end_) {
        memory::Allocation a;
        if (!space.find(begin, a) || !(a.rights & memory::writable)) return false;
        space_ = &space;
        epoch_ = epoch;
        begin_ = a.guest;
        end_ = a.guest + a.size;
    }
    return begin >= begin_ && end <= end_ && begin < end;
} catch (const std::bad_alloc&) {
    return false;
}

}  // namespace wj::x64
