// wavejit compile: decodes and translates kernels without running them, and says what is not known,
// not implemented or not translated. All kernels of a large library take a minute: work is spread
// over threads.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "backend_x64/engine.h"
#include "frontend/bundle.h"
#include "frontend/decode.h"
#include "interpreter/interpreter.h"
#include "tools/cli.h"
#include "tools/code_file.h"
#include "tools/kernel_blocks.h"

namespace wj::tools {
namespace {

struct Request {
    std::string file, target, isa;
    std::vector<std::string> kernels;
    bool all = false, checked = false, exec_full = false;
    int jobs = 0;
    uint32_t every = 1;  // only each n-th kernel
};

struct Work {
    const Target* target;
    const CodeObject* object;
    const KernelInfo* info;
};

struct Report {
    uint64_t kernels = 0, blocks = 0, instructions = 0, translated = 0, bad = 0;
    uint64_t hot_bytes = 0, cold_bytes = 0, constant_bytes = 0;
    std::map<std::string, uint64_t> interpreted;  // by mnemonic
    std::map<std::string, uint64_t> problems;     // text -> instructions or blocks

    void add(const Report& r) {
        kernels += r.kernels, blocks += r.blocks, instructions += r.instructions, bad += r.bad;
        translated += r.translated, hot_bytes += r.hot_bytes, cold_bytes += r.cold_bytes;
        constant_bytes += r.constant_bytes;
        for (const auto& [name, count] : r.interpreted) interpreted[name] += count;
        for (const auto& [text, count] : r.problems) problems[text] += count;
    }
};

// One thread's translator and what it found.
class Compiler {
public:
    Compiler(const Request& request, x64::Isa isa)
        : request_(request), translator_(isa, request.checked) {}

    void kernel(const Work& work) {
        const uint64_t before = report.problems.size();
        work_ = &work;
        KernelBlocks kernel(*work.target, *work.object, *work.info);
        report.kernels++;
        kernel.each_instruction([&](uint64_t pc, const Inst& inst, bool valid) {
            report.instructions++;
            if (!valid)
                problem("unknown word", pc, fmt::format("{:#010x}", inst.words[0]));
            else if (!interp::handler(inst.op))
                problem("not implemented", pc, kernel.text_at(pc));
        });
        // As the engine does: one variant for any EXEC, one for all lanes active.
        if (!request_.exec_full) blocks(kernel, false);
        blocks(kernel, true);
        report.bad += report.problems.size() > before;
    }

    Report report;

private:
    void problem(const char* what, uint64_t pc, const std::string& text) {
        report.problems[fmt::format("{} {} in {} ({}, at {:#x})", what, text, work_->info->name,
                                    work_->object->target.str(), pc)]++;
    }

    void blocks(KernelBlocks& kernel, bool exec_full) {
        kernel.each_block(exec_full, [&](const ir::Block& block) {
            if (block.term.kind == ir::Terminator::Kind::Exit &&
                (block.term.exit == machine::ExitKind::Unimplemented ||
                 block.term.exit == machine::ExitKind::IllegalInstruction))
                problem(block.term.exit == machine::ExitKind::Unimplemented ? "refused" : "illegal",
                        block.term.next,
                        fmt::format("{}{}{}", kernel.text_at(block.term.next),
                                    block.term.reason ? ": " : "",
                                    block.term.reason ? block.term.reason : ""));
            translate(kernel, block, exec_full);
        });
    }

    // A block that is too large for the compiler is translated in pieces.
    void translate(KernelBlocks& kernel, const ir::Block& block, bool exec_full) {
        auto done = translator_.translate(block);
        if (!done) {
            const uint32_t half = block.guest_count / 2;
            if (!half) return problem("not translated", block.pc, done.status().message());
            ir::Block first = kernel.block_at(block.pc, exec_full, half);
            translate(kernel, first, exec_full);
            if (first.end_pc < block.end_pc)
                translate(kernel,
                          kernel.block_at(first.end_pc, exec_full, block.guest_count - half),
                          exec_full);
            return;
        }
        report.blocks++;
        report.translated += block.guest_count;
        report.hot_bytes += done->hot, report.cold_bytes += done->cold;
        report.constant_bytes += done->constants;
        for (const ir::Call& call : block.calls) {
            Inst inst;
            if (kernel.instruction_at(call.pc, inst))
                report.interpreted[std::string(op_info(inst.op).name)]++;
        }
    }

