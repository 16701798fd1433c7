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

#define ROW(cmp, name, type, T, op)                               \
    {Opcode::v_##cmp##_##name##_##type, compare<op<T>, false>}, { \
        Opcode::v_##cmp##x_##name##_##type, compare<op<T>, true>  \
    }
#define INT_ROWS(type, T)                                                                \
    ROW(cmp, f, type, T, never), ROW(cmp, lt, type, T, lt), ROW(cmp, eq, type, T, eq),   \
        ROW(cmp, le, type, T, le), ROW(cmp, gt, type, T, gt), ROW(cmp, ne, type, T, ne), \
        ROW(cmp, ge, type, T, ge), ROW(cmp, t, type, T, always)
// v_cmps_* of gfx6 and gfx7 are the same compares, which signal for quiet NaN, too.
#define FLOAT_ROWS(cmp, type, T)                                                               \
    ROW(cmp, f, type, T, never), ROW(cmp, lt, type, T, lt), ROW(cmp, eq, type, T, eq),         \
        ROW(cmp, le, type, T, le), ROW(cmp, gt, type, T, gt), ROW(cmp, lg, type, T, lg),       \
        ROW(cmp, ge, type, T, ge), ROW(cmp, o, type, T, o), ROW(cmp, u, type, T, u),           \
        ROW(cmp, nge, type, T, nge), ROW(cmp, nlg, type, T, nlg), ROW(cmp, ngt, type, T, ngt), \
        ROW(cmp, nle, type, T, nle), ROW(cmp, neq, type, T, ne), ROW(cmp, nlt, type, T, nlt),  \
        ROW(cmp, tru, type, T, always)
#define CLASS_ROWS(type, T)                                                  \
    {Opcode::v_cmp_class_##type, compare<in_class<T>, false, raw_floats>}, { \
        Opcode::v_cmpx_class_##type, compare<in_class<T>, true, raw_floats>  \
    }

// clang-format off
constexpr HandlerEntry table[] = {
    FLOAT_ROWS(cmp, f16, Half),
    FLOAT_ROWS(cmp, f32, float),
    FLOAT_ROWS(cmp, f64, double),
    FLOAT_ROWS(cmps, f32, float),
    FLOAT_ROWS(cmps, f64, double),
    CLASS_ROWS(f16, Half),
    CLASS_ROWS(f32, float),
    CLASS_ROWS(f64, double),
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
