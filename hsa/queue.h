// A user-mode queue: the ring, amd_queue_t and the packet processor.
//
// There is no thread per queue. Whoever may have made progress possible (the thread that rings the
// doorbell, the one that finishes a dispatch, the one that completes a signal, the one that sees
// that a kernel has written the doorbell) calls ring() or poll(); one
// caller at a time then processes packets until nothing can go on, the others leave a note for it
// and return.
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hsa/doorbells.h"
#include "hsa/monitor.h"
#include "hsa/signal.h"
#include "hsa/state.h"

namespace wj::hsa {

using QueueErrorCallback = void (*)(hsa_status_t status, hsa_queue_t* source, void* data);

class Queue final : public Parked, public std::enable_shared_from_this<Queue> {
public:
    static hsa_status_t create(Agent& agent, uint32_t size, hsa_queue_type32_t type,
                               QueueErrorCallback callback, void* data, hsa_queue_t** out);
    static Queue* of(const hsa_queue_t* queue);  // null = not one of ours
    ~Queue() override;

    void ring() { process(Caller::Program); }
    void poll() override { process(Caller::Other); }
    void destroy();     // stops what runs; the memory goes with the last dispatch
    void inactivate();  // processes no further packet

    amd_queue_t& abi() { return *abi_; }
    Agent& agent() { return agent_; }
    std::vector<uint32_t> cu_mask;

private:
    struct Flight;  // a kernel dispatch that has started
    // Who processes packets, which decides who runs a short kernel without anybody being woken.
    enum class Caller : uint8_t {
        Program,   // a thread that rings the doorbell: runs the kernel itself
        Executor,  // a thread that has just finished a kernel of this device: looks for more
        Other,     // the monitor, or whoever changed a signal: a worker has to be woken
    };

    Queue(Agent& agent) : agent_(agent) {}
    void process(Caller caller);
    bool step(Caller caller);
    bool start_kernel(const hsa_kernel_dispatch_packet_t& packet, Caller caller);
    void finish_kernel(Flight& flight, const runtime::DispatchResult& result);
    bool dependencies_met(const hsa_signal_t* signals, uint32_t count, bool all);
    bool value_met(const hsa_amd_barrier_value_packet_t& packet);
    bool park_unless(const hsa_signal_t* signals, uint32_t count, bool met);
    void unpark();
    void retire(void* slot);
    bool refuse(void* slot, const std::string& why);  // false
    void complete_barrier(hsa_signal_t completion, void* slot);
    void fail(hsa_status_t status, std::string report);
    void tell_of(hsa_status_t status, std::string report);  // a failure that has stopped it
    void call_back();
    uint64_t take_packet_copy();
    void give_packet_copy(uint64_t address);

    Agent& agent_;
    uint64_t memory_ = 0;
    amd_queue_t* abi_ = nullptr;
    Signal* doorbell_ = nullptr;
    Doorbells::Bell bell_;  // its value
    QueueErrorCallback callback_ = nullptr;
    void* callback_data_ = nullptr;

    std::atomic<uint32_t> notes_{0};  // != 0: a thread is processing
    uint64_t next_ = 0;               // index of the packet to look at
    uint64_t blocked_since_ = 0;      // when the packet at the head was first found waiting
    std::vector<Signal*> parked_on_;
    bool parked_ = false;
    std::atomic<bool> stopped_{false};
    std::atomic<int32_t> in_flight_{0};

    std::mutex mutex_;                     // guards what follows
    std::vector<uint64_t> packet_copies_;  // free slots
    std::vector<std::weak_ptr<runtime::Dispatch>> dispatches_;
    std::function<void()> not_posted_;  // a failure that the monitor has no thread to report
};

// What a failed dispatch is called in HSA terms (contract section 11).
hsa_status_t fault_status(Code code);

// Tells the handler registered with hsa_amd_register_system_event_handler about a memory fault;
// true = it has dealt with it.
bool report_memory_fault(Agent& agent, const runtime::FaultRecord& fault);

}  // namespace wj::hsa
