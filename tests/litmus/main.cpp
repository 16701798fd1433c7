// wavejit-litmus: runs litmus tests of the memory model (tests.txt and the code objects that
// generate.py writes) and counts the outcomes. A forbidden outcome fails.
#include <wavejit/wavejit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Condition {
    bool forbidden;
    std::string text;
};

struct Test {
    std::string name;
    unsigned wave, threads, registers, width;  // lanes of a wave; threads of the test; bits
    bool host, in_group;  // a thread of the host is among the threads; they are waves of one group
    std::string only;     // the language that has the test; empty: all
    std::vector<std::string> variables, host_operations;
    std::vector<Condition> conditions;
};

struct Options {
    std::string folder, language = "opencl", engine = "auto", filter, target = "gfx90a";
    unsigned rounds = 1000000, threads = 2;
    uint64_t weak = 0;  // the first schedule seed of a context with weak memory; 0: none
};

using Outcome = std::map<std::string, uint64_t>;  // "0:r0" or "x", and its value
constexpr int kSkipped = 77;                      // the host cannot run the engine

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "wavejit-litmus: %s\n", message.c_str());
    std::exit(2);
}

std::vector<Test> read_tests(const std::string& path) {
    std::ifstream file(path);
    if (!file) fail("cannot read " + path);
    std::vector<Test> tests;
    unsigned wave = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        const std::string rest = line.substr(std::min(line.size(), kind.size() + 1));
        if (kind == "wave") {
            wave = unsigned(std::atoi(rest.c_str()));
        } else if (kind == "test") {
            Test test{};
            test.wave = wave;
            words >> test.name >> test.threads >> test.registers >> test.width >> test.host >>
                test.in_group;
            for (std::string name; words >> name;) test.variables.push_back(name);
            tests.push_back(test);
        } else if (kind == "only") {
            tests.back().only = rest;
        } else if (kind == "host") {
            tests.back().host_operations.push_back(rest);
        } else {
            tests.back().conditions.push_back({kind == "forbidden", rest});
        }
    }
    if (!wave) fail(path + " does not say how many lanes a wave has");
    return tests;
}

// "0:r0=1 /\ x=2"
bool holds(const std::string& condition, const Outcome& outcome) {
    std::istringstream words(condition);
    for (std::string word; words >> word;) {
        if (word == "/\\") continue;
        const size_t equals = word.find('=');
        const auto found = outcome.find(word.substr(0, equals));
        if (found == outcome.end()) fail("unknown name in the condition " + condition);
        if (found->second != std::strtoull(word.c_str() + equals + 1, nullptr, 0)) return false;
    }
    return true;
}

// The host's side of a test, as the compiler of this program lowers C++ atomics.
template <class T>
class HostThread {
public:
    HostThread(const Test& test, char* memory, T* out, unsigned* sync, unsigned rounds,
               unsigned lanes)
        : test_(test), memory_(memory), out_(out), sync_(sync), rounds_(rounds), lanes_(lanes) {
        for (const std::string& line : test.host_operations) {
            std::istringstream words(line);
            std::string kind, first, second, order;
            words >> kind >> first >> second >> order;
            const bool write = kind == "W";
            if (!write && kind != "R") fail("the host has no operation " + kind);
            const std::string& variable = write ? first : second;
            unsigned index = 0;
            while (test.variables.at(index) != variable) ++index;
            operations_.push_back({write, index,
                                   write ? std::strtoull(second.c_str(), nullptr, 0) : 0,
                                   write ? 0 : unsigned(std::atoi(first.c_str() + 1))});
        }
    }

    void run() {
        for (unsigned round = 0; round < rounds_; ++round) {
            __atomic_fetch_add(sync_, 1, __ATOMIC_RELAXED);
            while (__atomic_load_n(sync_, __ATOMIC_RELAXED) < (round + 1) * test_.threads) {
            }
            for (unsigned lane = 0; lane < lanes_; ++lane)
                for (const Operation& operation : operations_) perform(operation, round, lane);
        }
    }

private:
    struct Operation {
        bool write;
        unsigned variable;
        uint64_t value;
        unsigned destination;
    };

