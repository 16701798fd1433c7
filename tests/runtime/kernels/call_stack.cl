// clang-flags: -g
// Functions that call each other, and what a compiler makes one of; lines are found by their marks.
#define APART __attribute__((noinline))

APART int leaf(global int* p, long i) {
    return p[i] * 3;  // MARK leaf
}

static inline int deep(global int* p, long i) {
    return p[i + 100] + 1;  // MARK deep
}

static inline int mid(global int* p, long i) {
    if (i > 3) p[7] = (int)i;
    return deep(p, i * 2) + 5;  // MARK mid
}

APART int middle(global int* p, long i, int inside) {
    int a = leaf(p, i & 1);
    p[3] = a;
    if (inside) return mid(p, i) + a;  // MARK middle mid
    int b = leaf(p, i);                // MARK middle leaf
    p[4] = b;
    return a + b;
}

APART int recursive(global int* p, long i, int n) {
    int r = n ? recursive(p, i, n - 1)  // MARK again
              : leaf(p, i);             // MARK end
    p[n] = r;
    return r + p[n + 1];
}

// Its private memory is what a recursion has for its frames, which compilers do not count.
APART int room(int i) {
    volatile int much[1024];
    much[i & 1023] = i;
    return much[0];
}

// The compiler makes a function of a kernel, and inlines it where the kernel is.
kernel void calls(global int* p, long far, int where, int depth) {  // MARK kernel
    int s = 0;
    if (where == 0) s = mid(p, far);               // MARK 0
    if (where == 1) s = middle(p, far, 0);         // MARK 1
    if (where == 2) s = middle(p, far, 1);         // MARK 2
    if (where == 3) s = recursive(p, far, depth);  // MARK 3
    if (where == 4) s = room(depth);
    p[5] = s;
}
