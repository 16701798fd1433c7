// The on-disk cache: what one engine has translated another one loads, at whatever address its
// guest code is, and nothing but the same code under the same conditions.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "backend_x64/block_store.h"
#include "backend_x64/stored_block.h"
#include "backend_x64/translator.h"
#include "interpreter/interpreter.h"
#include "memory/address_space.h"

namespace wj {
namespace {

namespace fs = std::filesystem;
using machine::ExitKind;
using x64::Isa;

// By llvm-mc (gfx90a).
const std::vector<uint32_t> program = {
    0xbe801c00,              // s_getpc_b64 s[0:1]
    0x8000ff00, 0x00000074,  // s_add_u32 s0, s0, data - .
    0x82018001,              // s_addc_u32 s1, s1, 0
    0xc0020080, 0x00000000,  // s_load_dword s2, s[0:1], 0x0
    0xbe841c00,              // s_getpc_b64 s[4:5]
    0xbe8a0083,              // s_mov_b32 s10, 3
    0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
    0x68020202,              // loop: v_add_u32_e32 v1, s2, v1
    0x808a810a,              // s_sub_u32 s10, s10, 1
    0xbf07800a,              // s_cmp_lg_u32 s10, 0
    0xbf85fffc,              // s_cbranch_scc1 loop
    0x7d9800a0,              // v_cmp_gt_u32_e32 vcc, 32, v0
    0xbe8c206a,              // s_and_saveexec_b64 s[12:13], vcc
    0xba86000b,              // s_call_b64 s[6:7], func
    0xbefe010c,              // s_mov_b64 exec, s[12:13]
    0xba001801, 0x00000000,  // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0
    0xbe881c00,              // s_getpc_b64 s[8:9]
    0x8088c008,              // s_sub_u32 s8, s8, 64
    0x82898009,              // s_subb_u32 s9, s9, 0
    0xc00200c4, 0x00000000,  // s_load_dword s3, s[8:9], 0x0
    0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
    0x7e040203,              // v_mov_b32_e32 v2, s3
    0xbf810000,              // s_endpgm
    0x800b850b,              // func: s_add_u32 s11, s11, 5
    0x2a02020b,              // v_xor_b32_e32 v1, s11, v1
    0xbe801d06,              // s_setpc_b64 s[6:7]
    0x12345678,              // data
};
constexpr uint32_t at_xor = 28, at_data = 30;  // words
constexpr uint32_t code_pages = 4;

struct Conditions {
    Isa isa = Isa::Avx2;
    const char* target = "gfx90a";
    bool keep_registers = true, checked = false, exclusive = false;
    uint32_t mode = 0xf0, vgprs = 64, sgprs = 80, lane_layout = 0, grid_layout = 0,
             whole_lanes = 64;
    size_t code_bytes = size_t{1} << 20;
    std::string directory;  // empty: no cache
};

// One "process": its own address space and engine.
class Machine {
public:
    explicit Machine(const Conditions& c) : conditions(c), registers_(256 * 64 + 16) {
        context_->target = find_target(c.target);
        context_->memory = &space;
        context_->memory_mode =
            c.checked ? machine::MemoryMode::Checked : machine::MemoryMode::Identity;
        context_->exclusive_memory = c.exclusive;
        context_->lane_layout = c.lane_layout;
        context_->grid_layout = c.grid_layout;
        context_->whole_lanes = c.whole_lanes;
        code = space
                   .allocate(code_pages * memory::page_size,
                             memory::read_write | memory::executable, "code")
                   .value();
        write(0, program);
        if (c.directory == "interpreter") {
            engine = interp::make_interpreter(*context_->target);
            return;
        }
        x64::TranslatorOptions o;
        o.code_bytes = c.code_bytes;
        o.keep_registers = c.keep_registers;
        o.cache = !c.directory.empty();
        o.cache_directory = c.directory;
        auto made = x64::make_translator(*context_->target, c.isa, o);
        if (made) engine = std::move(*made);
    }
    void write(uint64_t at, const std::vector<uint32_t>& words) {
        std::memcpy(reinterpret_cast<void*>(code + at), words.data(), words.size() * 4);
    }
    // Guest code from `at` on; addresses in scalar registers are then given relative to the code.
    ExitKind run(uint64_t at = 0) {
        wave = machine::Wave();
        wave.ctx = context_.get();
        const auto p = reinterpret_cast<uintptr_t>(registers_.data());
        wave.vgpr = reinterpret_cast<uint32_t*>((p + 63) & ~uintptr_t{63});
        for (uint32_t i = 0; i < 256 * 64; ++i) wave.vgpr[i] = i % 64 + i / 64 * 1000;
        wave.vgpr_count = conditions.vgprs;
        wave.sgpr_count = conditions.sgprs;
        wave.mode = conditions.mode;
        wave.pc = code + at;
        wave.set_s64(machine::exec_lo, ~uint64_t{0});
        ExitKind kind;
        do {
            wave.budget = 1000;
            kind = engine->run(wave);
        } while (kind == ExitKind::Yield);
        for (uint32_t r : {0u, 4u, 6u, 8u})
            if (wave.s64(r) - code < 4096) wave.set_s64(r, wave.s64(r) - code);
        return kind;
    }
    machine::EngineCounters counters() const { return engine->counters(); }

