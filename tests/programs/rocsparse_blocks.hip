// More of Debian's rocSPARSE against loops over a dense matrix on the CPU: block formats, products
// with sparse vectors and of two sparse matrices, conversions that go through other formats and
// back. All values are small integers: every sum is exact in any order, results must be equal.
// Usage: rocsparse_blocks [product|solve|convert|all] [rows]
// hipcc-flags: -lrocsparse -Wno-#warnings -Wno-deprecated-declarations
#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <optional>
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

using Ints = std::vector<int>;

// Routine<double>::bsrmm is rocsparse_dbsrmm.
template <class T>
struct Routine;
#define ONE(letter, name) static constexpr auto name = rocsparse_##letter##name;
// clang-format off
#define ROUTINES(type, letter)                                                                  \
    template <>                                                                                 \
    struct Routine<type> {                                                                      \
        ONE(letter, gemvi) ONE(letter, gemvi_buffer_size) ONE(letter, csr2bsr)                  \
        ONE(letter, bsr2csr) ONE(letter, bsrmm) ONE(letter, bsrsv_buffer_size)                  \
        ONE(letter, bsrsv_analysis) ONE(letter, bsrsv_solve) ONE(letter, csr2gebsr)             \
        ONE(letter, csr2gebsr_buffer_size) ONE(letter, gebsrmv) ONE(letter, csrgemm)            \
        ONE(letter, csrgemm_buffer_size) ONE(letter, dense2csc) ONE(letter, csc2dense)          \
        ONE(letter, dense2coo) ONE(letter, coo2dense) ONE(letter, nnz) ONE(letter, csr2hyb)     \
        ONE(letter, hyb2csr)                                                                    \
    };
// clang-format on
ROUTINES(float, s)
ROUTINES(double, d)

template <class T>
class Test {
    using R = Routine<T>;

    // Column-major, like rocSPARSE's dense matrices.
    struct Dense {
        int rows, columns;
        std::vector<T> value;
        T& at(int i, int j) { return value[i + size_t(j) * rows]; }
        T at(int i, int j) const { return value[i + size_t(j) * rows]; }
    };
    struct Csr {
        Ints row{0}, column;
        std::vector<T> value;
        int nnz() const { return int(column.size()); }
        explicit Csr(const Dense& d) {
            for (int i = 0; i < d.rows; i++) {
                for (int j = 0; j < d.columns; j++)
                    if (d.at(i, j) != 0) column.push_back(j), value.push_back(d.at(i, j));
                row.push_back(nnz());
            }
        }
    };
    struct OnDevice {
        check::Device<int> row, column;
        check::Device<T> value;
        explicit OnDevice(const Csr& m) : row(m.row), column(m.column), value(m.value) {}
    };

public:
    Test(const char* type, int rows) : type_(type), n_(rows), random_(rows + 1) {
        SPARSE_CHECK(rocsparse_create_handle(&handle_));
        SPARSE_CHECK(rocsparse_create_mat_descr(&general_));
    }
    ~Test() {
        rocsparse_destroy_mat_descr(general_);
        rocsparse_destroy_handle(handle_);
    }

    void products() {
        const T alpha = 3, beta = -2;
        // y = alpha * A * x + beta * y, A dense, x sparse
        const Dense full{n_, n_ + 3, numbers(size_t(n_) * (n_ + 3))};
        Ints index;
        for (int j = 0; j < full.columns; j += 1 + int(random_.next() % 5)) index.push_back(j);
        const int count = int(index.size());
        auto x = numbers(count), y = numbers(full.rows);
        check::Device<T> d_full(full.value), d_x(x), d_y(y);
        check::Device<int> d_index(index);
        size_t size;
        SPARSE_CHECK(R::gemvi_buffer_size(handle_, none, full.rows, full.columns, count, &size));
        check::Device<char> buffer(size + 1);
        SPARSE_CHECK(R::gemvi(handle_, none, full.rows, full.columns, &alpha, d_full, full.rows,
                              count, d_x, d_index, &beta, d_y, zero_based, buffer.get()));
        for (int i = 0; i < full.rows; i++) {
            T sum = 0;
            for (int k = 0; k < count; k++) sum += full.at(i, index[k]) * x[k];
            y[i] = alpha * sum + beta * y[i];
        }
        same("gemvi", d_y.to_host(), y);

        for (int block : {2, 4, 7}) blocks(block, alpha, beta);
        general_blocks(3, 5, alpha, beta);
        general_blocks(4, 2, alpha, beta);
        multiply(alpha, beta);
    }

