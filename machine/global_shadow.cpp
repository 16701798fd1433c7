#include "machine/global_shadow.h"

#include <algorithm>
#include <cstring>

namespace wj::machine {
namespace {

constexpr uint64_t page_bytes = 4096;
constexpr size_t most_releases = 64, most_known = 512;

bool same_wave(const GlobalShadow::Who& a, const GlobalShadow::Who& b) {
    return a.group == b.group && a.wave == b.wave;
}

}  // namespace

void GlobalShadow::Knowledge::learn(const Known& k) {
    for (Known& known : waves)
        if (known.group == k.group && known.wave == k.wave) {
            known.own = std::max(known.own, k.own);
            known.all = std::max(known.all, k.all);
            return;
        }
    if (waves.size() == most_known) {  // more than is true: fewer findings
        for (const Known& known : waves) everything = std::max({everything, known.own, known.all});
        waves.clear();
    }
    waves.push_back(k);
}

void GlobalShadow::Knowledge::learn(const Knowledge& other) {
    everything = std::max(everything, other.everything);
    if (&other == this) return;
    for (const Known& k : other.waves) learn(k);
}

bool GlobalShadow::Knowledge::knows(const Who& who) const {
    if (who.time <= everything) return true;
    return std::ranges::any_of(waves, [&](const Known& k) {
        return k.group == who.group && who.time <= (k.wave == who.wave ? k.own : k.all);
    });
}

GlobalShadow::Agent& GlobalShadow::agent(uint32_t group, uint32_t wave) {
    std::unique_ptr<Agent>& agent = agents_[key(group, wave)];
    if (!agent) {
        agent = std::make_unique<Agent>();
        agent->group = group;
        agent->wave = wave;
        agent->time = now_;
    }
    return *agent;
}

bool GlobalShadow::ordered(const Agent& agent, const Who& who) const {
    if (!who.pc) return true;
    if (who.group == agent.group && (who.wave == agent.wave || who.time <= agent.barrier))
        return true;
    return agent.known.knows(who);
}

GlobalShadow::Page& GlobalShadow::page(uint64_t address, uint32_t first, uint32_t end) {
    Page& page = pages_[address / page_bytes];
    if (page.cells.empty()) page.cells.resize(page_bytes >> page.shift);
    if (page.shift && (first | end) & 3) {
        std::vector<Cell> bytes(page_bytes);
        for (uint64_t b = 0; b < page_bytes; b++) {
            bytes[b] = page.cells[b >> page.shift];
            bytes[b].stored[0] = bytes[b].stored[b & 3];
        }
        page.cells = std::move(bytes);
        page.shift = 0;
    }
    return page;
}

GlobalShadow::Race GlobalShadow::access(Agent& agent, uint32_t pc, Kind kind, uint64_t address,
                                        uint32_t bytes, bool silent, const uint8_t* data) {
    const bool synchronises = kind == Kind::Atomic || kind == Kind::Coherent;
    if (synchronises) {
        learn_releases(agent, address / 4, true);
        agent.looked_at.insert(address / 4);
    }
    Race race;
    const Who me{agent.group, agent.wave, agent.time, pc};
    const auto check = [&](const Who& other, bool wrote) {
        if (race.other.pc || ordered(agent, other)) return;
        race = {other, wrote};
    };
    for (uint64_t at = address; at < address + bytes && !synchronises;) {
        const uint64_t end = std::min((at / page_bytes + 1) * page_bytes, address + bytes);
        const auto first = static_cast<uint32_t>(at % page_bytes);
        const auto behind = first + static_cast<uint32_t>(end - at);
        Page& p = page(at, first, behind);
        for (uint32_t c = first >> p.shift; c < behind >> p.shift; c++) {
            Cell& cell = p.cells[c];
            const size_t size = size_t{1} << p.shift;
            const uint8_t* const stored =
                data ? data + (at - address) + ((c << p.shift) - first) : nullptr;
            const bool seen = !silent && !(stored && cell.known &&
                                           std::memcmp(stored, cell.stored.data(), size) == 0);
            if (seen) check(cell.writer, true);
            if (kind == Kind::Write) {
                for (const Who& reader : cell.readers)
                    if (seen) check(reader, false);
                cell.writer = me;
                cell.known = stored;
                if (stored) std::memcpy(cell.stored.data(), stored, size);
                continue;
            }
            // Two readers that have no order: whoever writes then races with one of them at least.
            Who* place = nullptr;
            for (Who& reader : cell.readers)
                if (!reader.pc || same_wave(reader, me)) place = &reader;
            for (Who& reader : cell.readers)
                if (!place && ordered(agent, reader)) place = &reader;
            if (place) *place = me;
        }
        at = end;
    }
    if (kind == Kind::Atomic) release(agent, address / 4);
    return race;
}

void GlobalShadow::release(Agent& agent, uint64_t address) {
    Releases& r = releases_[address];
    std::erase_if(r.agents,
                  [&](const Known& k) { return k.group == agent.group && k.wave == agent.wave; });
    r.agents.push_back({agent.group, agent.wave, agent.time, agent.barrier});
    if (r.agents.size() > most_releases) r.agents.clear(), r.everything = now_;
    if (r.everything) r.everything = now_;
    agent.time = ++now_;
}

void GlobalShadow::learn_from(Agent& agent, const Known& other) {
    if (other.group == agent.group && other.wave == agent.wave) return;
    agent.known.learn(other);
    agent.known.learn(this->agent(other.group, other.wave).known);
}

// of_group: by waves of the agent's work-group, whose caches it shares. A plain store may be an
// atomic one, as they look alike: it releases, too.
void GlobalShadow::learn_releases(Agent& agent, uint64_t address, bool of_group) {
    const auto wanted = [&](uint32_t group) { return !of_group || group == agent.group; };
    if (const auto page = pages_.find(address * 4 / page_bytes); page != pages_.end()) {
        const uint64_t cell = address * 4 % page_bytes >> page->second.shift;
        const Who writer = page->second.cells[cell].writer;
        if (writer.pc && wanted(writer.group))
            learn_from(agent, {writer.group, writer.wave, writer.time,
                               this->agent(writer.group, writer.wave).barrier});
    }
    const auto found = releases_.find(address);
    if (found == releases_.end()) return;
    for (const Known& other : found->second.agents)
        if (wanted(other.group)) learn_from(agent, other);
    if (!of_group)
        agent.known.everything = std::max(agent.known.everything, found->second.everything);
}

void GlobalShadow::acquire(Agent& agent) {
    for (const uint64_t address : agent.looked_at) learn_releases(agent, address, false);
    agent.looked_at.clear();
}

void GlobalShadow::acquire_everything(Agent& agent) {
    agent.known.everything = now_++;
    agent.time = now_;
}

void GlobalShadow::barrier(uint32_t group, uint32_t waves) {
    Knowledge all;
    const uint32_t time = now_;
    for (uint32_t w = 0; w < waves; w++) all.learn(agent(group, w).known);
    now_++;
    for (uint32_t w = 0; w < waves; w++) {
        Agent& a = agent(group, w);
        a.known = all;
        a.barrier = time;
        a.time = now_;
    }
}

}  // namespace wj::machine
