// The grammar of the effects' words in an instruction's row, for opcode.cpp.
#pragma once

#include <string_view>

#include "frontend/effects.h"

namespace wj {

// False when `word` is not one.
constexpr bool add_effect(Effects& e, std::string_view word) {
    struct FlowWord {
        std::string_view word;
        Flow flow;
    };
    constexpr FlowWord flows[] = {{"goto", Flow::Goto}, {"branch", Flow::Branch},
                                  {"call", Flow::Call}, {"jump", Flow::Jump},
                                  {"end", Flow::End},   {"yield", Flow::Yield}};
    for (const FlowWord& f : flows)
        if (word == f.word) return e.flow = f.flow, true;

    struct AccessWord {
        std::string_view prefix;
        MemoryAccess access;
    };
    constexpr AccessWord accesses[] = {{"load", MemoryAccess::Load},
                                       {"store", MemoryAccess::Store},
                                       {"atomic", MemoryAccess::Atomic}};
    for (const AccessWord& a : accesses) {
        if (word.substr(0, a.prefix.size()) != a.prefix) continue;
        unsigned bytes = 0;
        for (const char c : word.substr(a.prefix.size())) {
            if (c < '0' || c > '9') return false;
            bytes = bytes * 10 + static_cast<unsigned>(c - '0');
        }
        e.access = a.access;
        e.bytes = static_cast<uint8_t>(bytes);
        return bytes > 0 && bytes <= 64;
    }

    if (word == ">exec") return e.exec = ExecChange::Changed, true;
    if (word == ">exec-") return e.exec = ExecChange::Narrowed, true;
    if (word == ">exec+") return e.exec = ExecChange::Widened, true;
    if (word == "<scc") return e.reads_scc = true;
    if (word == ">scc") return e.writes_scc = true;
    if (word == "<vcc") return e.reads_vcc = true;
    if (word == "<exec") return e.reads_exec = true;
    if (word == "<m0") return e.reads_m0 = true;
    if (word == ">m0") return e.writes_m0 = true;
    if (word == "<mode") return e.reads_mode = true;
    if (word == ">mode") return e.writes_mode = true;
    if (word == "across") return e.across = true;
    if (word == "unmasked") return e.unmasked = true;
    if (word == "partial") return e.partial = true;
    if (word == "index") return e.indexed = true;
    if (word == "wait:vm+exp+lgkm") return e.waits = true;
    if (word == "inv") return e.invalidates = true;
    if (word == "wb") return e.writes_back = true;
    if (word == "sync") return e.synchronises = true;
    if (word == "message") return e.messages = true;
    if (word == "nothing") return e.nothing = true;
    if (word == "opaque") return e.opaque = true;
    return false;
}

}  // namespace wj
