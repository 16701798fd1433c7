// Of code objects V2: arguments of several sizes, LDS, private memory by a number, ids in x and y.
__attribute__((reqd_work_group_size(64, 2, 1)))
kernel void version2(global uint* out, uint n, ulong big, uint4 v, uchar c) {
    local uint table[128];
    const uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    const uint item = y * 64 + x, group = __builtin_amdgcn_workgroup_id_x();
    volatile uint mine[8];
    for (uint i = 0; i < 8; i++) mine[i] = i * v.y + item;
    table[item] = mine[item & 7];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (item < n) out[group * 128 + item] = table[127 - item] + (uint)(big >> 32) + v.x * v.w + c;
}

// Lanes of one wave read private memory, LDS and global memory by one instruction: out[i] = 3 times i, 5 times i or 7 times i.
uint read_any(const uint* p);
__attribute__((noinline)) uint read_any(const uint* p) {
    return *p;
}
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void generic_addresses(global uint* out, global uint* sevens) {
    local uint fives[64];
    uint threes[256];  // too many for the LDS
    const uint lane = __builtin_amdgcn_workitem_id_x();
    threes[lane * 4] = lane * 3;
    fives[lane] = lane * 5;
    sevens[lane] = lane * 7;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    const uint* p = lane % 3 == 0 ? (const uint*)&threes[lane * 4] : lane % 3 == 1 ? (const uint*)&fives[lane] : (const uint*)&sevens[lane];
    out[lane] = read_any(p);
}
