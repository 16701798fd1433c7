// Planted mistakes with their clean twins: `wrong` chooses. Each finding is in the line that ends
// with "// HERE name"; checker_table_test.cpp looks for it. Work-groups have 256 work-items.
#define ID get_local_id(0)
#define SIZE 256

// ---- memory
kernel void lds_read_beyond(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID + wrong];  // HERE lds_read_beyond
}
kernel void lds_write_beyond(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID + wrong] = ID;  // HERE lds_write_beyond
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID];
}
kernel void lds_byte_beyond(global uint* out, uint wrong) {
    local uchar table[SIZE - 3];
    if (ID < SIZE - 3) table[ID + wrong] = ID;  // HERE lds_byte_beyond
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID % (SIZE - 4) + 1];
}
kernel void lds_atomic_beyond(global uint* out, uint wrong) {
    local uint table[8];
    if (ID < 8) table[ID] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&table[(ID & 7) + wrong], 1);  // HERE lds_atomic_beyond
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID & 7];
}
kernel void lds_before(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID - wrong];  // HERE lds_before
}
kernel void lds_vector_beyond(global uint4* out, uint wrong) {
    local uint4 table[SIZE];
    table[ID] = (uint4)(ID);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID + wrong];  // HERE lds_vector_beyond
}
kernel void global_read_beyond(global uint* out, uint wrong) {
    out[0] = out[2047 + wrong];  // HERE global_read_beyond
}
kernel void global_write_beyond(global uint* out, uint wrong) {
    out[2047 + wrong] = 1;  // HERE global_write_beyond
}
kernel void global_atomic_beyond(global uint* out, uint wrong) {
    atomic_add(&out[2047 + wrong], 1);  // HERE global_atomic_beyond
}
kernel void global_before(global uint* out, uint wrong) {
    out[get_global_id(0)] = *(out + get_global_id(0) * (1 - wrong) - wrong);  // HERE global_before
}
kernel void no_pointer(global uint* out, uint wrong) {
    global uint* to = wrong ? 0 : out;
    *to = 1;  // HERE no_pointer
}

// ---- init
kernel void lds_unwritten(global uint* out, uint wrong) {
    local uint table[SIZE];
    if (!wrong) table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID ^ 1];  // HERE lds_unwritten
}
kernel void lds_partly_unwritten(global uint* out, uint wrong) {
    local uint table[SIZE];
    if (ID < SIZE - wrong) table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[SIZE - 1 - ID];  // HERE lds_partly_unwritten
}
kernel void lds_sum_unwritten(global uint* out, uint wrong) {
    local uint sum;
    if (!wrong && ID == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, 1);  // HERE lds_sum_unwritten
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sum;
}
kernel void private_unwritten(global uint* out, uint wrong) {
    volatile uint table[24];
    for (uint i = 0; i < 24 - wrong; i++) table[i] = i;
    out[get_global_id(0)] = table[23];  // HERE private_unwritten
}
kernel void private_index(global uint* out, uint wrong) {
    volatile uint table[24];
    for (uint i = wrong; i < 24; i++) table[i] = i;
    out[table[0] & 7] = 5;  // HERE private_index
}
kernel void private_condition(global uint* out, uint wrong) {
    volatile uint table[24];
    for (uint i = wrong; i < 24; i++) table[i] = i;
    if (table[0] > 3)  // HERE private_condition
        out[get_global_id(0)] = 5;
}
// Of global memory that nobody has written, `out` from its beginning on: clean ones write it first.
kernel void global_unwritten(global uint* out, uint wrong) {
    const uint i = get_global_id(0);
    if (!wrong) out[i] = i;
    out[i] = out[i] * 3 + 1;  // HERE global_unwritten
}
kernel void global_unwritten_condition(global uint* out, uint wrong) {
    const uint i = get_global_id(0);
    if (!wrong) out[i] = i;
    if (out[i] & 1)  // HERE global_unwritten_condition
        out[i + 1024] = 1;
}
kernel void global_unwritten_index(global uint* out, uint wrong) {
    const uint i = get_global_id(0);
    if (!wrong) out[i] = i;
    out[1024 + (out[i] & 511)] = i;  // HERE global_unwritten_index
}
kernel void global_unwritten_uniform(global uint* out, uint wrong) {
    const uint group = get_group_id(0);
    if (!wrong) out[group] = 2;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = 0; i < out[group]; i++)  // HERE global_unwritten_uniform
        out[1024 + 512 * i + get_global_id(0)] = i;
}
kernel void global_unwritten_counter(global uint* out, uint wrong) {
    const uint group = get_group_id(0);
    if (!wrong && ID == 0) out[group] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_add(&out[group], 1);  // HERE global_unwritten_counter
}
kernel void global_unwritten_byte(global uchar* out, uint wrong) {
    const uint i = get_global_id(0);
    if (i < 512 - wrong) out[i] = i;
    out[1024 + i] = out[i] / 3;  // HERE global_unwritten_byte
}
kernel void global_unwritten_copy(global uint4* out, uint wrong) {
    const uint i = get_global_id(0);
    if (!wrong) out[i] = (uint4)(i);
    uint4 moved = out[i];
    if (i & 1) out[i] = moved;
    ((global uint*)out)[4 * i] = moved.y ^ 1;  // HERE global_unwritten_copy
}
// Neither is a mistake: copies, and what is not selected.
kernel void copy_unwritten(global uint* out, uint wrong) {
    const uint i = get_global_id(0);
    out[i + 512] = out[i];
    ((global uchar*)out)[4 * i + 4096] = ((global uchar*)out)[4 * i + 2048];
    const uint other = out[i + 1536];
    out[i] = other & 0;
}