    // A x = alpha b with A in blocks, lower and upper.
    void solves() {
        for (bool lower : {true, false})
            for (int block : {2, 3}) {
                const int mb = n_ / block, rows = mb * block;
                Dense a{rows, rows, std::vector<T>(size_t(rows) * rows)};
                for (int i = 0; i < rows; i++) {
                    a.at(i, i) = T(1 << i % 3);
                    for (int k = 0; k < 3; k++) {
                        int j = lower ? i - 1 - int(random_.next() % 20)
                                      : i + 1 + int(random_.next() % 20);
                        if (j >= 0 && j < rows) a.at(i, j) = T(1 + int(random_.next() % 3));
                    }
                }
                Bsr b(*this, a, block);
                rocsparse_mat_descr triangle;
                SPARSE_CHECK(rocsparse_create_mat_descr(&triangle));
                SPARSE_CHECK(rocsparse_set_mat_fill_mode(
                    triangle, lower ? rocsparse_fill_mode_lower : rocsparse_fill_mode_upper));
                auto want = numbers(rows);
                std::vector<T> right(rows);
                for (int i = 0; i < rows; i++)
                    for (int j = 0; j < rows; j++) right[i] += a.at(i, j) * want[j];
                const T alpha = 2;
                for (T& w : want) w *= alpha;
                rocsparse_mat_info info;
                SPARSE_CHECK(rocsparse_create_mat_info(&info));
                size_t size;
                SPARSE_CHECK(R::bsrsv_buffer_size(handle_, by_row, none, mb, b.count, triangle,
                                                  *b.value, b.row, *b.column, block, info, &size));
                check::Device<char> buffer(size + 1);
                SPARSE_CHECK(R::bsrsv_analysis(handle_, by_row, none, mb, b.count, triangle,
                                               *b.value, b.row, *b.column, block, info,
                                               rocsparse_analysis_policy_force,
                                               rocsparse_solve_policy_auto, buffer.get()));
                check::Device<T> d_right(right), d_x(rows);
                SPARSE_CHECK(R::bsrsv_solve(handle_, by_row, none, mb, b.count, &alpha, triangle,
                                            *b.value, b.row, *b.column, block, info, d_right, d_x,
                                            rocsparse_solve_policy_auto, buffer.get()));
                same(lower ? "bsrsv lower" : "bsrsv upper", d_x.to_host(), want);
                SPARSE_CHECK(rocsparse_destroy_mat_info(info));
                SPARSE_CHECK(rocsparse_destroy_mat_descr(triangle));
            }
    }

