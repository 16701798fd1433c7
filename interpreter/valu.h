// The frame of a vector ALU instruction: fetch sources (SDWA, DPP, op_sel, modifiers, index mode),
// run one function over 64 lanes, finish (omod, clamp, denormals) and write under EXEC.
//
// An instruction is one line of a table: alu<[](uint32_t a, uint32_t b) { return a & b; }>.
// Argument types say how the sources are read, the result type how it is written. All lanes are
// computed, EXEC is applied at the write; so functions must be total.
#pragma once

#include <tuple>
#include <utility>

#include "common/guest_float.h"
#include "interpreter/internal.h"

namespace wj::interp {

using gf::FloatMode;
using gf::Half;

enum ValuFlags : uint32_t {
    addend = 1,           // the last argument is the old destination (v_mac, v_fmac)
    raw_floats = 2,       // do not flush float sources by MODE
    raw_result = 4,       // do not flush, omod or clamp the result
    preserve_high = 8,    // 16-bit result: the other half keeps its value (else it becomes 0)
    nearest = 16,         // ignores MODE's rounding
    round_from_f32 = 32,  // rounds by the f32 field although the result is not f32
    no_ovfl = 64,         // FP16_OVFL does not apply
};

struct alignas(64) Row {
    uint32_t v[lanes];
};

struct Valu {
    Wave& w;
    const Inst& in;
    uint64_t active;                      // lanes that are written
    bool plain;                           // no SDWA, no DPP, no modifier on any source
    uint32_t relative[4] = {0, 0, 0, 0};  // s_set_gpr_idx: added to VGPR numbers of src0..2, dst

    Valu(Wave& wave, const Inst& inst);

