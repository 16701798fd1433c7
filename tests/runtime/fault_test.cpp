// Bad kernels and bad requests: each ends with a status and a text that says what and where.
#include <fstream>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class FaultTest : public Gpu {
protected:
    void has(const char* part) {
        EXPECT_NE(std::string(fault.report).find(part), std::string::npos)
            << part << " is not in:\n"
            << fault.report;
    }
    void expect_lanes(uint64_t lanes) { EXPECT_EQ(fault.lane_mask, lanes) << fault.report; }
    void error_has(const char* part) {
        EXPECT_NE(error().find(part), std::string::npos) << part << " is not in: " << error();
    }
};

TEST_P(FaultTest, LoadOutOfBounds) {
    wj_kernel* k = kernel("asm", "load_at");
    ASSERT_TRUE(k);
    uint64_t base = buffer(8192);
    // 4096 bytes a lane: lanes 0 and 1 are inside.
    ASSERT_EQ(run(k, packed(base, 4096, 10)), WJ_GUEST_FAULT) << error();
    EXPECT_STREQ(fault.kernel, "load_at");
    EXPECT_EQ(fault.access, WJ_ACCESS_READ);
    EXPECT_EQ(fault.address, base + 8192);
    expect_lanes(0x3fc);
    EXPECT_NE(std::string(fault.instruction).find("global_load_dword"), std::string::npos)
        << fault.instruction;
    EXPECT_EQ(fault.word_count, 2u);
    has("lanes       2-9");
    char addresses[64];
    std::snprintf(addresses, sizeof addresses, "lane 2 0x%llx, lane 3 0x%llx,",
                  static_cast<unsigned long long>(base + 8192),
                  static_cast<unsigned long long>(base + 12288));
    has(addresses);
    has("load_at+0x");
    EXPECT_NE(std::string(fault.memory).find("8192 bytes at"), std::string::npos) << fault.memory;
}

// The same as numbers, from a prepared launch, too, without and behind a text.
TEST_P(FaultTest, AsData) {
    wj_kernel* k = kernel("asm", "load_at");
    ASSERT_TRUE(k);
    const uint64_t base = buffer(8192);
    ASSERT_EQ(run(k, packed(base, 4096, 10)), WJ_GUEST_FAULT) << error();
    const auto expect = [&](const wj_fault_data& data) {
        EXPECT_EQ(data.status, WJ_GUEST_FAULT);
        EXPECT_EQ(data.access, WJ_ACCESS_READ);
        EXPECT_EQ(data.access_bytes, 4u);
        EXPECT_EQ(data.pc, fault.pc);
        EXPECT_EQ(data.kernel_offset, fault.kernel_offset);
        EXPECT_EQ(data.address, base + 8192);
        EXPECT_EQ(data.lane_mask, 0x3fcu);
        EXPECT_TRUE(data.lanes_are_exact);
        ASSERT_TRUE(data.addresses);
        for (uint32_t l = 2; l < 10; l++) EXPECT_EQ(data.addresses[l], base + 4096 * l);
    };
    wj_fault_data data = WJ_INIT(wj_fault_data);
    ASSERT_EQ(wj_dispatch_get_fault_data(dispatch.get(), &data), WJ_OK);
    expect(data);
    const wj_launch_options o = packed(base, 4096, 10);
    wj_prepared* prepared = nullptr;
    ASSERT_EQ(wj_launch_prepare(k, &o, &prepared), WJ_OK) << error();
    for (int n = 0; n < 3; n++) {
        ASSERT_EQ(wj_prepared_launch(prepared, nullptr), WJ_GUEST_FAULT);
        wj_fault_data again = WJ_INIT(wj_fault_data);
        ASSERT_EQ(wj_prepared_get_fault_data(prepared, &again), WJ_OK);
        expect(again);
        EXPECT_EQ(again.number, data.number);
        if (n == 1) continue;
        EXPECT_NE(error().find("lanes       2-9"), std::string::npos) << error();
        EXPECT_NE(error().find("load_at+0x"), std::string::npos) << error();
        fault = WJ_INIT(wj_fault);
        ASSERT_EQ(wj_prepared_get_fault(prepared, &fault), WJ_OK);
        has("global_load_dword");
        EXPECT_NE(std::string(fault.memory).find("8192 bytes at"), std::string::npos);
    }
    wj_prepared_release(prepared);
    // Another instruction, another number; nothing of what ended well.
    ASSERT_EQ(run(kernel("asm", "store_at"), packed(base, 4096, 10)), WJ_GUEST_FAULT);
    wj_fault_data other = WJ_INIT(wj_fault_data);
    ASSERT_EQ(wj_dispatch_get_fault_data(dispatch.get(), &other), WJ_OK);
    EXPECT_NE(other.number, data.number);
    ASSERT_EQ(run(k, packed(base, 0, 10)), WJ_OK);
    EXPECT_EQ(wj_dispatch_get_fault_data(dispatch.get(), &other), WJ_NOT_FOUND);
}

