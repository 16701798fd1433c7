// Names that processors have beside "gfx803": LLVM's table of processors ("User Guide for AMDGPU
// Backend", Processors).
#pragma once

#include <string>
#include <string_view>

namespace wj {

// "fiji" -> "gfx803"; every other name is returned as it is.
std::string_view processor_name(std::string_view name);
// "gfx803" -> "fiji, polaris10, polaris11"; empty where there are none.
std::string alternative_names(std::string_view processor);

}  // namespace wj
