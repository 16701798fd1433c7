#include "runtime/hidden_layout.h"

#include <algorithm>
#include <array>
#include <optional>

#include "frontend/each_instruction.h"

namespace wj::runtime {
namespace {

constexpr int64_t libclc_bytes = 16;
// Where functions find the pointer to the implicit arguments (AMDGPU usage guide, "Calling
// Convention", fixed ABI).
constexpr uint32_t implicit_arguments = 8;

// What code shows about the implicit arguments.
struct Evidence {
    bool standard = false;  // loads what libclc does not have
    bool reads = false;     // loads the first dwords, which both have
    bool escapes = false;   // does something else with the pointer
    bool calls = false;
};

// Follows a pointer through the scalar registers of code, line by line.
class Pointers {
public:
    Pointers(const Target& target, uint32_t reg, int64_t offset) : target_(target) {
        low_[reg] = offset;
        high_[reg + 1] = true;
    }

    void scan(std::span<const std::byte> code, Evidence& evidence) {
        each_instruction(target_, code, [&](size_t, const Inst& inst) { step(inst, evidence); });
    }

private:
    std::optional<int64_t> pointer(const Operand& o) const {
        if (!o.is(Operand::Kind::Sgpr) || o.reg + 1u >= high_.size() || !high_[o.reg + 1])
            return {};
        return low_[o.reg];
    }
    static std::optional<int64_t> constant(const Operand& o) {
        if (!o.is(Operand::Kind::Const) && !o.is(Operand::Kind::Literal)) return {};
        return static_cast<int32_t>(o.value);
    }

    void step(const Inst& inst, Evidence& e) {
        const Operand &d = inst.dst[0], &a = inst.src[0], &b = inst.src[1];
        const bool memory = inst.format == Format::SMEM || inst.format == Format::GLOBAL;
        std::optional<int64_t> low;
        bool high = false, followed = false;
        if (const auto base = memory ? pointer(inst.sbase()) : std::nullopt) {
            load(*base + inst.offset, bytes_of(inst), e);
            followed = true;
        } else if (inst.op == Opcode::s_mov_b64) {
            low = pointer(a);
            high = followed = low.has_value();
        } else if (inst.op == Opcode::s_mov_b32 && a.is(Operand::Kind::Sgpr)) {
            low = low_[a.reg & 127];
            high = high_[a.reg & 127];
            followed = low || high;
        } else if (inst.op == Opcode::s_add_u32 && a.is(Operand::Kind::Sgpr)) {
            if (const auto c = constant(b); c && low_[a.reg & 127]) low = *low_[a.reg & 127] + *c;
            followed = low.has_value();
        } else if (inst.op == Opcode::s_addc_u32 && a.is(Operand::Kind::Sgpr)) {
            high = followed = high_[a.reg & 127] && constant(b);
        } else if (inst.op == Opcode::s_swappc_b64 || inst.op == Opcode::s_call_b64) {
            e.calls = true;
            low_ = {};
            high_ = {};
            return;
        }
        if (!followed)
            for (const Operand& o : inst.src)
                for (uint32_t r = 0;
                     o.is(Operand::Kind::Sgpr) && r < std::max<uint32_t>(o.dwords, 1); ++r)
                    e.escapes |= low_[(o.reg + r) & 127].has_value();
        for (const Operand& o : inst.dst)
            for (uint32_t r = 0; o.is(Operand::Kind::Sgpr) && r < std::max<uint32_t>(o.dwords, 1);
                 ++r) {
                low_[(o.reg + r) & 127] = {};
                high_[(o.reg + r) & 127] = false;
            }
        if (!d.is(Operand::Kind::Sgpr)) return;
        const bool pair = inst.op == Opcode::s_mov_b64;
        low_[d.reg & 127] = low;
        high_[(d.reg + pair) & 127] = high;
    }

    static int64_t bytes_of(const Inst& inst) {
        switch (inst.op) {
            case Opcode::global_load_ubyte:
            case Opcode::global_load_sbyte:
                return 1;
            case Opcode::global_load_ushort:
            case Opcode::global_load_sshort:
            case Opcode::global_load_short_d16:
            case Opcode::global_load_short_d16_hi:
                return 2;
            default:
                return std::max<int64_t>(inst.dst[0].dwords, 1) * 4;
        }
    }

    static void load(int64_t offset, int64_t bytes, Evidence& e) {
        if (offset + bytes <= 0) return;  // an explicit argument
        (offset + bytes > libclc_bytes || bytes < 4 ? e.standard : e.reads) = true;
    }

    const Target& target_;
    // Of registers that hold the lower half of the pointer: what it is more than the address of the
    // implicit arguments. And those that hold its upper half.
    std::array<std::optional<int64_t>, 128> low_;
    std::array<bool, 128> high_{};
};

bool names_rocm_libraries(const CodeObject& object) {
    return std::ranges::any_of(object.symbols, [](const Symbol& s) {
        return s.name.starts_with("__oclc_") || s.name.starts_with("__ockl_");
    });
}

}  // namespace

HiddenLayout detect_hidden_layout(const CodeObject& object, const KernelInfo& kernel,
                                  const Target& target) {
    if (object.version < 5 || kernel.metadata.language != "OpenCL C") return HiddenLayout::Standard;
    if (kernel.descriptor.user_sgpr(UserSgpr::DispatchPtr) < 0) return HiddenLayout::Standard;
    const int kernarg = kernel.descriptor.user_sgpr(UserSgpr::KernargSegmentPtr);
    uint32_t hidden = UINT32_MAX;
    for (const KernelArg& arg : kernel.metadata.args)
        if (is_hidden(arg.kind)) hidden = std::min(hidden, arg.offset);
    if (kernarg < 0 || hidden == UINT32_MAX || names_rocm_libraries(object))
        return HiddenLayout::Standard;
    const auto code = object.bytes_at(kernel.entry_address, kernel.code_size);
    if (!code) return HiddenLayout::Unknown;
    Evidence e;
    Pointers(target, static_cast<uint32_t>(kernarg), -int64_t{hidden}).scan(*code, e);
    if (e.calls) {
        for (const Symbol& s : object.symbols) {
            const auto body = s.kind == Symbol::Kind::Function && s.address != kernel.entry_address
                                  ? object.bytes_at(s.address, s.size)
                                  : std::nullopt;
            if (body) Pointers(target, implicit_arguments, 0).scan(*body, e);
        }
        // Both libraries' functions read the first dwords.
        if (!e.standard && (e.reads || e.escapes)) return HiddenLayout::Unknown;
    }
    if (e.standard) return HiddenLayout::Standard;
    if (e.escapes) return HiddenLayout::Unknown;
    return e.reads ? HiddenLayout::Libclc : HiddenLayout::Standard;
}

}  // namespace wj::runtime
