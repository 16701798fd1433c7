// Conversion between typed buffer elements and register components (gfx9 data and number
// formats).
#pragma once

#include <cstdint>

namespace wj::interp {

enum class NumberFormat : uint8_t { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, SnormNz, Float };

// Unified numbers name a data and a number format at once: gfx10's have seven bits, gfx11's six
// (LLVM, UfmtGFX10 and UfmtGFX11).
struct BufferFormat {
    uint8_t data, number;
};
BufferFormat unified_format(uint32_t number, bool gfx11);

// Bytes of an element; 0 for the invalid and reserved formats.
uint32_t element_bytes(uint32_t data_format);
uint32_t element_components(uint32_t data_format);
bool number_format_known(uint32_t number_format);
bool is_integer_format(uint32_t number_format);

// Components as they arrive in registers: f32 bits or 32-bit integers. Absent ones are 0, 0, 0 and
// one.
void decode_element(uint32_t data_format, uint32_t number_format, const uint8_t* element,
                    uint32_t out[4]);
void encode_element(uint32_t data_format, uint32_t number_format, const uint32_t in[4],
                    uint8_t* element);

// The 16-bit forms of the same components (packed d16).
uint16_t component_to_d16(uint32_t number_format, uint32_t component);
uint32_t component_from_d16(uint32_t number_format, uint16_t component);

}  // namespace wj::interp
