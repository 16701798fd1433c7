#include "runtime/clusters.h"

#include <string>

namespace wj::runtime {
namespace {

constexpr uint32_t most_work_groups = 16;  // TTMP6 has four bits for each number

std::string dims_text(const std::array<uint32_t, 3>& d) {
    return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

}  // namespace

Result<ClusterShape> ClusterShape::of(const Target& target, const KernelInfo& kernel,
                                      const DispatchRequest& request) {
    const std::array<uint32_t, 3>& dims = kernel.metadata.cluster_dims;
    if (!dims[0] && !dims[1] && !dims[2]) return ClusterShape{};
    const std::string asks =
        "kernel '" + kernel.name + "' asks for clusters of " + dims_text(dims) + " work-groups";
    if (!target.traits.work_group_clusters)
        return Status(Code::Unimplemented,
                      asks + ", which gfx12.5 has first, not " + std::string(target.name));
    uint64_t size = 1;
    for (const uint32_t d : dims) size = d && size <= most_work_groups ? size * d : ~uint64_t{0};
    if (size > most_work_groups)
        return Status(Code::OutOfRange,
                      asks + ": there are 1 to " + std::to_string(most_work_groups) + " of them");
    for (size_t i = 0; i < dims.size(); i++) {
        const uint64_t groups =
            (uint64_t{request.grid[i]} + request.work_group[i] - 1) / request.work_group[i];
        if (groups % dims[i])
            return Status(Code::InvalidArgument, asks + ", which do not divide the grid's " +
                                                     std::to_string(groups) + " work-groups in " +
                                                     "xyz"[i]);
    }
    return ClusterShape{dims};
}

std::array<uint32_t, 3> ClusterShape::group_id(uint64_t linear_id,
                                               const std::array<uint32_t, 3>& groups) const {
    uint64_t rank = linear_id % size(), cluster = linear_id / size();
    std::array<uint32_t, 3> id{};
    for (size_t i = 0; i < id.size(); i++) {
        const uint32_t clusters = groups[i] / dims[i];
        id[i] = static_cast<uint32_t>(cluster % clusters * dims[i] + rank % dims[i]);
        cluster /= clusters;
        rank /= dims[i];
    }
    return id;
}

void ClusterShape::place(const machine::WorkGroup& group, machine::Wave& wave) const {
    uint32_t inside = (size() - 1) << 24;
    for (uint32_t i = 0; i < dims.size(); i++)
        inside |= group.id[i] % dims[i] << 4 * i | (dims[i] - 1) << (12 + 4 * i);
    wave.sgpr[machine::ttmp0 + 6] = inside;
    wave.sgpr[machine::group_x] = group.id[0] / dims[0];
    wave.sgpr[machine::group_yz] = group.id[1] / dims[1] | group.id[2] / dims[2] << 16;
}

void Clusters::enter(machine::WorkGroup& group) {
    machine::ClusterMember& member = group.in_cluster;
    if (member.cluster) return;
    const std::lock_guard lock(mutex_);
    const auto [at, fresh] = resident_.try_emplace(group.linear_id / shape_.size());
    if (fresh) {
        at->second.members = static_cast<uint32_t>(machine::first_lanes(shape_.size()));
        at->second.barrier.init(shape_.size());
    }
    member.cluster = &at->second;
    member.rank = static_cast<uint32_t>(group.linear_id % shape_.size());
}

void Clusters::save(Image& to) const {
    to.resident.clear();
    for (const auto& [number, c] : resident_)
        to.resident.push_back({number, c.barrier, c.members, c.ended, c.stuck});
}

void Clusters::restore(const Image& from) {
    resident_.clear();
    for (const Image::Resident& r : from.resident) {
        machine::Cluster& c = resident_[r.number];
        c.barrier = r.barrier;
        c.members = r.members;
        c.ended = r.ended;
        c.stuck = r.stuck;
    }
}

void Clusters::leave(machine::WorkGroup& group) {
    const std::lock_guard lock(mutex_);
    machine::Cluster& cluster = *group.in_cluster.cluster;
    bool last = false;
    {
        const std::lock_guard inner(cluster.mutex);
        group.note_misuse(cluster.end(group.in_cluster.rank), machine::cluster_barrier, 0);
        last = cluster.ended == cluster.members;
    }
    group.in_cluster = {};
    if (last) resident_.erase(group.linear_id / shape_.size());
}

}  // namespace wj::runtime
