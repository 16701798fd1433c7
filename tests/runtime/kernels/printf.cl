// printf as clang lowers it; the allocator is the one part that a library would bring. 72: offset of
// the printf buffer's address in the implicit arguments of code object V5.
global char* __printf_alloc(uint bytes) {
    global uint* buffer =
        *(global uint * constant*)((constant char*)__builtin_amdgcn_implicitarg_ptr() + 72);
    if (!buffer) return 0;
    uint offset = __scoped_atomic_fetch_add(buffer, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return offset + bytes > buffer[1] ? (global char*)0 : (global char*)(buffer + 2) + offset;
}

// Not get_global_id: libclc's reads implicit arguments of another layout.
int item(int group_size) {
    return __builtin_amdgcn_workgroup_id_x() * group_size + __builtin_amdgcn_workitem_id_x();
}

kernel void items(global int* results, int first) {
    int i = item(64);
    if (i % 21 == 0) results[i] = printf("item %d of %s: %5.2f|%-4u|\n", first + i, "it", i / 4.0f, i);
}

kernel void forms(float4 v, char c, long l, double d) {
    printf("%v4f %#v2hhx %c %ld %g 100%%\n", v, (uchar2)(1, 254), c, l, d);
    printf("%s:%5s:%x\n", "", "ab", -1);
}

kernel void many(void) { printf("%08d\n", item(256)); }