// ---- race
kernel void lds_no_barrier(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID] = ID;
    if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[(ID + 64) % SIZE];
}
// What the first wave stores and then counts is for others no atomic's.
kernel void lds_set_and_counted(global uint* out, uint wrong) {
    local uint sum;
    if (ID == 0) sum = 7;
    if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, 1);  // HERE lds_set_and_counted
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sum;
}
kernel void lds_overwritten(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = table[SIZE - 1 - ID];
    if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    table[ID] = other;  // HERE lds_overwritten
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[ID];
}
kernel void lds_plain_and_atomic(global uint* out, uint wrong) {
    local uint sum;
    if (ID == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wrong && ID == 70) sum = 5;  // HERE lds_plain_and_atomic
    atomic_add(&sum, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = sum;
}
kernel void lds_reduction(global uint* out, uint wrong) {
    local uint table[SIZE];
    table[ID] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = SIZE / 2; step; step /= 2) {
        if (ID < step) table[ID] += table[ID + step];
        if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[0];
}
kernel void lds_flag(global uint* out, uint wrong) {
    local uint flag;
    if (ID == 0) flag = out[0];
    if (!wrong) barrier(CLK_LOCAL_MEM_FENCE);
    if (ID == 255) out[get_group_id(0) + 1] = flag;
}
kernel void global_one_place(global uint* out, uint wrong) {
    out[wrong ? 0 : get_global_id(0)] = get_global_id(0) / 64 + 1;  // HERE global_one_place
}
kernel void global_next_group(global uint* out, uint wrong) {
    uint id = get_global_id(0);
    uint value = wrong ? out[(id + 256) % 512] : out[id];
    out[id] = value + 1 + get_group_id(0);  // HERE global_next_group
}
kernel void global_no_barrier(global uint* out, uint wrong) {
    uint base = get_group_id(0) * SIZE;
    out[base + ID] = ID + 1;
    if (!wrong) barrier(CLK_GLOBAL_MEM_FENCE);
    uint other = out[base + (ID + 64) % SIZE];  // HERE global_no_barrier
    out[512 + base + ID] = other;
}
kernel void global_counter(global uint* out, uint wrong) {
    if (ID) return;
    if (wrong)
        out[0]++;  // HERE global_counter
    else
        atomic_inc(&out[0]);
}
kernel void global_histogram(global uint* out, uint wrong) {
    global uint* bin = &out[ID & 15];
    if (wrong)
        *bin += ID + 1;  // HERE global_histogram
    else
        atomic_inc(bin);
}
kernel void global_stencil(global uint* out, uint wrong) {
    uint id = get_global_id(0);
    uint left = out[id ? id - 1 : 0];  // HERE global_stencil
    out[(wrong ? 0 : 1024) + id] = left + 1;
}
kernel void global_byte(global uchar* out, uint wrong) {
    uint id = get_global_id(0) / 2 * 2 + (wrong ? 0 : get_global_id(0) % 2);
    if (get_global_id(0) / 64 % 2) out[id / 2 % 64] = 3 + wrong * (id / 64);  // HERE global_byte
}
kernel void global_lanes(global uint* out, uint wrong) {
    out[get_group_id(0) * 256 + (wrong ? ID / 2 : ID)] = ID;  // HERE global_lanes
}
// The last work-group adds up what all have stored; wrong: any adds up what there is.
kernel void global_last_group(global uint* out, uint wrong) {
    local uint last;
    global uint* parts = out + 16;
    if (ID == 0) {
        parts[get_group_id(0)] = get_group_id(0) + 7;  // HERE global_last_group
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
        last = atomic_inc(out) == 1;
        if (!wrong)
            __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ID == 0 && (last || wrong)) out[1] = parts[0] + parts[1];
}

// ---- barrier
kernel void leave_early(global uint* out, uint wrong) {
    if (wrong && ID / 64 == 1) return;
    barrier(CLK_GLOBAL_MEM_FENCE);  // HERE leave_early
    out[get_global_id(0)] = ID;
}
kernel void one_wave_waits(global uint* out, uint wrong) {
    if (!wrong || ID / 64 == 2) barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = ID;
}

// ---- alignment
kernel void odd_dword(global uchar* out, uint wrong) {
    *(global uint*)(out + 1024 * get_group_id(0) + 4 * ID + wrong) = ID;  // HERE odd_dword
}
kernel void odd_word(global uchar* out, uint wrong) {
    *(global ushort*)(out + 1024 * get_group_id(0) + 2 * ID + wrong) = ID;  // HERE odd_word
}
kernel void odd_read(global uchar* out, uint wrong) {
    uint got = *(global uint*)(out + 4 * ID + wrong);  // HERE odd_read
    ((global uint*)out)[1024 + get_global_id(0)] = got;
}
kernel void odd_lds(global uint* out, uint wrong) {
    local uchar table[4 * SIZE + 4];
    volatile local uint* at = (local uint*)(table + wrong);
    at[ID] = ID;  // HERE odd_lds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = at[ID];
}

// ---- division
kernel void divide(global uint* out, uint wrong) {
    uint divisor = out[2000];
    out[get_global_id(0)] = get_global_id(0) / (divisor + 1 - wrong);  // HERE divide
}
kernel void remainder_(global int* out, uint wrong) {
    int divisor = (int)get_global_id(0) + 1 - (int)wrong;
    out[get_global_id(0)] = 100 % divisor;  // HERE remainder_
}
