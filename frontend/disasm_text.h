// Text of operands and symbolic immediates, in LLVM's spelling. Internal to frontend/.
#pragma once

#include <string>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj {

void append_decimal(std::string& out, int64_t value);
void append_hex(std::string& out, uint64_t value);
// 32 bits in decimal or as a float when an inline constant has that value, else in hexadecimal.
void append_immediate_32(std::string& out, uint32_t bits);

// A literal where an inline constant would stand for both halves.
void append_splat_literal(std::string& out, uint32_t raw);

// `raw_literal`: the last two dwords of the instruction. A literal of 32 bits is the second one.
void append_operand(std::string& out, const Target& target, const Operand& operand,
                    uint64_t raw_literal);

// SOPP, SOPK and SOPC immediates: hwreg(...), sendmsg(...), vmcnt(...), gpr_idx(...).
void append_hwreg(std::string& out, uint32_t simm16, const Target& target);
void append_sendmsg(std::string& out, uint32_t simm16, const Target& target);
void append_delay(std::string& out, uint32_t simm16);
void append_version(std::string& out, uint32_t simm16);
void append_waitcnt(std::string& out, uint32_t simm16, const Target& target);
void append_gpr_idx_mode(std::string& out, uint32_t mode);
void append_swizzle(std::string& out, uint32_t offset, const Target& target);
void append_buffer_format(std::string& out, uint32_t dfmt, uint32_t nfmt, const Target& target);
void append_unified_format(std::string& out, uint32_t format, const Target& target);
void append_depctr(std::string& out, uint32_t simm16, const Target& target);
void append_dpp_control(std::string& out, uint32_t ctrl, const Target& target, bool wide);
void append_export_target(std::string& out, uint32_t target, const Target& machine);

}  // namespace wj
