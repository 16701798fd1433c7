// European option prices (exp, log, sqrt, erfc). Usage: black_scholes [options]
#include "check.h"

template <class T>
__host__ __device__ T normal_cdf(T x) {
    return T(0.5) * erfc(-x * T(0.70710678118654752440));
}

// Prices of a call and of a put.
template <class T>
__host__ __device__ void price(T spot, T strike, T years, T rate, T volatility, T& call, T& put) {
    T deviation = volatility * sqrt(years);
    T d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation,
      d2 = d1 - deviation;
    T discounted = strike * exp(-rate * years);
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
}

template <class T>
__global__ void black_scholes(const T* spot, const T* strike, const T* years, T* call, T* put,
                              T rate, T volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) price(spot[i], strike[i], years[i], rate, volatility, call[i], put[i]);
}

template <class T>
bool run(const char* type, int n, double relative, double absolute) {
    check::Random random(10);
    std::vector<T> spot(n), strike(n), years(n);
    std::vector<double> calls(n), puts(n);
    for (int i = 0; i < n; i++) {
        spot[i] = T(random.range(5, 30));
        strike[i] = T(random.range(1, 100));
        years[i] = T(random.range(0.25, 10));
        price<double>(spot[i], strike[i], years[i], T(0.02), T(0.3), calls[i], puts[i]);
    }
    check::Device<T> dspot(spot), dstrike(strike), dyears(years), call(n), put(n);
    black_scholes<T>
        <<<check::blocks(n, 128), 128>>>(dspot, dstrike, dyears, call, put, T(0.02), T(0.3), n);
    check::launched();
    std::printf("%s, %d options\n", type, n);
    bool ok = check::near("call", call.to_host(), calls, relative, absolute);
    ok &= check::near("put", put.to_host(), puts, relative, absolute);
    return ok;
}

int main(int argc, char** argv) {
    int n = int(check::argument(argc, argv, 1, 4000));
    bool ok = run<float>("f32", n, 1e-5, 1e-4);
    ok &= run<double>("f64", n, 1e-12, 1e-12);
    return check::result("black_scholes", ok);
}
