// A stopped dispatch that is put back again and again.
//
// Waves know the addresses of their registers, LDS and private memory, and hand the last ones on.
// So work-groups are restored to the memory that they have been saved from, which no other
// work-group of another dispatch gets until then (GroupContext::aside).
#include <algorithm>

#include "runtime/dispatch.h"
#include "runtime/scheduler.h"

namespace wj::runtime {

class DispatchState::Image final : public DispatchImage {
public:
    explicit Image(DispatchState& dispatch)
        : dispatch_(dispatch),
          order_(dispatch.order_),
          result_(dispatch.result_),
          fault_(dispatch.stopped_.fault),
          before_(dispatch.before),
          exact_(before_.exact && dispatch.plan.request.interpreted()) {
        for (const Claim& c : dispatch.stopped_.claims) {
            claims_.push_back({c.resumed != nullptr, c.begin, c.end, c.share});
            if (c.resumed) save(*c.resumed);
        }
        for (const auto* const list : {&dispatch.suspended_, &dispatch.visited_})
            for (const auto& group : *list) save(*group);
        suspended_ = dispatch.suspended_.size();
        dispatch.clusters.save(clusters_);
        dispatch.scheduler_.shares().save(shares_);
        const ServiceMemory::Piece& piece = dispatch.piece;
        const auto* const bytes = reinterpret_cast<const std::byte*>(piece.address());
        piece_.assign(bytes, bytes + piece.size());
        counts_ = {dispatch.schedule_.random, dispatch.admitted_,
                   dispatch.finished_,        dispatch.wave_instructions,
                   dispatch.interpreted,      dispatch.waves,
                   dispatch.sweeps_};
    }
    ~Image() override {
        for (const Group& group : groups_) group.context->aside.images--;
        give_back_unused();
    }

    void restore() override {
        std::lock_guard lock(dispatch_.mutex_);
        park_all();
        dispatch_.clusters.restore(clusters_);
        auto group = groups_.begin();
        for (const StoppedClaim& c : claims_)
            dispatch_.stopped_.claims.push_back(
                {c.has_group ? put_back(*group++) : nullptr, c.begin, c.end, c.share});
        for (size_t n = 0; group != groups_.end(); n++)
            (n < suspended_ ? dispatch_.suspended_ : dispatch_.visited_)
                .push_back(put_back(*group++));
        give_back_unused();
        dispatch_.scheduler_.shares().restore(shares_);
        if (!piece_.empty())
            std::memcpy(reinterpret_cast<void*>(dispatch_.piece.address()), piece_.data(),
                        piece_.size());
        restore_counts();
        stop();
    }

private:
    struct Group {
        GroupContext* context;
        GroupContext::Image image;
    };
    struct StoppedClaim {
        bool has_group;
        uint64_t begin, end, share;
    };

    void save(GroupContext& context) {
        context.aside.images++;
        groups_.push_back({&context, {}});
        context.save(dispatch_.plan, groups_.back().image);
    }
    void park_all() {
        auto& parked = dispatch_.stopped_.parked;
        for (Claim& claim : dispatch_.stopped_.claims)
            if (claim.resumed) parked.push_back(std::move(claim.resumed));
        dispatch_.stopped_.claims.clear();
        for (auto* const list : {&dispatch_.suspended_, &dispatch_.visited_}) {
            for (auto& group : *list) parked.push_back(std::move(group));
            list->clear();
        }
    }
    std::unique_ptr<GroupContext> put_back(const Group& group) {
        auto& parked = dispatch_.stopped_.parked;
        const auto at =
            std::ranges::find(parked, group.context, &std::unique_ptr<GroupContext>::get);
        std::unique_ptr<GroupContext> context = std::move(*at);
        parked.erase(at);
        context->restore(dispatch_.plan, group.image);
        dispatch_.clusters.rejoin(context->group);
        return context;
    }
    // Nobody wants to restore them any more.
    void give_back_unused() {
        std::erase_if(dispatch_.stopped_.parked, [&](std::unique_ptr<GroupContext>& context) {
            if (context->aside.images) return false;
            dispatch_.scheduler_.take_back(std::move(context));
            return true;
        });
    }
    void restore_counts() {
        DispatchState& d = dispatch_;
        d.order_ = order_;
        d.before = before_;
        d.schedule_.random = counts_.random;
        d.admitted_ = counts_.admitted;
        d.resumed_ = 0;
        d.finished_ = counts_.finished;
        d.wave_instructions = counts_.wave_instructions;
        d.interpreted = counts_.interpreted;
        d.waves = counts_.waves;
        d.sweeps_ = counts_.sweeps;
    }
    // As it stood when it was saved.
    void stop() {
        DispatchState& d = dispatch_;
        DispatchRequest& r = d.plan.request;
        r.hooks.reset();
        r.kept_waves = exact_ ? KeptWaves::Exact : KeptWaves::OfEngine;
        d.hooked.reset();
        d.stopped_.record.reset();
        if (d.stopped_.fault != fault_) d.result_ = result_;
        d.stopped_.fault = fault_;
        d.result_.code = result_.code;
        d.result_.waves = result_.waves;
        d.result_.work_groups = result_.work_groups;
        d.result_.wave_instructions = result_.wave_instructions;
        d.stop_ = d.finalized_ = true;
    }

    DispatchState& dispatch_;
    std::vector<Group> groups_;  // of claims, then suspended ones, then those that had their turn
    std::vector<StoppedClaim> claims_;
    size_t suspended_ = 0;
    const GroupOrder order_;
    Clusters::Image clusters_;
    DeviceShares::Image shares_;
    std::vector<std::byte> piece_;
    const DispatchResult result_;
    const uint64_t fault_;
    decltype(DispatchState::before) before_;
    const bool exact_;
    struct {
        uint64_t random, admitted, finished, wave_instructions, interpreted, waves;
        Sweeps sweeps;
    } counts_;
};

Result<std::unique_ptr<DispatchImage>> DispatchState::save() {
    std::lock_guard lock(mutex_);
    if (Status status = check_resumable(); !status) return status;
    if (plan.request.checks)
        return Status(Code::Unimplemented,
                      "snapshots have nothing of what checkers know: take those with a dispatch in "
                      "a context without checks");
    return std::unique_ptr<DispatchImage>(std::make_unique<Image>(*this));
}

}  // namespace wj::runtime
