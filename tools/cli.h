// What the subcommands of the command-line tool share.
#pragma once

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "wavejit/wavejit.h"

namespace wj::tools {

// Exit codes.
enum : int { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_mismatch = 3 };

// Thrown by subcommands, caught in main: prints "wavejit: <text>" and exits.
struct Failure {
    int code;
    std::string text;
};
[[noreturn]] inline void fail(std::string text, int code = exit_failed) {
    throw Failure{code, std::move(text)};
}
inline void check(const Status& status) {
    if (!status) fail(status.message());
}

// Options of everything that makes a device.
struct DeviceFlags {
    std::string target, engine, memory, checks, check_report, check_suppressions, coverage,
        fidelity;
    int threads = -1, compute_units = 0;
    bool deterministic = false, weak_memory = false;
    uint32_t schedule_seed = 0;
    void add(CLI::App& app);
    void to_environment() const;  // for programs that are started
};

// Numbers as people write them: 1024, 0x400, 4k, 16M.
uint64_t parse_size(const std::string& text, const std::string& what);
uint64_t parse_timeout(double seconds);  // nanoseconds
void parse_dims(const std::string& text, const std::string& what, uint32_t out[3]);

// Each adds its subcommand; the callback sets `result` to the exit code.
// arguments: the program's.
void add_run(CLI::App& app, const std::vector<std::string>& arguments, int& result);
// Takes what follows the program's name out of the words of `wavejit run ...`, as nothing but the
// program may read it. The words come without the tool's name.
std::vector<std::string> take_program_arguments(const CLI::App& app,
                                                std::vector<std::string>& words);
void add_launch(CLI::App& app, int& result);
void add_replay(CLI::App& app, int& result);
void add_difftest(CLI::App& app, int& result);
void add_minimise(CLI::App& app, int& result);
void add_info(CLI::App& app, int& result);
void add_disasm(CLI::App& app, int& result);
void add_translate(CLI::App& app);  // ir, host-asm
void add_compile(CLI::App& app, int& result);
void add_doctor(CLI::App& app, int& result);
void add_cache(CLI::App& app, int& result);
void add_manual(CLI::App& app);

std::string own_directory();  // of the running executable

}  // namespace wj::tools
