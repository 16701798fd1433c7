// Which kernels have to be watched for bits that nobody has written.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "lift/definite_assignment.h"
#include "memory/address_space.h"
#include "runtime/launch_plan.h"

namespace wj::runtime {

// Any thread may ask. Answers are kept for as long as the code that they are about is the same.
class UnassignedUses {
public:
    // Whether a wave of the launch may use registers that it has not written.
    // Yes for code that kernels may write to.
    bool possible(const LaunchPlan& plan, const memory::AddressSpace& memory);

private:
    struct Answer {
        lift::AssignedAtStart start;
        lift::UnassignedUse use;
        std::vector<std::byte> code;  // of use's range
    };
    std::mutex mutex_;
    std::unordered_map<uint64_t, Answer> known_;  // by entry
};

}  // namespace wj::runtime