// What is gathered is the dwords that hold them; the report has the lanes' own addresses.
TEST_P(FaultTest, NarrowLoadsOutOfBounds) {
    const uint64_t base = buffer(8192);
    for (const uint32_t stride : {3, 5, 7})
        for (const bool word : {false, true}) {
            wj_kernel* k = kernel("asm", word ? "load_word_at" : "load_byte_at");
            ASSERT_TRUE(k);
            constexpr uint32_t items = 40;
            const uint64_t begin = base + 8192 - 30, inside = (30 + stride - 1) / stride;
            SCOPED_TRACE(testing::Message() << "stride " << stride << ", word " << word);
            // A word may begin inside and end outside.
            const uint64_t first = word && 30 % stride == 1 ? inside - 1 : inside;
            ASSERT_EQ(run(k, packed(begin, stride, items)), WJ_GUEST_FAULT) << error();
            EXPECT_EQ(fault.address, begin + first * stride) << fault.report;
            expect_lanes(((uint64_t{1} << items) - 1) & (~uint64_t{0} << first));
            has(word ? "global_load_sshort" : "global_load_ubyte");
        }
}

TEST_P(FaultTest, StoreOutOfBounds) {
    wj_kernel* k = kernel("asm", "store_at");
    ASSERT_TRUE(k);
    uint64_t base = buffer(4096);
    ASSERT_EQ(run(k, packed(base, 4096, 10)), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(fault.access, WJ_ACCESS_WRITE);
    EXPECT_EQ(fault.address, base + 4096);
    expect_lanes(0x3fe);
    EXPECT_NE(std::string(fault.instruction).find("global_store_dword"), std::string::npos)
        << fault.instruction;
    has("write of 4 bytes");
}

// Checked memory ends where an allocation or registered memory does; with identity the host's pages
// are the limit.
TEST_P(FaultTest, RangesEndAtTheirLastByte) {
    if (GetParam().memory == WJ_MEMORY_WINDOW) GTEST_SKIP() << "registers no memory: window_test";
    alignas(4096) static uint8_t page[4096];
    std::memset(page, 0x11, sizeof page);
    constexpr uint64_t inside = 40, offset = 64;
    const bool checked = GetParam().memory == WJ_MEMORY_CHECKED;
    uint64_t registered = 0;
    ASSERT_EQ(
        wj_memory_register(context.get(), page + offset, inside, WJ_READ | WJ_WRITE, &registered),
        WJ_OK);
    for (const uint64_t base : {registered, buffer(inside)}) {
        ASSERT_EQ(run(kernel("asm", "store_at"), packed(base, 4, 64)),
                  checked ? WJ_GUEST_FAULT : WJ_OK);
        if (!checked) continue;
        EXPECT_EQ(fault.address, base + inside) << fault.report;
        expect_lanes(~uint64_t{0} << (inside / 4));
        ASSERT_EQ(run(kernel("asm", "load_at"), packed(base, 4, 64)), WJ_GUEST_FAULT);
        expect_lanes(~uint64_t{0} << (inside / 4));
        EXPECT_EQ(run(kernel("asm", "store_at"), packed(base, 4, inside / 4)), WJ_OK) << error();
        EXPECT_EQ(run(kernel("asm", "load_at"), packed(base, 4, inside / 4)), WJ_OK) << error();
    }
    EXPECT_NE(page[offset + inside - 1], 0x11);
    EXPECT_EQ(page[offset - 1], 0x11);
    EXPECT_EQ(page[offset + inside] == 0x11, checked);
    const uint8_t byte = 1;
    EXPECT_EQ(wj_memory_write(context.get(), registered + inside, &byte, 1), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_unregister(context.get(), registered), WJ_OK);
}

// Waves that follow each other in translated code: the faulting one has its own name.
TEST_P(FaultTest, InAStreamOfWaves) {
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    wj_kernel* k = kernel("ids", "copy");
    ASSERT_TRUE(k);
    constexpr uint32_t bytes = 10 * 4096, items = 20000;
    const uint64_t in = buffer(4 * items), out = buffer(bytes);
    for (const uint32_t block : {192u, 256u})
        for (const uint32_t written : {bytes / 4, 9000u, 9064u, 9137u, 9200u, 9230u}) {
            // The first item that is outside: in a work-group far behind the first one.
            const uint32_t item = written % block, first_lane = item % 64;
            ASSERT_GT(written / block, 32u);
            SCOPED_TRACE(testing::Message() << "work-groups of " << block << ", item " << written);
            const uint64_t to = out + bytes - 4 * written;
            wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(to)};
            for (uint32_t n = 0; n < 2; n++) {  // also when nothing has to be translated
                ASSERT_EQ(run(k, launch(args, {items / block * block}, {block})), WJ_GUEST_FAULT)
                    << error();
                EXPECT_EQ(fault.address, out + bytes);
                EXPECT_EQ(fault.work_group[0], written / block);
                EXPECT_EQ(fault.wave, item / 64);
                expect_lanes(~0ull << first_lane);
            }
        }
}

