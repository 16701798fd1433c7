/* OpenMP target offload: everything that the device computes is compared with the host. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 20000

#pragma omp declare target
int counter = 5;
double table[4] = {1.5, 2.5, 3.5, 4.5};
static int square(int x) {
    return x * x;
}
#pragma omp end declare target

static int failed;
static void expect(const char* what, int good) {
    if (!good) printf("FAIL %s\n", what);
    failed |= !good;
}

static void loops_and_reductions(void) {
    static double a[N], b[N];
    double sum = 0, most = -1, least = 1e9;
    long product_of_signs = 1;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
#pragma omp target data map(tofrom : a) map(to : b)
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++) a[i] += b[i];
            /* whole numbers below 2^53: any order of additions gives the same sum */
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
        for (int i = 0; i < N; i++) sum += a[i];
#pragma omp target teams distribute parallel for map(tofrom                           \
                                                     : most, least) reduction(max     \
                                                                              : most) \
    reduction(min                                                                     \
              : least)
        for (int i = 0; i < N; i++) {
            double distance = a[i] > 30000 ? a[i] - 30000 : 30000 - a[i];
            if (distance > most) most = distance;
            if (distance < least) least = distance;
        }
    }
#pragma omp target teams distribute parallel for map(tofrom : product_of_signs) \
    reduction(* : product_of_signs)
    for (int i = 0; i < 101; i++) product_of_signs *= i % 2 ? -1 : 1;
    int good = 1;
    for (int i = 0; i < N; i++) good &= a[i] == 3.0 * i;
    expect("loop", good);
    expect("sum", sum == 3.0 * N * (N - 1.0) / 2);
    expect("max", most == 30000);
    expect("min", least == 0);
    expect("product", product_of_signs == 1); /* 50 odd numbers below 101 */
}

static void teams(void) {
    int count = 0, of_team[8] = {0}, threads_of_team[8] = {0};
#pragma omp target teams num_teams(8) thread_limit(64) map(from     \
                                                           : count) \
    map(tofrom                                                      \
        : of_team, threads_of_team)
    {
        int team = omp_get_team_num();
        if (team == 0) count = omp_get_num_teams();
        of_team[team] = square(team);
#pragma omp parallel
        {
#pragma omp atomic
            threads_of_team[team] += 1;
        }
    }
    expect("at least one team", count >= 1 && count <= 8);
    for (int t = 0; t < count; t++) {
        expect("team", of_team[t] == t * t);
        expect("threads of the team", threads_of_team[t] >= 1 && threads_of_team[t] <= 64);
    }
}

static void device_variables(void) {
    double sum = 0;
    int seen = 0, on_host = -1;
#pragma omp target map(from : sum, seen, on_host)
    {
        on_host = omp_is_initial_device();
        seen = counter;
        counter += 2;
        for (int i = 0; i < 4; i++) sum += table[i];
    }
    expect("on the device", on_host == 0);
    expect("declare target", seen == 5 && sum == 12);
    counter = 100;
    table[3] = 0.25;
#pragma omp target update to(table)
#pragma omp target map(from : sum, seen)
    {
        seen = counter;
        sum = table[3];
    }
    expect("a device's own copy", seen == 7 && sum == 0.25);
#pragma omp target update from(counter)
    expect("update from", counter == 7);
}

static void generic_mode(void) {
    int h[64] = {0};
#pragma omp target map(tofrom : h)
    {
        int local = 0;
#pragma omp parallel for
        for (int i = 0; i < 64; i++) {
#pragma omp atomic
            local += i;
            h[i] = square(i);
        }
        h[0] = local;
    }
    expect("shared local", h[0] == 2016 && h[63] == 3969);
}

static void memory_of_the_device(void) {
    const int host = omp_get_initial_device(), device = omp_get_default_device();
    int in[100], out[100];
    for (int i = 0; i < 100; i++) in[i] = i;
    int* there = omp_target_alloc(sizeof in, device);
    expect("alloc", there != NULL);
    expect("copy", !omp_target_memcpy(there, in, sizeof in, 0, 0, device, host));
#pragma omp target teams distribute parallel for is_device_ptr(there)
    for (int i = 0; i < 100; i++) there[i] = 1000 - there[i];
    expect("copy back", !omp_target_memcpy(out, there, sizeof out, 0, 0, host, device));
    omp_target_free(there, device);
    int good = 1;
    for (int i = 0; i < 100; i++) good &= out[i] == 1000 - i;
    expect("is_device_ptr", good);
}

static void asynchronous(void) {
    int a[4] = {0};
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int t = 0; t < 4; t++) {
#pragma omp target nowait map(tofrom : a [t:1])
        a[t] = 10 * t + 1;
    }
#pragma omp taskwait
    expect("nowait", a[0] == 1 && a[1] == 11 && a[2] == 21 && a[3] == 31);
}

/* LLVM 15's device library for AMD GPUs has no printf: __llvm_omp_vprintf only returns -1. */
static void device_printf(void) {
    int printed = 0;
#pragma omp target map(from : printed)
    printed = printf("device says %d\n", 42);
    expect("printf", printed == -1);
}

int main(void) {
    expect("one device", omp_get_num_devices() == 1);
    loops_and_reductions();
    teams();
    device_variables();
    generic_mode();
    memory_of_the_device();
    asynchronous();
    device_printf();
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
