// Containers of code objects: clang offload bundles, plain and compressed, and the host programs
// and libraries that carry them. Needs zlib and zstd.
//
//   auto found = find_code_objects_in_file(path);              // or find_code_objects(bytes)
//   const FoundCodeObject* best = select_code_object(*found, agent_target);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "frontend/code_object_target.h"

namespace wj {

// One entry of a bundle, the host's included.
struct BundleEntry {
    std::string id;                  // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"
    std::string kind;                // "hip", "hipv4", "openmp", "host", ...
    std::string triple;              // "amdgcn-amd-amdhsa--gfx90a:xnack-": the rest of the id
    std::optional<TargetId> target;  // of amdgcn entries with a known processor
    uint64_t offset = 0, size = 0;   // in the bundle, uncompressed if it was compressed
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // keeps `bytes` alive when they were decompressed, else
                                        // null: then they point into the caller's bytes
};

struct Bundle {
    std::vector<BundleEntry> entries;
    uint64_t size = 0;  // bytes of the input that the bundle takes
    bool compressed = false;
    uint64_t uncompressed_size = 0;  // of a compressed one
};

// Reads the bundle at the front of `bytes`: "__CLANG_OFFLOAD_BUNDLE__", or "CCOB" of version 1, 2,
// 3 with zlib or zstd.
Result<Bundle> read_bundle(std::span<const std::byte> bytes);

// All bundles of a section such as .hip_fatbin: several may follow each other with padding between.
// Decompressed they may take 4 GiB together.
Result<std::vector<BundleEntry>> read_bundles(std::span<const std::byte> bytes);

struct FoundCodeObject {
    std::string id;      // bundle id; for a bare code object its ISA name
    std::string origin;  // "a.out, .hip_fatbin + 0x1000, bundle 0, entry 1"
    TargetId target;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // null: `bytes` point into the caller's
};

// Lists every AMDGPU code object in a code object, a bundle, an ELF program or library, or an LLVM
// offload binary. Errors name what the bytes are when there is none.
Result<std::vector<FoundCodeObject>> find_code_objects(std::span<const std::byte> bytes,
                                                       std::string_view name = "input");
Result<std::vector<FoundCodeObject>> find_code_objects_in_file(const std::string& path);

// Host ELF with a .hip_fatbin section (or an OpenMP/offload section with AMDGPU images).
bool is_hip_program(std::span<const std::byte> bytes);

// The object that runs on `agent`, or nullptr. One that states more features is preferred, and a
// specific processor over a generic one.
const FoundCodeObject* select_code_object(const std::vector<FoundCodeObject>& objects,
                                          const TargetId& agent);

// A file mapped read-only. Errors: NotFound, HostError. Changing the file while it is mapped
// changes the bytes, truncating it makes reads fail as they do for any mapped program.
struct MappedFile {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};
Result<MappedFile> map_file(const std::string& path);

}  // namespace wj
