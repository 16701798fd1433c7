// What an address space holds, as a value: allocations and mappings, their addresses, and the bytes
// behind them. Capture files are made of it (runtime/capture.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "memory/address_space.h"
#include "memory/reserved_addresses.h"

namespace wj::memory {

// An allocation, or host memory that is mapped.
struct ImageRegion {
    uint64_t id = 0;
    uint64_t guest = 0, size = 0;
    uint64_t reach = 0;  // Allocation::reach
    uint32_t rights = 0;
    Extent extent = Extent::Pages;
    uint32_t block = 0;   // the number of the block that holds its bytes
    uint64_t offset = 0;  // of its first byte there
    std::string label;
    // Whole pages whose rights are not the region's, by address.
    struct Pages {
        uint64_t guest = 0, bytes = 0;
        uint32_t rights = 0;
    };
    std::vector<Pages> pages;
};

// Whole pages of host memory. Several regions may show the same one.
struct ImageBlock {
    uint64_t bytes = 0;
    struct Run {
        uint64_t offset = 0;
        std::span<const std::byte> bytes;
    };
    std::vector<Run> runs;  // by offset, apart; what lies between them is zero
};

struct Image {
    std::vector<ImageRegion> regions;
    std::vector<ImageBlock> blocks;
    std::vector<std::shared_ptr<const void>> holders;  // of what the runs' bytes are in
};

// So much memory, in all regions, may an image have: 256 GiB.
inline constexpr uint64_t most_image_bytes = uint64_t{1} << 38;

// The runs' bytes are the host's memory itself: nobody frees it while the image is used. Pages that
// kernels may not read, or that the host has given back, are zero.
Image take_image(const AddressSpace& space, const std::function<bool(const Allocation&)>& wanted);

// InvalidArgument: what put_image() could not place whatever the process has where.
Status check_image(const Image& image);

// What has to stay as long as the address space that an image was put into.
struct PlacedImage {
    std::vector<std::shared_ptr<const HostPages>> pages;
    std::vector<ReservedAddresses> reserved;
};
// Into an empty address space. identity: at the same addresses of the host; else anywhere, and the
// host gets nothing at these addresses. InvalidArgument: check_image(), or with identity the
// process has something at an address, or memory is seen at several.
Result<PlacedImage> put_image(const Image& image, AddressSpace& space, bool identity);
// For identity memory: keeps others in the process from the addresses until put_image() is next. Of
// an image that check_image() refuses, none.
std::vector<ReservedAddresses> hold_addresses(const Image& image);

}  // namespace wj::memory
