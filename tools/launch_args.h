// --arg texts of `wavejit launch`.
//   buf:SIZE[:fill=BYTE|:word=U32|:iota=u32|f32|:file=PATH][:dump=PATH][:compare=PATH][:print=COUNTxTYPE]
//   i8: u8: i16: u16: i32: u32: i64: u64: f32: f64:VALUE    hex:BYTES    local:SIZE
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wavejit/wavejit.h"

namespace wj::tools {

struct LaunchArg {
    std::string text;            // as given
    std::vector<uint8_t> value;  // by-value bytes; buffers: the device address
    bool is_buffer = false, is_local = false;
    uint64_t size = 0;  // of a buffer or of local memory
    uint64_t address = 0;
    std::string dump, compare, print;
    bool is_looked_at() const { return !dump.empty() || !compare.empty() || !print.empty(); }

    // Parses, allocates and fills; fails with a text that names the argument.
    static LaunchArg make(wj_context* context, const std::string& text);
    wj_argument argument() const;
    // Dumps, prints and compares after the launch; false = a comparison failed.
    bool finish(wj_context* context) const;
};

std::vector<uint8_t> parse_hex(const std::string& digits, const std::string& what);

}  // namespace wj::tools