// The same where waves begin with their first chunk, but not all at once.
TEST_P(FaultTest, InAStreamOfWavesThatGather) {
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    wj_kernel* k = kernel("ids", "indexed");
    ASSERT_TRUE(k);
    constexpr uint32_t block = 256, items = 80 * block, bytes = 10 * 4096;
    const uint64_t in = buffer(bytes), index = buffer(4 * items), out = buffer(4 * items);
    auto* const indices = host<uint32_t>(index);
    for (const uint32_t bad : {9000u, 9064u, 9137u, 9215u, 20223u}) {
        SCOPED_TRACE(testing::Message() << "item " << bad);
        for (uint32_t i = 0; i < items; ++i) indices[i] = i * 7 % (bytes / 4);
        indices[bad] = bytes / 4;
        wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(index), WJ_POINTER(out)};
        for (uint32_t n = 0; n < 2; n++) {
            ASSERT_EQ(run(k, launch(args, {items}, {block})), WJ_GUEST_FAULT) << error();
            EXPECT_EQ(fault.address, in + bytes);
            EXPECT_EQ(fault.work_group[0], bad / block);
            EXPECT_EQ(fault.wave, bad % block / 64);
            expect_lanes(uint64_t{1} << bad % 64);
        }
        // All of them good, and what is written ends there.
        indices[bad] = 0;
        const uint32_t last = bad % (bytes / 4);
        const uint64_t end = buffer(bytes) + bytes, to = end - 4 * last;
        wj_argument other[] = {WJ_POINTER(in), WJ_POINTER(index), WJ_POINTER(to)};
        ASSERT_EQ(run(k, launch(other, {items}, {block})), WJ_GUEST_FAULT) << error();
        EXPECT_EQ(fault.address, end);
        EXPECT_EQ(fault.work_group[0], last / block);
        EXPECT_EQ(fault.wave, last % block / 64);
        expect_lanes(~0ull << last % 64);
    }
}