    void perform(const Operation& operation, uint64_t round, unsigned lane) {
        const uint64_t row = round * test_.variables.size() + operation.variable;
        T* address = reinterpret_cast<T*>(memory_ + (row * test_.wave + lane) * 8);
        if (operation.write) {
            __atomic_store_n(address, T(operation.value), __ATOMIC_SEQ_CST);
            return;
        }
        const uint64_t place = (round * test_.wave + lane) * test_.threads + (test_.threads - 1);
        out_[place * test_.registers + operation.destination] =
            __atomic_load_n(address, __ATOMIC_SEQ_CST);
    }

    const Test& test_;
    char* memory_;
    T* out_;
    unsigned* sync_;
    unsigned rounds_, lanes_;
    std::vector<Operation> operations_;
};

// Prints the histogram; the number of forbidden outcomes.
template <class T>
uint64_t count(const Test& test, const char* memory, const T* out, unsigned rounds,
               unsigned lanes) {
    std::map<std::vector<T>, uint64_t> histogram;
    std::vector<T> values(test.threads * test.registers + test.variables.size());
    for (uint64_t place = 0; place < uint64_t(rounds) * test.wave; ++place) {
        if (place % test.wave >= lanes) continue;
        size_t next = 0;
        for (; next < test.threads * test.registers; ++next)
            values[next] = out[place * test.threads * test.registers + next];
        for (size_t v = 0; v < test.variables.size(); ++v)
            std::memcpy(&values[next++],
                        memory + ((place / test.wave * test.variables.size() + v) * test.wave +
                                  place % test.wave) *
                                     8,
                        sizeof(T));
        ++histogram[values];
    }
    uint64_t forbidden = 0;
    for (const auto& [state, times] : histogram) {
        Outcome outcome;
        std::string line;
        for (size_t i = 0; i < state.size(); ++i) {
            const size_t registers = test.threads * test.registers;
            const std::string name = i < registers ? std::to_string(i / test.registers) + ":r" +
                                                         std::to_string(i % test.registers)
                                                   : test.variables[i - registers];
            outcome[name] = state[i];
            char text[64];
            std::snprintf(text, sizeof text, " %s=%llx", name.c_str(),
                          static_cast<unsigned long long>(state[i]));
            line += text;
        }
        const char* verdict = "";
        for (const Condition& condition : test.conditions)
            if (holds(condition.text, outcome)) {
                verdict = condition.forbidden ? "  FORBIDDEN" : "  allowed";
                if (condition.forbidden) forbidden += times;
                break;
            }
        std::printf("  %10llu %s%s\n", static_cast<unsigned long long>(times), line.c_str(),
                    verdict);
    }
    return forbidden;
}

