#include "tests/frontend/llvm_disassembler.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

namespace wj_test {
namespace {

constexpr size_t batch_size = 4096;
constexpr size_t text_size = 240;

struct Slot {
    uint32_t done, size, marked;
    char text[text_size];
};

struct Shared {
    Slot slots[batch_size];
};

void initialise_llvm() {
    static const bool once = [] {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
        return true;
    }();
    (void)once;
}

bool has_invalid_comment(const char* text) {
    return std::strstr(text, "/*Invalid") != nullptr ||
           std::strstr(text, "Invalid dpp_ctrl") != nullptr ||
           std::strstr(text, "64 bit dpp") != nullptr ||
           std::strstr(text, "not supported on") != nullptr;
}

void run_child(void* context, const std::vector<Words>& inputs, size_t first, size_t count,
               Shared& shared) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < count; ++i) {
        Words words = inputs[first + i];
        char text[1024];
        const size_t size = LLVMDisasmInstruction(context, reinterpret_cast<uint8_t*>(words.data()),
                                                  sizeof words, 0, text, sizeof text);
        Slot& slot = shared.slots[i];
        slot.size = static_cast<uint32_t>(size);
        slot.marked = size != 0 && has_invalid_comment(text);
        const std::string clean = size != 0 ? normalise(text) : std::string();
        const size_t length = std::min(clean.size(), text_size - 1);
        std::memcpy(slot.text, clean.data(), length);
        slot.text[length] = 0;
        slot.done = 1;
    }
}

}  // namespace

std::string normalise(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "/*") == 0) {
            const size_t end = text.find("*/", i);
            i = end == std::string::npos ? text.size() : end + 2;
            continue;
        }
        if (text[i] == ';' || text.compare(i, 2, "//") == 0 || text[i] == '\n') break;
        out += text[i] == '\t' ? ' ' : text[i];
        ++i;
    }
    std::string collapsed;
    for (const char c : out) {
        if (c == ' ' && (collapsed.empty() || collapsed.back() == ' ')) continue;
        if (c == ',' && !collapsed.empty() && collapsed.back() == ' ') {
            collapsed.back() = c;
            continue;
        }
        collapsed += c;
    }
    while (!collapsed.empty() && collapsed.back() == ' ') collapsed.pop_back();
    return collapsed;
}

LlvmDisassembler::LlvmDisassembler(const std::string& processor, const std::string& features) {
    initialise_llvm();
    context_ = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", processor.c_str(), features.c_str(),
                                           nullptr, 0, nullptr, nullptr);
    if (context_ == nullptr) throw std::runtime_error("LLVM has no disassembler for " + processor);
}

LlvmDisassembler::~LlvmDisassembler() {
    LLVMDisasmDispose(context_);
}

std::vector<LlvmResult> LlvmDisassembler::disassemble(const std::vector<Words>& inputs) {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    Shared& shared = *static_cast<Shared*>(memory);
    std::vector<LlvmResult> results(inputs.size());
    size_t at = 0;
    while (at < inputs.size()) {
        const size_t count = std::min(batch_size, inputs.size() - at);
        for (size_t i = 0; i < count; ++i) shared.slots[i].done = 0;
        const pid_t child = fork();
        if (child < 0) throw std::runtime_error("fork failed");
        if (child == 0) {
            run_child(context_, inputs, at, count, shared);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        size_t i = 0;
        for (; i < count && shared.slots[i].done != 0; ++i) {
            const Slot& slot = shared.slots[i];
            LlvmResult& r = results[at + i];
            r.kind = slot.size != 0 ? LlvmResult::Kind::Valid : LlvmResult::Kind::Invalid;
            r.size = slot.size;
            r.marked = slot.marked != 0;
            r.text = slot.text;
        }
        if (i < count) results[at + i++].kind = LlvmResult::Kind::Crashed;
        at += i;
    }
    munmap(memory, sizeof(Shared));
    return results;
}

}  // namespace wj_test
