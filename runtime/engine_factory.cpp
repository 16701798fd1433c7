#include "runtime/engine_factory.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "backend_x64/translator.h"
#include "interpreter/interpreter.h"
#include "runtime/tiered_engine.h"
#include "runtime/wave_sizes.h"

namespace wj::runtime {

EngineKind choose_engine(EngineKind wanted) {
    if (wanted != EngineKind::Auto) return wanted;
    if (x64::host_supports(x64::Isa::Avx512)) return EngineKind::Avx512;
    if (x64::host_supports(x64::Isa::Avx2)) return EngineKind::Avx2;
    return EngineKind::Interpreter;
}

const char* engine_name(EngineKind kind) {
    switch (kind) {
        case EngineKind::Auto:
            return "auto";
        case EngineKind::Interpreter:
            return "interp";
        case EngineKind::Avx2:
            return "avx2";
        case EngineKind::Avx512:
            return "avx512";
    }
    return "?";
}

static Result<std::unique_ptr<machine::Engine>> make_one(
    const DeviceOptions& device, const Target& target,
    const std::function<std::string(uint64_t)>& symbol) {
    EngineKind kind = choose_engine(device.engine);
    std::unique_ptr<machine::Engine> engine;
    if (kind == EngineKind::Interpreter) {
        engine = interp::make_interpreter(target);
    } else {
        const x64::Isa isa = kind == EngineKind::Avx512 ? x64::Isa::Avx512 : x64::Isa::Avx2;
        if (const std::string missing = x64::missing_features(isa); !missing.empty())
            return Status(Code::UnsupportedTarget,
                          std::string("the host processor cannot run the engine ") +
                              engine_name(kind) + " (missing: " + missing +
                              "); choose another one with WAVEJIT_ENGINE");
        x64::TranslatorOptions options;
        if (device.code_bytes) options.code_bytes = device.code_bytes;
        options.cache = device.cache;
        options.cache_directory = device.cache_directory;
        if (device.cache_bytes) options.cache_bytes = device.cache_bytes;
        options.count = device.hot_blocks != 0;
        options.symbol = symbol;
        if (!device.reports.plans.empty()) {
            std::shared_ptr<std::FILE> file(std::fopen(device.reports.plans.c_str(), "a"),
                                            [](std::FILE* f) { f ? std::fclose(f) : 0; });
            if (!file)
                return Status(Code::HostError, "WAVEJIT_PLANS: cannot write to '" +
                                                   device.reports.plans +
                                                   "': " + std::strerror(errno));
            options.plans = [file](const std::string& text) {
                std::fputs(text.c_str(), file.get());
                std::fflush(file.get());
            };
        }
        auto made = x64::make_translator(target, isa, options);
        if (!made) return made.status();
        engine = std::move(*made);
        // An engine that was asked for by name runs everything; what is counted is all there is.
        if (device.engine == EngineKind::Auto && !options.count)
            engine = make_tiered_engine(target, std::move(engine));
    }
    if (!engine)
        return Status(Code::HostError, std::string("the engine ") + engine_name(kind) +
                                           " could not start for " + std::string(target.name));
    return engine;
}

Result<std::unique_ptr<machine::Engine>> make_engine(
    const DeviceOptions& device, const Target& target,
    const std::function<std::string(uint64_t)>& symbol) {
    return engine_for_wave_sizes(target,
                                 [&](const Target& one) { return make_one(device, one, symbol); });
}

}  // namespace wj::runtime
