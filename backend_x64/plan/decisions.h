// What was decided while a block was translated, by the names of docs/design: which mechanism was
// taken, or why not. Written by whoever decides, for `wavejit plan` and tests; nobody asks for it
// when code is made to be run, and then it costs a test of a pointer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace wj::x64 {

enum class Mechanism : uint8_t {
#define MECHANISM(id, name, page) id,
#include "backend_x64/plan/mechanisms.inc"
#undef MECHANISM
};

std::string_view mechanism_name(Mechanism mechanism);

struct Decision {
    Mechanism mechanism;
    bool taken;
    ir::Value at;             // the access; no_value: the block
    std::string_view detail;  // why not; of what is taken how, if there are several ways
    bool operator==(const Decision&) const = default;
};

class Decisions {
public:
    // What is said again, as code is emitted for each body of a loop, counts once.
    void add(const Decision& decision);
    // How an access is done, as text (access_plan.h).
    void add_plan(ir::Value access, std::string text);
    // How the block runs its iterations, as text (loop_plan.h).
    void add_loop(std::string text);
    // The block did not fit: it is translated anew, with less.
    void translate_again(std::string_view why);

    const std::vector<Decision>& list() const { return list_; }
    // Lines of text: first of the block, then of its accesses in the order of guest instructions.
    // guest_text: the instruction at an address.
    std::string print(const ir::Block& block,
                      const std::function<std::string(uint64_t)>& guest_text) const;

private:
    std::vector<Decision> list_;
    std::vector<std::pair<ir::Value, std::string>> plans_;
    std::vector<std::string> loops_;
    std::vector<std::string_view> again_;
};

inline void take(Decisions* to, Mechanism mechanism, ir::Value at = ir::no_value,
                 std::string_view how = {}) {
    if (to) [[unlikely]]
        to->add({mechanism, true, at, how});
}
// False, for what is refused.
inline bool refuse(Decisions* to, Mechanism mechanism, std::string_view why,
                   ir::Value at = ir::no_value) {
    if (to) [[unlikely]]
        to->add({mechanism, false, at, why});
    return false;
}

inline void translate_again(Decisions* to, std::string_view why) {
    if (to) [[unlikely]]
        to->translate_again(why);
}

}  // namespace wj::x64
