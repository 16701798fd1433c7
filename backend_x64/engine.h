// The translating engine over any source of IR blocks: the lifter in production, hand-built blocks
// in tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend_x64/compiled_block.h"
#include "backend_x64/guest_code.h"
#include "backend_x64/translator.h"
#include "ir/ir.h"
#include "machine/engine.h"

namespace wj::x64 {

struct BlockRequest {
    machine::Wave& wave;  // MODE and register counts; registers as the block finds them
    uint64_t pc;
    Variant variant;
    uint32_t max_instructions;
};

class BlockSource {
public:
    virtual ~BlockSource() = default;
    // Of all waves that the engine runs.
    virtual uint32_t wave_size() const { return machine::lanes; }
    // Called under the engine's translation lock. What the block refers to must live as long as the
    // source, or until reset().
    virtual ir::Block block(const BlockRequest& request) = 0;
    // Under the same lock.
    virtual machine::Needs needs_at(const machine::ExecContext&, uint64_t /*pc*/) {
        return machine::Needs::everything();
    }
    // Guest code has changed somewhere.
    virtual void forget() {}
    // All translated code has been dropped.
    virtual void reset() {}

    // For translations that outlive the process. What besides the request decides what block()
    // makes of guest code; empty: blocks of this source are not kept.
    virtual std::string identity() const { return {}; }
    // What the last block was made from; false: it must not be kept.
    virtual bool dependencies(std::vector<CodePage>&) { return false; }
    // What is in a page of code now; false: what depends on it must not be looked up.
    virtual bool page(const machine::Wave&, uint64_t /*number*/, CodePage&) { return false; }
    // What was known of the wave when the last block was made, as text (lift/profile.h).
    virtual std::string take_profile() { return {}; }
    // Disassembly, for tools.
    virtual std::string text(const machine::Wave&, uint64_t /*pc*/) { return {}; }
    // The argument that a Call of the instruction at pc has; null: there is none.
    virtual const void* instruction(const machine::Wave&, uint64_t /*pc*/) { return nullptr; }
};

Result<std::unique_ptr<machine::Engine>> make_engine(std::unique_ptr<BlockSource> source, Isa isa,
                                                     const TranslatorOptions& options = {});

// Host code of one block as text, one instruction a line, each guest instruction's behind
// "; " and its text (without `guest_text`: its address).
std::string disassemble_block(const ir::Block& block, const CompileOptions& options,
                              const std::function<std::string(uint64_t)>& guest_text = {});
std::string disassemble_block(const ir::Block& block, Isa isa);

// What is decided for the block, as text (plan/decisions.h), by mechanism and access. Of `options`
// the engine's instruction set and what the launch brings count.
std::string plan_of_block(const ir::Block& block, const CompileOptions& options,
                          const std::function<std::string(uint64_t)>& guest_text);

// Translates blocks without a place to run them; for `wavejit compile`.
class DryTranslator {
public:
    DryTranslator(Isa isa, bool checked);
    ~DryTranslator();
    struct Bytes {
        uint32_t hot, cold, constants;
    };
    // Of host code, or why the block cannot be compiled: the engine then cuts it in half.
    Result<Bytes> translate(const ir::Block& block);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wj::x64
