// libFuzzer: a file as a code object, a bundle of some, and metadata of either kind.
#include "frontend/metadata.h"
#include "tests/frontend/exercise_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
    wj::test::exercise_object(bytes);
    wj::test::exercise_bundle(bytes);
    (void)wj::parse_metadata_msgpack(bytes);
    (void)wj::parse_metadata_yaml({reinterpret_cast<const char*>(data), size});
    return 0;
}
