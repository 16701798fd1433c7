#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "tools/cli.h"

namespace wj::tools {

uint64_t parse_size(const std::string& text, const std::string& what) {
    char* end = nullptr;
    errno = 0;
    uint64_t value = std::strtoull(text.c_str(), &end, 0);
    uint64_t factor = 1;
    std::string unit = end;
    if (unit == "k" || unit == "K" || unit == "KiB")
        factor = 1 << 10;
    else if (unit == "m" || unit == "M" || unit == "MiB")
        factor = 1 << 20;
    else if (unit == "g" || unit == "G" || unit == "GiB")
        factor = 1 << 30;
    else if (!unit.empty())
        end = nullptr;
    if (text.empty() || text[0] == '-' || !end || end == text.c_str() || errno ||
        value > UINT64_MAX / factor)
        fail(what + ": '" + text + "' is not a number (examples: 4096, 0x1000, 4k, 16M)",
             exit_usage);
    return value * factor;
}

uint64_t to_nanoseconds(double seconds) {
    return static_cast<uint64_t>(seconds * 1e9);
}

CLI::Option* add_timeout(CLI::App& app, double& seconds, const std::string& what) {
    return app.add_option("--timeout", seconds, what)->check(CLI::Range(0.001, 1e9));
}

CLI::Validator whole_number(uint64_t least) {
    return {[=](const std::string& text) {
                uint64_t value = 0;
                const char* const end = text.data() + text.size();
                const auto [at, error] = std::from_chars(text.data(), end, value);
                if (at == end && error == std::errc() && value >= least) return std::string();
                return fmt::format("'{}' is no number from {} to {}", text, least, UINT64_MAX);
            },
            ""};
}

CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t& number,
                        const std::string& what) {
    return app.add_option(name, number, what)->check(whole_number(1));
}

void refuse_others(const CLI::App& app, const std::vector<std::string>& used,
                   const std::string& where) {
    for (const CLI::Option* option : app.get_options())
        if (option->count() && std::ranges::count(used, option->get_name()) == 0)
            fail(option->get_name() + " cannot be given " + where, exit_usage);
}

void parse_dims(const std::string& text, const std::string& what, uint32_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        size_t comma = text.find(',', at);
        uint64_t value = parse_size(text.substr(at, comma - at), what);
        if (!value || value > UINT32_MAX)
            fail(what + ": sizes go from 1 to 4294967295", exit_usage);
        out[i] = static_cast<uint32_t>(value);
        if (comma == std::string::npos) return;
        at = comma + 1;
    }
    fail(what + ": '" + text + "' has more than three sizes", exit_usage);
}

std::string own_directory() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "." : path.parent_path().string();
}

// An empty word, as of a variable that is not set, would be as if the option was not there.
static void refuse_empty(CLI::App& app) {
    for (CLI::App* sub : app.get_subcommands({}))
        for (CLI::Option* option : sub->get_options())
            if (option->get_items_expected_max())
                option->check([](const std::string& word) {
                    return word.empty() ? "nothing is given" : std::string();
                });
}

// CLI11 only says that one is required.
static void check_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || words[0].starts_with('-')) return;
    std::string names;
    for (const CLI::App* sub : app.get_subcommands({})) {
        if (sub->get_name() == words[0]) return;
        if (!sub->get_group().empty()) names += (names.empty() ? "" : ", ") + sub->get_name();
    }
    fail("there is no subcommand '" + words[0] + "'; there are " + names, exit_usage);
}

// fmt throws where nothing can be written.
static void tell(const std::string& text) {
    std::fputs(("wavejit: " + text + "\n").c_str(), stderr);
}

}  // namespace wj::tools

int main(int argc, char** argv) {
    using namespace wj::tools;
    CLI::App app{"wavejit: runs AMD GPU code on the CPU"};
    app.require_subcommand(1);
    app.set_version_flag("--version",
                         fmt::format("wavejit {}.{}", WJ_VERSION_MAJOR, WJ_VERSION_MINOR));
    int result = exit_ok;
    std::vector<std::string> words(argv + 1, argv + argc), program_arguments;
    add_run(app, program_arguments, result);
    add_launch(app, result);
    add_replay(app, result);
    add_difftest(app, result);
    add_minimise(app, result);
    add_info(app, result);
    add_disasm(app, result);
    add_translate(app);
    add_compile(app, result);
    add_doctor(app, result);
    add_cache(app, result);
    add_manual(app);
    refuse_empty(app);
    try {
        check_subcommand(app, words);
        program_arguments = take_program_arguments(app, words);
        std::ranges::reverse(words);  // as CLI11 wants them
        app.parse(words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? exit_ok : exit_usage;
    } catch (const Failure& f) {
        tell(f.text);
        return f.code;
    } catch (const std::exception& e) {
        tell(std::string("unexpected failure: ") + e.what());
        return exit_failed;
    }
    if (std::fflush(stdout) != 0) {
        tell(std::string("the output cannot be written: ") + std::strerror(errno));
        return exit_failed;
    }
    return result;
}
