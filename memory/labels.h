// Labels of allocations (AddressSpace::allocate) that others ask for.
#pragma once

namespace wj::memory {

// HSA signals. The host and device libraries use them by atomics alone.
inline constexpr const char* signals_label = "signals";

// What the runtime itself puts there for a dispatch.
inline constexpr const char* service_label = "dispatch packets and arguments";

}  // namespace wj::memory