// Work-groups that follow each other, their waves in rows: the faulting one has its own name, and
// those in front of it are counted.
TEST_P(FaultTest, BehindABarrierOfALaterWorkGroup) {
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    wj_kernel* k = kernel("asm", "store_after_barrier");
    ASSERT_TRUE(k);
    constexpr uint32_t group = 28, bytes = group * 1024, pages = bytes / 4096;
    static_assert(bytes % 4096 == 0 && pages > 1);
    const uint64_t out = buffer(bytes);
    for (uint32_t n = 0; n < 2; n++) {  // also when nothing has to be translated
        ASSERT_EQ(run(k, unlimited(packed(out, 1, 40 * 256, 256))), WJ_GUEST_FAULT) << error();
        EXPECT_EQ(fault.address, out + bytes);
        EXPECT_EQ(fault.work_group[0], group);
        EXPECT_EQ(fault.wave, 0u);
        for (uint32_t i = 0; i < bytes / 4; i++)
            ASSERT_EQ(host<uint32_t>(out)[i], i % 256 / 64 == 1 ? 0 : i / 256 + 1) << i;
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        EXPECT_EQ(r.work_groups, group);
        EXPECT_EQ(r.waves, (group + 1) * 4);
    }
}

// A matrix whose last column begins one row in front of the end of its memory: what engines hold
// back of columns must not end there in another wave's name.
TEST_P(FaultTest, InTheLastColumn) {
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    wj_kernel* k = kernel("ids", "transpose");
    ASSERT_TRUE(k);
    constexpr uint32_t w = 64, h = 65, bytes = ((w - 1) * h + 1) * 4;
    static_assert(bytes % 4096 == 0);
    const uint64_t in = buffer(w * h * 4), out = buffer(bytes);
    for (uint32_t i = 0; i < w * h; i++) host<uint32_t>(in)[i] = ~i;
    wj_argument args[] = {WJ_POINTER(in), WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(args, {w, h}, {w, 5})), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(fault.address, out + bytes);
    EXPECT_EQ(fault.wave, 1u);
    expect_lanes(1ull << 63);
    for (uint32_t x = 0; x < w; x++) EXPECT_EQ(host<uint32_t>(out)[x * h], ~x);
}

// In a loop that runs lane by lane, or as engines like: one lane reads behind the table.
TEST_P(FaultTest, InALoopOfUnevenLanes) {
    wj_kernel* k = kernel("ids", "rows");
    ASSERT_TRUE(k);
    constexpr uint32_t items = 256, bad = 137, most = 23;
    const uint64_t begin = buffer(4 * (items + 1)), values = buffer(4 * items * most),
                   table = buffer(4096), out = buffer(4 * items);
    uint32_t* const b = host<uint32_t>(begin);
    for (uint32_t i = 0; i < items; i++) b[i + 1] = b[i] + 1 + i * 7 % most;
    for (uint32_t i = 0; i < 1024; i++) host<uint32_t>(table)[i] = i;
    for (uint32_t i = 0; i < b[items]; i++) host<uint32_t>(values)[i] = i * 5 % 1024;
    wj_argument args[] = {WJ_POINTER(begin), WJ_POINTER(values), WJ_POINTER(table),
                          WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(args, {items}, {256})), WJ_OK) << error();
    for (uint32_t i = 0; i < items; i++) {
        uint32_t sum = 0;
        for (uint32_t n = b[i]; n < b[i + 1]; n++) sum += n * 5 % 1024;
        ASSERT_EQ(host<uint32_t>(out)[i], sum) << i;
    }
    ASSERT_GT(b[bad + 1] - b[bad], 3u);
    host<uint32_t>(values)[b[bad] + 2] = 1024 + 3;  // in its third iteration
    ASSERT_EQ(run(k, launch(args, {items}, {256})), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(fault.address, table + 4096 + 12);
    EXPECT_EQ(fault.wave, bad / 64);
    EXPECT_NE(std::string(fault.instruction).find("load_dword"), std::string::npos);
    EXPECT_TRUE(fault.lane_mask >> bad % 64 & 1) << fault.report;
}

TEST_P(FaultTest, StoreToCode) {
    wj_kernel* k = kernel("asm", "store_at");
    ASSERT_TRUE(k);
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(k, &info), WJ_OK);
    // SEED-ELF-05: code and read-only data, however small the object is.
    EXPECT_EQ(run(k, packed(info.entry, 0, 1)), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(run(k, packed(info.entry & ~uint64_t{4095}, 0, 1)), WJ_GUEST_FAULT) << error();
}

