// wavejit ir, host-asm, compile: what the translator makes of a kernel, without running it. Blocks
// are those that begin at the kernel's entry, behind a block's end, or at a branch target.
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include "backend_x64/engine.h"
#include "frontend/bundle.h"
#include "frontend/code_object.h"
#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "ir/ir.h"
#include "lift/lift.h"
#include "runtime/engine_factory.h"
#include "tools/cli.h"

namespace wj::tools {
namespace {

struct Request {
    std::string file, kernel, target, isa;
    bool exec_full = false, checked = false;
};

x64::Isa choose_isa(const std::string& text) {
    if (text == "avx2") return x64::Isa::Avx2;
    if (text == "avx512") return x64::Isa::Avx512;
    if (!text.empty()) fail("--isa is avx2 or avx512, not '" + text + "'", exit_usage);
    return runtime::host_features().avx512 ? x64::Isa::Avx512 : x64::Isa::Avx2;
}

// Opened code object for a target: the wanted one, or the first that is emulated.
struct Opened {
    std::vector<FoundCodeObject> found;
    CodeObject object;
    const Target* target = nullptr;
};

void open(const Request& r, Opened& out) {
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
        auto object = parse_code_object(f.bytes);
        if (!object) fail(f.origin + ": " + object.status().message());
        out.object = std::move(*object);
        return;
    }
    fail(r.file + " holds code for " + (have.empty() ? "no AMD GPU" : have) + ", but not for " +
         (r.target.empty() ? "an emulated one (" + supported_target_names() + ")" : r.target));
}

class Kernel {
public:
    Kernel(const Opened& opened, const KernelInfo& info)
        : info_(info),
          liveness_(
              *opened.target, [this](uint64_t pc) { return code_at(pc); }, false) {
        uint64_t size = info.code_size;
        auto bytes = opened.object.bytes_at(info.entry_address, size);
        if (!bytes || !size)
            fail("kernel '" + info.name + "': the object does not say how long its code is");
        words_.resize(size / 4);
        std::memcpy(words_.data(), bytes->data(), words_.size() * 4);
        options_.target = opened.target;
        const KernelDescriptor& d = info.descriptor;
        options_.mode = d.float_mode() | (d.dx10_clamp ? machine::mode::dx10_clamp : 0) |
                        (d.ieee_mode ? machine::mode::ieee : 0) |
                        (d.fp16_ovfl ? machine::mode::fp16_ovfl : 0);
        options_.vgpr_count = d.arch_vgpr_count;
        options_.agpr_count = d.agpr_count;
        options_.sgpr_count = d.sgpr_count;
        options_.handler = &interp::handler;
        options_.liveness = &liveness_;
    }

    // body(block) for every block, ascending.
    template <class Body>
    void each_block(bool exec_full, Body&& body) {
        options_.exec_full = exec_full;
        const uint64_t begin = info_.entry_address, end = begin + words_.size() * 4;
        std::set<uint64_t> todo{begin}, done;
        while (!todo.empty()) {
            uint64_t pc = *todo.begin();
            todo.erase(todo.begin());
            if (!done.insert(pc).second) continue;
            ir::Block block =
                lift::lift_block(options_, pc, std::span(words_).subspan((pc - begin) / 4), insts_);
            auto add = [&](uint64_t to) {
                if (to >= begin && to < end && to % 4 == 0 && !done.count(to)) todo.insert(to);
            };
            if (block.end_pc > pc) add(block.end_pc);
            if (block.term.kind == ir::Terminator::Kind::Jump ||
                block.term.kind == ir::Terminator::Kind::Branch)
                add(block.term.target);
            if (block.term.kind == ir::Terminator::Kind::Branch) add(block.term.next);
            body(block);
        }
    }

    std::string text_at(uint64_t pc) const {
        uint64_t at = (pc - info_.entry_address) / 4;
        Inst inst;
        if (at >= words_.size() || !decode(*options_.target, std::span(words_).subspan(at), inst))
            return "(not decoded)";
        return disassemble(*options_.target, inst);
    }

private:
    std::span<const uint32_t> code_at(uint64_t pc) const {
        const uint64_t at = (pc - info_.entry_address) / 4;
        return at < words_.size() ? std::span(words_).subspan(at) : std::span<const uint32_t>();
    }

