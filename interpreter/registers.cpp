#include "interpreter/registers.h"

#include <algorithm>
#include <cstring>

#include "interpreter/hwreg.h"

namespace wj::interp {
namespace {

// Files that are a range of Wave::sgpr.
struct Range {
    uint32_t first = 0, count = 0;
};

Range range_of(const Wave& w, RegisterFile file) {
    const ScalarRegisters& s = traits(w).scalar_registers;
    switch (file) {
        case RegisterFile::Sgpr:
            return {0, w.sgpr_count ? std::min<uint32_t>(w.sgpr_count, s.count) : s.count};
        case RegisterFile::Exec:
            return {machine::exec_lo, 2};
        case RegisterFile::Vcc:
            return {machine::vcc_lo, 2};
        case RegisterFile::M0:
            return {machine::m0, 1};
        case RegisterFile::FlatScratch:
            return {s.flat_scratch, s.flat_scratch ? 2u : 0u};
        case RegisterFile::XnackMask:
            return {s.xnack_mask, s.xnack_mask ? 2u : 0u};
        case RegisterFile::Ttmp:
            return {s.ttmp, s.ttmp_count};
        default:
            return {};
    }
}

bool is_vector_file(RegisterFile file) {
    return file == RegisterFile::Vgpr || file == RegisterFile::Agpr;
}

uint32_t* row_of(const Wave& w, RegisterFile file, uint32_t reg) {
    return (file == RegisterFile::Vgpr ? w.vgpr : w.agpr) + size_t{reg} * lanes;
}

// Code that goes by both names of a register has it twice.
void write_scalar(Wave& w, uint32_t reg, uint32_t value) {
    w.sgpr[reg] = value;
    if (w.sgpr_aliases) w.sgpr[machine::Aliases::other(reg, w.sgpr_aliases)] = value;
    if (reg == machine::m0) bound_lds(w);
}

}  // namespace

uint32_t register_count(const Wave& w, RegisterFile file) {
    switch (file) {
        case RegisterFile::Vgpr:
            return w.vgpr_count;
        case RegisterFile::Agpr:
            return traits(w).has_agprs ? w.agpr_count : 0;
        case RegisterFile::Pc:
            return 2;
        case RegisterFile::Scc:
        case RegisterFile::Mode:
            return 1;
        default:
            return range_of(w, file).count;
    }
}

uint32_t register_dwords(const Wave& w, RegisterFile file) {
    return is_vector_file(file) ? w.size : 1;
}

void read_registers(const Wave& w, RegisterFile file, uint32_t first, uint32_t count,
                    uint32_t* to) {
    const uint32_t mode = read_mode(w);
    const void* from = file == RegisterFile::Pc     ? static_cast<const void*>(&w.pc)
                       : file == RegisterFile::Scc  ? &w.scc
                       : file == RegisterFile::Mode ? &mode
                                                    : w.sgpr + range_of(w, file).first;
    if (!is_vector_file(file))
        return void(std::memcpy(to, static_cast<const uint32_t*>(from) + first, count * 4u));
    for (uint32_t reg = first; reg < first + count; reg++, to += w.size)
        std::memcpy(to, row_of(w, file, reg), w.size * 4u);
}

void write_registers(Wave& w, RegisterFile file, uint32_t first, uint32_t count,
                     const uint32_t* from) {
    switch (file) {
        case RegisterFile::Vgpr:
        case RegisterFile::Agpr:
            for (uint32_t reg = first; reg < first + count; reg++, from += w.size)
                std::memcpy(row_of(w, file, reg), from, w.size * 4u);
            return;
        case RegisterFile::Pc:
            std::memcpy(reinterpret_cast<uint32_t*>(&w.pc) + first, from, count * 4u);
            return;
        case RegisterFile::Scc:
            if (count) w.scc = from[0] != 0;
            return;
        case RegisterFile::Mode:
            if (count) write_mode(w, from[0]);
            return;
        default:
            for (uint32_t i = 0; i < count; i++)
                write_scalar(w, range_of(w, file).first + first + i, from[i]);
    }
}

}  // namespace wj::interp
