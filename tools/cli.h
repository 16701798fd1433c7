// What the subcommands of the command-line tool share.
#pragma once

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
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
    std::optional<uint32_t> threads, compute_units;
    bool deterministic = false, weak_memory = false;
    std::optional<uint64_t> schedule_seed;
    void add(CLI::App& app);
    void to_environment() const;  // for programs that are started, and contexts
    // The same, of launches that have no seeds of their own. Fails for what is no value, and for
    // options that do not go together.
    void to_checked_environment() const;
};

// Numbers as people write them: 1024, 0x400, 4k, 16M.
uint64_t parse_size(const std::string& text, const std::string& what);
uint64_t to_nanoseconds(double seconds);
void parse_dims(const std::string& text, const std::string& what, uint32_t out[3]);

CLI::Validator whole_number(uint64_t least);  // of 64 bits, in decimal digits
// Options that several have: a time, and a number that is not 0. What is not given stays.
CLI::Option* add_timeout(CLI::App& app, double& seconds, const std::string& what);
CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t& number,
                        const std::string& what);
// Fails for what was given and is not among `used`. where: "with --writer".
void refuse_others(const CLI::App& app, const std::vector<std::string>& used,
                   const std::string& where);

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