    void conversions() {
        const Dense a = sparse(n_, n_ / 2 + 9);
        const Csr m(a);
        check::Device<T> d_a(a.value), back(a.value.size());
        const int nnz = m.nnz();

        check::Device<int> per(a.columns), csc_column(a.columns + 1), csc_row(nnz);
        check::Device<T> value(nnz);
        int total = 0;
        SPARSE_CHECK(R::nnz(handle_, rocsparse_direction_column, a.rows, a.columns, general_, d_a,
                            a.rows, per, &total));
        HIP_CHECK(hipDeviceSynchronize());
        ints("nnz by columns", {total}, {nnz});
        SPARSE_CHECK(R::dense2csc(handle_, a.rows, a.columns, general_, d_a, a.rows, per, value,
                                  csc_column, csc_row));
        Ints want_column{0}, want_row;
        std::vector<T> want_value;
        for (int j = 0; j < a.columns; j++) {
            for (int i = 0; i < a.rows; i++)
                if (a.at(i, j) != 0) want_row.push_back(i), want_value.push_back(a.at(i, j));
            want_column.push_back(int(want_row.size()));
        }
        ints("dense2csc columns", csc_column.to_host(), want_column);
        ints("dense2csc rows", csc_row.to_host(), want_row);
        same("dense2csc values", value.to_host(), want_value);
        SPARSE_CHECK(R::csc2dense(handle_, a.rows, a.columns, general_, value, csc_column, csc_row,
                                  back, a.rows));
        same("csc2dense", back.to_host(), a.value);

        check::Device<int> per_row(a.rows), coo_row(nnz), coo_column(nnz);
        SPARSE_CHECK(
            R::nnz(handle_, by_row, a.rows, a.columns, general_, d_a, a.rows, per_row, &total));
        SPARSE_CHECK(R::dense2coo(handle_, a.rows, a.columns, general_, d_a, a.rows, per_row, value,
                                  coo_row, coo_column));
        Ints rows;
        for (int i = 0; i < a.rows; i++) rows.insert(rows.end(), m.row[i + 1] - m.row[i], i);
        ints("dense2coo rows", coo_row.to_host(), rows);
        ints("dense2coo columns", coo_column.to_host(), m.column);
        same("dense2coo values", value.to_host(), m.value);
        check::Device<T> again(a.value.size());
        SPARSE_CHECK(R::coo2dense(handle_, a.rows, a.columns, nnz, general_, value, coo_row,
                                  coo_column, again, a.rows));
        same("coo2dense", again.to_host(), a.value);

        // Sorted by columns it is the transposed order.
        size_t size;
        SPARSE_CHECK(rocsparse_coosort_buffer_size(handle_, a.rows, a.columns, nnz, coo_row,
                                                   coo_column, &size));
        check::Device<char> buffer(size + 1);
        SPARSE_CHECK(rocsparse_coosort_by_column(handle_, a.rows, a.columns, nnz, coo_row,
                                                 coo_column, nullptr, buffer.get()));
        ints("coosort_by_column", coo_row.to_host(), want_row);
        SPARSE_CHECK(rocsparse_coosort_by_row(handle_, a.rows, a.columns, nnz, coo_row, coo_column,
                                              nullptr, buffer.get()));
        ints("coosort_by_row", coo_column.to_host(), m.column);

        OnDevice d(m);
        for (auto partition : {rocsparse_hyb_partition_auto, rocsparse_hyb_partition_user}) {
            rocsparse_hyb_mat hyb;
            SPARSE_CHECK(rocsparse_create_hyb_mat(&hyb));
            SPARSE_CHECK(R::csr2hyb(handle_, a.rows, a.columns, general_, d.value, d.row, d.column,
                                    hyb, 3, partition));
            check::Device<int> row(a.rows + 1), column(nnz);
            check::Device<T> out(nnz);
            SPARSE_CHECK(rocsparse_hyb2csr_buffer_size(handle_, general_, hyb, row, &size));
            check::Device<char> more(size + 1);
            SPARSE_CHECK(R::hyb2csr(handle_, general_, hyb, out, row, column, more.get()));
            ints("hyb2csr rows", row.to_host(), m.row);
            ints("hyb2csr columns", column.to_host(), m.column);
            same("hyb2csr values", out.to_host(), m.value);
            SPARSE_CHECK(rocsparse_destroy_hyb_mat(hyb));
        }
    }

    bool ok = true;

private:
    static constexpr auto none = rocsparse_operation_none;
    static constexpr auto zero_based = rocsparse_index_base_zero;
    static constexpr auto by_row = rocsparse_direction_row;

