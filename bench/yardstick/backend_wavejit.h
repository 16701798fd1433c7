// Runs the benchmarks' code objects through wavejit's C interface.
#pragma once

#include <memory>
#include <string>

#include "bench/yardstick/bench.h"
#include "wavejit/wavejit.h"

namespace yardstick {

struct WavejitOptions {
    std::string code_objects;       // folder that holds TARGET/NAME.hsaco
    std::string target = "gfx90a";  // the processor; behind a '-' what else the folder is called
    std::string engine = "auto";    // auto, interp, avx2, avx512
    std::string memory = "identity";
    std::string cache;  // directory of the on-disk cache; empty = none
    unsigned threads = 1;
    bool count = false;     // executed host instructions
    bool prepared = false;  // by wj_prepared_launch
};

class WavejitBackend : public Backend {
public:
    // Returns nothing, and says why in `error`, when the host cannot run the engine.
    static std::unique_ptr<WavejitBackend> create(const WavejitOptions& options,
                                                  std::string& error);
    ~WavejitBackend() override;
    std::string describe() override;
    void load(Bench& bench) override;
    double run(Bench& bench) override;
    void to_device(Bench& bench) override;
    void all_to_device(Bench& bench) override;
    void to_host(Bench& bench) override;
    void unload(Bench& bench) override;
    wj_counters counters();

private:
    WavejitBackend(const WavejitOptions& options, wj_context* context)
        : options_(options), context_(context) {}
    void require(wj_status status, const std::string& what);
    void write(const Bench& bench, size_t buffer);
    // Kernels see memory of their own, not the host's buffers.
    bool copies() const { return options_.memory == "window"; }

    // A launch with the values that its arguments point to.
    struct Prepared {
        wj_kernel* kernel;
        std::vector<uint64_t> values;
        std::vector<wj_argument> arguments;
        wj_launch_options options;
        wj_prepared* prepared = nullptr;
    };
    WavejitOptions options_;
    wj_context* context_;
    wj_module* module_ = nullptr;
    std::vector<uint64_t> addresses_;
    std::vector<Prepared> launches_;
};

}  // namespace yardstick
