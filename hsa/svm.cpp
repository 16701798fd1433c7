// Shared virtual memory attributes. Host and device addresses are the same, so attributes are only
// kept for queries, and migrations complete at once.
#include <map>
#include <mutex>

#include "hsa/copy.h"
#include "hsa/memory.h"
#include "hsa/signal.h"
#include "hsa/state.h"

using namespace wj::hsa;

namespace {

constexpr uint64_t svm_page = 4096;

struct AttributeRange {
    uint64_t end = 0;
    bool shared = false;
    std::map<uint64_t, uint64_t> values;  // attribute -> value
    std::map<uint64_t, uint64_t> access;  // agent -> HSA_AMD_SVM_ATTRIB_AGENT_*
    uint64_t prefetched_to = 0;
};

std::mutex mutex;
std::map<uint64_t, AttributeRange>& ranges() {
    static auto* r = new std::map<uint64_t, AttributeRange>;
    return *r;
}

AttributeRange* containing(uint64_t address) {
    auto it = ranges().upper_bound(address);
    if (it == ranges().begin()) return nullptr;
    --it;
    return address < it->second.end ? &it->second : nullptr;
}

// The range that starts exactly here; a range of another size at the same place replaces it: HIP
// frees SVM memory without telling.
AttributeRange& range_at(uint64_t begin, uint64_t end) {
    auto it = ranges().find(begin);
    if (it != ranges().end() && it->second.end != end) {
        if (it->second.shared) unshare_host_range(begin);
        ranges().erase(it);
        it = ranges().end();
    }
    if (it == ranges().end()) {
        it = ranges().emplace(begin, AttributeRange{}).first;
        it->second.end = end;
    }
    return it->second;
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_svm_attributes_set(void* ptr, size_t size,
                                        hsa_amd_svm_attribute_pair_t* attribute_list,
                                        size_t attribute_count) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !size || (attribute_count && !attribute_list))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const uint64_t begin = reinterpret_cast<uint64_t>(ptr) / svm_page * svm_page;
    const uint64_t end =
        (reinterpret_cast<uint64_t>(ptr) + size + svm_page - 1) / svm_page * svm_page;
    std::lock_guard lock(mutex);
    // Advice about part of a range stays with the whole of it.
    AttributeRange* inside = containing(begin);
    AttributeRange& r = inside && end <= inside->end ? *inside : range_at(begin, end);
    for (size_t i = 0; i < attribute_count; i++) {
        const auto& a = attribute_list[i];
        switch (a.attribute) {
            case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE:
            case HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE:
                if (!agent_of({a.value})) return HSA_STATUS_ERROR_INVALID_AGENT;
                r.access[a.value] = a.attribute;
                if (!r.shared) {
                    if (wj::Status s = share_host_range(begin, end - begin, "managed memory"); !s) {
                        log_debug(s.message());
                        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
                    }
                    r.shared = true;
                }
                break;
            case HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS:
                if (!agent_of({a.value})) return HSA_STATUS_ERROR_INVALID_AGENT;
                r.access[a.value] = a.attribute;
                break;
            case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY:
            case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
                return HSA_STATUS_ERROR_INVALID_ARGUMENT;
            default:
                r.values[a.attribute] = a.value;
        }
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void* ptr, size_t size,
                                        hsa_amd_svm_attribute_pair_t* attribute_list,
                                        size_t attribute_count) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !size || (attribute_count && !attribute_list))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    std::lock_guard lock(mutex);
    const AttributeRange* r = containing(reinterpret_cast<uint64_t>(ptr));
    for (size_t i = 0; i < attribute_count; i++) {
        auto& a = attribute_list[i];
        if (a.attribute == HSA_AMD_SVM_ATTRIB_ACCESS_QUERY) {
            const Agent* agent = agent_of({a.value});
            if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
            a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
            if (!agent->gpu)
                a.attribute = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE;
            else if (r && r->access.count(a.value))
                a.attribute = r->access.at(a.value);
        } else if (a.attribute == HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION) {
            a.value = r ? r->prefetched_to : 0;
        } else {
            a.value = r && r->values.count(a.attribute) ? r->values.at(a.attribute) : 0;
        }
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_prefetch_async(void* ptr, size_t size, hsa_agent_t agent,
                                        uint32_t num_dep_signals, const hsa_signal_t* dep_signals,
                                        hsa_signal_t completion_signal) {
    if (!state()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!ptr || !size || (num_dep_signals && !dep_signals))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!agent_of(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
    {
        std::lock_guard lock(mutex);
        if (AttributeRange* r = containing(reinterpret_cast<uint64_t>(ptr)))
            r->prefetched_to = agent.handle;
    }
    std::make_shared<CopyJob>(0, 0, nullptr, num_dep_signals, dep_signals, completion_signal)
        ->start();
    return HSA_STATUS_SUCCESS;
}

}  // extern "C"
