// wavejit ir, plan, host-asm: what the translator makes of a kernel, without running it.
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "backend_x64/engine.h"
#include "backend_x64/host_listing.h"
#include "frontend/bundle.h"
#include "frontend/code_object.h"
#include "ir/ir.h"
#include "tools/cli.h"
#include "tools/code_file.h"
#include "tools/kernel_blocks.h"

namespace wj::tools {
namespace {

struct Translation {
    std::string file, kernel, target, isa, profile, block;
    bool exec_full = false, checked = false, window = false, passes = false;
};

// Opened code object for a target: the wanted one, or the first that is emulated.
struct Opened {
    std::vector<FoundCodeObject> found;
    CodeObject object;
    const Target* target = nullptr;
};

void open(const Translation& r, Opened& out) {
    auto found = find_code_objects_in_file(r.file);
    if (!found) fail(found.status().message());
    out.found = std::move(*found);
    std::string have;
    for (const FoundCodeObject& f : out.found) {
        std::string name = f.target.str();
        have += (have.empty() ? "" : ", ") + name;
        bool wanted = r.target.empty() || name == r.target || f.target.processor->name == r.target;
        out.target = find_target(name);
        if (!wanted || !out.target) continue;
        out.object = linked_object(f);
        return;
    }
    fail(r.file + " holds code for " + (have.empty() ? "no AMD GPU" : have) + ", but not for " +
         (r.target.empty() ? "an emulated one (" + supported_target_names() + ")" : r.target));
}

template <class Body>
void each_kernel(const Opened& opened, const std::string& name, Body&& body) {
    bool any = false;
    for (const KernelInfo& info : opened.object.kernels) {
        if (!name.empty() && info.name != name) continue;
        any = true;
        KernelBlocks kernel(*with_wave_size(*opened.target, info.descriptor.wave_size),
                            opened.object, info);
        body(info, kernel);
    }
    if (!any) fail("no kernel '" + name + "' in the code object");
}

void print_ir(const Translation& r) {
    Opened opened;
    open(r, opened);
    each_kernel(opened, r.kernel, [&](const KernelInfo& info, KernelBlocks& kernel) {
        fmt::print("; kernel {}\n", info.name);
        if (r.passes)
            kernel.on_pass([](std::string_view pass, const ir::Block& block) {
                fmt::print("; behind {}\n{}\n", pass, ir::print(block));
            });
        kernel.each_block(r.exec_full, [&](const ir::Block& block) {
            if (r.passes) fmt::print("; as it is translated\n");
            fmt::print("{}\n", ir::print(block));
        });
    });
}

// "+0x40", relative to the kernel's beginning.
uint64_t parse_offset(const std::string& text) {
    uint64_t offset = 0;
    const char* const begin = text.data() + (text.starts_with("+0x") ? 3 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), offset, 16);
    if (begin == text.data() || error != std::errc() || end != text.data() + text.size())
        fail("--block is an offset from the kernel's beginning, such as +0x40, not '" + text + "'",
             exit_usage);
    return offset;
}

lift::Profile read_profile(const std::string& file) {
    std::ifstream in(file);
    if (!in) fail("cannot read the profile '" + file + "': " + std::strerror(errno));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    auto profile = lift::Profile::parse(text);
    if (!profile) fail(file + ": " + profile.status().message());
    return *profile;
}

// The blocks that the request is about, as `print` writes them: kernels' own, or the one of a
// profile.
template <class F>
void each_translation(const Translation& r, F print) {
    Opened opened;
    open(r, opened);
    x64::CompileOptions options;
    options.avx512 = choose_isa(r.isa) == x64::Isa::Avx512;
    options.address_mode = x64::address_mode(r.checked, r.window);
    std::optional<lift::Profile> profile;
    if (!r.profile.empty()) {
        profile = read_profile(r.profile);
        options.exclusive = profile->exclusive;
        options.row_lanes = machine::row_lanes(profile->lane_layout);
        options.whole_lanes = profile->whole_lanes;
    }
    each_kernel(opened, r.kernel, [&](const KernelInfo& info, KernelBlocks& kernel) {
        fmt::print("; kernel {}\n", info.name);
        kernel.set_vector_lanes(options.avx512 ? 16 : 8);
        if (profile) kernel.set_profile(*profile);
        // Relative to the kernel, so that listings of two builds can be compared.
        const auto at = [&](uint64_t pc) { return pc - info.entry_address; };
        const auto text = [&](uint64_t pc) {
            return fmt::format("+{:#x}  {}", at(pc), kernel.text_at(pc));
        };
        const auto print_block = [&](const ir::Block& block) {
            print(block, at(block.pc), at(block.end_pc), options, text);
        };
        if (!profile && r.block.empty()) return kernel.each_block(r.exec_full, print_block);
        const uint64_t offset = r.block.empty() ? 0 : parse_offset(r.block);
        if (offset >= info.code_size)
            fail(fmt::format("kernel '{}' has {:#x} bytes of code, none at {}", info.name,
                             info.code_size, r.block));
        print_block(kernel.block_at(info.entry_address + offset, r.exec_full,
                                    lift::Options{}.max_instructions));
    });
}

void print_plan(const Translation& r) {
    each_translation(r, [](const ir::Block& block, uint64_t begin, uint64_t end,
                           const x64::CompileOptions& options, const auto& text) {
        fmt::print("block +{:#x} to +{:#x}, {} instructions\n{}", begin, end, block.guest_count,
                   x64::plan_of_block(block, options, text));
    });
}

void print_host(const Translation& r) {
    if (!x64::host_listing_missing().empty()) fail("host-asm " + x64::host_listing_missing());
    each_translation(r, [](const ir::Block& block, uint64_t begin, uint64_t end,
                           const x64::CompileOptions& options, const auto& text) {
        fmt::print("; block +{:#x} to +{:#x}, {} guest instructions\n{}\n", begin, end,
                   block.guest_count, x64::disassemble_block(block, options, text));
    });
}

void add_common(CLI::App& sub, Translation& r) {
    sub.add_option("file", r.file, "code object, offload bundle or HIP program")->required();
    sub.add_option("--kernel", r.kernel, "only this kernel");
    sub.add_option("--target", r.target, "only code for this target");
    sub.add_flag("--exec-full", r.exec_full, "the variant for waves with all lanes active");
}

void add_translation(CLI::App& sub, Translation& r) {
    add_common(sub, r);
    sub.add_option("--isa", r.isa, "avx2 or avx512");
    auto* const checked = sub.add_flag("--checked", r.checked, "for checked memory");
    sub.add_flag("--window", r.window, "for memory in a window")->excludes(checked);
    sub.add_option("--block", r.block, "only the block at this offset from the kernel's beginning");
    sub.add_option("--profile", r.profile,
                   "what is known of the wave, of the block or the kernel's first one: a file as "
                   "WAVEJIT_PLANS writes them");
}

}  // namespace

void add_translate(CLI::App& app) {
    auto* ir = app.add_subcommand("ir", "print the intermediate representation of kernels");
    auto r1 = std::make_shared<Translation>();
    add_common(*ir, *r1);
    ir->callback([=] { print_ir(*r1); });

    ir->add_flag("--passes", r1->passes, "the blocks behind each pass that changed them, too");

    auto* plan = app.add_subcommand(
        "plan",
        "print what the translator decides for the blocks of kernels, and why not otherwise");
    auto r3 = std::make_shared<Translation>();
    add_translation(*plan, *r3);
    plan->callback([=] { print_plan(*r3); });

    auto* host = app.add_subcommand("host-asm", "print the host code of kernels");
    auto r2 = std::make_shared<Translation>();
    add_translation(*host, *r2);
    host->callback([=] { print_host(*r2); });
}

}  // namespace wj::tools