    Conditions conditions;
    memory::AddressSpace space;
    uint64_t code = 0;
    machine::Wave wave;
    std::unique_ptr<machine::Engine> engine;

private:
    std::unique_ptr<machine::ExecContext> context_ = std::make_unique<machine::ExecContext>();
    std::vector<uint32_t> registers_;
};

// Counters of what an engine did until it was destroyed.
struct Outcome {
    uint64_t translated, loaded;
};

using Files = std::map<std::string, std::vector<char>>;

class CacheTest : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!x64::host_supports(GetParam())) GTEST_SKIP() << "this host cannot run the engine";
        char name[] = "/tmp/wavejit-cache-test-XXXXXX";
        directory = mkdtemp(name);
        conditions.isa = GetParam();
        conditions.directory = directory;
        Conditions c;
        c.directory = "interpreter";
        reference = std::make_unique<Machine>(c);
        ASSERT_EQ(reference->run(), ExitKind::EndProgram);
    }
    void TearDown() override {
        if (!directory.empty()) fs::remove_all(directory);
    }
    // In a new machine; the registers must be the interpreter's.
    Outcome run(const Conditions& c) {
        Machine m(c);
        if (!m.engine) return {~0ull, ~0ull};
        EXPECT_EQ(m.run(), ExitKind::EndProgram);
        if (c.keep_registers) expect_same(m, *reference);
        const auto counters = m.counters();
        return {counters.blocks_translated, counters.blocks_loaded};
    }
    static void expect_same(const Machine& m, const Machine& reference) {
        for (uint32_t r : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u})
            EXPECT_EQ(m.wave.sgpr[r], reference.wave.sgpr[r]) << "s" << r;
        EXPECT_EQ(std::memcmp(m.wave.vgpr, reference.wave.vgpr, 3 * 256), 0);
    }
    Files files() const {
        Files out;
        for (const auto& entry : fs::directory_iterator(directory)) {
            std::ifstream in(entry.path(), std::ios::binary);
            out[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
        }
        return out;
    }
    // A new file: file systems hurry to the disk with one that is cut short and written again.
    void put(const std::string& name, const std::vector<char>& bytes) const {
        fs::remove(directory + "/" + name);
        std::ofstream(directory + "/" + name, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }

    std::string directory;
    Conditions conditions;
    std::unique_ptr<Machine> reference;
};

TEST_P(CacheTest, SecondRunTranslatesNothing) {
    const Outcome first = run(conditions);
    EXPECT_GT(first.translated, 4u);
    EXPECT_EQ(first.loaded, 0u);
    const std::vector<std::unique_ptr<Machine>> occupied = [&] {  // so that the code is elsewhere
        std::vector<std::unique_ptr<Machine>> out;
        for (int i = 0; i < 3; ++i) out.push_back(std::make_unique<Machine>(Conditions{}));
        return out;
    }();
    const Outcome second = run(conditions);
    EXPECT_EQ(second.translated, 0u);
    EXPECT_EQ(second.loaded, first.translated);
    EXPECT_EQ(files().begin()->first.size(), 36u);
}

// What is kept holds no address of this process: neither of guest code nor of wavejit.
TEST_P(CacheTest, FilesDoNotDependOnAddresses) {
    Machine a(conditions);
    a.run();
    a.engine.reset();
    const Files first = files();
    fs::remove_all(directory);
    Machine b(conditions);
    ASSERT_NE(a.code, b.code);
    b.run();
    b.engine.reset();
    EXPECT_FALSE(first.empty());
    EXPECT_TRUE(first == files());
}

TEST_P(CacheTest, ConditionsAreKeptApart) {
    run(conditions);
    auto with = [&](auto change) {
        Conditions c = conditions;
        change(c);
        return run(c).loaded;
    };
    EXPECT_NE(run(conditions).loaded, 0u);
    EXPECT_EQ(with([](Conditions& c) { c.checked = true; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.exclusive = true; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.keep_registers = false; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.target = "gfx942"; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.mode = 0xc0; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.vgprs = 32; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.sgprs = 96; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.lane_layout = 5; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.grid_layout = 5; }), 0u);
    EXPECT_EQ(with([](Conditions& c) { c.whole_lanes = 32; }), 0u);
    if (GetParam() == Isa::Avx512) {
        EXPECT_EQ(with([](Conditions& c) { c.isa = Isa::Avx2; }), 0u);
    }
    EXPECT_EQ(with([](Conditions& c) { c.directory.clear(); }), 0u);
}

TEST_P(CacheTest, ChangedCodeIsNotFound) {
    run(conditions);
    Machine m(conditions), plain(reference->conditions);
    for (Machine* x : {&m, &plain}) {
        x->write(at_xor * 4, {0x28020e0b});  // v_or_b32_e32 v1, s11, v7
        EXPECT_EQ(x->run(), ExitKind::EndProgram);
    }
    expect_same(m, plain);
    EXPECT_EQ(m.counters().blocks_loaded, 0u);
}

// The same page of code; what follows in the next one decides which registers are dead.
TEST_P(CacheTest, DependsOnTheCodeThatLivenessLookedAt) {
    // v_mov_b32_e32 v3, 1; s_branch to the next page
    const uint64_t at = memory::page_size - 8;
    const std::vector<uint32_t> begin = {0x7e060281, 0xbf820000};
    const std::vector<uint32_t> dead = {0x7e060282, 0xbf810000};  // v_mov_b32 v3, 2; s_endpgm
    const std::vector<uint32_t> alive = {0x7e080303, 0x7e060282,  // v_mov_b32 v4, v3; ...
                                         0xbf810000};
    for (const auto& next : {dead, alive, dead, alive}) {
        Machine m(conditions);
        m.write(at, begin);
        m.write(memory::page_size, next);
        EXPECT_EQ(m.run(at), ExitKind::EndProgram);
        EXPECT_EQ(m.wave.row(3)[7], 2u);
        EXPECT_EQ(m.wave.row(4)[7], next == alive ? 1u : 4007u);
    }
}

// Guest code that changes although nobody said so: the engine may run what was there, as hardware
// with its instruction cache does, but nothing of that is kept.
TEST_P(CacheTest, CodeThatChangesUnannouncedIsNotKept) {
    {
        Machine m(conditions);
        m.run();
        m.write(at_data * 4, {0x11111111});
        m.write(2048, {0x7e060281, 0xbf810000});  // v_mov_b32_e32 v3, 1; s_endpgm
        m.run(2048);
        EXPECT_EQ(m.wave.row(3)[0], 1u);
    }
    Machine m(conditions);
    m.write(at_data * 4, {0x11111111});
    m.write(2048, {0x7e060282, 0xbf810000});
    m.run(2048);
    EXPECT_EQ(m.counters().blocks_loaded, 0u);
    EXPECT_EQ(m.wave.row(3)[0], 2u);
}

TEST_P(CacheTest, FlushedCodeComesBack) {
    uint64_t flushes = 0;
    for (size_t bytes = 1024; bytes < 8192; bytes += 128) {  // the stubs and a few blocks
        conditions.code_bytes = bytes;
        Machine m(conditions);
        if (!m.engine || m.run() != ExitKind::EndProgram) continue;
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(m.run(), ExitKind::EndProgram);
            expect_same(m, *reference);
        }
        const auto c = m.counters();
        flushes += c.code_flushes;
        EXPECT_TRUE(c.blocks_loaded > c.blocks_translated || c.code_flushes == 0) << bytes;
    }
    EXPECT_GT(flushes, 0u);
    Machine m(conditions);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(m.run(), ExitKind::EndProgram);
        expect_same(m, *reference);
        m.engine->invalidate(m.code, m.code + 4096);
    }
    EXPECT_EQ(m.counters().blocks_translated, 0u);
}