    // A matrix in square blocks on the device.
    struct Bsr {
        int mb, nb, count = 0;
        check::Device<int> row;
        std::optional<check::Device<int>> column;
        std::optional<check::Device<T>> value;
        Bsr(Test& t, const Dense& a, int block)
            : mb((a.rows + block - 1) / block), nb((a.columns + block - 1) / block), row(mb + 1) {
            const Csr m(a);
            OnDevice d(m);
            SPARSE_CHECK(rocsparse_csr2bsr_nnz(t.handle_, by_row, a.rows, a.columns, t.general_,
                                               d.row, d.column, block, t.general_, row, &count));
            HIP_CHECK(hipDeviceSynchronize());
            column.emplace(size_t(count));
            value.emplace(size_t(count) * block * block);
            SPARSE_CHECK(R::csr2bsr(t.handle_, by_row, a.rows, a.columns, t.general_, d.value,
                                    d.row, d.column, block, t.general_, *value, row, *column));
        }
    };

    // C = alpha A B + beta C with A in blocks; and A as rows again.
    void blocks(int block, T alpha, T beta) {
        const int rows = n_ / block * block, columns = (n_ / 2 + 5) / block * block, wide = 5;
        const Dense a = sparse(rows, columns);
        Bsr s(*this, a, block);
        const Dense b{columns, wide, numbers(size_t(columns) * wide)};
        Dense c{rows, wide, numbers(size_t(rows) * wide)};
        check::Device<T> d_b(b.value), d_c(c.value);
        SPARSE_CHECK(R::bsrmm(handle_, by_row, none, none, s.mb, wide, s.nb, s.count, &alpha,
                              general_, *s.value, s.row, *s.column, block, d_b, columns, &beta, d_c,
                              rows));
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < wide; j++) {
                T sum = 0;
                for (int k = 0; k < columns; k++) sum += a.at(i, k) * b.at(k, j);
                c.at(i, j) = alpha * sum + beta * c.at(i, j);
            }
        same("bsrmm", d_c.to_host(), c.value);

