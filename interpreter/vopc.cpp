// Vector compares: one bit per lane, 0 for inactive lanes; v_cmpx also writes EXEC.
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

template <auto F, bool WritesExec, uint32_t Flags, size_t... I>
void compare_body(Wave& w, const Inst& in, std::index_sequence<I...>) {
    using Args = typename CallTraits<decltype(F)>::Args;
    Valu v(w, in);
    const FloatMode m{w.mode};
    Buffers<std::index_sequence<I...>, Args> buffers;
    const auto args = std::make_tuple(load<std::tuple_element_t<I, Args>>(
        v, I, static_cast<BufferAt<I, std::tuple_element_t<I, Args>>&>(buffers).v, m,
        Flags & raw_floats, false)...);
    alignas(64) uint32_t out[lanes];
    uint32_t* __restrict r = out;
    for (uint32_t l = 0; l < lanes; ++l) r[l] = F(std::get<I>(args)[l]...) ? ~0u : 0u;
    const uint64_t mask = row_signs(out) & v.active;
    if (w.exit.kind != ExitKind::None) [[unlikely]]
        return;
    write_mask(w, in.dst[0], mask);
    if constexpr (WritesExec) w.set_mask(machine::exec_lo, mask);
}

template <auto F, bool WritesExec, uint32_t Flags = 0>
void compare(Wave& w, const Inst& in) {
    using Args = typename CallTraits<decltype(F)>::Args;
    compare_body<F, WritesExec, Flags>(w, in, std::make_index_sequence<std::tuple_size_v<Args>>());
}

// Half compares as f32, exactly.
inline float value(Half x) {
    return gf::to_float(x);
}
template <class T>
inline T value(T x) {
    return x;
}

template <class T>
constexpr auto never = [](T, T) { return false; };
template <class T>
constexpr auto always = [](T, T) { return true; };
template <class T>
constexpr auto lt = [](T a, T b) { return value(a) < value(b); };
template <class T>
constexpr auto eq = [](T a, T b) { return value(a) == value(b); };
template <class T>
constexpr auto le = [](T a, T b) { return value(a) <= value(b); };
template <class T>
constexpr auto gt = [](T a, T b) { return value(b) < value(a); };
template <class T>
constexpr auto ge = [](T a, T b) { return value(b) <= value(a); };
template <class T>
constexpr auto ne = [](T a, T b) { return value(a) != value(b); };
// "less or greater": false with a NaN; != is true.
template <class T>
constexpr auto lg = [](T a, T b) { return value(a) < value(b) || value(b) < value(a); };
template <class T>
constexpr auto o = [](T a, T b) { return value(a) == value(a) && value(b) == value(b); };
template <class T>
constexpr auto u = [](T a, T b) { return value(a) != value(a) || value(b) != value(b); };
template <class T>
constexpr auto nge = [](T a, T b) { return !(value(b) <= value(a)); };
template <class T>
constexpr auto nlg = [](T a, T b) { return !(value(a) < value(b) || value(b) < value(a)); };
template <class T>
constexpr auto ngt = [](T a, T b) { return !(value(b) < value(a)); };
template <class T>
constexpr auto nle = [](T a, T b) { return !(value(a) <= value(b)); };
template <class T>
constexpr auto nlt = [](T a, T b) { return !(value(a) < value(b)); };
template <class T>
constexpr auto in_class = [](T a, uint32_t b) { return gf::compare_class(a, b); };

#define ROW(name, type, T, op)                                \
    {Opcode::v_cmp_##name##_##type, compare<op<T>, false>}, { \
        Opcode::v_cmpx_##name##_##type, compare<op<T>, true>  \
    }
#define INT_ROWS(type, T)                                                                     \
    ROW(f, type, T, never), ROW(lt, type, T, lt), ROW(eq, type, T, eq), ROW(le, type, T, le), \
        ROW(gt, type, T, gt), ROW(ne, type, T, ne), ROW(ge, type, T, ge), ROW(t, type, T, always)
#define FLOAT_ROWS(type, T)                                                                   \
    ROW(f, type, T, never), ROW(lt, type, T, lt), ROW(eq, type, T, eq), ROW(le, type, T, le), \
        ROW(gt, type, T, gt), ROW(lg, type, T, lg), ROW(ge, type, T, ge), ROW(o, type, T, o), \
        ROW(u, type, T, u), ROW(nge, type, T, nge), ROW(nlg, type, T, nlg),                   \
        ROW(ngt, type, T, ngt), ROW(nle, type, T, nle), ROW(neq, type, T, ne),                \
        ROW(nlt, type, T, nlt), ROW(tru, type, T, always),                                    \
        {Opcode::v_cmp_class_##type, compare<in_class<T>, false, raw_floats>}, {              \
        Opcode::v_cmpx_class_##type, compare<in_class<T>, true, raw_floats>                   \
    }

// gfx6 and gfx7: the same compares, which signal for quiet NaN, too.
#define SIGNALLING_ROW(name, type, T, op)                      \
    {Opcode::v_cmps_##name##_##type, compare<op<T>, false>}, { \
        Opcode::v_cmpsx_##name##_##type, compare<op<T>, true>  \
    }
#define SIGNALLING_ROWS(type, T)                                              \
    SIGNALLING_ROW(f, type, T, never), SIGNALLING_ROW(lt, type, T, lt),       \
        SIGNALLING_ROW(eq, type, T, eq), SIGNALLING_ROW(le, type, T, le),     \
        SIGNALLING_ROW(gt, type, T, gt), SIGNALLING_ROW(lg, type, T, lg),     \
        SIGNALLING_ROW(ge, type, T, ge), SIGNALLING_ROW(o, type, T, o),       \
        SIGNALLING_ROW(u, type, T, u), SIGNALLING_ROW(nge, type, T, nge),     \
        SIGNALLING_ROW(nlg, type, T, nlg), SIGNALLING_ROW(ngt, type, T, ngt), \
        SIGNALLING_ROW(nle, type, T, nle), SIGNALLING_ROW(neq, type, T, ne),  \
        SIGNALLING_ROW(nlt, type, T, nlt), SIGNALLING_ROW(tru, type, T, always)

// clang-format off
constexpr HandlerEntry table[] = {
    SIGNALLING_ROWS(f32, float),
    SIGNALLING_ROWS(f64, double),
    FLOAT_ROWS(f16, Half),
    FLOAT_ROWS(f32, float),
    FLOAT_ROWS(f64, double),
    INT_ROWS(i16, int16_t),
    INT_ROWS(u16, uint16_t),
    INT_ROWS(i32, int32_t),
    INT_ROWS(u32, uint32_t),
    INT_ROWS(i64, int64_t),
    INT_ROWS(u64, uint64_t),
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vopc_handlers() {
    return table;
}

}  // namespace wj::interp
