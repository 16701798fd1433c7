// Work-group clusters of gfx12.5: a launch whose work-groups are resident in boxes of several.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "common/status.h"
#include "frontend/code_object.h"
#include "frontend/target.h"
#include "machine/work_group.h"
#include "runtime/device.h"

namespace wj::runtime {

// Work-groups in each dimension of a cluster; of launches without clusters 1 x 1 x 1.
struct ClusterShape {
    std::array<uint32_t, 3> dims{1, 1, 1};
    uint32_t size() const { return dims[0] * dims[1] * dims[2]; }
    bool several() const { return size() > 1; }

    // What the kernel's metadata says (.cluster_dims), checked against the launch.
    static Result<ClusterShape> of(const Target& target, const KernelInfo& kernel,
                                   const DispatchRequest& request);
    // Work-groups of a cluster have consecutive numbers: the id of one of a grid of `groups`.
    std::array<uint32_t, 3> group_id(uint64_t linear_id,
                                     const std::array<uint32_t, 3>& groups) const;
    // TTMP6, TTMP7 and TTMP9, of which compilers make the ids (LLVM, lowerWorkGroupId and the
    // lowering of amdgcn.cluster.*).
    void place(const machine::WorkGroup& group, machine::Wave& wave) const;
};

// The clusters of a dispatch that are resident. Threads run work-groups of one side by side.
class Clusters {
public:
    explicit Clusters(const ClusterShape& shape) : shape_(shape) {}
    void enter(machine::WorkGroup& group);
    // All waves of the work-group have ended.
    void leave(machine::WorkGroup& group);
    void forget() { resident_.clear(); }

    // While no work-group runs.
    class Image {
        friend class Clusters;
        struct Resident {
            uint64_t number;
            machine::BarrierObject barrier;
            uint32_t members, ended, stuck;
        };
        std::vector<Resident> resident;
    };
    void save(Image& to) const;
    // Work-groups have to be told where they are: rejoin().
    void restore(const Image& from);
    void rejoin(machine::WorkGroup& group) {
        if (group.in_cluster.cluster)
            group.in_cluster.cluster = &resident_.at(group.linear_id / shape_.size());
    }

private:
    const ClusterShape shape_;
    std::mutex mutex_;
    std::map<uint64_t, machine::Cluster> resident_;
};

}  // namespace wj::runtime