        const size_t stored = size_t(s.count) * block * block;  // zeros of the blocks included
        check::Device<int> row(rows + 1), column(stored);
        check::Device<T> value(stored);
        SPARSE_CHECK(R::bsr2csr(handle_, by_row, s.mb, s.nb, general_, *s.value, s.row, *s.column,
                                block, general_, value, row, column));
        const auto r = row.to_host(), col = column.to_host();
        const auto v = value.to_host();
        Dense again{rows, columns, std::vector<T>(a.value.size())};
        for (int i = 0; i < rows; i++)
            for (int k = r[i]; k < r[i + 1]; k++) again.at(i, col[k]) = v[k];
        same("bsr2csr", again.value, a.value);
    }

    void general_blocks(int high, int wide, T alpha, T beta) {
        const Dense a = sparse(n_ / high * high, (n_ + 4) / wide * wide);
        const int mb = a.rows / high, nb = a.columns / wide;
        const Csr m(a);
        OnDevice d(m);
        size_t size;
        SPARSE_CHECK(R::csr2gebsr_buffer_size(handle_, by_row, a.rows, a.columns, general_, d.value,
                                              d.row, d.column, high, wide, &size));
        check::Device<char> buffer(size + 1);
        check::Device<int> row(mb + 1);
        int count = 0;
        SPARSE_CHECK(rocsparse_csr2gebsr_nnz(handle_, by_row, a.rows, a.columns, general_, d.row,
                                             d.column, general_, row, high, wide, &count,
                                             buffer.get()));
        HIP_CHECK(hipDeviceSynchronize());
        check::Device<int> column(count);
        check::Device<T> value(size_t(count) * high * wide);
        SPARSE_CHECK(R::csr2gebsr(handle_, by_row, a.rows, a.columns, general_, d.value, d.row,
                                  d.column, general_, value, row, column, high, wide,
                                  buffer.get()));
        auto x = numbers(a.columns), y = numbers(a.rows);
        check::Device<T> d_x(x), d_y(y);
        SPARSE_CHECK(R::gebsrmv(handle_, by_row, none, mb, nb, count, &alpha, general_, value, row,
                                column, high, wide, d_x, &beta, d_y));
        for (int i = 0; i < a.rows; i++) {
            T sum = 0;
            for (int j = 0; j < a.columns; j++) sum += a.at(i, j) * x[j];
            y[i] = alpha * sum + beta * y[i];
        }
        same("csr2gebsr, gebsrmv", d_y.to_host(), y);
    }

    // C = alpha A B + beta D, all sparse.
    void multiply(T alpha, T beta) {
        const int m = n_ / 2, k = n_ / 2 + 3, n = n_ / 3;
        const Dense a = sparse(m, k), b = sparse(k, n), d = sparse(m, n);
        const Csr ca(a), cb(b), cd(d);
        OnDevice da(ca), db(cb), dd(cd);
        rocsparse_mat_info info;
        SPARSE_CHECK(rocsparse_create_mat_info(&info));
        size_t size;
        SPARSE_CHECK(R::csrgemm_buffer_size(handle_, none, none, m, n, k, &alpha, general_,
                                            ca.nnz(), da.row, da.column, general_, cb.nnz(), db.row,
                                            db.column, &beta, general_, cd.nnz(), dd.row, dd.column,
                                            info, &size));
        check::Device<char> buffer(size + 1);
        check::Device<int> row(m + 1);
        int count = 0;
        SPARSE_CHECK(rocsparse_csrgemm_nnz(handle_, none, none, m, n, k, general_, ca.nnz(), da.row,
                                           da.column, general_, cb.nnz(), db.row, db.column,
                                           general_, cd.nnz(), dd.row, dd.column, general_, row,
                                           &count, info, buffer.get()));
        HIP_CHECK(hipDeviceSynchronize());
        check::Device<int> column(count);
        check::Device<T> value(count);
        SPARSE_CHECK(R::csrgemm(handle_, none, none, m, n, k, &alpha, general_, ca.nnz(), da.value,
                                da.row, da.column, general_, cb.nnz(), db.value, db.row, db.column,
                                &beta, general_, cd.nnz(), dd.value, dd.row, dd.column, general_,
                                value, row, column, info, buffer.get()));
        const auto r = row.to_host(), c = column.to_host();
        const auto v = value.to_host();
        Dense got{m, n, std::vector<T>(size_t(m) * n)}, want = got;
        for (int i = 0; i < m; i++) {
            for (int e = r[i]; e < r[i + 1]; e++) got.at(i, c[e]) += v[e];
            for (int j = 0; j < n; j++) {
                T sum = 0;
                for (int l = 0; l < k; l++) sum += a.at(i, l) * b.at(l, j);
                want.at(i, j) = alpha * sum + beta * d.at(i, j);
            }
        }
        same("csrgemm", got.value, want.value);
        SPARSE_CHECK(rocsparse_destroy_mat_info(info));
    }

    std::vector<T> numbers(size_t count) {
        std::vector<T> v(count);
        for (T& t : v) t = T(int(random_.next() % 9) - 4);
        return v;
    }
    // Some rows are empty, some hold a third of all columns.
    Dense sparse(int rows, int columns) {
        Dense d{rows, columns, std::vector<T>(size_t(rows) * columns)};
        for (int i = 0; i < rows; i++)
            for (int k = i % 13 == 5 ? 0 : i % 17 == 3 ? columns / 3 : 6; k > 0; k--)
                d.at(i, int(random_.next() % columns)) = T(1 + int(random_.next() % 5));
        return d;
    }
    void ints(const char* what, const Ints& got, const Ints& want) {
        ok &= check::equal((type_ + " " + what).c_str(), got, want);
    }
    void same(const char* what, const std::vector<T>& got, const std::vector<T>& want) {
        if (got == want) return;
        std::fprintf(stderr, "FAIL %s %s\n", type_.c_str(), what);
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
    if (all || part == "product") test.products();
    if (all || part == "solve") test.solves();
    if (all || part == "convert") test.conversions();
    return test.ok;
}

int main(int argc, char** argv) {
    const std::string part = argc > 1 ? argv[1] : "all";
    const int rows = int(check::argument(argc, argv, 2, 200));
    bool ok = run<float>("f32", part, rows);
    ok &= run<double>("f64", part, rows);
    return check::result(("rocsparse blocks " + part).c_str(), ok);
}