TEST_P(CacheTest, TwoAtOnce) {
    for (int round = 0; round < 4; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&] { run(conditions); });
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(run(conditions).translated, 0u);
        for (const auto& [name, bytes] : files()) EXPECT_EQ(name.find(".new"), name.npos);
        fs::remove_all(directory);
    }
}

// Long-running processes write soon, not only at their end.
TEST_P(CacheTest, WritesWhileItRuns) {
    Machine m(conditions);
    m.run();
    for (int i = 0; i < 200 && m.counters().blocks_stored == 0; ++i) usleep(20'000);
    EXPECT_EQ(m.counters().blocks_stored, m.counters().blocks_translated);
    EXPECT_EQ(run(conditions).translated, 0u);
}

// ---- trouble with files

TEST_P(CacheTest, PlacesThatCannotBeWritten) {
    // Other tests run in this directory at the same time.
    const std::string relative = "relative-" + std::to_string(getpid());
    for (const std::string& place : {std::string("/dev/null/x"), std::string("/proc/wavejit"),
                                     relative + "/\n", std::string("/dev/full")}) {
        Conditions c = conditions;
        c.directory = place;
        EXPECT_EQ(run(c).loaded, 0u) << place;
    }
    fs::remove_all(relative);
    // A directory stands where the file would go.
    run(conditions);
    const Files names = files();
    for (const auto& [name, bytes] : names) {
        fs::remove(directory + "/" + name);
        fs::create_directory(directory + "/" + name);
    }
    EXPECT_EQ(run(conditions).loaded, 0u);
    for (const auto& entry : fs::directory_iterator(directory))
        EXPECT_TRUE(names.contains(entry.path().filename())) << entry.path();
}

TEST_P(CacheTest, FilesThatOthersMayWriteAreNotRead) {
    run(conditions);
    const Files names = files();
    const std::string first = directory + "/" + names.begin()->first;
    chmod(directory.c_str(), 0770);
    EXPECT_EQ(run(conditions).loaded, 0u);
    chmod(directory.c_str(), 0755);
    EXPECT_NE(run(conditions).loaded, 0u);
    for (const auto& [name, bytes] : names) chmod((directory + "/" + name).c_str(), 0646);
    {
        Machine m(conditions);
        m.run();
        EXPECT_EQ(m.counters().blocks_loaded, 0u);
    }  // written anew
    EXPECT_NE(run(conditions).loaded, 0u);
    for (const auto& [name, bytes] : names) {
        const std::string path = directory + "/" + name;
        fs::rename(path, path + "-real");
        fs::create_symlink(path + "-real", path);
    }
    EXPECT_EQ(run(conditions).loaded, 0u);
    if (geteuid() == 0) {
        for (const auto& [name, bytes] : files())
            if (chown((directory + "/" + name).c_str(), 12345, 0) != 0) FAIL();
        EXPECT_EQ(run(conditions).loaded, 0u);
    }
}

// Whatever becomes of a file, what is read is right or nothing.
TEST_P(CacheTest, DamagedFilesAreNotRead) {
    run(conditions);
    const Files good = files();
    ASSERT_FALSE(good.empty());
    const auto largest = std::max_element(
        good.begin(), good.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const std::string name = largest->first;
    const std::vector<char> bytes = largest->second;
    x64::BlockStore::Key key;  // behind the magic number and the checksum
    std::memcpy(&key, &bytes[24], sizeof key);
    uint32_t entry;
    std::memcpy(&entry, &bytes[64], sizeof entry);
    auto found = [&](const std::vector<char>& content) {
        put(name, content);
        return !x64::BlockStore::open(directory, 1 << 20)->find(key, entry).empty();
    };
    ASSERT_TRUE(found(bytes));
    std::mt19937 rng(1);
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::vector<char> bad = bytes;
        bad[i] = static_cast<char>(bad[i] ^ 1 << rng() % 8);
        EXPECT_FALSE(found(bad)) << "byte " << i;
    }
    for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 37)
        EXPECT_FALSE(found({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}));
    std::vector<char> longer = bytes;
    longer.resize(bytes.size() + 8);
    EXPECT_FALSE(found(longer));
    // A sound file under another's name.
    for (const auto& [other, content] : good) EXPECT_EQ(found(content), other == name);
    put(name, {bytes.begin(), bytes.begin() + 100});
    for (const auto& [other, content] : good)
        if (other != name) fs::remove(directory + "/" + other);
    EXPECT_EQ(run(conditions).loaded, 0u);
    EXPECT_EQ(run(conditions).translated, 0u);  // and the damage is repaired
}