template <class T>
uint64_t run(wj_context* context, wj_kernel* kernel, const Test& test, unsigned rounds,
             unsigned lanes, uint64_t seed) {
    const auto check = [&](wj_status status) {
        if (status != WJ_OK) fail(test.name + ": " + wj_last_error(context));
    };
    uint64_t memory = 0, out = 0, sync = 0;
    check(wj_memory_allocate(context, uint64_t(rounds) * test.variables.size() * test.wave * 8,
                             &memory));
    check(wj_memory_allocate(
        context, uint64_t(rounds) * test.threads * test.registers * test.wave * sizeof(T) + 8,
        &out));
    check(wj_memory_allocate(context, 4096, &sync));
    const wj_argument arguments[] = {WJ_POINTER(memory), WJ_POINTER(out), WJ_POINTER(sync),
                                     WJ_POINTER(rounds), WJ_POINTER(lanes)};
    wj_launch_options launch = WJ_INIT(wj_launch_options);
    launch.grid[0] = (test.threads - test.host) * test.wave;
    launch.block[0] = test.in_group ? launch.grid[0] : test.wave;
    launch.arguments = arguments;
    launch.argument_count = 5;
    launch.timeout_ns = 120'000'000'000;
    launch.schedule_seed = seed;
    wj_dispatch* dispatch = nullptr;
    check(wj_dispatch_submit(kernel, &launch, &dispatch));
    if (test.host)
        HostThread<T>(test, reinterpret_cast<char*>(memory), reinterpret_cast<T*>(out),
                      reinterpret_cast<unsigned*>(sync), rounds, lanes)
            .run();
    check(wj_dispatch_wait(dispatch));
    wj_dispatch_release(dispatch);
    const uint64_t forbidden =
        count<T>(test, reinterpret_cast<char*>(memory), reinterpret_cast<T*>(out), rounds, lanes);
    for (uint64_t address : {memory, out, sync}) check(wj_memory_free(context, address));
    return forbidden;
}

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name.rfind("--", 0) != 0) {
            options.folder = name;
            continue;
        }
        if (++i == argc) fail(name + " needs a value");
        const std::string value = argv[i];
        if (name == "--rounds")
            options.rounds = unsigned(std::strtoul(value.c_str(), nullptr, 10));
        else if (name == "--threads")
            options.threads = unsigned(std::strtoul(value.c_str(), nullptr, 10));
        else if (name == "--weak")
            options.weak = std::strtoul(value.c_str(), nullptr, 10);
        else if (name == "--engine")
            options.engine = value;
        else if (name == "--language")
            options.language = value;
        else if (name == "--target")
            options.target = value;
        else if (name == "--filter")
            options.filter = value;
        else
            fail("unknown option " + name);
    }
    if (options.folder.empty() || options.rounds < 64)
        fail(
            "usage: wavejit-litmus FOLDER [--language opencl|hip|asm] [--engine "
            "auto|interp|avx2|avx512] [--threads N]"
            " [--weak SEED] [--target T] [--rounds N, of all lanes together, at least 64] "
            "[--filter TEXT]");
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    const std::map<std::string, wj_engine> engines = {{"auto", WJ_ENGINE_AUTO},
                                                      {"interp", WJ_ENGINE_INTERPRETER},
                                                      {"avx2", WJ_ENGINE_AVX2},
                                                      {"avx512", WJ_ENGINE_AVX512}};
    if (!engines.count(options.engine)) fail("unknown engine " + options.engine);
    wj_context_options context_options = WJ_INIT(wj_context_options);
    context_options.target = options.target.c_str();
    context_options.engine = engines.at(options.engine);
    context_options.threads = options.threads;
    context_options.deterministic = context_options.weak_memory = options.weak != 0;
    wj_context* context = nullptr;
    char error[512];
    if (wj_context_create(&context_options, &context, error, sizeof error) != WJ_OK) {
        std::printf("%s\n", error);
        const bool lacks = std::strstr(error, "cannot run") != nullptr;
        return lacks ? kSkipped : 2;
    }
    wj_module* module = nullptr;
    if (wj_module_load_file(context, (options.folder + "/" + options.language + ".hsaco").c_str(),
                            &module) != WJ_OK)
        fail(wj_last_error(context));
    unsigned ran = 0, failed = 0;
    for (const Test& test : read_tests(options.folder + "/tests.txt")) {
        if (test.name.find(options.filter) == std::string::npos) continue;
        wj_kernel* kernel = nullptr;
        if (!test.only.empty() && test.only != options.language) continue;
        if (wj_module_get_kernel(module, test.name.c_str(), &kernel) != WJ_OK)
            fail(wj_last_error(context));
        // All lanes at once, which is many instances in a short time; and one alone, whose store
        // and load are close together.
        for (const unsigned lanes : {test.wave, 1u}) {
            const unsigned rounds = options.rounds / (lanes == 1 ? 8 : test.wave);
            std::printf("%s (%s, %s, %u lanes)\n", test.name.c_str(), options.language.c_str(),
                        options.engine.c_str(), lanes);
            const uint64_t seed = options.weak ? options.weak + ran : 0;
            const uint64_t forbidden =
                test.width == 64 ? run<uint64_t>(context, kernel, test, rounds, lanes, seed)
                                 : run<uint32_t>(context, kernel, test, rounds, lanes, seed);
            ++ran;
            failed += forbidden != 0;
            std::printf("%s %s: %llu of %u forbidden\n", forbidden ? "FAIL" : "ok",
                        test.name.c_str(), static_cast<unsigned long long>(forbidden),
                        rounds * lanes);
            std::fflush(stdout);
        }
    }
    wj_module_unload(module);
    wj_context_destroy(context);
    std::printf("%u tests, %u failed\n", ran, failed);
    return ran == 0 || failed != 0;
}
