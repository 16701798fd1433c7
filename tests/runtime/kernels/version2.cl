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
