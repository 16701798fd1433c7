#include "machine/global_shadow.h"

#include <algorithm>
#include <cstring>

namespace wj::machine {
namespace {

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

void GlobalShadow::Line::split(uint32_t edges) {
    const uint32_t wanted = edges & 3 ? 0 : edges & (bytes - 1) ? 2 : 6;
    if (wanted >= shift) return;
    auto cells = std::make_unique<Cell[]>(bytes >> wanted);
    for (uint32_t c = 0; c < bytes >> wanted; c++) cells[c] = cell(c << wanted);
    parts = std::move(cells);
    shift = wanted;
}

GlobalShadow::Page& GlobalShadow::page(uint64_t address) {
    const uint64_t number = address / page_bytes;
    auto& [known, page] = recent_[number % recent_.size()];
    if (known == number && page) return *page;
    known = number;
    page = &pages_[number];
    return *page;
}

template <class F>
bool GlobalShadow::each_cell(uint64_t address, uint32_t bytes, F&& f) {
    for (uint64_t at = address, end = address + bytes; at < end;) {
        const uint64_t start = at & ~uint64_t{Line::bytes - 1},
                       behind = std::min(start + (Line::bytes - 1), end - 1) + 1;
        Line& line = page(at)[at % page_bytes / Line::bytes];
        line.split(static_cast<uint32_t>(at | behind));
        const uint32_t size = 1u << line.shift;
        for (; at < behind; at += size) {
            const auto byte = static_cast<uint32_t>(at - start);
            if (!f(line.cell(byte), &line.stored[byte], size, at - address)) return false;
        }
    }
    return true;
}

void GlobalShadow::note(const Agent& agent, const Who& me, Kind kind, Cell& cell) const {
    if (kind == Kind::Write) {
        cell.writer = me;
        return;
    }
    // Two readers that have no order: whoever writes then races with one of them at least.
    Who* place = nullptr;
    for (Who& reader : cell.readers)
        if (!reader.pc || same_wave(reader, me)) place = &reader;
    for (Who& reader : cell.readers)
        if (!place && ordered(agent, reader)) place = &reader;
    if (place) *place = me;
}

GlobalShadow::Race GlobalShadow::access(Agent& agent, uint32_t pc, Kind kind, uint64_t address,
                                        uint32_t bytes, bool silent, const uint8_t* data) {
    Race race;
    if (kind == Kind::Atomic || kind == Kind::Coherent) {
        learn_releases(agent, address / 4, true);
        agent.looked_at.insert(address / 4);
        if (kind == Kind::Atomic) release(agent, address / 4);
        return race;
    }
    const Who me{agent.group, agent.wave, agent.time, pc};
    const auto check = [&](const Who& other, bool wrote) {
        if (race.other.pc || ordered(agent, other)) return;
        race = {other, wrote};
    };
    each_cell(address, bytes, [&](Cell& cell, uint8_t* stored, size_t size, uint64_t at) {
        const bool equal = data && cell.known && std::memcmp(data + at, stored, size) == 0;
        const bool seen = !silent && !equal;
        if (seen) check(cell.writer, true);
        if (kind == Kind::Write) {
            for (const Who& reader : cell.readers)
                if (seen) check(reader, false);
            if ((cell.known = data)) std::memcpy(stored, data + at, size);
        }
        note(agent, me, kind, cell);
        return true;
    });
    return race;
}

bool GlobalShadow::access_in_order(Agent& agent, uint32_t pc, Kind kind, uint64_t address,
                                   uint32_t bytes, const uint8_t* data) {
    Who before;  // neighbours are mostly by the same one
    const auto in_order = [&](const Who& who) {
        if (!who.pc || (same_wave(before, who) && before.time == who.time && before.pc))
            return true;
        if (!ordered(agent, who)) return false;
        before = who;
        return true;
    };
    const bool writes = kind == Kind::Write;
    const Who me{agent.group, agent.wave, agent.time, pc};
    return each_cell(address, bytes, [&](Cell& cell, uint8_t* stored, size_t size, uint64_t at) {
        if (!in_order(cell.writer) ||
            (writes && !(in_order(cell.readers[0]) && in_order(cell.readers[1]))))
            return false;
        if (writes && (cell.known = data)) std::memcpy(stored, data + at, size);
        note(agent, me, kind, cell);
        return true;
    });
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
        const auto byte = static_cast<uint32_t>(address * 4 % page_bytes);
        const Who writer = page->second[byte / Line::bytes].cell(byte % Line::bytes).writer;
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
