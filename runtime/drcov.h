// Reached code in the format of DynamoRIO's drcov, version 2 of log and module table: what
// Lighthouse for IDA and Binary Ninja, Cartographer for Ghidra and others read (dynamorio.org,
// "drcov"; Lighthouse's parsers/drcov.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace wj::runtime {

struct ReachedObject {
    uint64_t bytes = 0;                   // of the image
    std::map<uint64_t, uint64_t> blocks;  // bytes of each, by its offset in the image
};

// So many that a block's number of its object has 16 bits.
inline constexpr size_t drcov_objects = 65536;

// By name, which may not contain line ends. Text and, behind it, numbers in the host's order, which
// is the format's. The bases are no addresses: one object is behind the other.
std::string as_drcov(const std::map<std::string, ReachedObject>& objects);

}  // namespace wj::runtime
