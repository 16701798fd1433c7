#include "frontend/decode.h"

#include <memory>
#include <type_traits>

#include "frontend/decode_formats.h"

namespace wj {
namespace {

using Decoder = bool (*)(DecodeState&);

// By the layout's format, in the order of Format; FLAT's layout serves GLOBAL and SCRATCH, too.
constexpr Decoder decoders[] = {
    decode_sop1,  decode_sop2,   decode_sopk,  decode_sopc,    decode_sopp,   decode_smem,
    decode_vop1,  decode_vop2,   decode_vopc,  decode_vop3,    decode_vop3p,  decode_vintrp,
    decode_ds,    decode_mubuf,  decode_mtbuf, decode_mimg,    decode_flat,   decode_flat,
    decode_flat,  decode_exp,    decode_mimg,  decode_vinterp, decode_ldsdir, decode_vopd,
    decode_vopd3, decode_tensor,
};
static_assert(std::size(decoders) == std::size(format_slots));

// The halves that the short encodings name in their operands, as VOP3's OP_SEL does.
void select_halves(Inst& out) {
    const auto high = [](const Operand& o) { return o.half == Operand::Half::High; };
    for (unsigned i = 0; i < 3; ++i) out.op_sel |= static_cast<uint8_t>(high(out.src[i]) << i);
    out.op_sel |= static_cast<uint8_t>(high(out.dst[0]) << 3);
}

bool decode_layout(const Target& target, const Layout& layout, std::span<const uint32_t> words,
                   Inst& out) {
    if (words.size() < layout.dwords) return false;
    DecodeState s{target, words, layout, out, layout.dwords};
    for (uint32_t i = 0; i < layout.dwords; ++i) out.words[i] = words[i];
    if (s.flag(Field::zero)) return false;
    if (!decoders[static_cast<size_t>(layout.format)](s)) return false;
    if (target.traits.true16) select_halves(out);
    out.size = static_cast<uint8_t>(s.length * 4);
    return true;
}

}  // namespace

bool decode(const Target& target, std::span<const uint32_t> words, Inst& out) {
    static_assert(std::is_trivially_copyable_v<Inst>);
    std::construct_at(&out);  // in place: an instruction is larger than what it takes to decode one
    out.size = 4;
    if (words.empty()) return false;
    const Layout* layout = find_layout(target.family, words[0]);
    if (layout != nullptr && decode_layout(target, *layout, words, out)) return true;
    std::construct_at(&out);
    out.size = 4;
    out.words[0] = words[0];
    return false;
}

}  // namespace wj
