// Builds code objects and bundles for tests with LLVM's tools, in a directory of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace wj::test {

using Buffer = std::vector<std::byte>;

class Workshop {
public:
    Workshop() {
        std::string name = (std::filesystem::temp_directory_path() / "wj-codeobj-XXXXXX").string();
        dir_ = mkdtemp(name.data());
    }
    ~Workshop() { std::filesystem::remove_all(dir_); }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    std::string path(const std::string& name) const { return (dir_ / name).string(); }

    void write(const std::string& name, std::string_view text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    void write(const std::string& name, std::span<const std::byte> bytes) const {
        write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    Buffer read(const std::string& name) const {
        std::ifstream in(path(name), std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(in)), {});
        auto* data = reinterpret_cast<const std::byte*>(text.data());
        return {data, data + text.size()};
    }
    // Runs in the directory; false on failure. The output of the command is left in the file "log".
    bool run(const std::string& command) const {
        return std::system(("cd '" + dir_.string() + "' && " + command + " >log 2>&1").c_str()) ==
               0;
    }
    std::string log() const {
        std::ifstream in(path("log"));
        return {(std::istreambuf_iterator<char>(in)), {}};
    }

    // Assembles and links; empty on failure (see log()).
    Buffer assemble(const std::string& source, const std::string& cpu, int version = 5,
                    const std::string& options = "", bool link = true) const {
        write("in.s", source);
        std::string mc = std::string(WJ_LLVM_MC) + " -triple=amdgcn-amd-amdhsa -mcpu=" + cpu +
                         " --amdhsa-code-object-version=" + std::to_string(version) + " " +
                         options + " -filetype=obj in.s -o in.o";
        if (!run(mc)) return {};
        if (!link) return read("in.o");
        return run(std::string(WJ_LLD) + " -shared in.o -o in.co") ? read("in.co") : Buffer{};
    }

private:
    std::filesystem::path dir_;
};

// A kernel with the given .amdhsa_ directives and a metadata entry.
inline std::string kernel_source(const std::string& name, const std::string& directives) {
    return ".text\n.globl " + name + "\n.p2align 8\n.type " + name + ",@function\n" + name +
           ":\n  s_endpgm\n.Lend_" + name + ":\n.size " + name + ", .Lend_" + name + "-" + name +
           "\n.rodata\n.p2align 6\n.amdhsa_kernel " + name + "\n" + directives +
           "\n.end_amdhsa_kernel\n";
}

template <class T>
T load(std::span<const std::byte> bytes, size_t offset) {
    T value{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), sizeof(T),
                reinterpret_cast<std::byte*>(&value));
    return value;
}
template <class T>
void store(std::span<std::byte> bytes, size_t offset, T value) {
    std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof(T),
                bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace wj::test
