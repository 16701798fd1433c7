#include "runtime/drcov.h"

#include <algorithm>

#include "frontend/code_object_bytes.h"

namespace wj::runtime {
namespace {

struct Entry {
    uint32_t start = 0;
    uint16_t size = 0, module = 0;
};
static_assert(sizeof(Entry) == 8);

// So long that what is left of an instruction is one.
constexpr uint64_t most_bytes = 65532;

}  // namespace

std::string as_drcov(const std::map<std::string, ReachedObject>& objects) {
    std::string modules, entries;
    uint64_t base = 0, count = 0;
    uint16_t id = 0;
    for (const auto& [name, object] : objects) {
        modules += std::to_string(id) + ", " + hex(base) + ", " + hex(base + object.bytes) +
                   ", 0x0, " + name + '\n';
        for (const auto& [begin, bytes] : object.blocks)
            for (uint64_t done = 0; done < bytes; done += most_bytes, count++) {
                const Entry entry{static_cast<uint32_t>(begin + done),
                                  static_cast<uint16_t>(std::min(bytes - done, most_bytes)), id};
                entries.append(reinterpret_cast<const char*>(&entry), sizeof entry);
            }
        base += object.bytes;
        id++;
    }
    return "DRCOV VERSION: 2\nDRCOV FLAVOR: wavejit\nModule Table: version 2, count " +
           std::to_string(objects.size()) + "\nColumns: id, base, end, entry, path\n" + modules +
           "BB Table: " + std::to_string(count) + " bbs\n" + entries;
}

}  // namespace wj::runtime
