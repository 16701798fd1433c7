// Debian's rocSPARSE (its kernels were compiled by others) against loops on the CPU. All values are
// small integers or halves of them: every sum is exact in any order, results must be equal.
// Usage: rocsparse_routines [vector|matrix|solve|convert|all] [rows]
// hipcc-flags: -lrocsparse -Wno-#warnings -Wno-deprecated-declarations
#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <string>

#include "check.h"

#define SPARSE_CHECK(call)                                                                     \
    do {                                                                                       \
        rocsparse_status status_ = (call);                                                     \
        if (status_ != rocsparse_status_success) {                                             \
            std::fprintf(stderr, "FAIL %s:%d: status %d\n", __FILE__, __LINE__, int(status_)); \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

#if ROCSPARSE_VERSION_MAJOR >= 3  // of ROCm 6: what an analysis found out, which nobody has to make
#define WITHOUT_INFO nullptr,
#else
#define WITHOUT_INFO
#endif

using Ints = std::vector<int>;
using C32 = rocsparse_float_complex;
using C64 = rocsparse_double_complex;

// Routine<double>::csrmv is rocsparse_dcsrmv.
template <class T>
struct Routine;
#define ONE(letter, name) static constexpr auto name = rocsparse_##letter##name;
// clang-format off
#define ROUTINES(type, letter)                                                                \
    template <>                                                                               \
    struct Routine<type> {                                                                    \
        ONE(letter, axpyi) ONE(letter, doti) ONE(letter, gthr) ONE(letter, gthrz)             \
        ONE(letter, sctr) ONE(letter, csrmv) ONE(letter, csrmv_analysis) ONE(letter, ellmv)   \
        ONE(letter, hybmv) ONE(letter, bsrmv) ONE(letter, coomv) ONE(letter, csrsv_solve)     \
        ONE(letter, csrsv_analysis) ONE(letter, csrsv_buffer_size) ONE(letter, csrmm)         \
        ONE(letter, gemmi) ONE(letter, csrsm_solve) ONE(letter, csrsm_analysis)               \
        ONE(letter, csrsm_buffer_size) ONE(letter, csr2csc) ONE(letter, csr2ell)              \
        ONE(letter, ell2csr) ONE(letter, csr2hyb) ONE(letter, csr2bsr) ONE(letter, dense2csr) \
        ONE(letter, nnz) ONE(letter, csr2dense) ONE(letter, csrgeam)                          \
    };
// clang-format on
ROUTINES(float, s)
ROUTINES(double, d)
ROUTINES(C32, c)
ROUTINES(C64, z)

// The CPU's side of a type.
template <class T>
struct Host {
    using type = T;
    static T make(int re, int) { return T(re); }
    static T from(type v) { return v; }
};
template <class R>
struct Host<rocsparse_complex_num<R>> {
    using type = std::complex<R>;
    static rocsparse_complex_num<R> make(int re, int im) { return {R(re), R(im)}; }
    static rocsparse_complex_num<R> from(type v) { return {v.real(), v.imag()}; }
};

template <class T>
class Test {
    using H = typename Host<T>::type;
    using R = Routine<T>;
    static H host(const T& v) { return H(v); }

    // Row-compressed, columns ascending.
    struct Matrix {
        int rows, columns;
        Ints row, column;
        std::vector<T> value;
        int nnz() const { return int(column.size()); }
        std::vector<H> dense() const {  // column-major
            std::vector<H> d(size_t(rows) * columns);
            for (int i = 0; i < rows; i++)
                for (int k = row[i]; k < row[i + 1]; k++)
                    d[i + size_t(column[k]) * rows] += host(value[k]);
            return d;
        }
    };
    struct OnDevice {
        check::Device<int> row, column;
        check::Device<T> value;
        explicit OnDevice(const Matrix& m) : row(m.row), column(m.column), value(m.value) {}
    };

public:
    Test(const char* type, int rows) : type_(type), n_(rows), random_(rows) {
        SPARSE_CHECK(rocsparse_create_handle(&handle_));
        SPARSE_CHECK(rocsparse_create_mat_descr(&general_));
    }
    ~Test() {
        rocsparse_destroy_mat_descr(general_);
        rocsparse_destroy_handle(handle_);
    }

    void vector_routines() {
        const int count = n_ / 3;
        Ints index;
        for (int i = 0; i < count; i++) index.push_back(i * 3 + int(random_.next() % 3));
        auto x = numbers(count), y = numbers(n_);
        const T alpha = Host<T>::make(3, -1);
        check::Device<int> d_index(index);
        check::Device<T> d_x(x), d_y(y);
        SPARSE_CHECK(R::axpyi(handle_, count, &alpha, d_x, d_index, d_y, zero_based));
        std::vector<H> want = hosts(y);
        for (int i = 0; i < count; i++) want[index[i]] += host(alpha) * host(x[i]);
        same("axpyi", d_y.to_host(), want);

        T dot;
        SPARSE_CHECK(R::doti(handle_, count, d_x, d_index, d_y, &dot, zero_based));
        HIP_CHECK(hipDeviceSynchronize());
        H sum{};
        for (int i = 0; i < count; i++) sum += host(x[i]) * want[index[i]];
        same("doti", std::vector<T>{dot}, {sum});

        check::Device<T> gathered(size_t{unsigned(count)});
        SPARSE_CHECK(R::gthr(handle_, count, d_y, gathered, d_index, zero_based));
        std::vector<H> picked;
        for (int i : index) picked.push_back(want[i]);
        same("gthr", gathered.to_host(), picked);
        SPARSE_CHECK(R::gthrz(handle_, count, d_y, gathered, d_index, zero_based));
        for (int i : index) want[i] = H{};
        same("gthrz", d_y.to_host(), want);
        same("gthrz values", gathered.to_host(), picked);
        SPARSE_CHECK(R::sctr(handle_, count, d_x, d_index, d_y, zero_based));
        for (int i = 0; i < count; i++) want[index[i]] = host(x[i]);
        same("sctr", d_y.to_host(), want);
    }

    // Only real types have it.
    template <class Roti>
    void rotate(Roti roti) {
        const int count = n_ / 2;
        Ints index(count);
        for (int i = 0; i < count; i++) index[i] = i * 2 + 1 - i % 2;
        auto x = numbers(count), y = numbers(n_);
        const T c = Host<T>::make(3, 0), s = Host<T>::make(-2, 0);
        check::Device<int> d_index(index);
        check::Device<T> d_x(x), d_y(y);
        SPARSE_CHECK(roti(handle_, count, d_x, d_index, d_y, &c, &s, zero_based));
        auto want_x = hosts(x), want_y = hosts(y);
        for (int i = 0; i < count; i++) {
            H a = host(x[i]), b = host(y[index[i]]);
            want_x[i] = host(c) * a + host(s) * b;
            want_y[index[i]] = host(c) * b - host(s) * a;
        }
        same("roti x", d_x.to_host(), want_x);
        same("roti y", d_y.to_host(), want_y);
    }

    void matrix_routines() {
        const Matrix a = matrix(n_, n_ + 5, 9, false);
        OnDevice d(a);
        auto x = numbers(a.columns), y = numbers(a.rows), back = numbers(a.rows);
        const T alpha = Host<T>::make(2, 1), beta = Host<T>::make(-1, 2);
        check::Device<T> d_x(x), d_back(back);
        auto product = hosts(y);
        for (int i = 0; i < a.rows; i++) {
            H sum{};
            for (int k = a.row[i]; k < a.row[i + 1]; k++)
                sum += host(a.value[k]) * host(x[a.column[k]]);
            product[i] = host(alpha) * sum + host(beta) * product[i];
        }
        // y = alpha A x + beta y, `call` in the way of one format.
        auto times = [&](const char* what, auto call) {
            check::Device<T> d_y(y);
            SPARSE_CHECK(call(d_y.get()));
            same(what, d_y.to_host(), product);
        };
        rocsparse_mat_info info;
        SPARSE_CHECK(rocsparse_create_mat_info(&info));
        times("csrmv", [&](T* out) {
            return R::csrmv(handle_, none, a.rows, a.columns, a.nnz(), &alpha, general_, d.value,
                            d.row, d.column, nullptr, d_x, &beta, out);
        });
        SPARSE_CHECK(R::csrmv_analysis(handle_, none, a.rows, a.columns, a.nnz(), general_, d.value,
                                       d.row, d.column, info));
        times("csrmv analysed", [&](T* out) {
            return R::csrmv(handle_, none, a.rows, a.columns, a.nnz(), &alpha, general_, d.value,
                            d.row, d.column, info, d_x, &beta, out);
        });
        SPARSE_CHECK(rocsparse_destroy_mat_info(info));

        check::Device<int> coo(a.nnz());
        SPARSE_CHECK(rocsparse_csr2coo(handle_, d.row, a.nnz(), a.rows, coo, zero_based));
        times("coomv", [&](T* out) {
            return R::coomv(handle_, none, a.rows, a.columns, a.nnz(), &alpha, general_, d.value,
                            coo, d.column, d_x, &beta, out);
        });
        int width;
        SPARSE_CHECK(rocsparse_csr2ell_width(handle_, a.rows, general_, d.row, general_, &width));
        check::Device<T> ell_value(size_t(a.rows) * width);
        check::Device<int> ell_column(size_t(a.rows) * width);
        SPARSE_CHECK(R::csr2ell(handle_, a.rows, general_, d.value, d.row, d.column, general_,
                                width, ell_value, ell_column));
        times("ellmv", [&](T* out) {
            return R::ellmv(handle_, none, a.rows, a.columns, &alpha, general_, ell_value,
                            ell_column, width, d_x, &beta, out);
        });
        rocsparse_hyb_mat hyb;
        SPARSE_CHECK(rocsparse_create_hyb_mat(&hyb));
        SPARSE_CHECK(R::csr2hyb(handle_, a.rows, a.columns, general_, d.value, d.row, d.column, hyb,
                                4, rocsparse_hyb_partition_user));
        times("hybmv", [&](T* out) {
            return R::hybmv(handle_, none, &alpha, general_, hyb, d_x, &beta, out);
        });
        SPARSE_CHECK(rocsparse_destroy_hyb_mat(hyb));
        for (int block : {2, 3, 5}) blocks(a, d, block, alpha, beta);

        // Dense: C (rows x 6) = alpha A B + beta C, and C (4 x columns) = alpha B A + beta C.
        const int wide = 6, tall = 4;
        auto b = numbers(size_t(a.columns) * wide), c = numbers(size_t(a.rows) * wide);
        check::Device<T> d_b(b), d_c(c);
        SPARSE_CHECK(R::csrmm(handle_, none, none, a.rows, wide, a.columns, a.nnz(), &alpha,
                              general_, d.value, d.row, d.column, d_b, a.columns, &beta, d_c,
                              a.rows));
        auto want = hosts(c);
        for (int j = 0; j < wide; j++)
            for (int i = 0; i < a.rows; i++) {
                H sum{};
                for (int k = a.row[i]; k < a.row[i + 1]; k++)
                    sum += host(a.value[k]) * host(b[a.column[k] + size_t(j) * a.columns]);
                H& to = want[i + size_t(j) * a.rows];
                to = host(alpha) * sum + host(beta) * to;
            }
        same("csrmm", d_c.to_host(), want);

        // gemmi wants the sparse factor transposed: its rows are the columns of the product.
        auto e = numbers(size_t(tall) * a.columns), f = numbers(size_t(tall) * a.rows);
        check::Device<T> d_e(e), d_f(f);
        SPARSE_CHECK(R::gemmi(handle_, none, rocsparse_operation_transpose, tall, a.rows, a.columns,
                              a.nnz(), &alpha, d_e, tall, general_, d.value, d.row, d.column, &beta,
                              d_f, tall));
        want = hosts(f);
        for (int j = 0; j < a.rows; j++)
            for (int i = 0; i < tall; i++) {
                H sum{};
                for (int k = a.row[j]; k < a.row[j + 1]; k++)
                    sum += host(e[i + size_t(a.column[k]) * tall]) * host(a.value[k]);
                H& to = want[i + size_t(j) * tall];
                to = host(alpha) * sum + host(beta) * to;
            }
        same("gemmi", d_f.to_host(), want);
    }

    void solves() {
        for (bool lower : {true, false}) {
            const Matrix a = matrix(n_, n_, 5, true, lower);
            OnDevice d(a);
            rocsparse_mat_descr triangle;
            SPARSE_CHECK(rocsparse_create_mat_descr(&triangle));
            SPARSE_CHECK(rocsparse_set_mat_fill_mode(
                triangle, lower ? rocsparse_fill_mode_lower : rocsparse_fill_mode_upper));
            const T alpha = Host<T>::make(2, 0);
            const int sides = 3;
            // The right-hand side is A times a known solution.
            auto solution = numbers(size_t(n_) * sides);
            std::vector<T> right(solution.size());
            for (int j = 0; j < sides; j++)
                for (int i = 0; i < n_; i++) {
                    H sum{};
                    for (int k = a.row[i]; k < a.row[i + 1]; k++)
                        sum += host(a.value[k]) * host(solution[a.column[k] + size_t(j) * n_]);
                    right[i + size_t(j) * n_] = Host<T>::from(sum);
                }
            auto want = hosts(solution);
            for (H& h : want) h *= host(alpha);

            rocsparse_mat_info info;
            SPARSE_CHECK(rocsparse_create_mat_info(&info));
            check::Device<T> d_x(std::vector<T>(right.begin(), right.begin() + n_)), d_y(n_);
            size_t size;
            SPARSE_CHECK(R::csrsv_buffer_size(handle_, none, n_, a.nnz(), triangle, d.value, d.row,
                                              d.column, info, &size));
            check::Device<char> buffer(size);
            SPARSE_CHECK(R::csrsv_analysis(handle_, none, n_, a.nnz(), triangle, d.value, d.row,
                                           d.column, info, rocsparse_analysis_policy_force,
                                           rocsparse_solve_policy_auto, buffer.get()));
            SPARSE_CHECK(R::csrsv_solve(handle_, none, n_, a.nnz(), &alpha, triangle, d.value,
                                        d.row, d.column, info, d_x, d_y,
                                        rocsparse_solve_policy_auto, buffer.get()));
            int pivot;
            if (rocsparse_csrsv_zero_pivot(handle_, triangle, info, &pivot) !=
                rocsparse_status_success)
                fail("csrsv reports a zero pivot");
            same(lower ? "csrsv lower" : "csrsv upper", d_y.to_host(),
                 std::vector<H>(want.begin(), want.begin() + n_));

            check::Device<T> d_b(right);
            SPARSE_CHECK(R::csrsm_buffer_size(handle_, none, none, n_, sides, a.nnz(), &alpha,
                                              triangle, d.value, d.row, d.column, d_b, n_, info,
                                              rocsparse_solve_policy_auto, &size));
            check::Device<char> more(size);
            SPARSE_CHECK(R::csrsm_analysis(handle_, none, none, n_, sides, a.nnz(), &alpha,
                                           triangle, d.value, d.row, d.column, d_b, n_, info,
                                           rocsparse_analysis_policy_force,
                                           rocsparse_solve_policy_auto, more.get()));
            SPARSE_CHECK(R::csrsm_solve(handle_, none, none, n_, sides, a.nnz(), &alpha, triangle,
                                        d.value, d.row, d.column, d_b, n_, info,
                                        rocsparse_solve_policy_auto, more.get()));
            same(lower ? "csrsm lower" : "csrsm upper", d_b.to_host(), want);
            SPARSE_CHECK(rocsparse_destroy_mat_info(info));
            SPARSE_CHECK(rocsparse_destroy_mat_descr(triangle));
        }
    }

    void conversions() {
        const Matrix a = matrix(n_, n_ / 2 + 7, 6, false);
        OnDevice d(a);
        const auto dense = a.dense();

        check::Device<int> coo(a.nnz()), row_again(a.rows + 1);
        SPARSE_CHECK(rocsparse_csr2coo(handle_, d.row, a.nnz(), a.rows, coo, zero_based));
        Ints rows;
        for (int i = 0; i < a.rows; i++) rows.insert(rows.end(), a.row[i + 1] - a.row[i], i);
        ints("csr2coo", coo.to_host(), rows);
        SPARSE_CHECK(rocsparse_coo2csr(handle_, coo, a.nnz(), a.rows, row_again, zero_based));
        ints("coo2csr", row_again.to_host(), a.row);

        size_t size;
        SPARSE_CHECK(rocsparse_csr2csc_buffer_size(handle_, a.rows, a.columns, a.nnz(), d.row,
                                                   d.column, rocsparse_action_numeric, &size));
        check::Device<char> buffer(size);
        check::Device<T> csc_value(a.nnz());
        check::Device<int> csc_row(a.nnz()), csc_column(a.columns + 1);
        SPARSE_CHECK(R::csr2csc(handle_, a.rows, a.columns, a.nnz(), d.value, d.row, d.column,
                                csc_value, csc_row, csc_column, rocsparse_action_numeric,
                                zero_based, buffer.get()));
        Ints want_row, want_column{0};
        std::vector<H> want_value;
        for (int j = 0; j < a.columns; j++) {
            for (int i = 0; i < a.rows; i++)
                for (int k = a.row[i]; k < a.row[i + 1]; k++)
                    if (a.column[k] == j) {
                        want_row.push_back(i);
                        want_value.push_back(host(a.value[k]));
                    }
            want_column.push_back(int(want_row.size()));
        }
        ints("csr2csc columns", csc_column.to_host(), want_column);
        ints("csr2csc rows", csc_row.to_host(), want_row);
        same("csr2csc values", csc_value.to_host(), want_value);

        check::Device<T> d_dense(dense.size());
        SPARSE_CHECK(R::csr2dense(handle_, a.rows, a.columns, general_, d.value, d.row, d.column,
                                  d_dense, a.rows));
        same("csr2dense", d_dense.to_host(), dense);
        check::Device<int> per_row(a.rows);
        int total = 0;
        SPARSE_CHECK(R::nnz(handle_, rocsparse_direction_row, a.rows, a.columns, general_, d_dense,
                            a.rows, per_row, &total));
        HIP_CHECK(hipDeviceSynchronize());
        ints("nnz", {total}, {a.nnz()});
        {
            check::Device<T> value(a.nnz());
            check::Device<int> row(a.rows + 1), column(a.nnz());
            SPARSE_CHECK(R::dense2csr(handle_, a.rows, a.columns, general_, d_dense, a.rows,
                                      per_row, value, row, column));
            compare("dense2csr", a, row, column, value);
        }

        int width;
        SPARSE_CHECK(rocsparse_csr2ell_width(handle_, a.rows, general_, d.row, general_, &width));
        int widest = 0;
        for (int i = 0; i < a.rows; i++) widest = std::max(widest, a.row[i + 1] - a.row[i]);
        ints("csr2ell width", {width}, {widest});
        check::Device<T> ell_value(size_t(a.rows) * width);
        check::Device<int> ell_column(size_t(a.rows) * width);
        SPARSE_CHECK(R::csr2ell(handle_, a.rows, general_, d.value, d.row, d.column, general_,
                                width, ell_value, ell_column));
        Ints want_ell(size_t(a.rows) * width, -1);
        for (int i = 0; i < a.rows; i++)
            for (int k = a.row[i]; k < a.row[i + 1]; k++)
                want_ell[i + size_t(k - a.row[i]) * a.rows] = a.column[k];
        ints("csr2ell", ell_column.to_host(), want_ell);
        {
            check::Device<T> value(a.nnz());
            check::Device<int> row(a.rows + 1), column(a.nnz());
            SPARSE_CHECK(rocsparse_ell2csr_nnz(handle_, a.rows, a.columns, general_, width,
                                               ell_column, general_, row, &total));
            HIP_CHECK(hipDeviceSynchronize());
            ints("ell2csr nnz", {total}, {a.nnz()});
            SPARSE_CHECK(R::ell2csr(handle_, a.rows, a.columns, general_, width, ell_value,
                                    ell_column, general_, value, row, column));
            compare("ell2csr", a, row, column, value);
        }
        sort(a, d);
        add(a, d);
    }

    bool ok = true;

private:
    static constexpr auto none = rocsparse_operation_none;
    static constexpr auto zero_based = rocsparse_index_base_zero;

    std::vector<T> numbers(size_t count) {
        std::vector<T> v(count);
        for (T& t : v) t = Host<T>::make(int(random_.next() % 9) - 4, int(random_.next() % 5) - 2);
        return v;
    }
    static std::vector<H> hosts(const std::vector<T>& v) {
        return std::vector<H>(v.begin(), v.end());
    }

    // Some rows are empty, some full of neighbours. A triangle has a diagonal of 1, 2 or 4, and
    // elements that reach back few rows, so that chains of dependent rows stay short.
    Matrix matrix(int rows, int columns, int per_row, bool triangle, bool lower = true) {
        Matrix m{rows, columns, {0}, {}, {}};
        for (int i = 0; i < rows; i++) {
            std::vector<bool> taken(columns);
            int count = triangle ? 3 : i % 13 == 5 ? 0 : i % 17 == 3 ? columns / 3 : per_row;
            for (int k = 0; k < count; k++) {
                int j = triangle ? (lower ? i - 1 - int(random_.next() % 40)
                                          : i + 1 + int(random_.next() % 40))
                                 : int(random_.next() % columns);
                if (j >= 0 && j < columns) taken[j] = true;
            }
            if (triangle) taken[i] = true;
            for (int j = 0; j < columns; j++) {
                if (!taken[j]) continue;
                m.column.push_back(j);
                T value = Host<T>::make(1 + int(random_.next() % 4), int(random_.next() % 3) - 1);
                m.value.push_back(triangle && i == j ? Host<T>::make(1 << i % 3, 0) : value);
            }
            m.row.push_back(m.nnz());
        }
        return m;
    }

    // A in blocks, times x.
    void blocks(const Matrix& a, OnDevice& d, int block, T alpha, T beta) {
        const int mb = (a.rows + block - 1) / block, nb = (a.columns + block - 1) / block;
        int count = 0;
        check::Device<int> row(mb + 1);
        SPARSE_CHECK(rocsparse_csr2bsr_nnz(handle_, rocsparse_direction_row, a.rows, a.columns,
                                           general_, d.row, d.column, block, general_, row,
                                           &count));
        HIP_CHECK(hipDeviceSynchronize());
        check::Device<int> column(count);
        check::Device<T> value(size_t(count) * block * block);
        SPARSE_CHECK(R::csr2bsr(handle_, rocsparse_direction_row, a.rows, a.columns, general_,
                                d.value, d.row, d.column, block, general_, value, row, column));
        // Put together again it is the matrix.
        auto dense = std::vector<H>(size_t(a.rows) * a.columns);
        const auto r = row.to_host(), c = column.to_host();
        const auto v = value.to_host();
        for (int i = 0; i < mb; i++)
            for (int k = r[i]; k < r[i + 1]; k++)
                for (int p = 0; p < block * block; p++) {
                    int y = i * block + p / block, x = c[k] * block + p % block;
                    if (y < a.rows && x < a.columns)
                        dense[y + size_t(x) * a.rows] = host(v[size_t(k) * block * block + p]);
                }
        if (dense != a.dense()) fail("csr2bsr with blocks of " + std::to_string(block));

        auto x = numbers(size_t(nb) * block), y = numbers(size_t(mb) * block);
        check::Device<T> d_x(x), d_y(y);
        SPARSE_CHECK(R::bsrmv(handle_, rocsparse_direction_row, none, mb, nb, count, &alpha,
                              general_, value, row, column, block, WITHOUT_INFO d_x, &beta, d_y));
        auto want = hosts(y);
        for (int i = 0; i < int(want.size()); i++) {
            H sum{};
            if (i < a.rows)
                for (int k = a.row[i]; k < a.row[i + 1]; k++)
                    sum += host(a.value[k]) * host(x[a.column[k]]);
            want[i] = host(alpha) * sum + host(beta) * want[i];
        }
        same("bsrmv", d_y.to_host(), want);
    }

    // Shuffled columns, sorted again with the permutation.
    void sort(const Matrix& a, OnDevice& d) {
        Ints shuffled = a.column, perm(a.nnz()), from(a.nnz());
        std::iota(from.begin(), from.end(), 0);
        for (int i = 0; i < a.rows; i++)
            for (int k = a.row[i]; k + 1 < a.row[i + 1]; k++) {
                int other = k + int(random_.next() % (a.row[i + 1] - k));
                std::swap(shuffled[k], shuffled[other]);
                std::swap(from[k], from[other]);
            }
        for (int k = 0; k < a.nnz(); k++) perm[from[k]] = k;
        check::Device<int> column(shuffled), d_perm(a.nnz());
        size_t size;
        SPARSE_CHECK(rocsparse_create_identity_permutation(handle_, a.nnz(), d_perm));
        Ints identity(a.nnz());
        std::iota(identity.begin(), identity.end(), 0);
        ints("identity permutation", d_perm.to_host(), identity);
        SPARSE_CHECK(rocsparse_csrsort_buffer_size(handle_, a.rows, a.columns, a.nnz(), d.row,
                                                   column, &size));
        check::Device<char> buffer(size);
        SPARSE_CHECK(rocsparse_csrsort(handle_, a.rows, a.columns, a.nnz(), general_, d.row, column,
                                       d_perm, buffer.get()));
        ints("csrsort", column.to_host(), a.column);
        ints("csrsort permutation", d_perm.to_host(), perm);
    }

    // C = alpha A + beta B.
    void add(const Matrix& a, OnDevice& d) {
        const Matrix b = matrix(a.rows, a.columns, 4, false);
        OnDevice e(b);
        const T alpha = Host<T>::make(2, 1), beta = Host<T>::make(3, 0);
        check::Device<int> row(a.rows + 1);
        int count = 0;
        SPARSE_CHECK(rocsparse_csrgeam_nnz(handle_, a.rows, a.columns, general_, a.nnz(), d.row,
                                           d.column, general_, b.nnz(), e.row, e.column, general_,
                                           row, &count));
        HIP_CHECK(hipDeviceSynchronize());
        check::Device<int> column(count);
        check::Device<T> value(count);
        SPARSE_CHECK(R::csrgeam(handle_, a.rows, a.columns, &alpha, general_, a.nnz(), d.value,
                                d.row, d.column, &beta, general_, b.nnz(), e.value, e.row, e.column,
                                general_, value, row, column));
        Matrix c{a.rows, a.columns, row.to_host(), column.to_host(), value.to_host()};
        auto want = a.dense(), other = b.dense();
        for (size_t i = 0; i < want.size(); i++)
            want[i] = host(alpha) * want[i] + host(beta) * other[i];
        if (c.dense() != want) fail("csrgeam");
    }

    void compare(const char* what, const Matrix& want, check::Device<int>& row,
                 check::Device<int>& column, check::Device<T>& value) {
        ints(what, row.to_host(), want.row);
        ints(what, column.to_host(), want.column);
        same(what, value.to_host(), hosts(want.value));
    }
    void ints(const char* what, const Ints& got, const Ints& want) {
        ok &= check::equal((type_ + " " + what).c_str(), got, want);
    }
    void same(const char* what, const std::vector<T>& got, const std::vector<H>& want) {
        for (size_t i = 0; i < want.size(); i++)
            if (i >= got.size() || host(got[i]) != want[i])
                return fail(std::string(what) + ", element " + std::to_string(i));
    }
    void fail(const std::string& what) {
        std::fprintf(stderr, "FAIL %s %s\n", type_.c_str(), what.c_str());
        ok = false;
    }

    std::string type_;
    int n_;
    check::Random random_;
    rocsparse_handle handle_;
    rocsparse_mat_descr general_;
};

template <class T>
bool run(const char* type, const std::string& part, int rows) {
    Test<T> test(type, rows);
    const bool all = part == "all";
    if (all || part == "vector") {
        test.vector_routines();
        if constexpr (std::is_same_v<T, float>) test.rotate(rocsparse_sroti);
        if constexpr (std::is_same_v<T, double>) test.rotate(rocsparse_droti);
    }
    if (all || part == "matrix") test.matrix_routines();
    if (all || part == "solve") test.solves();
    if (all || part == "convert") test.conversions();
    return test.ok;
}

int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "all";
    const int rows = int(check::argument(argc, argv, 2, 300));
    bool ok = run<float>("f32", part, rows);
    ok &= run<double>("f64", part, rows);
    ok &= run<C32>("c32", part, rows / 2);
    ok &= run<C64>("c64", part, rows / 2);
    return check::result(("rocsparse " + part).c_str(), ok);
}
