#include "tools/pieces.h"

#define XXH_INLINE_ALL
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "memory/pages.h"

namespace wj::tools {
namespace {

using Run = memory::ImageBlock::Run;
using Bytes = std::span<const std::byte>;

constexpr std::byte zeros[memory::page_size]{};

bool is_zero(Bytes page) {
    return !std::memcmp(page.data(), zeros, page.size());
}

// Parts of both that lie at the same offset, of the same size.
template <class Look>
void each_pair(const Piece& a, const Piece& b, Look look) {
    for (uint64_t offset = 0; offset < a.size;) {
        Bytes x = a.at(offset), y = b.at(offset);
        const size_t size = std::min(x.size(), y.size());
        x = x.first(size), y = y.first(size);
        look(offset, x, y);
        offset += size;
    }
}

std::string hex_bytes(const Piece& piece, uint64_t offset) {
    std::string text;
    for (uint64_t at = offset; at < std::min(piece.size, offset + 4); at++)
        text += fmt::format("{}{:02x}", at == offset ? "" : " ",
                            std::to_integer<unsigned>(piece.at(at).front()));
    return text;
}

}  // namespace

Bytes Piece::at(uint64_t offset) const {
    const auto behind = std::ranges::upper_bound(runs, offset, {}, &Run::offset);
    if (behind != runs.begin()) {
        const Run& run = *std::prev(behind);
        if (offset - run.offset < run.bytes.size()) return run.bytes.subspan(offset - run.offset);
    }
    const uint64_t end = behind == runs.end() ? size : behind->offset;
    return Bytes(zeros).first(std::min<uint64_t>(sizeof zeros, end - offset));
}

std::string piece_name(uint64_t number, const std::string& label, uint64_t bytes,
                       uint64_t address) {
    return fmt::format("allocation {} ({}, {} bytes at {:#x})", number, label, bytes, address);
}

std::vector<Piece> pieces_of(const memory::Image& image) {
    std::vector<Piece> pieces;
    for (const memory::ImageRegion& r : image.regions) {
        if (!(r.rights & memory::readable)) continue;
        Piece piece{piece_name(r.id, r.label, r.size, r.guest), r.guest, r.size, {}, {}};
        for (const Run& run : image.blocks[r.block].runs) {
            const uint64_t begin = std::max(run.offset, r.offset),
                           end = std::min(run.offset + run.bytes.size(), r.offset + r.size);
            if (begin < end)
                piece.runs.push_back(
                    {begin - r.offset, run.bytes.subspan(begin - run.offset, end - begin)});
        }
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

Piece copy_of(const Piece& piece) {
    Piece copy{piece.name, piece.address, piece.size, {}, {}};
    auto held = std::make_shared<std::vector<std::vector<std::byte>>>();
    for (uint64_t offset = 0; offset < piece.size;) {
        Bytes part = piece.at(offset);
        part = part.first(std::min(part.size(), memory::page_size));
        if (!is_zero(part)) {
            held->emplace_back(part.begin(), part.end());
            copy.runs.push_back({offset, held->back()});
        }
        offset += part.size();
    }
    copy.holder = std::move(held);
    return copy;
}

uint64_t hash_of(const Piece& piece) {
    XXH3_state_t state{};
    XXH3_64bits_reset(&state);
    for (uint64_t offset = 0; offset < piece.size;) {
        const Bytes part = piece.at(offset);
        XXH3_64bits_update(&state, part.data(), part.size());
        offset += part.size();
    }
    return XXH3_64bits_digest(&state);
}

Change change_of(const Piece& a, const Piece& b) {
    Change change;
    each_pair(a, b, [&](uint64_t offset, Bytes x, Bytes y) {
        if (x.data() == y.data() || !std::memcmp(x.data(), y.data(), x.size())) return;
        for (size_t i = 0; i < x.size(); i++)
            if (x[i] != y[i] && !change.bytes++) change.first = offset + i;
    });
    return change;
}

std::optional<Difference> compare(const std::vector<Piece>& a, const std::vector<Piece>& b) {
    std::optional<Difference> first;
    for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
        const Change change = change_of(a[i], b[i]);
        if (!change.bytes) continue;
        if (!first) first = {i, change, 0};
        first->pieces++;
    }
    return first;
}

std::string describe(const Difference& d, const std::vector<Piece>& got,
                     const std::vector<Piece>& wanted) {
    const uint64_t offset = d.change.first;
    std::string text = fmt::format("{} at offset {:#x}: {}, not {}; {} bytes of it differ",
                                   got[d.piece].name, offset, hex_bytes(got[d.piece], offset),
                                   hex_bytes(wanted[d.piece], offset), d.change.bytes);
    if (d.pieces > 1) text += fmt::format(", and {} more allocations", d.pieces - 1);
    return text;
}

}  // namespace wj::tools
