// Reads one of four numbers of its private memory, which lies where only the wave knows. One work-group.
kernel void one_of_four(global uint* out, uint index) {
    const uint item = __builtin_amdgcn_workitem_id_x();
    volatile uint mine[4];
    for (uint i = 0; i < 4; i++) mine[i] = 100 * (item + 1) + i;
    out[item] = mine[index & 3];
}
