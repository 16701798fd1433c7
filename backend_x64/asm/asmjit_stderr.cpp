// The stream that AsmJit's debug output goes to: see cmake/asmjit_pic.cmake.
#include <cstdio>

extern "C" __attribute__((visibility("hidden"))) FILE* wj_asmjit_stderr;
FILE* wj_asmjit_stderr = nullptr;

namespace {
[[maybe_unused]] const bool set = (wj_asmjit_stderr = stderr) != nullptr;
}
