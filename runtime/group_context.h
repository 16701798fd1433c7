// The memory of a resident work-group: waves, vector registers, LDS, scratch. Contexts are
// recycled, so that starting a work-group allocates nothing once a worker is warm.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/group_shadow.h"
#include "machine/work_group.h"
#include "memory/address_space.h"
#include "memory/weak_memory.h"
#include "runtime/launch_plan.h"
#include "runtime/shuffle.h"
#include "runtime/spin.h"
#include "runtime/wave_start.h"

namespace wj::runtime {

enum class WaveState : uint8_t { Runnable, AtBarrier, Ended, Spinning };
inline bool runs(WaveState state) {
    return state == WaveState::Runnable || state == WaveState::Spinning;
}

// Each wave of a work-group has its turn once.
struct Round {
    Shuffle order;       // of the waves
    uint32_t place = 0;  // in it: whose turn it is
    int64_t left = 0;    // instructions of his turn, where he has had a part of it; else 0
    // Waves have ended or come to a barrier, or used up their slice.
    bool advanced = false, used_slice = false;
};

class GroupContext {
public:
    explicit GroupContext(memory::AddressSpace& memory) : memory_(memory) {}
    ~GroupContext();
    GroupContext(const GroupContext&) = delete;
    GroupContext& operator=(const GroupContext&) = delete;

    // Makes room for the plan's work-groups and starts work-group `linear_id`.
    Status start(const LaunchPlan& plan, const WaveStart& how, uint64_t linear_id);
    // The one behind it.
    void start_next(const LaunchPlan& plan, const WaveStart& how);

    // The waves of a work-group one after the other, all in the memory of the first: locate() it,
    // or advance() to it from the one in front of it, start_alone() each. When one does not run to
    // its end, spread() gives it its own place and starts those behind it: then the work-group is
    // as if start() had begun it. Not with LDS.
    Status locate(const LaunchPlan& plan, uint64_t linear_id);
    void advance(const LaunchPlan& plan);
    // By several, all of one size.
    void advance(const LaunchPlan& plan, uint64_t groups);
    machine::Wave& start_alone(const LaunchPlan& plan, const WaveStart& how, uint32_t index) {
        machine::Wave& wave = waves[0];
        start_wave(plan, how, index, wave, registers_.data);
        set_rows(plan, wave, registers_.data);
        return wave;
    }
    // Instead of start_alone() when the wave before has changed no register, if waves_alike(): the
    // plan's waves differ in what start_alike() writes only, and each row of work-item ids in a
    // constant that is added.
    bool waves_alike() const { return waves_alike_; }
    void start_alike(const LaunchPlan& plan, const WaveStart& how, uint32_t index) {
        if (group.wave_count > 1) how.write_ids(ids_.data + index * id_bytes_, registers_.data);
        machine::Wave& wave = waves[0];
        wave.hw_id = templates_[index].hw_id;
        wave.wave_in_group = index;
        place_wave(plan, group, hw_id_, wave);
    }
    // Of a run that goes on behind wave `index`, if waves_alike(): the ids. False: they are more
    // than v0.
    bool offer_ids(const WaveStart& how, uint32_t index, machine::WaveRun& run) const {
        if (how.id_rows() & ~1u) return false;
        run.most_left = group.wave_count - 1;
        run.left = run.most_left - index;
        run.id_bytes = static_cast<uint32_t>(id_bytes_);
        run.first_ids = ids_.data;
        run.ids = ids_.data + index * id_bytes_;
        return true;
    }
    void spread(const LaunchPlan& plan, const WaveStart& how, uint32_t index);

    // Of one that has been kept: its waves may have been changed, and another engine may go on with
    // them.
    void prepare_to_go_on(bool forget_blocks);