// Programs set constants that have a name, and HIP 6 does it by a kernel.
TEST_P(FaultTest, StoreToANamedConstant) {
    uint64_t address = 0, size = 0;
    wj_kernel* k = kernel("asm", "store_at");
    ASSERT_TRUE(k);
    ASSERT_EQ(wj_module_get_variable(modules.back().get(), "named_constant", &address, &size),
              WJ_OK)
        << error();
    EXPECT_EQ(size, 4u);
    const auto* value = reinterpret_cast<const uint32_t*>(address);
    EXPECT_EQ(*value, 77u);
    EXPECT_EQ(run(k, packed(address, 0, 1)), WJ_OK) << error();
    EXPECT_EQ(*value, 0u);
}

TEST_P(FaultTest, NullPointers) {
    wj_kernel* k = kernel("asm", "load_at");
    ASSERT_TRUE(k);
    EXPECT_EQ(run(k, packed(0, 4)), WJ_GUEST_FAULT) << error();
    // Not canonical on the host.
    EXPECT_EQ(run(k, packed(0x4000'0000'0000'0000, 4)), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(run(kernel("asm", "scalar_load"), packed(16, 0)), WJ_GUEST_FAULT) << error();
    EXPECT_EQ(fault.access, WJ_ACCESS_READ);
    has("s_load_dword");
}

TEST_P(FaultTest, Trap) {
    ASSERT_EQ(run(kernel("asm", "trap"), packed(0, 0)), WJ_GUEST_TRAP) << error();
    has("trap 2");
    has("s_trap");
}

TEST_P(FaultTest, IllegalInstruction) {
    ASSERT_EQ(run(kernel("asm", "illegal"), packed(0, 0)), WJ_ILLEGAL_INSTRUCTION) << error();
    EXPECT_EQ(fault.kernel_offset, 4);
    EXPECT_EQ(fault.words[0], 0xbfffffffu);
}

// In a function that the linker has put in front of its kernel.
TEST_P(FaultTest, InAFunctionInFront) {
    ASSERT_EQ(run(kernel("asm", "fault_in_front"), packed(0, 0)), WJ_ILLEGAL_INSTRUCTION)
        << error();
    EXPECT_LT(fault.kernel_offset, 0);
    has(", in_front + 0x4: ");
}

TEST_P(FaultTest, RefusedInstruction) {
    ASSERT_EQ(run(kernel("asm", "refused"), packed(0, 0)), WJ_UNIMPLEMENTED) << error();
    EXPECT_EQ(fault.kernel_offset, 4);
    has("image_load");
}

TEST_P(FaultTest, RegisterBeyondAllocation) {
    ASSERT_EQ(run(kernel("asm", "beyond_allocation"), packed(0, 0)), WJ_ILLEGAL_INSTRUCTION)
        << error();
    has("v100");
}

TEST_P(FaultTest, JumpIntoNowhere) {
    wj_kernel* k = kernel("asm", "jump_to");
    ASSERT_TRUE(k);
    for (uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x7fff'ffff'f000},
                             ~uint64_t{3}, uint64_t{0x123456789abcdef0}}) {
        wj_status status = run(k, packed(address, 0));
        EXPECT_TRUE(status == WJ_GUEST_FAULT || status == WJ_ILLEGAL_INSTRUCTION)
            << std::hex << address << " " << error();
    }
}

TEST_P(FaultTest, WorkGroupTooLarge) {
    wj_kernel* k = kernel("asm", "endless");
    ASSERT_TRUE(k);
    EXPECT_EQ(run(k, packed(0, 0, 2048, 2048)), WJ_OUT_OF_RANGE);
    error_has("limit of 1024");
    // OpenCL kernels state their own limit.
    EXPECT_EQ(run(kernel("ids", "ids"), packed(0, 0, 512, 512)), WJ_OUT_OF_RANGE);
    error_has("at most 256");
}

TEST_P(FaultTest, TooMuchLds) {
    wj_launch_options o = packed(0, 0);
    o.dynamic_lds = 70000;
    EXPECT_EQ(run(kernel("asm", "endless"), o), WJ_OUT_OF_RANGE);
    error_has("70000 bytes of LDS");
}

TEST_P(FaultTest, WrongArguments) {
    wj_kernel* k = kernel("ids", "saxpy");
    ASSERT_TRUE(k);
    uint64_t p = buffer(64);
    float a = 1;
    wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(p), WJ_POINTER(p), WJ_POINTER(p),
                          WJ_POINTER(p)};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.arguments = args;
    o.argument_count = 3;
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    error_has("takes 4 arguments, 3 given");
    o.argument_count = 5;
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    o.argument_count = 4;
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    error_has("takes 4 bytes, 8 given");
    uint8_t bytes[8] = {};
    o.argument_count = 0;
    o.packed_arguments = bytes;
    o.packed_size = sizeof(bytes);
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    error_has("packed arguments are 8 bytes");
}

