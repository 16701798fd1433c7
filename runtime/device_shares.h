// What all waves of a device share besides memory: global wave sync and the global data share. A
// kernel of its own sets the counts of the one that follows it, so they outlive a dispatch.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "machine/wave.h"

namespace wj::runtime {

class DeviceShares {
public:
    machine::GwsResource* gws() { return gws_.get(); }
    machine::GlobalDataShare* gds() { return gds_.get(); }

    // While no dispatch runs.
    class Image {
        friend class DeviceShares;
        struct Resource {
            uint32_t members, arrived, phase, releases;
            int64_t semaphore;
        };
        std::array<Resource, machine::gws_resources> gws;
        std::vector<uint8_t> gds;  // empty: zeros
    };
    void save(Image& to) const {
        for (uint32_t i = 0; i < machine::gws_resources; i++) {
            const machine::GwsResource& r = gws_[i];
            to.gws[i] = {r.members, r.arrived, r.phase, r.releases, r.semaphore};
        }
        if (gds_->used)
            to.gds.assign(std::begin(gds_->bytes), std::end(gds_->bytes));
        else
            to.gds.clear();
    }
    void restore(const Image& from) {
        for (uint32_t i = 0; i < machine::gws_resources; i++) {
            const Image::Resource& r = from.gws[i];
            machine::GwsResource& to = gws_[i];
            to.members.store(r.members, std::memory_order_relaxed);
            to.arrived.store(r.arrived, std::memory_order_relaxed);
            to.phase.store(r.phase, std::memory_order_relaxed);
            to.releases.store(r.releases, std::memory_order_relaxed);
            to.semaphore.store(r.semaphore, std::memory_order_relaxed);
        }
        if (!from.gds.empty())
            std::memcpy(gds_->bytes, from.gds.data(), from.gds.size());
        else if (gds_->used)
            std::memset(gds_->bytes, 0, sizeof(gds_->bytes));
        gds_->used = !from.gds.empty();
    }

private:
    std::unique_ptr<machine::GwsResource[]> gws_{new machine::GwsResource[machine::gws_resources]};
    std::unique_ptr<machine::GlobalDataShare> gds_{new machine::GlobalDataShare};
};

}  // namespace wj::runtime
