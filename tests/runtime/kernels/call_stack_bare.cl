// clang-flags: -g0
#include "call_stack.cl"
