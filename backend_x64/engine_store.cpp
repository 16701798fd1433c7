// Translations of other processes.
#include <algorithm>
#include <new>

#include "backend_x64/build_identity.h"
#include "backend_x64/stored_block.h"
#include "backend_x64/translating_engine.h"
#include "memory/address_space.h"

namespace wj::x64 {

using machine::Wave;

void Translator::open_store(const TranslatorOptions& options) {
    const std::string source = source_->identity(), &build = build_identity().id;
    if (!options.cache || options.count || source.empty() || build.empty()) return;
    const std::string all =
        build + "/" + source + "/" + name() + "/" + std::to_string(options.loop_chunks) + "/" +
        std::to_string(options.slice_iterations) + (options.all_patterns ? "/all" : "");
    store_identity_ = hash_of(all.data(), all.size());
    store_ = BlockStore::open(options.cache_directory, options.cache_bytes);
}

// Everything that changes the code of a block apart from guest code.
Hash Translator::configuration(const Wave& wave) const {
    // A field that is added to the key does not compile here until it is one of these.
    const auto [mode, vgprs, agprs, lane_layout, grid_layout, whole_lanes, sgpr_aliases, vgpr_msb,
                address_mode, address_mask, exclusive] = key_of(wave);
    const uint64_t all[] = {store_identity_.low,
                            store_identity_.high,
                            mode,
                            vgprs,
                            agprs,
                            lane_layout,
                            grid_layout,
                            whole_lanes,
                            sgpr_aliases,
                            vgpr_msb,
                            wave.sgpr_count,
                            static_cast<uint64_t>(address_mode),
                            address_mask,
                            exclusive,
                            block_instructions};
    return hash_of(all, sizeof all);
}

static uint64_t page_number(const Wave& wave, uint64_t pc) {
    return wave.ctx->reach(pc) >> memory::page_bits;
}

static uint32_t store_entry(uint64_t pc, Variant variant) {
    return static_cast<uint32_t>(pc % memory::page_size) << 3 | static_cast<uint32_t>(variant);
}

// The block as an earlier process has kept it, or null.
BlockRecord* Translator::load(CodeSpace& space, const Wave& wave, uint64_t pc, Variant variant) {
    CompiledBlock code;
    BlockRecord record;
    if (!store_ || !find_stored(wave, pc, variant, code, record)) return nullptr;
    record.variant = variant;
    BlockRecord* const installed = cache_.install(space, code, std::move(record));
    if (installed) {
        make_memory_stubs(code.memory_stubs);
        name_for_profilers(*installed, wave);
        ++counters_.blocks_loaded;
    }
    return installed;
}

bool Translator::find_stored(const Wave& wave, uint64_t pc, Variant variant, CompiledBlock& code,
                             BlockRecord& record) try {
    const uint64_t home = page_number(wave, pc);
    CodePage page;
    if (!source_->page(wave, home, page)) return false;
    const StoredBlock stored(
        store_->find({configuration(wave), page.hash}, store_entry(pc, variant)));
    if (!stored.ok()) return false;
    for (const StoredBlock::Page& p : stored.pages())
        if (!source_->page(wave, home + static_cast<uint64_t>(p.distance), page) ||
            page.hash != p.hash)
            return false;
    return stored.restore(
        pc, [&](uint64_t at) { return source_->instruction(wave, at); }, loaded_, code, record);
} catch (const std::bad_alloc&) {
    return false;
}

void Translator::keep(const CompiledBlock& code, const BlockRecord& record, const Wave& wave) try {
    std::vector<CodePage> pages;
    if (!source_->dependencies(pages)) return;
    const uint64_t home = page_number(wave, record.pc);
    const auto at = std::find_if(pages.begin(), pages.end(),
                                 [&](const CodePage& p) { return p.number == home; });
    if (at == pages.end()) return;
    std::vector<std::byte> bytes = store_block(code, record, pages, home);
    if (!bytes.empty())
        store_->add({configuration(wave), at->hash}, store_entry(record.pc, record.variant),
                    std::move(bytes));
} catch (const std::bad_alloc&) {
}

}  // namespace wj::x64
