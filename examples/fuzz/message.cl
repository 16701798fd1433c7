// Two parsers with a mistake each for a fuzzer to find, which chance would not.

// "FRAME" and an index. Compared byte by byte: each byte that fits takes another branch.
kernel void parse_frame(global const uchar* message, uint bytes, global const uint* table,
                        global uint* out) {
    *out = 0;
    if (bytes < 6 || message[0] != 'F') return;
    *out = 1;
    if (message[1] != 'R') return;
    *out = 2;
    if (message[2] != 'A') return;
    *out = 3;
    if (message[3] != 'M') return;
    *out = 4;
    if (message[4] != 'E') return;
    *out = table[message[5] * 4];  // mistake: there are 256 entries
}

// A key and an index. Compared as a whole: only the operands tell how to get there.
kernel void parse_number(global const uchar* message, uint bytes, global const uint* table,
                         global uint* out) {
    *out = 0;
    if (bytes < 5) return;
    const uint key = message[0] | message[1] << 8 | message[2] << 16 | (uint)message[3] << 24;
    if (key != 0x5eedc0deu) return;
    *out = table[256 + message[4]];  // mistake: there are 256 entries
}
