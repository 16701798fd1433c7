// A benchmark: buffers in host memory, a list of kernel launches, a check, a native version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace yardstick {

struct Buffer {
    size_t bytes = 0;
    void* host = nullptr;       // what kernels see
    std::vector<uint8_t> init;  // the starting contents, when a run changes them
};

struct Arg {
    enum Kind { Buf, U32, I32, F32 } kind;
    union {
        int buf;
        uint32_t u;
        int32_t i;
        float f;
    };
};
inline Arg buffer(int index) {
    Arg a;
    a.kind = Arg::Buf;
    a.buf = index;
    return a;
}
inline Arg u32(uint32_t v) {
    Arg a;
    a.kind = Arg::U32;
    a.u = v;
    return a;
}
inline Arg i32(int32_t v) {
    Arg a;
    a.kind = Arg::I32;
    a.i = v;
    return a;
}
inline Arg f32(float v) {
    Arg a;
    a.kind = Arg::F32;
    a.f = v;
    return a;
}

struct Launch {
    std::string kernel;
    size_t global[3], local[3];  // in work-items
    std::vector<Arg> args;
};

struct Bench {
    std::string name, size, file;
    double work = 0;   // what one run does, in units of `unit` per 1e-9
    std::string unit;  // GFLOP/s, GB/s, ...
    std::vector<Buffer> bufs;
    std::vector<Launch> launches;
    std::function<std::string(Bench&)> check;  // an empty string when right
    std::function<void(Bench&)> native;        // may be empty
    // Elements [begin, end) of `native_items`, if the native version can be shared by threads.
    std::function<void(Bench&, size_t begin, size_t end)> native_part;
    size_t native_items = 0;
    std::string native_note;

    Bench() = default;
    Bench(Bench&&) = default;
    ~Bench();
    int add(size_t bytes);  // a zeroed buffer; returns its index
    void keep(int b);       // remember its contents: restored before every run
    void restore();         // buffers with kept contents
    // What all buffers hold.
    using Contents = std::vector<std::vector<uint8_t>>;
    Contents contents() const;
    void set_contents(const Contents& contents);
    template <class T>
    T* p(int b) {
        return static_cast<T*>(bufs[b].host);
    }
};

// What runs kernels: OpenCL, wavejit. Errors print a message and end the program.
struct Backend {
    virtual ~Backend() = default;
    virtual std::string describe() = 0;
    virtual void load(Bench&) = 0;   // program, kernels, buffers
    virtual double run(Bench&) = 0;  // every launch, then wait; seconds
    // In front of a run: what runs change. All: the host has changed anything.
    virtual void to_device(Bench&) = 0;
    virtual void all_to_device(Bench& bench) { to_device(bench); }
    virtual void to_host(Bench&) = 0;
    virtual void unload(Bench&) = 0;
};
std::unique_ptr<Backend> make_opencl_backend(const std::string& kernel_dir,
                                             const std::string& options);

[[noreturn]] void fail(const std::string& message);
double now();  // seconds, steady clock

extern bool huge_pages;
size_t mapped(size_t bytes);  // of a buffer: whole huge pages
// Small: correctness on an interpreter. Medium: JIT against interpreter. Full: against PoCL and
// native loops.
enum class Scale { Small, Medium, Full };
using Factory = Bench (*)(Scale scale);
struct Entry {
    const char* name;
    Factory make;
    // Not one of those that the comparison's history is for: a mean of its own.
    bool further = false;
};
const std::vector<Entry>& all_benches();

}  // namespace yardstick
