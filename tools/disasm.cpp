// wavejit disasm: in llvm-objdump's layout, "mnemonic operands // address: words <branch target>".
#include <algorithm>
#include <cstring>

#include "frontend/bundle.h"
#include "frontend/code_object.h"
#include "frontend/debug_info.h"
#include "frontend/decode.h"
#include "frontend/effects.h"
#include "frontend/processor_names.h"
#include "frontend/target.h"
#include "tools/cli.h"
#include "tools/code_file.h"

namespace wj::tools {
namespace {

constexpr uint64_t sh_executable = 4;  // SHF_EXECINSTR
constexpr uint32_t sht_nobits = 8;

struct Range {
    std::string section;
    uint64_t begin, end;
};

struct Listing {
    const Target& target;
    const CodeObject& object;

    std::vector<const Symbol*> functions() const {
        std::vector<const Symbol*> list;
        for (const Symbol& s : object.symbols)
            if (s.kind == Symbol::Kind::Function ||
                (object.version == 2 && s.kind == Symbol::Kind::Kernel))
                list.push_back(&s);
        std::stable_sort(list.begin(), list.end(),
                         [](auto* a, auto* b) { return a->address < b->address; });
        return list;
    }

    std::string target_text(const Inst& inst, uint64_t address) const {
        if (inst.format != Format::SOPP && inst.format != Format::SOPK) return {};
        const Flow flow = effects(inst.op).flow;
        if (flow != Flow::Goto && flow != Flow::Branch && flow != Flow::Call) return {};
        const uint64_t to = branch_target(inst, address + inst.size);
        const Symbol* best = nullptr;
        for (const Symbol* s : functions())
            if (s->address <= to) best = s;
        if (!best) return {};
        if (best->address == to) return " <" + best->name + ">";
        return fmt::format(" <{}+0x{:x}>", best->name, to - best->address);
    }

    void print(uint64_t begin, uint64_t end) const {
        auto bytes = object.bytes_at(begin, end - begin);
        if (!bytes) return;
        uint64_t at = begin;
        while (at + 4 <= end) {
            uint32_t words[5] = {};
            size_t count = std::min<uint64_t>(5, (end - at) / 4);
            std::memcpy(words, bytes->data() + (at - begin), count * 4);
            Inst inst;
            bool valid = decode(target, std::span<const uint32_t>(words, count), inst);
            size_t used = valid ? inst.size / 4 : 1;
            std::string text =
                valid ? disassemble(target, inst) : fmt::format(".long 0x{:08x}", words[0]);
            std::string encoding;
            for (size_t i = 0; i < used; i++) encoding += fmt::format(" {:08X}", words[i]);
            fmt::print("\t{:<59}// {:012X}:{}{}\n", text, at, encoding,
                       valid ? target_text(inst, at) : "");
            at += used * 4;
        }
    }
};

// The size of the waves for which the object's code was compiled; functions that no kernel of the
// object stands beside have the processor's usual one.
uint32_t wave_size(const CodeObject& object) {
    return object.kernels.empty() ? 0 : object.kernels.front().descriptor.wave_size;
}

bool print_object(const FoundCodeObject& found, const std::string& kernel) {
    const CodeObject object = linked_object(found);
    const Target* target = find_target(found.target.str(), wave_size(object));
    if (!target)
        fail(found.origin + ": there is no disassembler for " + found.target.str() +
             "; there is one for " + supported_target_names());
    Listing listing{*target, object};
    auto functions = listing.functions();
    bool any = false;
    fmt::print("\n{}:\tfile format elf64-amdgpu\n", found.origin);
    for (const Section& section : object.sections) {
        if (!(section.flags & sh_executable) || section.type == sht_nobits || !section.size)
            continue;
        uint64_t end = section.address + section.size;
        bool heading = false;
        for (size_t i = 0; i < functions.size(); i++) {
            const Symbol& s = *functions[i];
            if (s.address < section.address || s.address >= end) continue;
            if (i && functions[i - 1]->address == s.address) continue;
            if (!kernel.empty() && s.name != kernel) continue;
            uint64_t stop =
                i + 1 < functions.size() ? std::min(functions[i + 1]->address, end) : end;
            if (!kernel.empty() && s.size) stop = std::min(stop, s.address + s.size);
            if (!heading) fmt::print("\nDisassembly of section {}:\n", section.name);
            heading = any = true;
            fmt::print("\n{:016x} <{}>:\n", s.address, s.name);
            listing.print(s.address, stop);
        }
    }
    return any;
}

}  // namespace

void add_disasm(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("disasm", "disassemble in llvm-objdump's layout");
    auto path = std::make_shared<std::string>(), kernel = std::make_shared<std::string>(),
         target = std::make_shared<std::string>();
    sub->add_option("file", *path, "code object, offload bundle or HIP program")->required();
    sub->add_option("--kernel", *kernel, "only this kernel or device function");
    sub->add_option("--target", *target, "only code for this target");
    sub->callback([=, &result] {
        auto found = find_code_objects_in_file(*path);
        if (!found) fail(found.status().message());
        bool any = false, matching = false;
        for (const FoundCodeObject& object : *found) {
            if (!target->empty() && object.target.str() != *target &&
                object.target.processor->name != processor_name(*target))
                continue;
            matching = true;
            any |= print_object(object, *kernel);
        }
        if (!matching)
            fail(*path + " holds no code for " + (target->empty() ? "any AMD GPU" : *target));
        if (!any)
            fail(kernel->empty() ? *path + " holds no functions"
                                 : *path + ": no kernel or function '" + *kernel + "'");
        result = exit_ok;
    });
}

}  // namespace wj::tools
