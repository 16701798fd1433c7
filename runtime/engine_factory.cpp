#include "runtime/engine_factory.h"

#include "interpreter/interpreter.h"
#if WAVEJIT_HAVE_TRANSLATOR
#include "backend_x64/translator.h"
#endif

namespace wj::runtime {

HostFeatures host_features() {
    HostFeatures f;
    __builtin_cpu_init();
    auto need = [](bool has, const char* name, std::string& missing) {
        if (has) return;
        if (!missing.empty()) missing += ", ";
        missing += name;
    };
    need(__builtin_cpu_supports("avx2"), "avx2", f.missing_avx2);
    need(__builtin_cpu_supports("fma"), "fma", f.missing_avx2);
    need(__builtin_cpu_supports("bmi2"), "bmi2", f.missing_avx2);
    f.missing_avx512 = f.missing_avx2;
    need(__builtin_cpu_supports("avx512f"), "avx512f", f.missing_avx512);
    need(__builtin_cpu_supports("avx512bw"), "avx512bw", f.missing_avx512);
    need(__builtin_cpu_supports("avx512dq"), "avx512dq", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vl"), "avx512vl", f.missing_avx512);
    need(__builtin_cpu_supports("avx512cd"), "avx512cd", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vbmi"), "avx512vbmi", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vbmi2"), "avx512vbmi2", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vpopcntdq"), "avx512vpopcntdq", f.missing_avx512);
    // Byte permutes and compressing bytes: Skylake and Cascade Lake servers run the AVX2 engine.
    need(__builtin_cpu_supports("avx512vbmi"), "avx512vbmi", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vbmi2"), "avx512vbmi2", f.missing_avx512);
    need(__builtin_cpu_supports("avx512vpopcntdq"), "avx512vpopcntdq", f.missing_avx512);
    f.avx2 = f.missing_avx2.empty();
    f.avx512 = f.missing_avx512.empty();
    return f;
}

EngineKind choose_engine(EngineKind wanted) {
    if (wanted != EngineKind::Auto) return wanted;
#if WAVEJIT_HAVE_TRANSLATOR
    HostFeatures f = host_features();
    if (f.avx512) return EngineKind::Avx512;
    if (f.avx2) return EngineKind::Avx2;
#endif
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

Result<std::unique_ptr<machine::Engine>> make_engine(EngineKind wanted, const Target& target,
                                                     uint64_t code_bytes) {
    EngineKind kind = choose_engine(wanted);
    std::unique_ptr<machine::Engine> engine;
    if (kind == EngineKind::Interpreter) {
        engine = interp::make_interpreter(target);
    } else {
        HostFeatures f = host_features();
        const std::string& missing = kind == EngineKind::Avx512 ? f.missing_avx512 : f.missing_avx2;
        if (!missing.empty())
            return Status(Code::UnsupportedTarget,
                          std::string("the host processor cannot run the engine ") +
                              engine_name(kind) + " (missing: " + missing +
                              "); choose another one with WAVEJIT_ENGINE");
#if WAVEJIT_HAVE_TRANSLATOR
        x64::TranslatorOptions options;
        if (code_bytes) options.code_bytes = code_bytes;
        auto made = x64::make_translator(
            target, kind == EngineKind::Avx512 ? x64::Isa::Avx512 : x64::Isa::Avx2, options);
        if (!made) return made.status();
        engine = std::move(*made);
#else
        return Status(Code::Unimplemented,
                      std::string("the engine ") + engine_name(kind) +
                          " is not built into this wavejit; use WAVEJIT_ENGINE=interp");
#endif
    }
    if (!engine)
        return Status(Code::HostError, std::string("the engine ") + engine_name(kind) +
                                           " could not start for " + std::string(target.name));
    return engine;
}

}  // namespace wj::runtime
