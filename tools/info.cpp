// wavejit info: what a code object or a HIP program holds.
#include <algorithm>

#include "frontend/bundle.h"
#include "frontend/code_object.h"
#include "frontend/processor_names.h"
#include "frontend/target.h"
#include "tools/cli.h"
#include "tools/code_file.h"
#include "tools/info_coverage.h"

namespace wj::tools {
namespace {

void print_arguments(const KernelMetadata& meta) {
    for (const KernelArg& a : meta.args)
        fmt::print("      {:>5} {:>4}  {:<26}{}{}{}\n", a.offset, a.size, value_kind_name(a.kind),
                   a.name.empty() ? "" : a.name, a.type_name.empty() ? "" : ": ", a.type_name);
}

void print_kernel(const KernelInfo& k, bool arguments) {
    const KernelDescriptor& d = k.descriptor;
    std::string vgprs = fmt::format("{} VGPRs", d.arch_vgpr_count);
    if (d.agpr_count) vgprs += fmt::format(" + {} AccVGPRs", d.agpr_count);
    fmt::print(
        "  {}\n    {}, {} SGPRs, {} bytes of LDS, {} bytes of private memory{}, {} bytes of "
        "arguments",
        k.name, vgprs, d.sgpr_count, d.group_segment_fixed_size, d.private_segment_fixed_size,
        k.dynamic_call_stack() ? " + dynamic call stack" : "", k.kernarg_segment_size());
    if (k.code_size) fmt::print(", {} bytes of code", k.code_size);
    const auto& w = k.metadata.reqd_workgroup_size;
    if (w[0])
        fmt::print(", work-group exactly {} x {} x {}", w[0], w[1], w[2]);
    else if (k.metadata.max_flat_workgroup_size)
        fmt::print(", work-groups to {} work-items", k.metadata.max_flat_workgroup_size);
    fmt::print("\n");
    if (!k.has_metadata) fmt::print("    (no metadata: arguments are not known)\n");
    if (arguments) print_arguments(k.metadata);
}

struct Wanted {
    std::string file, kernel;
    bool brief = false, coverage = false;
};

bool print_object(const FoundCodeObject& found, const Wanted& wanted) {
    auto object = parse_code_object(found.bytes);
    if (!object) {
        fmt::print("{}: {}\n", found.origin, object.status().message());
        return false;
    }
    const Target* target = find_target(found.target.str());
    fmt::print("{}\n  {}, code object version {}, {} bytes, {} kernels{}\n", found.origin,
               found.target.isa_name(), object->version, found.bytes.size(), object->kernels.size(),
               target ? "" : ", NOT emulated by wavejit");
    if (const std::string names = alternative_names(found.target.processor->name); !names.empty())
        fmt::print("  processor also called {}\n", names);
    if (!object->loadable) fmt::print("  relocatable: link it with ld.lld -shared to run it\n");
    if (wanted.coverage) linked_object(found);
    if (wanted.coverage) return !target || print_coverage(*target, *object, wanted.kernel);
    for (const KernelInfo& k : object->kernels)
        if (wanted.kernel.empty() || k.name == wanted.kernel) print_kernel(k, !wanted.brief);
    bool heading = false;
    for (const Symbol& s : object->symbols) {
        if (s.kind != Symbol::Kind::Variable || !wanted.kernel.empty()) continue;
        if (!heading) fmt::print("  variables\n");
        heading = true;
        fmt::print("      {:>8}  {}{}\n", s.size, s.name, s.writable ? "" : " (read only)");
    }
    for (const std::string& text : object->diagnostics) fmt::print("  note: {}\n", text);
    return true;
}

bool has_kernel(const std::vector<FoundCodeObject>& found, const std::string& name) {
    return std::ranges::any_of(found, [&](const FoundCodeObject& f) {
        const auto object = parse_code_object(f.bytes);
        return object && std::ranges::count(object->kernels, name, &KernelInfo::name);
    });
}

}  // namespace

void add_info(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("info", "list targets, kernels, arguments, registers and LDS");
    auto w = std::make_shared<Wanted>();
    sub->add_option("file", w->file, "code object, offload bundle or HIP program")->required();
    sub->add_option("--kernel", w->kernel, "only this kernel");
    auto* const brief = sub->add_flag("--brief", w->brief, "leave the arguments out");
    sub->add_flag("--coverage", w->coverage,
                  "which instructions are refused or not exact (fails when any is refused)")
        ->excludes(brief);
    sub->callback([=, &result] {
        auto found = find_code_objects_in_file(w->file);
        if (!found) fail(found.status().message());
        if (found->empty()) fail(w->file + " holds no AMD GPU code");
        for (const FoundCodeObject& object : *found)
            if (!print_object(object, *w)) result = exit_failed;
        if (!w->kernel.empty() && !has_kernel(*found, w->kernel))
            fail(w->file + " has no kernel '" + w->kernel + "'");
    });
}

}  // namespace wj::tools
