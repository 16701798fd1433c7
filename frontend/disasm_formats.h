// One printer per format group; frontend/disasm.cpp selects. Internal to frontend/.
#pragma once

#include <string>

#include "frontend/disasm_text.h"

namespace wj {

struct Text {
    const Target& target;
    const Inst& inst;
    std::string out{};

    std::string_view name() const { return op_name(inst.op, target.family); }
    void operand(const Operand& o) { append_operand(out, target, o, literal()); }
    // The last two dwords, where literals stand: one of 32 bits is the second.
    uint64_t literal() const {
        const unsigned n = inst.size / 4u;
        return uint64_t{inst.words[n - 1]} << 32 | (n > 1 ? inst.words[n - 2] : 0u);
    }
    // " name:value" unless the value is zero.
    void number(const char* name, int64_t value) {
        if (value == 0) return;
        out += name;
        append_decimal(out, value);
    }
    void flag(const char* name, bool present) {
        if (present) out += name;
    }
};

// gfx12: temporal hint, scope and NV.
void append_scope_policy(Text& t);
void print_scalar(Text& t);
void print_smem(Text& t);
void print_vector(Text& t);
void print_vop3p(Text& t);
void print_interp(Text& t);
void print_export(Text& t);
void print_vinterp(Text& t);
void print_ldsdir(Text& t);
void print_vopd(Text& t);
void print_ds(Text& t);
void print_flat(Text& t);
void print_buffer(Text& t);
void print_image(Text& t);
void print_tensor(Text& t);

}  // namespace wj
