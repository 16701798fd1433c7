// Writes an 8-bit RGB picture as PNG (RFC 2083) with zlib.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

inline bool write_png(const char* path, const std::vector<uint8_t>& rgb, uint32_t width,
                      uint32_t height) {
    std::vector<uint8_t> rows;
    rows.reserve(size_t(height) * (1 + 3 * width));
    for (uint32_t y = 0; y < height; y++) {
        rows.push_back(0);  // no filter
        rows.insert(rows.end(), rgb.begin() + size_t(y) * width * 3,
                    rgb.begin() + size_t(y + 1) * width * 3);
    }
    uLongf size = compressBound(rows.size());
    std::vector<uint8_t> packed(size);
    if (compress2(packed.data(), &size, rows.data(), rows.size(), 9) != Z_OK) return false;
    packed.resize(size);

    std::FILE* file = std::fopen(path, "wb");
    if (!file) return false;
    auto word = [](std::vector<uint8_t>& to, uint32_t v) {
        for (int shift = 24; shift >= 0; shift -= 8) to.push_back(uint8_t(v >> shift));
    };
    auto chunk = [&](const char* type, const std::vector<uint8_t>& body) {
        std::vector<uint8_t> length, rest(type, type + 4), crc;
        word(length, uint32_t(body.size()));
        rest.insert(rest.end(), body.begin(), body.end());
        word(crc, uint32_t(crc32(0, rest.data(), uInt(rest.size()))));
        for (const auto* part : {&length, &rest, &crc})
            std::fwrite(part->data(), 1, part->size(), file);
    };
    std::fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    std::vector<uint8_t> header;
    word(header, width);
    word(header, height);
    header.insert(header.end(),
                  {8, 2, 0, 0, 0});  // 8 bits, RGB, deflate, adaptive filters, not interlaced
    chunk("IHDR", header);
    chunk("IDAT", packed);
    chunk("IEND", {});
    return std::fclose(file) == 0;
}
