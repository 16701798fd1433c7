// AMD's rocSPARSE, as Debian ships it, on the emulated GPU: y = 2 A x + 3 y, plain and after
// analysis. Usage: sparse csrmv
#include <rocsparse/rocsparse.h>

#include <algorithm>

#include "check.h"

#define SPARSE_CHECK(call)                                                              \
    do {                                                                                \
        rocsparse_status status_ = (call);                                              \
        if (status_ != rocsparse_status_success)                                        \
            return std::printf("FAIL line %d: status %d\n", __LINE__, int(status_)), 1; \
    } while (0)

int main() {
    constexpr int n = 500;
    std::vector<int> row{0}, column;
    std::vector<double> value, x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 7;
        y[i] = i % 5;
        for (int j = std::max(0, i - 1 - i % 3); j <= std::min(n - 1, i + 1 + i % 40); j++) {
            column.push_back(j);
            value.push_back(i * 0.5 + j);  // exact in binary, as are all sums below
        }
        row.push_back(int(column.size()));
    }
    const int count = int(column.size());
    rocsparse_handle handle;
    rocsparse_mat_descr matrix;
    rocsparse_mat_info info;
    SPARSE_CHECK(rocsparse_create_handle(&handle));
    SPARSE_CHECK(rocsparse_create_mat_descr(&matrix));
    SPARSE_CHECK(rocsparse_create_mat_info(&info));
    check::Device<int> d_row(row), d_column(column);
    check::Device<double> d_value(value), d_x(x);
    SPARSE_CHECK(rocsparse_dcsrmv_analysis(handle, rocsparse_operation_none, n, n, count, matrix,
                                           d_value.get(), d_row.get(), d_column.get(), info));
    const double alpha = 2, beta = 3;
    for (int analysed = 0; analysed < 2; analysed++) {
        check::Device<double> d_y(y);
        SPARSE_CHECK(rocsparse_dcsrmv(handle, rocsparse_operation_none, n, n, count, &alpha, matrix,
                                      d_value.get(), d_row.get(), d_column.get(),
                                      analysed ? info : nullptr, d_x.get(), &beta, d_y.get()));
        std::vector<double> out(n);
        HIP_CHECK(hipMemcpy(out.data(), d_y.get(), n * sizeof(double), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = row[i]; k < row[i + 1]; k++) sum += value[k] * x[column[k]];
            if (out[i] != 2 * sum + 3 * y[i])
                return std::printf("FAIL row %d is %g\n", i, out[i]), 1;
        }
    }
    std::printf("PASS csrmv\n");
    return 0;
}