    const Request& request_;
    x64::DryTranslator translator_;
    const Work* work_ = nullptr;
};

// Parsed objects stay at their places: work points to them.
struct Library {
    std::vector<FoundCodeObject> found;
    std::vector<std::unique_ptr<CodeObject>> objects;
    std::vector<Work> work;
};

void open(const Request& r, Library& out) {
    auto found = find_code_objects_in_file(r.file);
    if (!found) fail(found.status().message());
    out.found = std::move(*found);
    std::string have;
    std::map<std::string, bool> wanted;
    for (const std::string& name : r.kernels) wanted[name] = false;
    for (const FoundCodeObject& f : out.found) {
        const std::string name = f.target.str();
        if (have.find(name) == std::string::npos) have += (have.empty() ? "" : ", ") + name;
        const Target* target = find_target(name);
        if (!target || (!r.target.empty() && name != r.target && target->name != r.target))
            continue;
        out.objects.push_back(std::make_unique<CodeObject>(linked_object(f)));
        for (const KernelInfo& info : out.objects.back()->kernels) {
            if (!wanted.empty()) {
                auto it = wanted.find(info.name);
                if (it == wanted.end()) continue;
                it->second = true;
            }
            out.work.push_back({with_wave_size(*target, info.descriptor.wave_size),
                                out.objects.back().get(), &info});
        }
    }
    for (const auto& [name, seen] : wanted)
        if (!seen && !out.objects.empty()) fail("no kernel '" + name + "' in " + r.file);
    if (out.objects.empty())
        fail(r.file + " holds code for " + (have.empty() ? "no AMD GPU" : have) + ", but not for " +
             (r.target.empty() ? "an emulated one (" + supported_target_names() + ")" : r.target));
}

// True when everything is known, implemented and translated.
bool compile(const Request& r) {
    Library library;
    open(r, library);
    const x64::Isa isa = choose_isa(r.isa);
    const size_t jobs = r.jobs > 0 ? r.jobs : std::max(1u, std::thread::hardware_concurrency());
    const bool progress = isatty(STDERR_FILENO);
    const auto start = std::chrono::steady_clock::now();
    std::atomic<size_t> next{0};
    std::mutex mutex;
    Report total;
    std::string error;
    auto run = [&] {
        Compiler compiler(r, isa);
        try {
            for (size_t i; (i = next.fetch_add(r.every)) < library.work.size();) {
                if (progress && i / r.every % 64 == 0)
                    fmt::print(stderr, "\r{} of {} kernels", i, library.work.size());
                compiler.kernel(library.work[i]);
            }
        } catch (const Failure& f) {
            const std::lock_guard lock(mutex);
            error = f.text;
        }
        const std::lock_guard lock(mutex);
        total.add(compiler.report);
    };
    std::vector<std::thread> threads;
    for (size_t i = 1; i < jobs; i++) threads.emplace_back(run);
    run();
    for (std::thread& t : threads) t.join();
    if (progress) fmt::print(stderr, "\r{:40}\r", "");
    if (!error.empty()) fail(error);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    auto each = [&](uint64_t bytes) {
        return total.translated ? double(bytes) / double(total.translated) : 0.0;
    };
    fmt::print(
        "{} kernels of {} code objects, {} instructions; {}: {} blocks, {} translated "
        "instructions, {:.1f} host bytes each ({:.1f} in line, {:.1f} out of line, {:.1f} "
        "constants), "
        "{:.2f} s\n",
        total.kernels, library.objects.size(), total.instructions,
        isa == x64::Isa::Avx512 ? "avx512" : "avx2", total.blocks, total.translated,
        each(total.hot_bytes + total.cold_bytes + total.constant_bytes), each(total.hot_bytes),
        each(total.cold_bytes), each(total.constant_bytes), seconds);
    uint64_t calls = 0;
    for (const auto& [name, count] : total.interpreted) calls += count;
    fmt::print("{} instructions are calls of the interpreter\n", calls);
    for (const auto& [name, count] : total.interpreted) fmt::print("  {:<32} {}\n", name, count);
    for (const auto& [text, count] : total.problems) fmt::print("{} ({})\n", text, count);
    fmt::print("{} of {} kernels have unknown or refused instructions\n", total.bad, total.kernels);
    return total.problems.empty();
}

}  // namespace

void add_compile(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand(
        "compile", "decode and translate kernels without running them, list what is refused");
    auto r = std::make_shared<Request>();
    sub->add_option("file", r->file, "code object, offload bundle, HIP program or library")
        ->required();
    auto* kernel =
        sub->add_option("--kernel", r->kernels, "only this kernel")->expected(1)->take_all();
    sub->add_flag("--all", r->all, "all kernels (the default without --kernel)")->excludes(kernel);
    sub->add_option("--target", r->target, "only code for this target (default: all emulated)");
    sub->add_option("--isa", r->isa, "avx2 or avx512 (default: the best the host has)");
    sub->add_flag("--checked", r->checked, "code for checked memory");
    sub->add_flag("--exec-full", r->exec_full, "only the variant for waves with all lanes active");
    sub->add_option("--jobs", r->jobs, "threads (default: all processors)")
        ->check(CLI::Range(1, 1024));
    sub->add_option("--every", r->every, "only each N-th kernel, a sample of a large library")
        ->check(CLI::Range(1, 1 << 30));
    sub->callback([=, &result] { result = compile(*r) ? exit_ok : exit_failed; });
}

}  // namespace wj::tools
