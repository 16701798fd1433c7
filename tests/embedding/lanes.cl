// A branch that all lanes of a wave take, or some of them: its edges are the same.
kernel void lanes(global const uchar* text, global uint* out) {
    if (text[__builtin_amdgcn_workitem_id_x()] & 1) out[__builtin_amdgcn_workitem_id_x()] = 1;
}