    bool modified() const { return !plain; }
    // 64 dwords of source i after DPP and SDWA selection: a register row, or buf.
    const uint32_t* fetch(uint32_t i, uint32_t dword, Row& buf) {
        const Operand& o = in.src[i];
        if (plain && is_vector(o)) [[likely]]
            return source_row(i, dword);
        return fetch_slow(i, dword, buf);
    }
    const uint32_t* source_row(uint32_t i, uint32_t dword) {
        const Operand& o = in.src[i];
        if (o.kind == Operand::Kind::Agpr) return w.arow(o.reg + dword);
        return w.row(o.reg + dword + (i < 3 ? relative[i] : 0));
    }
    uint32_t* dest_row(uint32_t dword = 0) {
        const Operand& o = in.dst[0];
        if (o.kind == Operand::Kind::Agpr) return w.arow(o.reg + dword);
        return w.row(o.reg + dword + relative[3]);
    }
    void store32(const uint32_t* r) {
        if (in.variant == Variant::Sdwa) [[unlikely]]
            return store_sdwa(r, 32);
        write_row(dest_row(), r, active);
    }
    void store16(const uint32_t* r, bool keep_other_half);
    void store64(const uint64_t* r);

private:
    void set_index_mode();
    const uint32_t* fetch_slow(uint32_t i, uint32_t dword, Row& buf);
    void apply_dpp_mask();
    void permute_dpp(const uint32_t* from, uint32_t* to) const;
    void permute_dpp8(const uint32_t* from, uint32_t* to) const;
    void store_sdwa(const uint32_t* r, uint32_t width);
};

// ---- typed sources
// -------------------------------------------------------------------------------

// One buffer per argument, not initialised.
template <size_t I, class T>
struct BufferAt {
    alignas(64) T v[lanes];
};
template <class Sequence, class Args>
struct Buffers;
template <size_t... I, class... A>
struct Buffers<std::index_sequence<I...>, std::tuple<A...>> : BufferAt<I, A>... {};

// op_sel of a 16-bit source: takes the high half.
inline bool high_half(const Inst& in, uint32_t i) {
    return in.op_sel >> i & 1;
}

template <class T>
const T* load(Valu& v, uint32_t i, T* out, const FloatMode& m, bool raw, bool is_addend) {
    const Inst& in = v.in;
    const Operand& o = is_addend ? in.dst[0] : in.src[i];
    const bool neg = !is_addend && in.neg >> i & 1, abs = !is_addend && in.abs >> i & 1;
    if constexpr (sizeof(T) == 4) {
        Row buf;
        const uint32_t* r = is_addend ? v.dest_row() : v.fetch(i, 0, buf);
        // Of instructions that compute with more bits than the half has.
        if (!is_addend && high_half(in, i) && is_16_bit(o.type)) [[unlikely]] {
            for (uint32_t l = 0; l < lanes; ++l) out[l] = std::bit_cast<T>(r[l] >> 16);
            return out;
        }
        if constexpr (gf::is_float<T>) {
            const bool flush = !raw && !m.keeps_inputs<T>();
            if (neg || abs || flush) {
                for (uint32_t l = 0; l < lanes; ++l) {
                    uint32_t b = r[l];
                    if (abs) b &= 0x7fffffffu;
                    if (neg) b ^= 0x80000000u;
                    if (flush && !(b & 0x7f800000u)) b &= 0x80000000u;
                    out[l] = std::bit_cast<float>(b);
                }
                return out;
            }
        }
        if (r != buf.v) return reinterpret_cast<const T*>(r);
        std::memcpy(out, r, sizeof buf);
        return out;
    } else if constexpr (sizeof(T) == 2) {
        Row buf;
        const uint32_t* r = is_addend ? v.dest_row() : v.fetch(i, 0, buf);
        const uint32_t shift =
            high_half(in, is_addend ? 3 : i) && in.variant != Variant::Sdwa ? 16 : 0;
        const bool flush = gf::is_float<T> && !raw && !m.keeps_inputs<Half>();
        for (uint32_t l = 0; l < lanes; ++l) {
            auto b = static_cast<uint16_t>(r[l] >> shift);
            if constexpr (gf::is_float<T>) {
                if (abs) b &= 0x7fff;
                if (neg) b ^= 0x8000;
                if (flush && !(b & 0x7c00)) b &= 0x8000;
            }
            out[l] = std::bit_cast<T>(b);
        }
        return out;
    } else {
        static_assert(sizeof(T) == 8);
        Row lo_buf, hi_buf;
        const uint32_t* lo = is_addend ? v.dest_row(0) : v.fetch(i, 0, lo_buf);
        const uint32_t* hi = is_addend ? v.dest_row(1) : v.fetch(i, 1, hi_buf);
        const bool flush = gf::is_float<T> && !raw && !m.keeps_inputs<double>();
        for (uint32_t l = 0; l < lanes; ++l)
            out[l] = std::bit_cast<T>(lo[l] | uint64_t{hi[l]} << 32);
        if constexpr (gf::is_float<T>) {
            if (neg || abs || flush)
                for (uint32_t l = 0; l < lanes; ++l) {
                    if (abs) out[l] = gf::absolute(out[l]);
                    if (neg) out[l] = gf::negate(out[l]);
                    if (flush) out[l] = gf::flush(out[l]);
                }
        }
        static_cast<void>(o);
        return out;
    }
}

// ---- results
// ---------------------------------------------------------------------------------------

template <class T>
void finish_floats(const Valu& v, const FloatMode& m, T* r) {
    const bool flush = !m.keeps_outputs<T>();
    // Vega ISA, output modifiers: ignored when IEEE mode is on or output denormals are kept.
    const uint32_t omod = m.ieee() || !flush ? 0 : v.in.omod;
    if (!flush && !v.in.clamp) return;
    for (uint32_t l = 0; l < lanes; ++l) {
        T x = r[l];
        if (flush) x = gf::flush(x);
        if (omod) x = gf::apply_omod(x, omod);
        if (v.in.clamp) x = gf::apply_clamp(m, x);
        r[l] = x;
    }
}

template <uint32_t Flags, class R>
void store(Valu& v, const FloatMode& m, R* r) {
    if constexpr (gf::is_float<R> && !(Flags & raw_result)) {
        if (!m.keeps_outputs<R>() || v.in.clamp) [[unlikely]]
            finish_floats(v, m, r);
    }
    if constexpr (sizeof(R) == 4) {
        v.store32(reinterpret_cast<const uint32_t*>(r));
    } else if constexpr (sizeof(R) == 8) {
        v.store64(reinterpret_cast<const uint64_t*>(r));
    } else {
        static_assert(sizeof(R) == 2);
        Row wide;
        for (uint32_t l = 0; l < lanes; ++l) wide.v[l] = std::bit_cast<uint16_t>(r[l]);
        v.store16(wide.v, Flags & preserve_high);
    }
}

// ---- the frame
// ---------------------------------------------------------------------------------------

template <class F>
struct CallTraits : CallTraits<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct CallTraits<R (C::*)(A...) const> {
    using Result = R;
    using Args = std::tuple<A...>;
    static constexpr bool with_mode = false;
};
template <class C, class R, class... A>
struct CallTraits<R (C::*)(const FloatMode&, A...) const> {
    using Result = R;
    using Args = std::tuple<A...>;
    static constexpr bool with_mode = true;
};

// Only a type that has its own size of arguments can be vectorised by explicit code: f32 and f64
// operations that also exist for __m256 and __m256d (gf::add & co). See alu_vec.
template <auto F, uint32_t Flags, class Args, size_t... I>
void alu_body(Wave& w, const Inst& in, std::index_sequence<I...>) {
    using Traits = CallTraits<decltype(F)>;
    using R = typename Traits::Result;
    constexpr size_t count = sizeof...(I);
    Valu v(w, in);
    const FloatMode m{w.mode};
    Buffers<std::index_sequence<I...>, Args> buffers;
    const auto args = std::make_tuple(load<std::tuple_element_t<I, Args>>(
        v, I, static_cast<BufferAt<I, std::tuple_element_t<I, Args>>&>(buffers).v, m,
        Flags & raw_floats, (Flags & addend) && I + 1 == count)...);
    alignas(64) R out[lanes];
    R* __restrict r = out;
    for (uint32_t l = 0; l < lanes; ++l) {
        if constexpr (Traits::with_mode)
            r[l] = F(m, std::get<I>(args)[l]...);
        else
            r[l] = F(std::get<I>(args)[l]...);
    }
    if constexpr (std::is_same_v<R, Half> && !(Flags & no_ovfl)) {
        if (m.fp16_ovfl()) [[unlikely]] {
            for (uint32_t l = 0; l < lanes; ++l) {
                bool inf_in = false;
                [[maybe_unused]] const auto check = [&](auto x) {
                    if constexpr (gf::is_float<decltype(x)>) inf_in |= gf::is_inf(x);
                };
                (check(std::get<I>(args)[l]), ...);
                if (!inf_in && gf::is_inf(r[l])) r[l].bits = (r[l].bits & 0x8000) | 0x7bff;
            }
        }
    }
    store<Flags>(v, m, out);
}

template <class R, uint32_t Flags>
constexpr bool uses_rounding = gf::is_float<R> && !(Flags & nearest);

// Runs `run` with the host's rounding set as MODE says; nearest is what the host has at rest.
template <class R, uint32_t Flags>
inline void with_rounding(Wave& w, const Inst& in, Handler run) {
    const FloatMode m{w.mode};
    uint32_t mode;
    if constexpr (std::is_same_v<R, float> || (Flags & round_from_f32))
        mode = m.round32();
    else
        mode = m.round64();
    if (mode == 0) return run(w, in);
    gf::HostRounding scope(mode);
    run(w, in);
}

template <auto F, uint32_t Flags>
[[gnu::noinline]] void alu_run(Wave& w, const Inst& in) {
    using Args = typename CallTraits<decltype(F)>::Args;
    alu_body<F, Flags, Args>(w, in, std::make_index_sequence<std::tuple_size_v<Args>>());
}

template <auto F, uint32_t Flags = 0>
void alu(Wave& w, const Inst& in) {
    using R = typename CallTraits<decltype(F)>::Result;
    if constexpr (uses_rounding<R, Flags>)
        with_rounding<R, Flags>(w, in, &alu_run<F, Flags>);
    else
        alu_run<F, Flags>(w, in);
}

// F is generic and has an overload for __m256 (f32) or __m256d (f64): eight or four lanes at a
// time.
template <class T, size_t N, auto F, uint32_t Flags>
[[gnu::noinline]] void alu_vec_run(Wave& w, const Inst& in) {
    constexpr uint32_t step = sizeof(T) == 4 ? 8 : 4;
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T buf[N][lanes];
    const T* a[N];
    for (uint32_t i = 0; i < N; ++i)
        a[i] = load<T>(v, i, buf[i], m, Flags & raw_floats, (Flags & addend) && i + 1 == N);
    alignas(64) T out[lanes];
    const auto at = [&](uint32_t i, uint32_t l) {
        if constexpr (sizeof(T) == 4)
            return _mm256_loadu_ps(a[i] + l);
        else
            return _mm256_loadu_pd(a[i] + l);
    };
    for (uint32_t l = 0; l < lanes; l += step) {
        auto r = [&] {
            if constexpr (N == 1)
                return F(at(0, l));
            else if constexpr (N == 2)
                return F(at(0, l), at(1, l));
            else
                return F(at(0, l), at(1, l), at(2, l));
        }();
        std::memcpy(out + l, &r, sizeof r);
    }
    store<Flags>(v, m, out);
}

template <class T, size_t N, auto F, uint32_t Flags = 0>
void alu_vec(Wave& w, const Inst& in) {
    if constexpr (Flags & nearest)
        alu_vec_run<T, N, F, Flags>(w, in);
    else
        with_rounding<T, Flags>(w, in, &alu_vec_run<T, N, F, Flags>);
}

// Integer operation with saturation under CLAMP: F is generic; it runs on T, and with clamp on a
// type that holds the exact result.
template <class T>
struct Wide {
    using type = int64_t;
};
template <>
struct Wide<uint64_t> {
    using type = __int128;
};
template <>
struct Wide<int64_t> {
    using type = __int128;
};

template <class T, size_t N, auto F, uint32_t Flags = 0>
void alu_sat(Wave& w, const Inst& in) {
    using W = typename Wide<T>::type;
    Valu v(w, in);
    const FloatMode m{w.mode};
    T buf[N][lanes];
    const T* a[N];
    for (uint32_t i = 0; i < N; ++i)
        a[i] = load<T>(v, i, buf[i], m, true, (Flags & addend) && i + 1 == N);
    alignas(64) T out[lanes];
    using U = std::make_unsigned_t<T>;
    const auto run = [&](auto convert, auto narrow) {
        for (uint32_t l = 0; l < lanes; ++l) {
            if constexpr (N == 2)
                out[l] = narrow(F(convert(a[0][l]), convert(a[1][l])));
            else
                out[l] = narrow(F(convert(a[0][l]), convert(a[1][l]), convert(a[2][l])));
        }
    };
    if (!in.clamp) {
        // Unsigned arithmetic of at least 32 bits wraps without undefined behaviour.
        using C = std::conditional_t<(sizeof(T) < 4), uint32_t, U>;
        run([](T x) { return static_cast<C>(x); }, [](auto x) { return static_cast<T>(x); });
    } else {
        constexpr W low = std::is_signed_v<T> ? -(W{1} << (sizeof(T) * 8 - 1)) : 0;
        constexpr W high =
            std::is_signed_v<T> ? (W{1} << (sizeof(T) * 8 - 1)) - 1 : (W{1} << (sizeof(T) * 8)) - 1;
        run([](T x) { return static_cast<W>(x); },
            [](W x) {
                return static_cast<T>(x < low ? low : x > high ? high : x);
            });
    }
    store<Flags | raw_result>(v, m, out);
}

}  // namespace wj::interp