    const KernelInfo& info_;
    std::vector<uint32_t> words_;
    lift::Options options_;
    lift::InstStore insts_;
    lift::Liveness liveness_;
};

template <class Body>
void each_kernel(const Opened& opened, const std::string& name, Body&& body) {
    bool any = false;
    for (const KernelInfo& info : opened.object.kernels) {
        if (!name.empty() && info.name != name) continue;
        any = true;
        Kernel kernel(opened, info);
        body(info, kernel);
    }
    if (!any) fail("no kernel '" + name + "' in the code object");
}

void print_ir(const Request& r) {
    Opened opened;
    open(r, opened);
    each_kernel(opened, r.kernel, [&](const KernelInfo& info, Kernel& kernel) {
        fmt::print("; kernel {}\n", info.name);
        kernel.each_block(r.exec_full,
                          [&](const ir::Block& block) { fmt::print("{}\n", ir::print(block)); });
    });
}

void print_host(const Request& r) {
    Opened opened;
    open(r, opened);
    x64::Isa isa = choose_isa(r.isa);
    each_kernel(opened, r.kernel, [&](const KernelInfo& info, Kernel& kernel) {
        fmt::print("; kernel {}\n", info.name);
        kernel.each_block(r.exec_full, [&](const ir::Block& block) {
            fmt::print("; block {:#x} to {:#x}, {} guest instructions\n{}\n", block.pc,
                       block.end_pc, block.guest_count,
                       x64::disassemble_block(block, isa, r.checked));
        });
    });
}

// Returns false when something is refused.
bool compile(const Request& r) {
    Opened opened;
    open(r, opened);
    x64::Isa isa = choose_isa(r.isa);
    uint64_t instructions = 0, blocks = 0, failed = 0;
    std::map<std::string, uint64_t> interpreted, refused;
    auto mnemonic = [](const std::string& text) { return text.substr(0, text.find(' ')); };
    auto start = std::chrono::steady_clock::now();
    each_kernel(opened, r.kernel, [&](const KernelInfo& info, Kernel& kernel) {
        kernel.each_block(r.exec_full, [&](const ir::Block& block) {
            blocks++;
            instructions += block.guest_count;
            for (const ir::Call& call : block.calls)
                interpreted[mnemonic(kernel.text_at(call.pc))]++;
            if (block.term.kind == ir::Terminator::Kind::Exit &&
                (block.term.exit == machine::ExitKind::Unimplemented ||
                 block.term.exit == machine::ExitKind::IllegalInstruction))
                refused[info.name + ": " + kernel.text_at(block.term.next)]++;
            std::string text = x64::disassemble_block(block, isa, r.checked);
            if (text.rfind("cannot compile", 0) == 0) {
                failed++;
                fmt::print(stderr, "wavejit: {}: block {:#x}: {}", info.name, block.pc, text);
            }
        });
    });
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print(
        "{} blocks, {} instructions in {:.3f} s (with disassembly), {} blocks not compiled\n",
        blocks, instructions, seconds, failed);
    for (const auto& [name, count] : interpreted)
        fmt::print("  interpreted  {:<32} {}\n", name, count);
    for (const auto& [name, count] : refused) fmt::print("  refused      {} ({})\n", name, count);
    return !failed && refused.empty();
}

void add_common(CLI::App& sub, Request& r) {
    sub.add_option("file", r.file, "code object, offload bundle or HIP program")->required();
    sub.add_option("--kernel", r.kernel, "only this kernel");
    sub.add_option("--target", r.target, "only code for this target");
    sub.add_flag("--exec-full", r.exec_full, "the variant for waves with all lanes active");
}

}  // namespace

void add_translate(CLI::App& app, int& result) {
    auto* ir = app.add_subcommand("ir", "print the intermediate representation of kernels");
    auto r1 = std::make_shared<Request>();
    add_common(*ir, *r1);
    ir->callback([=] { print_ir(*r1); });

    auto* host = app.add_subcommand("host-asm", "print the host code of kernels");
    auto r2 = std::make_shared<Request>();
    add_common(*host, *r2);
    host->add_option("--isa", r2->isa, "avx2 or avx512");
    host->add_flag("--checked", r2->checked, "code for checked memory");
    host->callback([=] { print_host(*r2); });

    auto* all = app.add_subcommand(
        "compile", "translate kernels without running them, list what is not translated");
    auto r3 = std::make_shared<Request>();
    auto every = std::make_shared<bool>(false);
    add_common(*all, *r3);
    all->add_option("--isa", r3->isa, "avx2 or avx512");
    all->add_flag("--checked", r3->checked, "code for checked memory");
    all->add_flag("--all", *every, "all kernels (the default when --kernel is not given)");
    all->callback([=, &result] { result = compile(*r3) ? exit_ok : exit_failed; });
}

}  // namespace wj::tools
