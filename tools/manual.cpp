// wavejit manual: the page wavejit(1), made of what --help says of each subcommand.
#include "runtime/environment.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

// A minus sign is not a hyphen, a line must not begin with a control character, and long words
// break behind a bar.
std::string escaped(const std::string& text) {
    std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '|')
            out += "|\\:";
        else
            out += c;
    }
    return out;
}

void item(const std::string& name, const std::string& meaning) {
    fmt::print(".TP\n.B {}\n{}\n", escaped(name), escaped(meaning));
}

void subcommand(const CLI::App& sub) {
    std::string usage = sub.get_name() + " [options]";
    for (const CLI::Option* option : sub.get_options())
        if (option->get_positional())
            usage +=
                option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
    fmt::print(".SS {}\n{}.\n", escaped(usage), escaped(sub.get_description()));
    for (const CLI::Option* option : sub.get_options()) {
        if (option->get_name() == "--help") continue;
        const bool flag = option->get_items_expected_max() == 0;
        const bool positional = option->get_positional();
        item(option->get_name(positional, true) + (flag || positional ? "" : " VALUE"),
             option->get_description());
    }
}

void print_manual(const CLI::App& app) {
    fmt::print(".TH WAVEJIT 1 \"\" \"wavejit {}.{}\" \"User Commands\"\n", WJ_VERSION_MAJOR,
               WJ_VERSION_MINOR);
    fmt::print(
        ".SH NAME\nwavejit \\- run AMD GPU programs on the CPU\n"
        ".SH SYNOPSIS\n.B wavejit\n.I subcommand\n[options]\n.SH DESCRIPTION\n"
        "Runs the machine code of AMD GPUs on a machine without one: whole HIP programs\n"
        "(run), single kernels (launch), or shows what a file holds and what is made of it.\n"
        "Every subcommand has a \\-\\-help of its own.\n.SH SUBCOMMANDS\n");
    for (const CLI::App* sub : app.get_subcommands({}))
        if (!sub->get_group().empty()) subcommand(*sub);
    fmt::print(".SH ENVIRONMENT\n");
    for (const auto& [name, meaning] : runtime::known_variables())
        item(std::string(name), std::string(meaning));
    fmt::print(".SH EXIT STATUS\n");
    item(std::to_string(exit_ok), "success; for run, the program's own status");
    item(std::to_string(exit_failed), "something failed; the message says what");
    item(std::to_string(exit_usage), "wrong arguments");
    item(std::to_string(exit_mismatch),
         "launch, replay: memory differs from the file it is compared with; difftest: engines "
         "differ");
}

}  // namespace

void add_manual(CLI::App& app) {
    app.add_subcommand("manual", "print the manual page")->group("")->callback([&app] {
        print_manual(app);
    });
}

}  // namespace wj::tools
