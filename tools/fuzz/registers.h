// Register conventions of generated programs. Random instructions read everything and write the
// free registers only, so that addresses stay inside the program's memory and loops end.
#pragma once

#include <cstdint>

namespace wj::fuzz {

// Vector registers: 0..11 addresses, 12..39 free, 40..47 control.
inline constexpr uint32_t v_global_a = 0, v_lds_a = 2, v_scratch_a = 3, v_global_b = 4, v_flat = 6,
                          v_lds_b = 8, v_offset = 9, v_index = 10, v_scratch_b = 11;
inline constexpr uint32_t first_free_vgpr = 12, end_free_vgpr = 40;
inline constexpr uint32_t v_lane = 40, v_trips = 41, v_counter = 42 /* + depth */;
inline constexpr uint32_t vgprs = 48, agprs = 32;

// Scalar registers: 0..3 addresses, 4..47 free, 48..71 control.
inline constexpr uint32_t s_global = 0, s_global_b = 2;
inline constexpr uint32_t first_free_sgpr = 4, end_free_sgpr = 48;
inline constexpr uint32_t s_counter = 48 /* + depth */, s_save = 52 /* + 2 * depth */,
                          s_buffer = 60 /* two V#s */, s_step = 68, s_offset = 69, s_temp = 70;
inline constexpr uint32_t sgprs = 72;
inline constexpr uint32_t max_depth = 3;

// Memory. The addresses of the registers above lie in the middle of the global buffer.
inline constexpr uint32_t global_bytes = 1 << 15, global_origin = 8192, lds_bytes = 8192,
                          scratch_bytes = 512;

}  // namespace wj::fuzz
