// The command-line tool as a user meets it: exit codes and messages, good and bad input.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Outcome {
    int code;          // exit code, or 128 + signal
    std::string text;  // stdout and stderr
};

Outcome run(const std::string& arguments, const std::string& environment = "") {
    std::string command = environment + " " WJ_TOOL " " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    Outcome o{-1, ""};
    if (!pipe) return o;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) o.text.append(buffer, n);
    int status = pclose(pipe);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return o;
}

std::string kernels(const std::string& name) {
    return std::string(WJ_TEST_KERNELS "/") + name;
}

void expect(const Outcome& o, int code, const std::vector<std::string>& parts) {
    EXPECT_EQ(o.code, code) << o.text;
    for (const std::string& part : parts)
        EXPECT_NE(o.text.find(part), std::string::npos) << "'" << part << "' is not in: " << o.text;
}

const std::string on90a = "WAVEJIT_TARGET=gfx90a";

class Cli : public testing::Test {
protected:
    void SetUp() override {
        directory = fs::temp_directory_path() / ("wavejit-cli-test-" + std::to_string(getpid()));
        fs::create_directories(directory);
    }
    void TearDown() override { fs::remove_all(directory); }
    std::string file(const std::string& name, const std::string& content) {
        fs::path path = directory / name;
        std::ofstream(path, std::ios::binary) << content;
        return path.string();
    }
    static std::string read(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    fs::path directory;
};

TEST_F(Cli, LaunchPrintsDumpsAndCompares) {
    std::string dump = (directory / "y.bin").string();
    std::string base = "launch " + kernels("ids.gfx90a.hsaco") +
                       " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64:iota=f32 ";
    expect(run(base + "--arg buf:64:iota=f32:print=4xf32:dump=" + dump + " --arg u32:16 --stats",
               on90a),
           0, {"0 1.5 3 4.5", "waves                 1", "wave instructions"});
    EXPECT_EQ(fs::file_size(dump), 64u);
    expect(run(base + "--arg buf:64:iota=f32:compare=" + dump + " --arg u32:16", on90a), 0, {});
    expect(run(base + "--arg buf:64:compare=" + dump + " --arg u32:16", on90a), 3,
           {"differs from", "first at offset"});
}

// y[i] = 0.5 * i + i for i below 1000, of 1024 elements.
class Captured : public Cli {
protected:
    void SetUp() override {
        Cli::SetUp();
        saxpy = (directory / "saxpy.wjcapture").string();
        expect(run("launch " + kernels("ids.gfx90a.hsaco") + saxpy_launch + " --capture " + saxpy,
                   on90a),
               0, {});
        faulty = (directory / "faulty.wjcapture").string();
        expect(run("launch " + kernels("capture.gfx90a.hsaco") +
                       " --kernel overrun --grid 1024 --arg buf:8k:iota=u32 --arg buf:4k --arg "
                       "u32:2048 --capture " +
                       faulty,
                   on90a + " WAVEJIT_MEMORY=checked"),
               1, {"memory fault: write of 4 bytes"});
    }
    // The address of an allocation in what replay prints.
    static std::string address_in(const std::string& text, const std::string& allocation) {
        const size_t at = text.find("0x", text.find(allocation));
        return text.substr(at, text.find_first_of(",)", at) - at);
    }
    const std::string saxpy_launch =
        " --kernel saxpy --grid 1024 --arg f32:0.5 --arg buf:4096:iota=f32 --arg "
        "buf:4096:iota=f32 --arg u32:1000 ";
    std::string saxpy, faulty;
};

TEST_F(Captured, ReplaySavesAndCompares) {
    const std::string after = (directory / "after.wjcapture").string();
    const std::string dump = (directory / "dump").string();
    // What iota=f32 has is what it has in y[0] and behind y[999].
    expect(run("replay " + saxpy + " --save " + after + " --dump " + dump), 0,
           {"saxpy: ok, 16 work-groups", "wj_memory_allocate, 4096 bytes", "bytes changed"});
    for (const char* engine : {"interp", "avx2", "auto --memory identity --repeat 3"})
        expect(run("replay --compare " + after + " " + saxpy + " --engine " + engine), 0, {});
    expect(run("replay --compare " + saxpy + " " + saxpy), 3,
           {"differs from " + saxpy, "at offset 0x6: c0 3f 00 00, not 80 3f 00 00"});
    expect(run("replay --repeat 5 " + saxpy), 0, {"5 launches: shortest"});
    expect(run("replay --compare " + faulty + " " + saxpy), 3, {"different allocations"});
    size_t found = 0;
    for (const auto& file : fs::directory_iterator(dump)) {
        std::string bytes = read(file.path());
        float values[1000];
        if (bytes.size() != 4096) continue;
        std::memcpy(values, bytes.data(), sizeof values);
        found += values[999] == 999 * 1.5f;
    }
    EXPECT_EQ(found, 1u);
}

TEST_F(Captured, ReplayTellsOfFailures) {
    // Translated code, which `auto` may have by then, may say "among 3".
    const Outcome o = run("replay --engine interp " + faulty);
    expect(o, 1,
           {"overrun: guest fault", "memory fault: write of 4 bytes", "work-group  (5, 0, 0)",
            "lanes       3"});
    const std::string out = address_in(o.text, "4096 bytes at ");
    expect(run("replay --writer " + out + " " + faulty), 0,
           {out + ": first written by work-item 0,0,0 of work-group 0,0,0, overrun + 0x"});
    expect(run("replay --writer 0x10 " + faulty), 0, {"no memory that kernels may write"});
    expect(run("replay --limit 100 " + saxpy), 1, {"used up its limit of"});
    expect(run("replay /no/such/file"), 1, {"/no/such/file"});
    expect(run("replay " + kernels("ids.gfx90a.hsaco")), 1, {"does not begin as one does"});
    expect(run("replay " + file("cut", read(saxpy).substr(0, 5000))), 1, {"ends too early"});
    std::string damaged = read(saxpy);
    damaged[5000] ^= 1;
    expect(run("replay " + file("damaged", damaged)), 1, {"a checksum is wrong"});
    // Once in a while the window is where the memory was.
    if (const Outcome window = run("replay --memory window " + saxpy); window.code)
        expect(window, 1, {"window"});
    expect(run("replay --target gfx906 " + saxpy), 1, {"gfx90a", "gfx906"});
    expect(run("replay --save /no/such/folder/file " + saxpy), 1, {"/no/such/folder/file"});
}

TEST_F(Captured, EnginesAreCompared) {
    expect(run("difftest " + saxpy), 0,
           {"interp with checked memory: success", "avx2 with checked memory: the same",
            "auto with checked memory: the same"});
    expect(run("difftest " + kernels("ids.gfx90a.hsaco") + saxpy_launch, on90a), 0,
           {"interp with checked memory: success", "avx2 with checked memory: the same"});
    expect(run("difftest " + faulty), 0, {"guest fault in overrun + 0x", "the same"});
    // Beyond the last byte, but on its page: only checked memory knows.
    expect(run("difftest " + kernels("ids.gfx90a.hsaco") +
                   " --kernel copy --grid 30 --arg buf:120 --arg buf:100",
               on90a),
           3,
           {"avx2 with identity memory differs from interp with checked memory: success, not "
            "guest fault in copy + 0x"});
    expect(run("difftest --engines interp,warp " + saxpy), 2, {"warp"});
    expect(run("difftest " + kernels("asm.gfx90a.hsaco") + " --kernel endless --limit 1000", on90a),
           1, {"used up its limit of"});
}

TEST_F(Captured, Minimise) {
    const std::string small = (directory / "small.wjcapture").string();
    expect(run("minimise " + faulty + " -o " + small), 0,
           {"to stay: guest fault in overrun + 0x", "0 of 2 pages that are not zero"});
    expect(run("replay " + small), 1, {"memory fault: write of 4 bytes", "overrun"});
    EXPECT_LT(fs::file_size(small), fs::file_size(faulty));
    // Element 5 of y is 7.5, 40f0'0000.
    expect(run("minimise " + saxpy + " -o " + small + " --command '" WJ_TOOL " replay --dump " +
               (directory / "dump").string() + " {} >/dev/null 2>&1 && cat " +
               (directory / "dump").string() + "/* | od -An -tx4 -v | grep -q 40f00000'"),
           0, {"1 of 16 work-groups", "2 of 2 allocations", "1 of 2 pages that are not zero"});
    expect(run("replay " + small), 0, {"saxpy: ok, 1 work-groups"});
    expect(run("minimise " + saxpy + " -o " + small), 2, {"ends well", "--differs"});
    expect(run("minimise " + saxpy + " -o " + small + " --differs avx2"), 1,
           {"interp and avx2 do not differ"});
    expect(run("minimise " + saxpy + " -o " + small + " --command 'false {}'"), 1,
           {"the command does not exit with 0"});
}

// Of work-groups the least number, not a power of two: item 301 is in the fifth.
TEST_F(Captured, MinimiseLeavesNothingOut) {
    const std::string once = (directory / "once.wjcapture").string(),
                      twice = (directory / "twice.wjcapture").string(),
                      folder = (directory / "dump").string();
    // Element 301 of y is 451.5, 43e1'c000.
    const std::string command = " --command '" WJ_TOOL " replay --dump " + folder +
                                " {} >/dev/null 2>&1 && cat " + folder +
                                "/* | od -An -tx4 -v | grep -q 43e1c000 && echo tried'";
    const Outcome first = run("minimise " + saxpy + " -o " + once + command);
    expect(first, 0, {"5 of 16 work-groups", "2 of 2 allocations", "2 of 2 pages"});
    EXPECT_LT(first.text.find("tried"), first.text.find("work-groups"));
    const Outcome second = run("minimise " + once + " -o " + twice + command);
    expect(second, 0, {"5 of 5 work-groups", "2 of 2 allocations", "2 of 2 pages"});
    const auto left = [](const std::string& text, size_t skipped) {
        const size_t end = text.find(" instructions that may be s_nop"),
                     begin = text.rfind('\n', end) + 1;
        const std::string line = text.substr(begin, end - begin);  // "5 of 9"
        return skipped ? line.substr(line.rfind(' ') + 1) : line.substr(0, line.find(' '));
    };
    EXPECT_EQ(left(first.text, 0), left(second.text, 0));
    EXPECT_EQ(left(first.text, 0), left(second.text, 1));
}

TEST_F(Captured, MinimiseSaysWhatItCannotDo) {
    const std::string minimise = "minimise " + saxpy + " -o " + (directory / "out").string() + " ";
    expect(run(minimise + "--command true"), 2, {"write {} where"});
    expect(run(minimise + "--command 'true {}' --engine avx2"), 2,
           {"--engine cannot be given with --command"});
    expect(run(minimise + "--differs interp"), 2, {"another engine than --engine"});
    expect(run(minimise + "--differs avx2 --command 'true {}'"), 2, {"--differs cannot be given"});
    expect(run(minimise + "--limit 0"), 2, {"--limit"});
    // It does fail so, with a limit.
    expect(run(minimise + "--limit 3"), 0, {"to stay: timeout", "1 of 16 work-groups"});
}

// What cannot be used is refused.
TEST_F(Captured, OptionsThatACaptureDoesNotTake) {
    expect(run("replay --repeat 0 " + saxpy), 2, {"--repeat", "'0' is no number from 1"});
    expect(run("replay --writer 0x10 --repeat 2 " + saxpy), 2,
           {"--repeat cannot be given with --writer"});
    expect(run("replay --writer 0x10 --check race " + saxpy), 2,
           {"--check cannot be given with --writer"});
    expect(run("replay --writer 0x10 --limit 5 --engine avx2 " + saxpy), 0, {"no memory"});
    for (const char* option : {"--grid 5", "--block 5", "--kernel saxpy", "--target gfx90a",
                               "--arg u32:1", "--packed 00", "--dynamic-lds 4"})
        expect(run("difftest " + std::string(option) + " " + saxpy), 2,
               {"cannot be given for a capture"});
    expect(run("difftest " + file("damaged", read(saxpy).substr(0, 5000))), 1, {"ends too early"});
    expect(run("difftest " + kernels("ids.gfx90a.hsaco") +
                   " --kernel copy --arg buf:64 --arg buf:64:print=4xu32",
               on90a),
           2, {"--arg buf:64:print=4xu32", "are of `launch`"});
}

// A replay needs no second copy of memory: of 256 MiB of zeros, and pages of theirs.
TEST_F(Captured, LargeMemoryIsNotCopied) {
    const std::string large = (directory / "large.wjcapture").string();
    expect(run("launch " + kernels("ids.gfx90a.hsaco") +
                   " --kernel saxpy --grid 1024 --arg f32:0.5 --arg buf:256M --arg "
                   "buf:4096:iota=f32 --arg u32:1000 --capture " +
                   large,
               on90a),
           0, {});
    const pid_t child = fork();
    if (child == 0) {
        if (!std::freopen("/dev/null", "w", stdout)) _exit(9);
        execl(WJ_TOOL, WJ_TOOL, "replay", large.c_str(), nullptr);
        _exit(9);
    }
    int status = -1;
    rusage usage{};
    ASSERT_EQ(wait4(child, &status, 0, &usage), child);
    EXPECT_EQ(status, 0);
    EXPECT_LT(usage.ru_maxrss, 400 << 10);  // KiB
}

TEST_F(Captured, LaunchesOfAProcess) {
    const std::string folder = (directory / "captures").string();
    const std::string environment = on90a + " WAVEJIT_CAPTURE=" + folder;
    const std::string launch = "launch " + kernels("ids.gfx90a.hsaco") + saxpy_launch;
    const auto files = [&] {
        return fs::exists(folder) ? std::distance(fs::directory_iterator(folder), {}) : 0;
    };
    expect(run(launch + "--repeat 3", environment + " WAVEJIT_CAPTURE_KERNEL='s[bc]*'"), 0,
           {"no launch was captured: 's[bc]*' fits the name of no kernel", "such as saxpy"});
    EXPECT_EQ(files(), 0);
    expect(run(launch + "--repeat 3", environment), 0, {});
    EXPECT_EQ(files(), 1);
    expect(run(launch + "--repeat 3",
               environment + " WAVEJIT_CAPTURE_COUNT=2 WAVEJIT_CAPTURE_KERNEL='sax*'"),
           0, {});
    EXPECT_EQ(files(), 3);
    expect(run("replay " + folder + "/saxpy.2.wjcapture"), 0, {"saxpy: ok"});
    expect(run(launch, environment + " WAVEJIT_CAPTURE_COUNT=0"), 2, {"WAVEJIT_CAPTURE_COUNT"});
}

TEST_F(Cli, FidelityOfWhatWasExecuted) {
    const std::string report = (directory / "fidelity").string();
    const std::string launch = "launch --fidelity " + report + " --grid 64 ";
    const std::string two = " --arg buf:256:word=0x40400000 --arg buf:256";
    for (const char* engine : {"interp", "avx2", "auto"}) {
        expect(run(launch + kernels("capture.gfx90a.hsaco") + " --kernel stored" + two,
                   on90a + " WAVEJIT_ENGINE=" + engine),
               0, {});
        expect({0, read(report)}, 0,
               {"bounded: 1 place\n", "refused: 0 places\n",
                "\nbounded v_rcp_f32: 1 place, 1 wave: ", "1 ULP",
                "\nexact global_load_dword: 1 place, 1 wave\n"});
    }
    expect(run(launch + kernels("asm.gfx90a.hsaco") + " --kernel refused", on90a), 1, {});
    expect({0, read(report)}, 0, {"refused: 1 place\n", "\nrefused image_load: 1 place"});
    expect(run("launch --fidelity /no/such/folder/file " + kernels("asm.gfx90a.hsaco") +
                   " --kernel trap",
               on90a),
           2, {"/no/such/folder/file"});
    expect(run("launch --check inexact --grid 64 " + kernels("capture.gfx90a.hsaco") +
                   " --kernel leads" + two,
               on90a),
           1, {"inexact checker", "is a part of an address", "capture.cl"});
}

TEST_F(Cli, HotBlocksShowGuestAndHostCode) {
    expect(run("launch " + kernels("ids.gfx90a.hsaco") +
                   " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64 --arg buf:64 --arg u32:16 "
                   "--hot 2",
               on90a + " WAVEJIT_ENGINE=avx2"),
           0, {"host instructions in", "saxpy+0x", "s_endpgm", "vmovups"});
}

TEST_F(Cli, WrongArguments) {
    std::string base = "launch " + kernels("ids.gfx90a.hsaco") + " --kernel saxpy ";
    expect(run(base + "--arg f32:1", on90a), 1, {"takes 4 arguments, 1 given"});
    expect(run(base + "--arg f64:1 --arg buf:64 --arg buf:64 --arg u32:1", on90a), 1,
           {"takes 4 bytes, 8 given"});
    expect(run(base + "--arg f32:abc", on90a), 2, {"'abc' is not a value of type f32"});
    expect(run(base + "--arg i8:200", on90a), 2, {"not a value of type i8"});
    expect(run(base + "--arg nonsense:1", on90a), 2, {"nonsense"});
    expect(run(base + "--arg buf:64:paint=3", on90a), 2, {"paint"});
    expect(run(base + "--grid 0", on90a), 2, {"--grid"});
    expect(run(base + "--grid 1,2,3,4", on90a), 2, {"more than three"});
    expect(run(base + "--no-such-option", on90a), 2, {});
    expect(run("", ""), 2, {});
    expect(run("launhc"), 2, {"no subcommand 'launhc'; there are run, launch, replay"});
}

TEST_F(Cli, BadFiles) {
    std::string good = kernels("ids.gfx90a.hsaco");
    for (const char* command : {"info", "disasm", "launch", "compile"}) {
        std::string c = std::string(command) + " ";
        expect(run(c + "/no/such/file"), 1, {"/no/such/file"});
        expect(run(c + file("text", "this is no ELF file at all")), 1, {"text"});
        expect(run(c + file("empty", "")), 1, {"empty"});
        expect(run(c + "/bin/ls"), 1, {"/bin/ls"});
        std::string bytes = read(good);
        EXPECT_EQ(run(c + file("cut", bytes.substr(0, bytes.size() / 2))).code, 1);
        EXPECT_EQ(run(c + file("head", bytes.substr(0, 40))).code, 1);
    }
    expect(run("launch " + good + " --kernel nothing", on90a), 1, {"no kernel 'nothing'", "saxpy"});
    expect(run("launch " + good, on90a), 2, {"--kernel"});
    expect(run("disasm " + good + " --kernel nothing"), 1, {"nothing"});
    expect(run("launch " + good + " --kernel saxpy", "WAVEJIT_TARGET=gfx900"), 1,
           {"gfx90a", "gfx900"});
    expect(run("launch " + good + " --kernel saxpy", "WAVEJIT_TARGET=gfx123"), 2,
           {"gfx123", "gfx906"});
    expect(run("launch " + good + " --kernel saxpy", "WAVEJIT_ENGINE=quantum"), 2,
           {"quantum", "interp"});
    expect(run("launch " + good + " --kernel saxpy", "WAVEJIT_THREADS=-3"), 2, {"WAVEJIT_THREADS"});
}

TEST_F(Cli, BadKernels) {
    std::string with = "launch " + kernels("asm.gfx90a.hsaco") + " --timeout 20 --packed ";
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel endless --timeout 0.1", on90a),
           1, {"time limit", "endless", "kernel + 0x"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") +
                   " --kernel barrier_deadlock --grid 256 --block 256",
               on90a),
           1, {"barrier deadlock", "s_barrier"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel illegal", on90a), 1,
           {"illegal", "BFFFFFFF"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel refused", on90a), 1,
           {"image_load", "not implement"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel trap", on90a), 1, {"trap 2"});
    expect(run(with + "0000000000000000000000000000000000 --kernel load_at", on90a), 1, {"packed"});
    expect(run(with + "00000000000000000400000000000000 --kernel load_at --grid 64", on90a), 1,
           {"memory fault: read of 4 bytes", "kernel      load_at", "global_load_dword", "lanes",
            "memory"});
    expect(run(with + "00000000000000000400000000000000 --kernel store_at --grid 64", on90a), 1,
           {"memory fault: write of 4 bytes", "global_store_dword"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel endless --block 2048", on90a),
           1, {"limit of 1024"});
    expect(run("launch " + kernels("asm.gfx90a.hsaco") + " --kernel endless --dynamic-lds 100k",
               on90a),
           1, {"102400 bytes of LDS"});
}

// What follows the program's name is the program's, whatever it looks like.
TEST_F(Cli, RunHandsArgumentsOver) {
    const std::string program =
        file("arguments", "#!/bin/sh\nfor a in \"$@\"; do printf '[%s]' \"$a\"; done\n");
    fs::permissions(program, fs::perms::owner_all);
    const std::string arguments =
        " -x 64 -e --stats -h --help --timeout 5 -- a \"\" '[1,2]' --target=gfx900 -q run info";
    const std::string got =
        "[-x][64][-e][--stats][-h][--help][--timeout][5][--][a][][[1,2]][--target=gfx900][-q]"
        "[run][info]";
    for (const char* before : {"", "-- ", "--threads 2 --stats ", "--threads=2 --hot 3 -- "}) {
        const Outcome o = run(std::string("run ") + before + program + arguments);
        EXPECT_EQ(o.code, 0) << before;
        EXPECT_EQ(o.text, got) << before;
    }
    EXPECT_EQ(run("run " + program).text, "");
    expect(run("run --no-such-option " + program), 2, {"--no-such-option"});
    expect(run("run --threads 2"), 2, {"program"});
}

TEST_F(Cli, CompileTakesOneNameForEachKernelOption) {
    expect(run("compile --kernel saxpy " + kernels("ids.gfx906.hsaco")), 0, {"1 kernels of 1"});
}

// The number in an object's header is LLVM's, the name is ours.
TEST_F(Cli, OtherNamesOfProcessors) {
    const std::pair<const char*, const char*> names[] = {
        {"tahiti", "gfx600"},    {"pitcairn", "gfx601"}, {"verde", "gfx601"},
        {"hainan", "gfx602"},    {"oland", "gfx602"},    {"kaveri", "gfx700"},
        {"hawaii", "gfx701"},    {"kabini", "gfx703"},   {"mullins", "gfx703"},
        {"bonaire", "gfx704"},   {"carrizo", "gfx801"},  {"iceland", "gfx802"},
        {"tonga", "gfx802"},     {"fiji", "gfx803"},     {"polaris10", "gfx803"},
        {"polaris11", "gfx803"}, {"tongapro", "gfx805"}, {"stoney", "gfx810"}};
    const std::string source = file("empty.s", "s_endpgm\n"), object = file("empty.o", "");
    for (const auto& [name, processor] : names) {
        const std::string assemble =
            "clang-22 -x assembler --target=amdgcn-amd-amdhsa -mcpu=" + std::string(name) + " -c " +
            source + " -o " + object;
        ASSERT_EQ(std::system(assemble.c_str()), 0) << name;
        const Outcome doctor = run("doctor --target " + std::string(name));
        expect(run("info " + object), 0, {processor, name});
        EXPECT_EQ(doctor.text.find("is not an emulated processor"), std::string::npos) << name;
    }
    expect(run("doctor --target cedar"), 1, {"cedar", "r600"});
}

// A variable that nothing reads is named once; one that the host cannot serve ends the run.
TEST_F(Cli, WrongVariables) {
    const std::string launch = "launch " + kernels("asm.gfx90a.hsaco") + " --kernel trap";
    const std::string message = "variable WAVEJIT_TIMOUT; is WAVEJIT_TIMEOUT meant?";
    const Outcome o = run(launch, on90a + " WAVEJIT_TIMOUT=5 WAVEJIT_ENGIN=interp");
    expect(o, 1, {message, "variable WAVEJIT_ENGIN; is WAVEJIT_ENGINE meant?"});
    EXPECT_EQ(o.text.find(message), o.text.rfind(message)) << o.text;
    EXPECT_EQ(run(launch, on90a + " WAVEJIT_THREADS=1").text.find("nothing reads"),
              std::string::npos);
}

TEST_F(Cli, RelocatableObjects) {
    const std::string object = kernels("ids.gfx90a.hsaco.o");  // what clang -c wrote
    for (const char* command :
         {"disasm", "compile", "ir", "host-asm", "info --coverage", "launch --kernel saxpy"})
        expect(run(std::string(command) + " " + object), 1, {"relocatable", "ld.lld -shared"});
    expect(run("info " + object), 0, {"relocatable", "ld.lld -shared"});
}

TEST_F(Cli, LaunchTakesTheTargetThatTheFileHolds) {
    const std::string arguments =
        " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64:iota=f32 "
        "--arg buf:64:iota=f32:print=4xf32 --arg u32:16";
    for (const char* target : {"gfx900", "gfx906", "gfx90a"})
        expect(run("launch " + kernels("ids." + std::string(target) + ".hsaco") + arguments,
                   "WAVEJIT_TARGET="),
               0, {"0 1.5 3 4.5"});
}

TEST_F(Cli, InfoAndDisasm) {
    expect(
        run("info " + kernels("ids.gfx900.hsaco")), 0,
        {"amdgcn-amd-amdhsa--gfx900", "saxpy", "VGPRs", "global_buffer", "hidden_global_offset_x"});
    // llvm-objdump is the reference for layout and text.
    for (const char* name : {"asm.gfx900.hsaco", "ids.gfx906.hsaco", "ids.gfx90a.hsaco"}) {
        std::string mine = (directory / "mine").string(), theirs = (directory / "theirs").string();
        std::string path = kernels(name);
        ASSERT_EQ(std::system((WJ_TOOL " disasm " + path + " > " + mine).c_str()), 0);
        if (std::system(("llvm-objdump-22 -d " + path + " > " + theirs + " 2>/dev/null").c_str()) !=
            0)
            GTEST_SKIP() << "no llvm-objdump-22";
        EXPECT_EQ(read(mine), read(theirs)) << name;
    }
}

TEST_F(Cli, OutputThatCannotBeWritten) {
    for (const char* command : {"info ", "disasm "})
        EXPECT_EQ(run(command + kernels("ids.gfx90a.hsaco") + " >/dev/full; exit $?").code, 1)
            << command;
}

TEST_F(Cli, CompileSaysWhatIsRefused) {
    for (const char* isa : {"avx2", "avx512"}) {
        std::string base = std::string("compile --isa ") + isa + " ";
        expect(run(base + "--all " + kernels("ids.gfx906.hsaco")), 0, {isa, "0 of"});
        expect(run(base + kernels("asm.gfx90a.hsaco") + " --kernel refused"), 1,
               {"not implemented image_load", "refused image_load", "1 of 1 kernels"});
        expect(run(base + kernels("asm.gfx90a.hsaco") + " --kernel illegal"), 1,
               {"unknown word 0xbfffffff", "1 of 1 kernels"});
    }
    std::string file = kernels("asm.gfx90a.hsaco");
    expect(run("compile " + file + " --kernel nothing"), 1, {"no kernel 'nothing'"});
    expect(run("compile " + file + " --target gfx900"), 1, {"gfx90a", "not for gfx900"});
    expect(run("compile " + file + " --isa sse"), 2, {"'sse'"});
}

TEST_F(Cli, InfoCoverage) {
    const std::string file = kernels("coverage.gfx900.hsaco");
    const auto of = [&](const std::string& kernel) {
        return run("info --coverage --kernel " + kernel + " " + file);
    };
    expect(of("plain"), 0, {"4 instructions: all exact"});  // bytes that no branch reaches
    expect(of("rounded"), 0,
           {"4 instructions: all run, 2 not exact", "bounded v_rcp_f32 at +0x4",
            "bounded v_exp_f32 at +0x8", "1 ULP"});
    expect(of("textured"), 1,
           {"2 refused, 1 not exact", "refused image_load at +0x0",
            "refused ds_ordered_count at +0x8", "wrap", "bounded v_sqrt_f32"});
    expect(of("broken"), 1, {"undefined bytes"});
    expect(of("calling"), 0, {"every function was looked at", "bounded v_log_f32"});
    expect(run("info --coverage " + file), 1, {"plain", "rounded", "textured", "broken"});
    expect(run("info --coverage " + kernels("ids.gfx90a.hsaco")), 0, {"saxpy", "all exact"});
}

TEST_F(Cli, RunChecksItsProgram) {
    expect(run("run /no/such/program"), 1, {"/no/such/program"});
    expect(run("run no-such-program-anywhere"), 1, {"PATH"});
    expect(run("run " + file("plain.txt", "x")), 1, {"not executable"});
    expect(run("run /tmp"), 1, {"directory"});
    expect(run("run --engine fast /bin/true"), 2, {"WAVEJIT_ENGINE=fast", "interp, avx2"});
    expect(run("run /bin/true", "WAVEJIT_THREADS=many"), 2, {"WAVEJIT_THREADS"});
    expect(run("run --cus 0 /bin/true"), 2, {"--cus"});
    expect(run("doctor", on90a), run("doctor", on90a).code, {"AVX2 engine", "targets", "gfx90a"});
}

// Options that need another one, or exclude it: one message, before anything is started.
TEST_F(Cli, OptionsThatDoNotGoTogether) {
    const std::string program = file("program", "#!/bin/sh\necho started\n");
    fs::permissions(program, fs::perms::owner_all);
    const struct {
        const char *options, *environment, *message;
    } cases[] = {
        {"--check-report found.json", "", "need checkers"},
        {"--schedule-seed 5", "", "schedule seeds are of deterministic contexts"},
        {"--weak-memory", "", "weak memory and schedule seeds are of deterministic contexts"},
        {"--weak-memory --deterministic", "", "there is none: give one that is not 0"},
        {"--weak-memory --deterministic --schedule-seed 0", "WAVEJIT_SCHEDULE_SEED=1",
         "there is none: give one that is not 0"},
        {"--schedule-seed 18446744073709551616 --deterministic", "", "--schedule-seed"},
        {"--deterministic --threads 2", "", "--threads"},
        {"--capture-count 2", "", "--capture-count requires --capture"},
        {"--capture-kernel k", "", "--capture-kernel requires --capture"},
        {"", "WAVEJIT_CAPTURE_COUNT=2", "WAVEJIT_CAPTURE_COUNT is given without WAVEJIT_CAPTURE"},
        {"", "WAVEJIT_CAPTURE_KERNEL=k", "WAVEJIT_CAPTURE_KERNEL is given without"},
        {"--capture /dev/null", "", "folder '/dev/null': Not a directory"},
        {"--capture /proc/here", "", "folder '/proc/here'"},
        {"--coverage /no/such/folder/file", "", "/no/such/folder/file"},
        {"--check race --check-suppressions /no/file", "",
         "suppressions '/no/file' cannot be read"},
        {"--check memory --memory identity", "", "the memory checker needs checked memory"},
        {"--check init,inexact", "", "init and inexact exclude each other"},
        {"--memory window", "", "WAVEJIT_MEMORY=window"},
        {"--hot 0", "", "--hot"},
        {"--threads 1025", "", "--threads"},
        {"--target ''", "", "--target: nothing is given"},
        {"", "WAVEJIT_AGENTS=65", "WAVEJIT_AGENTS=65: expected a number from 1 to 64"},
        {"", "WAVEJIT_TIMEOUT=soon", "WAVEJIT_TIMEOUT=soon: expected a number"},
    };
    for (const auto& c : cases) {
        const Outcome o = run(std::string("run ") + c.options + " " + program, c.environment);
        expect(o, 2, {c.message});
        EXPECT_EQ(o.text.find(c.message), o.text.rfind(c.message)) << o.text;
        EXPECT_EQ(o.text.find("started"), std::string::npos) << c.options;
    }
    for (const std::string good :
         {"--weak-memory --deterministic --schedule-seed 18446744073709551615",
          "--check race --check-report /dev/null", "--threads 0"})
        expect(run("run " + good + " " + program), 0, {"started"});
    expect(run("run --capture-count 2 " + program,
               "WAVEJIT_CAPTURE=" + (directory / "captures").string()),
           0, {"started"});

    const std::string ids = kernels("ids.gfx90a.hsaco");
    for (const std::string bad :
         {"launch --weak-memory --deterministic ", "launch --schedule-seed 1 ",
          "launch --repeat 0 ", "launch --hot 0 ", "launch --limit 0 ", "launch --timeout 0 ",
          "launch --grid 1 --groups 1 ", "launch --arg u32:1 --packed 00 ",
          "info --brief --coverage ", "host-asm --checked --window ", "plan --checked --window ",
          "compile --all --kernel saxpy ", "disasm --kernel '' "})
        EXPECT_EQ(run(bad + ids, on90a).code, 2) << bad;
    expect(run("info --kernel nothing " + ids), 1, {"no kernel 'nothing'"});
}

// A program that needs a library which the linker has seen and which is gone.
TEST_F(Cli, RunSaysWhichLibraryIsMissing) {
    for (const char* name : {"libamdhip64.so.99", "libother.so.1"}) {
        const std::string library = (directory / name).string();
        const std::string program = (directory / "needs").string();
        const std::string source = file("needs.c", "int main(void) { return 0; }\n");
        const std::string link = "cc -shared -x c /dev/null -Wl,-soname," + std::string(name) +
                                 " -o " + library + " && cc " + source + " -Wl,--no-as-needed " +
                                 library + " -o " + program;
        ASSERT_EQ(std::system(link.c_str()), 0);
        expect(run("run " + program, "LD_LIBRARY_PATH=" + directory.string()), 0, {});
        fs::remove(library);
        expect(run("run " + program), 1, {program + " needs " + name, "LD_LIBRARY_PATH"});
        EXPECT_EQ(run("run " + program).text.find("Debian: libamdhip64-99") != std::string::npos,
                  std::string(name) == "libamdhip64.so.99");
    }
}

// HIP itself says only that there is no binary, and ends the process.
TEST_F(Cli, RunSaysWhatAProgramHoldsCodeFor) {
    std::string image = read(kernels("ids.gfx900.hsaco"));
    const std::string program = file("program", image);
    fs::permissions(program, fs::perms::owner_all);
    expect(run("run " + program, on90a), 1,
           {"holds code for gfx900", "none of it for gfx90a", "set WAVEJIT_TARGET to gfx900"});
    // Of a processor that is not emulated: 0x40 was gfx940 (LLVM's AMDGPUUsage).
    ASSERT_EQ(image[48], 0x2c);
    image[48] = 0x40;
    const std::string other = file("other", image);
    fs::permissions(other, fs::perms::owner_all);
    for (const std::string& environment : {on90a, std::string()})
        expect(run("run " + other, environment), 1,
               {"holds code for gfx940", "but emulated are", "gfx90a"});
}

// Kernels may be in a library of the program's own.
TEST_F(Cli, RunLooksIntoTheProgramsLibraries) {
    const std::string image = read(kernels("ids.gfx900.hsaco")),
                      id = "hipv4-amdgcn-amd-amdhsa--gfx900";
    const uint64_t head[] = {1, 4096, image.size(), id.size()};  // one entry: offset, size, name
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
    bundle.append(reinterpret_cast<const char*>(head), sizeof head);
    bundle += id;
    bundle.resize(4096);
    const std::string source =
        file("kernels.s", ".section .hip_fatbin,\"a\",@progbits\n.balign 4096\n.incbin \"" +
                              file("bundle", bundle + image) + "\"\n");
    const std::string library = (directory / "libkernels.so").string(),
                      program = (directory / "host").string();
    const std::string link =
        "cc -shared -o " + library + " " + source + " && cc -o " + program + " " +
        file("host.c",
             "#include <stdio.h>\n#include <stdlib.h>\n"
             "int main(void) { return puts(getenv(\"WAVEJIT_TARGET\")) < 0; }\n") +
        " -Wl,--no-as-needed " + library;
    ASSERT_EQ(std::system(link.c_str()), 0);
    expect(run("run " + program, "env -u WAVEJIT_TARGET"), 0, {"gfx900"});
    expect(run("run --target gfx90a " + program), 0, {"gfx90a"});
}

// Nobody has to name the target of a file that holds code for one processor only.
TEST_F(Cli, TheTargetIsTheOneThatAFileHoldsCodeFor) {
    for (const char* target : {"gfx900", "gfx90a", "gfx1010", "gfx1030"})
        expect(run("launch " + kernels("ids." + std::string(target) + ".hsaco") +
                   " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64:iota=f32 --arg "
                   "buf:64:iota=f32:print=4xf32 --arg u32:16"),
               0, {"0 1.5 3 4.5"});
}

// Processes with address spaces of their own share translations.
TEST_F(Cli, TranslationsAreKept) {
    const std::string cache = (directory / "cache").string();
    const std::string environment =
        on90a + " WAVEJIT_ENGINE=avx2 WAVEJIT_CACHE=1 WAVEJIT_CACHE_DIR=" + cache;
    const std::string launch =
        "launch " + kernels("ids.gfx90a.hsaco") +
        " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64:iota=f32 --arg "
        "buf:64:iota=f32:print=4xf32 --arg u32:16 --stats";
    expect(run("cache", environment), 0, {cache, "empty"});
    expect(run(launch, environment), 0, {"0 1.5 3 4.5", " 0 blocks loaded"});
    for (int i = 0; i < 3; ++i)
        expect(run(launch, environment), 0,
               {"0 1.5 3 4.5", "translated            0 blocks", ", 0 stored"});
    expect(run(launch, environment + " WAVEJIT_MEMORY=checked"), 0, {" 0 blocks loaded"});
    expect(run(launch, on90a + " WAVEJIT_ENGINE=avx2 WAVEJIT_CACHE=0 WAVEJIT_CACHE_DIR=" + cache),
           0, {" 0 blocks loaded", ", 0 stored"});
    expect(run("cache", environment), 0, {cache, "files      2"});
    expect(run("cache --clear", environment), 0, {"files      0"});
    expect(run(launch, environment), 0, {" 0 blocks loaded"});
    expect(run("cache", on90a + " WAVEJIT_CACHE=maybe"), 1, {"WAVEJIT_CACHE=maybe"});
}

// The file is as tools/perf/Documentation/jitdump-specification.txt says.
TEST_F(Cli, JitDump) {
    const std::string script =
        "sh -c 'echo $$; exec " WJ_TOOL " launch " + kernels("ids.gfx90a.hsaco") +
        " --kernel saxpy --grid 64 --arg f32:0.5 --arg buf:64 --arg buf:64 --arg u32:16'";
    const std::string environment =
        on90a + " WAVEJIT_ENGINE=avx2 WAVEJIT_CACHE=0 WAVEJIT_PERF=jitdump ";
    FILE* pipe = popen((environment + script).c_str(), "r");
    int pid = 0;
    ASSERT_TRUE(pipe && fscanf(pipe, "%d", &pid) == 1);
    EXPECT_EQ(pclose(pipe), 0);
    const std::string stem = "/tmp/jit-" + std::to_string(pid);
    const std::string dump = read(stem + ".dump"), listing = read(stem + ".gpu.s");
    fs::remove(stem + ".dump");
    fs::remove(stem + ".gpu.s");
    EXPECT_NE(listing.find("s_endpgm"), std::string::npos) << listing;
    auto word = [&](size_t at) {
        uint32_t v = 0;
        if (at + 4 <= dump.size()) std::memcpy(&v, &dump[at], 4);
        return v;
    };
    ASSERT_EQ(word(0), 0x4a695444u);
    EXPECT_EQ(word(8), 40u);
    EXPECT_EQ(word(20), static_cast<uint32_t>(pid));
    size_t at = 40;
    std::string ids;
    for (uint32_t size; at < dump.size() && (size = word(at + 4)) >= 16; at += size) {
        ids += std::to_string(word(at));
        if (word(at) == 0) {
            EXPECT_EQ(dump.find("saxpy", at + 56) - at, 56u);
        }
    }
    EXPECT_EQ(at, dump.size());
    EXPECT_EQ(ids.substr(0, 2), "20");  // lines of a block, then its code
}

// Which format a file of coverage has, its name says.
TEST_F(Cli, CoverageFiles) {
    const auto written = [](const std::string& ending) {
        const std::string path = testing::TempDir() + "/cli." + std::to_string(getpid()) + ending;
        expect(run("launch " + kernels("checks.gfx90a.hsaco") +
                       " --kernel write_global --grid 64 --block 64 --arg buf:4096 --arg u32:0"
                       " --coverage " +
                       path,
                   on90a),
               0, {});
        std::ifstream file(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        fs::remove(path);
        return text;
    };
    const std::string blocks = written(".drcov"), lines = written(".info");
    EXPECT_TRUE(
        blocks.starts_with("DRCOV VERSION: 2\nDRCOV FLAVOR: wavejit\n"
                           "Module Table: version 2, count 1\n"))
        << blocks;
    EXPECT_NE(blocks.find("BB Table: 1 bbs\n"), std::string::npos) << "one block without branches";
    EXPECT_TRUE(lines.starts_with("TN:\nSF:")) << lines;
    EXPECT_NE(lines.find("FNDA:1,write_global\n"), std::string::npos) << lines;
}

// Mistakes that a launch without checkers gets through, and clean twins.
TEST_F(Cli, Checkers) {
    const auto launch = [](const char* kernel, int argument) {
        return "launch " + kernels("checks.gfx90a.hsaco") + " --kernel " + kernel +
               " --grid 256 --block 256 --arg buf:4096 --arg u32:" + std::to_string(argument);
    };
    expect(run(launch("read_lds", 1), on90a), 0, {});
    expect(run(launch("read_lds", 1) + " --check memory", on90a), 1,
           {"beyond the work-group's LDS", "checks.cl:7", "lanes       59",
            "byte 0xf0 of LDS, of which the work-group has 240 bytes"});
    expect(run(launch("read_lds", 0) + " --check memory,init,race,barrier", on90a), 0, {});
    const auto initial = [](const std::string& buffer) {
        return "launch " + kernels("checker_table.gfx90a.hsaco") +
               " --kernel global_unwritten --grid 256 --block 256 --check init --arg " + buffer +
               " --arg u32:1";
    };
    expect(run(initial("buf:2048"), on90a), 1,
           {"is stored to global memory, and nobody has written it"});
    expect(run(initial("buf:2048:fill=0"), on90a), 0, {});
    expect(run(launch("leave_early", 1), on90a + " WAVEJIT_CHECK=init,barrier"), 1,
           {"missed barrier: 3 of 4 waves", "checks.cl:84"});
    expect(run(launch("leave_early", 1) + " --check rice", on90a), 2,
           {"WAVEJIT_CHECK=rice: expected one of memory, init, race, barrier, waitcnt"});
    expect(run(launch("read_lds", 0) + " --check all", on90a), 0, {});
    expect(run(launch("read_lds", 0) + " --check all --check-suppressions /no/file", on90a), 2,
           {"suppressions '/no/file' cannot be read"});
    expect(run(launch("read_lds", 0) + " --check memory --memory identity", on90a), 2,
           {"the memory checker needs checked memory"});
}

}  // namespace
