// Labels of allocations (AddressSpace::allocate) that others ask for.
#pragma once

namespace wj::memory {

// HSA signals. The host and device libraries use them by atomics alone.
inline constexpr const char* signals_label = "signals";

}  // namespace wj::memory
