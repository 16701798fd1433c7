# Exact arithmetic on guest floating point numbers with Python fractions: independent of the C++ code under test.
from fractions import Fraction as Fr

class Format:
    def __init__(self, bits, mantissa):
        self.bits, self.m = bits, mantissa
        self.e = bits - 1 - mantissa
        self.bias = (1 << (self.e - 1)) - 1
        self.emax = (1 << self.e) - 1
        self.sign = 1 << (bits - 1)
        self.inf = self.emax << mantissa
        self.quiet = 1 << (mantissa - 1)
        self.default_nan = self.sign | self.inf | self.quiet
        self.one = self.bias << mantissa
        self.max = self.inf - 1
    def mag(self, b): return b & (self.sign - 1)
    def neg(self, b): return bool(b & self.sign)
    def nan(self, b): return self.mag(b) > self.inf
    def snan(self, b): return self.nan(b) and not b & self.quiet
    def isinf(self, b): return self.mag(b) == self.inf
    def zero(self, b): return self.mag(b) == 0
    def denormal(self, b): return 0 < self.mag(b) < (1 << self.m)
    def flush(self, b): return b & self.sign if self.denormal(b) else b
    def value(self, b):
        e, f = self.mag(b) >> self.m, b & ((1 << self.m) - 1)
        v = Fr(f, 1 << self.m) * Fr(2) ** (1 - self.bias) if e == 0 else (1 + Fr(f, 1 << self.m)) * Fr(2) ** (e - self.bias)
        return -v if self.neg(b) else v
    # rnd: 0 nearest even, 1 +inf, 2 -inf, 3 zero
    def encode(self, v, rnd=0, zero_sign=False):
        if v == 0: return self.sign if zero_sign else 0
        s, v = v < 0, abs(v)
        e = v.numerator.bit_length() - v.denominator.bit_length()
        if Fr(2) ** e > v: e -= 1
        e = max(e, 1 - self.bias)
        scaled = v / Fr(2) ** (e - self.m)
        n = scaled.numerator // scaled.denominator
        rest = scaled - n
        up = {0: rest > Fr(1, 2) or (rest == Fr(1, 2) and n & 1), 1: rest > 0 and not s, 2: rest > 0 and s, 3: False}[rnd]
        if up: n += 1
        if n >= 1 << (self.m + 1): n >>= 1; e += 1
        if n < 1 << self.m: b = n
        elif e + self.bias >= self.emax:
            to_inf = rnd == 0 or (rnd == 1 and not s) or (rnd == 2 and s)
            b = self.inf if to_inf else self.max
        else: b = ((e + self.bias) << self.m) | (n - (1 << self.m))
        return b | self.sign if s else b
    def first_nan(self, *xs):
        for x in xs:
            if self.nan(x): return x | self.quiet
        return None
    def add(self, a, b, rnd=0):
        n = self.first_nan(a, b)
        if n is not None: return n
        if self.isinf(a) and self.isinf(b): return a if a == b else self.default_nan
        if self.isinf(a): return a
        if self.isinf(b): return b
        if self.zero(a) and self.zero(b): return a & b if rnd != 2 else a | b
        return self.encode(self.value(a) + self.value(b), rnd, rnd == 2)
    def sub(self, a, b, rnd=0):
        n = self.first_nan(a, b)
        return n if n is not None else self.add(a, b ^ self.sign, rnd)
    def mul(self, a, b, rnd=0):
        n = self.first_nan(a, b)
        if n is not None: return n
        s = (a ^ b) & self.sign
        if self.isinf(a) or self.isinf(b):
            return self.default_nan if self.zero(a) or self.zero(b) else s | self.inf
        return self.encode(self.value(a) * self.value(b), rnd, bool(s))
    def fma(self, a, b, c, rnd=0):
        n = self.first_nan(a, b, c)
        if n is not None: return n
        s = (a ^ b) & self.sign
        if self.isinf(a) or self.isinf(b):
            if self.zero(a) or self.zero(b): return self.default_nan
            if self.isinf(c) and (c & self.sign) != s: return self.default_nan
            return s | self.inf
        if self.isinf(c): return c
        v = self.value(a) * self.value(b) + self.value(c)
        if v == 0:
            exact = (self.zero(a) or self.zero(b)) and self.zero(c)
            if exact and s == (c & self.sign): return s
            return self.sign if rnd == 2 else 0
        return self.encode(v, rnd)
    def div(self, a, b, rnd=0):
        n = self.first_nan(a, b)
        if n is not None: return n
        s = (a ^ b) & self.sign
        if self.isinf(a): return self.default_nan if self.isinf(b) else s | self.inf
        if self.isinf(b): return s
        if self.zero(b): return self.default_nan if self.zero(a) else s | self.inf
        return self.encode(self.value(a) / self.value(b), rnd, bool(s))
    # IEEE = False: signalling NaN treated like quiet
    def minmax(self, a, b, largest, ieee):
        for x in (a, b):
            if ieee and self.snan(x): return x | self.quiet
        if self.nan(a): return b
        if self.nan(b): return a
        if self.zero(a) and self.zero(b): return (a & b) if largest else (a | b)
        va, vb = self.order(a), self.order(b)
        if largest: return a if va >= vb else b
        return a if va < vb else b
    def order(self, b):
        if self.isinf(b): return -10**5000 if self.neg(b) else 10**5000
        return self.value(b)
    def integral(self, b, how):
        if self.nan(b): return b | self.quiet
        if self.isinf(b) or self.zero(b): return b
        v = self.value(b)
        fl = v.numerator // v.denominator
        if how == 'floor': r = fl
        elif how == 'ceil': r = fl if v == fl else fl + 1
        elif how == 'trunc': r = fl if v >= 0 or v == fl else fl + 1
        else:
            d = v - fl
            r = fl + (1 if d > Fr(1, 2) or (d == Fr(1, 2) and fl & 1) else 0)
        return self.encode(Fr(r), 0, self.neg(b))
    def convert(self, other, b, rnd=0):  # b is of format other
        if other.nan(b):
            f = other.mag(b) & ((1 << other.m) - 1)
            f = f << (self.m - other.m) if self.m >= other.m else f >> (other.m - self.m)
            return (self.sign if other.neg(b) else 0) | self.inf | self.quiet | f
        if other.isinf(b): return (self.sign if other.neg(b) else 0) | self.inf
        return self.encode(other.value(b), rnd, other.neg(b))
    def to_int(self, b, lo, hi):
        if self.nan(b): return 0
        if self.isinf(b): return lo if self.neg(b) else hi
        v = self.value(b)
        t = abs(v).numerator // abs(v).denominator
        t = -t if v < 0 else t
        return max(lo, min(hi, t))

F16, F32, F64 = Format(16, 10), Format(32, 23), Format(64, 52)