// Bytes that pass the checksum but are no block: nothing is read or written beyond them.
TEST_P(CacheTest, StoredBlocksThatMakeNoSense) {
    run(conditions);
    const Files good = files();
    std::mt19937 rng(2);
    uint64_t accepted = 0;
    for (const auto& [name, bytes] : good) {
        uint32_t size;
        std::memcpy(&size, &bytes[68], sizeof size);
        std::vector<uint64_t> words(size / 8);
        for (int round = 0; round < 4000; ++round) {
            std::memcpy(words.data(), &bytes[72], size);
            const std::span<std::byte> block(reinterpret_cast<std::byte*>(words.data()), size);
            for (int n = 1 + static_cast<int>(rng() % 3); n > 0; --n) {
                const size_t at = rng() % 2 ? rng() % 64 : rng() % size;
                block[at] = static_cast<std::byte>(rng() % 3 ? rng() : 0xff);
            }
            const x64::StoredBlock stored(block.first(rng() % 4 ? size : rng() % size / 8 * 8));
            if (!stored.ok()) continue;
            x64::CompiledBlock code;
            x64::BlockRecord record;
            std::vector<uint8_t> out;
            accepted += stored.restore(
                0x1000, [](uint64_t) { return nullptr; }, out, code, record);
            for (const x64::LinkSite& l : code.links) EXPECT_LE(l.slot_offset + 8, out.size());
        }
    }
    EXPECT_GT(accepted, 0u);  // guest counts, distances and code may be anything
}