TEST_P(FaultTest, NoSuchKernelOrVariable) {
    wj_kernel* k = kernel("asm", "trap");
    ASSERT_TRUE(k);
    wj_kernel* none = nullptr;
    EXPECT_EQ(wj_module_get_kernel(modules[0].get(), "no_such", &none), WJ_NOT_FOUND);
    error_has("no_such");
    error_has("endless");
    EXPECT_EQ(wj_module_get_variable(modules[0].get(), "nothing", nullptr, nullptr), WJ_NOT_FOUND);
}

TEST_P(FaultTest, BadCodeObjects) {
    wj_module* m = nullptr;
    EXPECT_EQ(wj_module_load_file(context.get(), "/nonexistent/file.hsaco", &m), WJ_NOT_FOUND);
    error_has("/nonexistent/file.hsaco");
    EXPECT_EQ(wj_module_load(context.get(), "hello world, not an ELF", 23, &m),
              WJ_INVALID_CODE_OBJECT);
    EXPECT_EQ(wj_module_load(context.get(), nullptr, 0, &m), WJ_INVALID_CODE_OBJECT);
    // This test program is an ELF file of another machine.
    EXPECT_NE(wj_module_load_file(context.get(), "/proc/self/exe", &m), WJ_OK);
    EXPECT_NE(error(), "");

    std::ifstream file(kernel_file("ids", GetParam().target), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(bytes.size(), 1000u);
    for (size_t size : {size_t{10}, size_t{64}, size_t{300}, bytes.size() / 2})
        EXPECT_NE(wj_module_load(context.get(), bytes.data(), size, &m), WJ_OK) << size;

    const char* other = std::string(GetParam().target) == "gfx900" ? "gfx906" : "gfx900";
    EXPECT_EQ(wj_module_load_file(context.get(), kernel_file("ids", other).c_str(), &m),
              WJ_UNSUPPORTED_TARGET);
    error_has(other);
}

WJ_SETUPS(FaultTest);

TEST(ContextTest, BadOptions) {
    char error[512];
    wj_context* c = nullptr;
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = "gfx1234";
    EXPECT_EQ(wj_context_create(&o, &c, error, sizeof(error)), WJ_UNSUPPORTED_TARGET);
    EXPECT_NE(std::string(error).find("gfx90a"), std::string::npos) << error;
    o = WJ_INIT(wj_context_options);
    o.size = 0;
    EXPECT_EQ(wj_context_create(&o, &c, error, sizeof(error)), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_context_create(nullptr, nullptr, error, sizeof(error)), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(c, nullptr);
}

TEST(ContextTest, MemoryErrors) {
    Context context = make_context("gfx90a", WJ_ENGINE_INTERPRETER);
    ASSERT_TRUE(context);
    uint64_t p = 0;
    ASSERT_EQ(wj_memory_allocate(context.get(), 100, &p), WJ_OK);
    uint32_t word = 5, got[3] = {};
    EXPECT_EQ(wj_memory_fill(context.get(), p, &word, 4, 12), WJ_OK);
    EXPECT_EQ(wj_memory_read(context.get(), got, p, 12), WJ_OK);
    EXPECT_EQ(got[2], 5u);
    EXPECT_EQ(wj_memory_fill(context.get(), p, &word, 4, 13), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_write(context.get(), p + (1 << 20), got, 12), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(wj_last_error(context.get())), "");
    EXPECT_EQ(wj_memory_free(context.get(), p + 4096), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_free(context.get(), p), WJ_OK);
    EXPECT_NE(wj_memory_allocate(context.get(), ~uint64_t{0} / 2, &p), WJ_OK);
}

}  // namespace
}  // namespace wj::test
