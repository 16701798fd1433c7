// Every generator and distribution of Debian's librocrand (its kernels were compiled by others)
// against a CPU model.
// Usage: rocrand_host [xorwow|mrg32k3a|philox|mtgp32|sobol32|sobol64|all] [outputs]
// hipcc-flags: -lrocrand -Wno-#warnings -Wno-unused-parameter -Wno-unused-result -Wno-sign-compare
#define FQUALIFIERS __forceinline__ __device__ __host__
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>
#include <rocrand/rocrand_mtgp32_11213.h>
#include <rocrand/rocrand_sobol32_precomputed.h>
#include <rocrand/rocrand_sobol64_precomputed.h>

#if ROCRAND_VERSION > 201009  // after ROCm 5.2 the tables have other names
#define h_sobol32_direction_vectors rocrand_h_sobol32_direction_vectors
#define h_sobol64_direction_vectors rocrand_h_sobol64_direction_vectors
#define OF_MRG32K3A <rocrand_state_mrg32k3a>  // and there are two such generators
#else
#define OF_MRG32K3A
#endif

#include <cstring>
#include <memory>
#include <string>

#include "check.h"
#include "rng_reference.h"

#define RNG_CHECK(call)                                                                       \
    do {                                                                                      \
        rocrand_status status_ = (call);                                                      \
        if (status_ != ROCRAND_STATUS_SUCCESS) {                                              \
            std::fprintf(stderr, "FAIL %s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_); \
            std::exit(1);                                                                     \
        }                                                                                     \
    } while (0)

namespace detail = rocrand_device::detail;

constexpr uint64_t seed = 0x1234567890abcdefull;
// rocRAND multiplies MRG32k3a's seed modulo m1 and m2 exactly only when it has at most 32 bits.
constexpr uint64_t mrg_seed = 0x90abcdefu;
constexpr double lambda = 37.5;

// One Poisson table for device and host: the library makes it, the host reads it back.
struct Poisson {
    rocrand_discrete_distribution device = nullptr;
    rocrand_discrete_distribution_st host;
    std::vector<unsigned> alias;
    std::vector<double> probability, cdf;

    Poisson() {
        RNG_CHECK(rocrand_create_poisson_distribution(lambda, &device));
        HIP_CHECK(hipMemcpy(&host, device, sizeof host, hipMemcpyDefault));
        alias.resize(host.size), probability.resize(host.size), cdf.resize(host.size);
        HIP_CHECK(hipMemcpy(alias.data(), host.alias, host.size * sizeof(unsigned),
                            hipMemcpyDeviceToHost));
        HIP_CHECK(hipMemcpy(probability.data(), host.probability, host.size * sizeof(double),
                            hipMemcpyDeviceToHost));
        HIP_CHECK(
            hipMemcpy(cdf.data(), host.cdf, host.size * sizeof(double), hipMemcpyDeviceToHost));
        host.alias = alias.data(), host.probability = probability.data(), host.cdf = cdf.data();
    }
    ~Poisson() { rocrand_destroy_discrete_distribution(device); }

    // The table must say what Poisson's formula says.
    bool right() const {
        std::vector<double> got(host.size, 0), want;
        for (unsigned i = 0; i < host.size; i++) {
            got[i] += probability[i] / host.size;
            got[alias[i]] += (1 - probability[i]) / host.size;
        }
        for (unsigned i = 0; i < host.size; i++) {
            double k = host.offset + i;
            want.push_back(std::exp(k * std::log(lambda) - std::lgamma(k + 1) - lambda));
        }
        return check::near("poisson table", got, want, 1e-9, 1e-9);
    }
};

// Makes `count` outputs with `generate`, then asks `want` for each slot of `wide` outputs from
// `width` words.
struct Test {
    rocrand_generator generator;
    size_t count;
    std::string name;
    bool ok = true;

    template <class T, class Generate>
    std::vector<T> made(Generate generate) {
        check::Device<T> data(count);
        RNG_CHECK(generate(data.get(), count));
        HIP_CHECK(hipDeviceSynchronize());
        return data.to_host();
    }
    template <class T>
    void compare(const char* what, const std::vector<T>& got, const std::vector<T>& want,
                 double relative, double absolute) {
        std::string label = name + " " + what;
        ok &= relative + absolute == 0 ? check::equal(label.c_str(), got, want)
                                       : check::near(label.c_str(), got, want, relative, absolute);
    }
};

struct Words {
    uint32_t w[4];
    uint32_t operator[](int i) const { return w[i]; }
};

void pseudo(Test& t, rng::Source& source, bool mrg) {
    size_t n = t.count;
    // Calls `fill(words, outputs)` for each slot, in the order of the outputs.
    auto model = [&](unsigned width, unsigned wide, auto zero, auto fill) {
        std::vector<decltype(zero)> want(n);
        source.begin(n / wide, width);
        for (size_t slot = 0; slot < n / wide; slot++) {
            Words words{};
            for (unsigned k = 0; k < width; k++) words.w[k] = source.word(slot, k);
            fill(words, &want[slot * wide]);
        }
        source.end();
        return want;
    };
    // MRG32k3a's words are 1 .. m1; integers are stretched to all 32 bits.
    auto integer = [&](uint32_t w) {
        return mrg ? uint32_t((w - 1) * (4294967295.0 / 4294967086.0)) : w;
    };
    rocrand_generator g = t.generator;

    auto u32 = t.made<unsigned>([&](unsigned* p, size_t c) { return rocrand_generate(g, p, c); });
    t.compare("uint", u32,
              model(1, 1, 0u, [&](const Words& w, unsigned* o) { *o = integer(w[0]); }), 0, 0);
    auto u8 = t.made<unsigned char>(
        [&](unsigned char* p, size_t c) { return rocrand_generate_char(g, p, c); });
    t.compare("uchar", u8,
              model(1, 4, (unsigned char)0,
                    [&](const Words& w, unsigned char* o) {
                        uint32_t v = integer(w[0]);
                        std::memcpy(o, &v, 4);
                    }),
              0, 0);
    auto u16 = t.made<unsigned short>(
        [&](unsigned short* p, size_t c) { return rocrand_generate_short(g, p, c); });
    t.compare("ushort", u16,
              model(1, 2, (unsigned short)0,
                    [&](const Words& w, unsigned short* o) {
                        uint32_t v = integer(w[0]);
                        std::memcpy(o, &v, 4);
                    }),
              0, 0);
    auto f32 = t.made<float>([&](float* p, size_t c) { return rocrand_generate_uniform(g, p, c); });
    t.compare("uniform", f32,
              model(1, 1, 0.0f,
                    [&](const Words& w, float* o) {
                        *o = mrg ? float(double(w[0]) * 2.3283065498378288e-10)
                                 : float(w[0]) * 0x1p-32f + 0x1p-32f;
                    }),
              0, 0);
    auto f64 = t.made<double>(
        [&](double* p, size_t c) { return rocrand_generate_uniform_double(g, p, c); });
    t.compare("uniform double", f64,
              model(mrg ? 1 : 2, 1, 0.0,
                    [&](const Words& w, double* o) {
                        *o = mrg ? double(w[0]) * 2.3283065498378288e-10
                                 : double(uint64_t(w[1] >> 11) << 32 | w[0]) * 0x1p-53 + 0x1p-53;
                    }),
              0, 0);

    // Box and Muller's transformation; the kernels use the hardware's sine and cosine, so floats
    // are only close.
    auto normal = [&](const Words& w, float* o) {
        float2 v = mrg ? detail::mrg_normal_distribution2 OF_MRG32K3A(w[0], w[1])
                       : detail::normal_distribution2(w[0], w[1]);
        o[0] = 1.5f + v.x * 2.5f;
        o[1] = 1.5f + v.y * 2.5f;
    };
    auto normal_double = [&](const Words& w, double* o) {
        double2 v = mrg ? detail::mrg_normal_distribution_double2 OF_MRG32K3A(w[0], w[1])
                        : detail::normal_distribution_double2(make_uint4(w[0], w[1], w[2], w[3]));
        o[0] = 1.5 + v.x * 2.5;
        o[1] = 1.5 + v.y * 2.5;
    };
    auto n32 = t.made<float>(
        [&](float* p, size_t c) { return rocrand_generate_normal(g, p, c, 1.5f, 2.5f); });
    t.compare("normal", n32, model(2, 2, 0.0f, normal), 1e-5, 2e-4);
    auto n64 = t.made<double>(
        [&](double* p, size_t c) { return rocrand_generate_normal_double(g, p, c, 1.5, 2.5); });
    t.compare("normal double", n64, model(mrg ? 2 : 4, 2, 0.0, normal_double), 1e-11, 1e-11);
    auto l32 = t.made<float>(
        [&](float* p, size_t c) { return rocrand_generate_log_normal(g, p, c, 1.5f, 2.5f); });
    t.compare("log-normal", l32,
              model(2, 2, 0.0f,
                    [&](const Words& w, float* o) {
                        normal(w, o);
                        o[0] = std::exp(o[0]), o[1] = std::exp(o[1]);
                    }),
              3e-4, 1e-6);
    auto l64 = t.made<double>(
        [&](double* p, size_t c) { return rocrand_generate_log_normal_double(g, p, c, 1.5, 2.5); });
    t.compare("log-normal double", l64,
              model(mrg ? 2 : 4, 2, 0.0,
                    [&](const Words& w, double* o) {
                        normal_double(w, o);
                        o[0] = std::exp(o[0]), o[1] = std::exp(o[1]);
                    }),
              1e-10, 1e-12);
    Poisson poisson;
    t.ok &= poisson.right();
    auto counts = t.made<unsigned>(
        [&](unsigned* p, size_t c) { return rocrand_generate_poisson(g, p, c, lambda); });
    t.compare("poisson", counts,
              model(1, 1, 0u,
                    [&](const Words& w, unsigned* o) {
                        *o = detail::discrete_alias(unsigned(integer(w[0])), poisson.host);
                    }),
              0, 0);
}

void quasi(Test& t, bool wide) {
    const unsigned dimensions = 3;
    t.count = t.count / dimensions * dimensions;
    RNG_CHECK(rocrand_set_quasi_random_generator_dimensions(t.generator, dimensions));
    rocrand_generator g = t.generator;
    size_t each = t.count / dimensions, offset = 0;
    auto model = [&](auto zero, auto from32, auto from64) {
        std::vector<decltype(zero)> want;
        for (unsigned d = 0; d < dimensions; d++)
            for (size_t i = 0; i < each; i++) {
                if (wide)
                    want.push_back(from64(rng::sobol<unsigned long long>(
                        h_sobol64_direction_vectors + 64 * d, offset + i)));
                else
                    want.push_back(from32(
                        rng::sobol<unsigned>(h_sobol32_direction_vectors + 32 * d, offset + i)));
            }
        offset += each;
        return want;
    };
    using W = unsigned;
    using D = unsigned long long;
    auto u32 = t.made<W>([&](W* p, size_t c) { return rocrand_generate(g, p, c); });
    t.compare("uint", u32,
              model(
                  0u, [](W w) { return w; }, [](D w) { return W(w >> 32); }),
              0, 0);
    auto f32 = t.made<float>([&](float* p, size_t c) { return rocrand_generate_uniform(g, p, c); });
    t.compare("uniform", f32,
              model(
                  0.0f, [](W w) { return float(w) * 0x1p-32f + 0x1p-32f; },
                  [](D w) { return detail::uniform_distribution(w); }),
              wide ? 1e-7 : 0, 0);
    auto f64 = t.made<double>(
        [&](double* p, size_t c) { return rocrand_generate_uniform_double(g, p, c); });
    t.compare("uniform double", f64,
              model(
                  0.0, [](W w) { return double(w) * 0x1p-32 + 0x1p-32; },
                  [](D w) { return double(w >> 11) * 0x1p-53 + 0x1p-53; }),
              0, 0);
    // rocRAND's inverse error function takes the logarithm of a number next to 1 for points near
    // the median: one unit in the last place of it moves the result by 1e-3.
    auto n32 = t.made<float>(
        [&](float* p, size_t c) { return rocrand_generate_normal(g, p, c, 1.5f, 2.5f); });
    t.compare("normal", n32,
              model(
                  0.0f, [](W w) { return 1.5f + 2.5f * detail::normal_distribution(w); },
                  [](D w) { return 1.5f + 2.5f * detail::normal_distribution(w); }),
              1e-4, 3e-3);
    auto n64 = t.made<double>(
        [&](double* p, size_t c) { return rocrand_generate_normal_double(g, p, c, 1.5, 2.5); });
    t.compare("normal double", n64,
              model(
                  0.0, [](W w) { return 1.5 + 2.5 * detail::normal_distribution_double(w); },
                  [](D w) { return 1.5 + 2.5 * detail::normal_distribution_double(w); }),
              1e-9, 1e-9);
    Poisson poisson;
    auto counts = t.made<unsigned>(
        [&](unsigned* p, size_t c) { return rocrand_generate_poisson(g, p, c, lambda); });
    t.compare("poisson", counts,
              model(
                  0u, [&](W w) { return detail::discrete_cdf(w, poisson.host); },
                  [&](D w) { return unsigned(detail::discrete_cdf(w, poisson.host)); }),
              0, 0);
}

int main(int argc, char** argv) {
    std::string only = argc > 1 ? argv[1] : "all";
    size_t outputs = (check::argument(argc, argv, 2, 4000) + 3) / 4 * 4;
    // Philox's published known answer (Random123 kat_vectors: counter and key zero).
    if (rng::Philox(0).at(0) != 0x6627e8d5u) {
        std::fprintf(stderr, "FAIL the model of Philox is wrong\n");
        return 1;
    }
    struct Kind {
        const char* name;
        rocrand_rng_type type;
    };
    bool ok = true, any = false;
    for (Kind kind :
         {Kind{"philox", ROCRAND_RNG_PSEUDO_PHILOX4_32_10},
          Kind{"mtgp32", ROCRAND_RNG_PSEUDO_MTGP32}, Kind{"sobol32", ROCRAND_RNG_QUASI_SOBOL32},
          Kind{"sobol64", ROCRAND_RNG_QUASI_SOBOL64}, Kind{"xorwow", ROCRAND_RNG_PSEUDO_XORWOW},
          Kind{"mrg32k3a", ROCRAND_RNG_PSEUDO_MRG32K3A}}) {
        if (only != "all" && only != kind.name) continue;
        any = true;
        Test t{nullptr, outputs, kind.name};
        RNG_CHECK(rocrand_create_generator(&t.generator, kind.type));
        std::unique_ptr<rng::Source> source;
        if (kind.type == ROCRAND_RNG_PSEUDO_PHILOX4_32_10) source.reset(new rng::Philox(seed));
        if (kind.type == ROCRAND_RNG_PSEUDO_XORWOW)
            source.reset(new rng::Engines<rng::Xorwow>(seed));
        if (kind.type == ROCRAND_RNG_PSEUDO_MRG32K3A)
            source.reset(new rng::Engines<rng::Mrg32k3a>(mrg_seed));
        if (kind.type == ROCRAND_RNG_PSEUDO_MTGP32)
            source.reset(new rng::Mtgp32<mtgp32_params_fast_t>(mtgp32dc_params_fast_11213, seed));
        if (source) {
            bool mrg = kind.type == ROCRAND_RNG_PSEUDO_MRG32K3A;
            RNG_CHECK(rocrand_set_seed(t.generator, mrg ? mrg_seed : seed));
            pseudo(t, *source, mrg);
        } else {
            quasi(t, kind.type == ROCRAND_RNG_QUASI_SOBOL64);
        }
        RNG_CHECK(rocrand_destroy_generator(t.generator));
        std::printf("%s %s\n", kind.name, t.ok ? "ok" : "FAILED");
        ok &= t.ok;
    }
    if (!any) std::fprintf(stderr, "FAIL no generator is called %s\n", only.c_str());
    return check::result("rocrand", ok && any);
}