TEST_P(CacheTest, OldFilesGoFirst) {
    x64::CacheDirectory d(directory);
    ASSERT_TRUE(d.open(true));
    const std::vector<std::byte> kilobyte(1024);
    for (char c = 'a'; c < 'k'; ++c) {
        const std::string name = std::string(32, c) + x64::cache_file_suffix;
        ASSERT_TRUE(d.write(name, kilobyte));
        const timespec times[2] = {{1000 + c, 0}, {1000 + c, 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, (directory + "/" + name).c_str(), times, 0), 0);
    }
    put("somebody's", {'x'});
    EXPECT_EQ(d.usage().files, 10u);
    EXPECT_EQ(d.trim(4096).files, 4u);
    EXPECT_EQ(d.trim(4096).bytes, 4096u);
    EXPECT_FALSE(fs::exists(directory + "/" + std::string(32, 'f') + x64::cache_file_suffix));
    EXPECT_TRUE(fs::exists(directory + "/" + std::string(32, 'g') + x64::cache_file_suffix));
    EXPECT_EQ(d.trim(0).files, 0u);
    EXPECT_TRUE(fs::exists(directory + "/somebody's"));
}

INSTANTIATE_TEST_SUITE_P(All, CacheTest, testing::Values(Isa::Avx2, Isa::Avx512),
                         [](const auto& info) {
                             return info.param == Isa::Avx2 ? "avx2" : "avx512";
                         });

}  // namespace
}  // namespace wj