    // All of a work-group that does not run, but for its cluster and what checkers know. It is
    // restored to the context that it was saved from, as waves know the addresses of their memory.
    struct Image {
        machine::WorkGroup group;
        std::vector<machine::Wave> waves;
        std::vector<WaveState> states;
        uint32_t ended = 0, waiting = 0;
        bool blocked = false;
        std::optional<Round> round;
        std::vector<uint8_t> memory;  // registers, LDS, private memory
        machine::NamedBarriers named;
        memory::WeakMemory weak;
    };
    void save(const LaunchPlan& plan, Image& to) const;
    void restore(const LaunchPlan& plan, const Image& from);

    // How wave `index` stands when nothing runs any more. exact: the interpreter has run it.
    StoppedWave stopped_wave(uint32_t index, const Target& target, bool exact) const;

    machine::WorkGroup group;
    std::vector<machine::Wave> waves;
    std::vector<WaveState> states;
    uint32_t ended = 0, waiting = 0, spinning = 0;
    struct {
        bool blocked = false;        // its last turn brought nothing: it waits for others
        std::optional<Round> round;  // that a stop has cut short
        uint32_t images = 0;         // that want to restore it
    } aside;                         // while it does not run
    std::vector<Spin> spins;         // of waves that are Spinning
    uint32_t stuck_visits =
        0;  // consecutive visits in which waves waited at a barrier and none arrived

private:
    struct AlignedBuffer {
        std::unique_ptr<uint8_t[]> memory;
        uint8_t* data = nullptr;
        size_t size = 0;
        void reserve(size_t bytes);
    };
    Status reserve(const LaunchPlan& plan);
    // What a work-group of wave_count waves has of registers, LDS and private memory.
    struct Memory {
        uint8_t* begin;
        size_t bytes;
    };
    std::array<Memory, 3> memory_of(const LaunchPlan& plan, uint32_t wave_count) const;
    void begin(const LaunchPlan& plan, const WaveStart& how);
    void make_templates(const LaunchPlan& plan);
    bool rows_alike() const;
    bool registers_alike(uint32_t whole_lanes) const;
    uint32_t* ids(uint32_t wave) const {
        return reinterpret_cast<uint32_t*>(ids_.data + wave * id_bytes_);
    }
    void start_wave(const LaunchPlan& plan, const WaveStart& how, uint32_t index,
                    machine::Wave& wave, uint8_t* rows) {
        how.write(templates_[index], ids_.data + index * id_bytes_, wave, rows);
        place_wave(plan, group, hw_id_, wave);
    }
    static void set_rows(const LaunchPlan& plan, machine::Wave& wave, uint8_t* rows) {
        wave.vgpr = reinterpret_cast<uint32_t*>(rows);
        if (plan.has_agpr_rows()) wave.agpr = wave.vgpr + size_t{plan.agpr_row} * machine::lanes;
    }

    memory::AddressSpace& memory_;
    AlignedBuffer registers_, lds_;
    // Waves and work-item ids as work-groups of size size_ of plan plan_ start with.
    std::vector<machine::Wave> templates_;
    AlignedBuffer ids_;
    size_t id_bytes_ = 0;  // of a wave
    // What work-item ids depend on: they outlast the plan.
    struct IdShape {
        const Target* target = nullptr;
        std::array<uint32_t, 3> size{};
        uint32_t rows = 0;
        bool operator==(const IdShape&) const = default;
    } id_shape_;
    bool ids_alike_ = false, waves_alike_ = false;
    uint64_t plan_ = 0;
    GroupPlace place_;
    uint32_t hw_id_ = 0;
    std::array<uint32_t, 3> size_{};
    void begin_barriers(const LaunchPlan& plan);
    void begin_shadow(const LaunchPlan& plan);
    machine::NamedBarriers named_;
    struct {
        machine::GroupShadow shadow;  // with checkers
        memory::WeakMemory weak;
    } models_;
    struct {
        uint64_t begin = 0, size = 0;
    } scratch_;  // guest memory: buffer instructions address it
};

class GroupContextPool {
public:
    explicit GroupContextPool(memory::AddressSpace& memory) : memory_(memory) {}
    std::unique_ptr<GroupContext> take();
    void give(std::unique_ptr<GroupContext> context);

private:
    memory::AddressSpace& memory_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<GroupContext>> free_;
};

}  // namespace wj::runtime
