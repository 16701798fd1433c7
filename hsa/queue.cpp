#include "hsa/queue.h"

#include <algorithm>
#include <cstring>

#include "hsa/faults.h"
#include "machine/wave.h"
#include "runtime/capture_folder.h"

namespace wj::hsa {
namespace {

// Layout of a queue's memory: amd_queue_t, the owner, packet copies, then the ring on a page of its
// own.
constexpr uint64_t owner_offset = 256, magic_offset = 264, copies_offset = 512;
constexpr uint64_t packet_bytes = 64, ring_offset = 4096;
constexpr uint32_t copy_count = (ring_offset - copies_offset) / packet_bytes;
constexpr uint64_t queue_magic = 0x77617665'71756575;
static_assert(sizeof(amd_queue_t) == 256);

// Kernels that are expected to be shorter than this run on the thread that rings the doorbell:
// waking a worker up, and then the thread that waits, takes as long.
constexpr uint64_t run_here_ns = 100'000;

std::atomic<uint64_t> next_queue_id{0};

// How long kernels took last time, by kernel and number of work-groups: a small lossy table of
// (32-bit tag, 32-bit nanoseconds).
std::atomic<uint64_t> history[1024];

uint64_t history_key(const runtime::DispatchRequest& r) {
    uint64_t h = r.kernel_object;
    for (int i = 0; i < 3; i++)
        h = (h ^ (uint64_t{r.grid[i]} << 20 | r.work_group[i])) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
}

bool expected_short(uint64_t key) {
    const uint64_t entry = history[key % 1024].load(std::memory_order_relaxed);
    return entry >> 32 == key >> 32 && static_cast<uint32_t>(entry) < run_here_ns;
}

void remember(uint64_t key, uint64_t ns) {
    history[key % 1024].store((key >> 32 << 32) | std::min<uint64_t>(ns, UINT32_MAX),
                              std::memory_order_relaxed);
}

uint32_t packet_type(uint32_t first_dword) {
    return first_dword & 0xff;
}

}  // namespace

struct Queue::Flight {
    std::shared_ptr<Queue> queue;
    hsa_signal_t completion;
    uint64_t packet_copy;
    uint64_t key;
};

hsa_status_t Queue::create(Agent& agent, uint32_t size, hsa_queue_type32_t type,
                           QueueErrorCallback callback, void* data, hsa_queue_t** out) {
    note_use();
    std::shared_ptr<Queue> q(new Queue(agent));
    memory::AddressSpace& home = agent.device->memory();
    q->memory_ = allocate_shared(ring_offset + size * packet_bytes, "queue", &home);
    if (!q->memory_) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    q->doorbell_ = create_signal(-1);
    Signal* inactive = create_signal(0);
    if (!q->doorbell_ || !inactive) {
        for (Signal* s : {q->doorbell_, inactive})
            if (s) destroy_signal(s);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    q->callback_ = callback;
    q->callback_data_ = data;
    for (uint32_t i = copy_count; i > 0; i--)
        q->packet_copies_.push_back(q->memory_ + copies_offset + (i - 1) * packet_bytes);

    auto* ring = reinterpret_cast<unsigned char*>(q->memory_ + ring_offset);
    for (uint64_t i = 0; i < size; i++) ring[i * packet_bytes] = HSA_PACKET_TYPE_INVALID;
    amd_queue_t& abi = *reinterpret_cast<amd_queue_t*>(q->memory_);
    q->abi_ = &abi;
    q->doorbell_->abi.queue_ptr = &abi;
    abi.hsa_queue.type = type;
    abi.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
    abi.hsa_queue.base_address = ring;
    abi.hsa_queue.doorbell_signal = q->doorbell_->handle();
    abi.hsa_queue.size = size;
    abi.hsa_queue.id = next_queue_id.fetch_add(1);
    abi.group_segment_aperture_base_hi = static_cast<uint32_t>(machine::shared_aperture >> 32);
    abi.private_segment_aperture_base_hi = static_cast<uint32_t>(machine::private_aperture >> 32);
    abi.max_cu_id = agent.compute_units - 1;
    abi.max_wave_id = agent.facts->waves_per_cu - 1;
    abi.read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
    abi.queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
    abi.queue_inactive_signal = inactive->handle();

    // From here on the monitor looks at the queue.
    q->bell_ = doorbells().take(q);
    if (!q->bell_.word) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    q->doorbell_->queue = q.get();
    q->doorbell_->abi.hardware_doorbell_ptr = q->bell_.word;
    q->doorbell_->abi.event_mailbox_ptr = 0;  // nobody waits for a doorbell
    q->doorbell_->abi.event_id = 0;
    __atomic_store_n(&q->doorbell_->abi.kind, AMD_SIGNAL_KIND_DOORBELL, __ATOMIC_RELEASE);

    auto* owner = new std::shared_ptr<Queue>(q);  // the program's reference
    std::memcpy(reinterpret_cast<void*>(q->memory_ + owner_offset), &owner, 8);
    std::memcpy(reinterpret_cast<void*>(q->memory_ + magic_offset), &queue_magic, 8);
    *out = &abi.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

Queue* Queue::of(const hsa_queue_t* queue) {
    if (!queue) return nullptr;
    const auto* bytes = reinterpret_cast<const char*>(queue);
    uint64_t magic;
    std::memcpy(&magic, bytes + magic_offset, 8);
    if (magic != queue_magic) return nullptr;
    std::shared_ptr<Queue>* owner;
    std::memcpy(&owner, bytes + owner_offset, 8);
    return owner->get();
}

Queue::~Queue() {
    if (!memory_) return;
    if (abi_) {
        if (Signal* s = signal_of(abi_->queue_inactive_signal)) destroy_signal(s);
        destroy_signal(doorbell_);
        doorbells().give(bell_);
    }
    free_shared(memory_, &agent_.device->memory());
}

void Queue::destroy() {
    inactivate();
    std::vector<std::shared_ptr<runtime::Dispatch>> running;
    {
        std::lock_guard lock(mutex_);
        for (auto& weak : dispatches_)
            if (auto d = weak.lock()) running.push_back(std::move(d));
    }
    for (auto& d : running) d->cancel();
    // None of its kernels touches memory any more: the program may use it for something else.
    if (!left_behind())
        for (int32_t left; (left = in_flight_.load()) > 0;) in_flight_.wait(left);
    unpark();
    std::shared_ptr<Queue>* owner;
    std::memcpy(&owner, reinterpret_cast<void*>(memory_ + owner_offset), 8);
    std::memset(reinterpret_cast<void*>(memory_ + magic_offset), 0, 8);
    delete owner;  // may be the last reference
}

void Queue::inactivate() {
    stopped_.store(true);
    // Waits for a thread that is in the middle of a packet.
    uint32_t none = 0;
    while (!notes_.compare_exchange_weak(none, 1)) none = 0;
    notes_.store(0);
}

void Queue::process(Caller caller) {
    if (left_behind()) {
        // Nobody else can be told: the packet has no status, and who waits for its signal goes on.
        if (callback_ && !stopped_.exchange(true))
            callback_(HSA_STATUS_ERROR, &abi_->hsa_queue, callback_data_);
        return;
    }
    if (notes_.fetch_add(1) != 0) return;  // the thread at work will look again
    for (uint32_t seen = 1;;) {
        bell_.seen->store(__atomic_load_n(bell_.word, __ATOMIC_ACQUIRE), std::memory_order_relaxed);
        while (!stopped_.load(std::memory_order_relaxed) && step(caller)) {
        }
        // Once it is let go of, the program may destroy it.
        const std::shared_ptr<Queue> failed =
            stopped_.load(std::memory_order_relaxed) ? shared_from_this() : nullptr;
        if (!notes_.compare_exchange_strong(seen, 0)) continue;
        if (failed) failed->call_back();
        return;
    }
}

// Looks at the packet at the head of the ring; false = nothing can be done now.
bool Queue::step(Caller caller) {
    char* slot = static_cast<char*>(abi_->hsa_queue.base_address) +
                 (next_ & (abi_->hsa_queue.size - 1)) * packet_bytes;
    const uint32_t first = __atomic_load_n(reinterpret_cast<uint32_t*>(slot), __ATOMIC_ACQUIRE);
    if (packet_type(first) == HSA_PACKET_TYPE_INVALID) return false;
    if ((first >> HSA_PACKET_HEADER_BARRIER & 1) && in_flight_.load() > 0) return false;

    switch (packet_type(first)) {
        case HSA_PACKET_TYPE_KERNEL_DISPATCH: {
            if (in_flight_.load() >= static_cast<int32_t>(copy_count)) return false;
            hsa_kernel_dispatch_packet_t packet;
            std::memcpy(&packet, slot, sizeof packet);
            retire(slot);
            return start_kernel(packet, caller);
        }
        case HSA_PACKET_TYPE_BARRIER_AND:
        case HSA_PACKET_TYPE_BARRIER_OR: {
            hsa_barrier_and_packet_t packet;  // the same layout
            std::memcpy(&packet, slot, sizeof packet);
            const bool all = packet_type(first) == HSA_PACKET_TYPE_BARRIER_AND;
            if (!park_unless(packet.dep_signal, 5, dependencies_met(packet.dep_signal, 5, all)) &&
                !dependencies_met(packet.dep_signal, 5, all))
                return false;
            complete_barrier(packet.completion_signal, slot);
            return true;
        }
        case HSA_PACKET_TYPE_VENDOR_SPECIFIC: {
            hsa_amd_barrier_value_packet_t packet;
            std::memcpy(&packet, slot, sizeof packet);
            if (packet.header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE) break;
            if (packet.cond > HSA_SIGNAL_CONDITION_GTE)
                return refuse(slot, "waits for condition " + std::to_string(packet.cond) +
                                        " of a signal; there are 0 (equal) to 3 (not less)");
            if (!park_unless(&packet.signal, 1, value_met(packet)) && !value_met(packet))
                return false;
            complete_barrier(packet.completion_signal, slot);
            return true;
        }
        default:
            break;
    }
    return refuse(slot, "has header " + std::to_string(first & 0xffff) +
                            ", which is no kernel dispatch, barrier or AMD barrier-value packet");
}

bool Queue::refuse(void* slot, const std::string& why) {
    retire(slot);
    fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "queue " + std::to_string(abi_->hsa_queue.id) +
                                                     ": packet " + std::to_string(next_ - 1) + " " +
                                                     why);
    return false;
}

// The slot belongs to the producer again: invalid first, then the read index (contract 5.2).
void Queue::retire(void* slot) {
    __atomic_store_n(static_cast<uint16_t*>(slot), uint16_t{HSA_PACKET_TYPE_INVALID},
                     __ATOMIC_RELEASE);
    __atomic_store_n(&abi_->read_dispatch_id, ++next_, __ATOMIC_RELEASE);
}

bool Queue::dependencies_met(const hsa_signal_t* signals, uint32_t count, bool all) {
    bool any = false, named = false;
    for (uint32_t i = 0; i < count; i++) {
        Signal* s = signal_of(signals[i]);
        if (!s) continue;
        named = true;
        const bool met = s->load() == 0;
        if (all && !met) return false;
        any |= met;
    }
    return all || any || !named;
}

bool Queue::value_met(const hsa_amd_barrier_value_packet_t& p) {
    Signal* s = signal_of(p.signal);
    return !s || holds(static_cast<hsa_signal_condition_t>(p.cond), s->load() & p.mask, p.value);
}

// Remembers or forgets that the head of the queue waits for signals. Returns `met`; when that is
// false the caller looks once more, since the signals were not watched before.
bool Queue::park_unless(const hsa_signal_t* signals, uint32_t count, bool met) {
    if (met) {
        unpark();
        return true;
    }
    if (parked_) return false;
    blocked_since_ = now_ns();
    for (uint32_t i = 0; i < count; i++)
        if (Signal* s = signal_of(signals[i])) {
            s->watched.fetch_add(1);
            parked_on_.push_back(s);
        }
    parked_ = true;
    monitor().park(shared_from_this());
    return false;
}

void Queue::unpark() {
    if (!parked_) return;
    parked_ = false;
    for (Signal* s : parked_on_) s->watched.fetch_sub(1);
    parked_on_.clear();
    monitor().unpark(this);
}

void Queue::complete_barrier(hsa_signal_t completion, void* slot) {
    unpark();
    const uint64_t now = now_ns();
    const uint64_t begin = blocked_since_ ? blocked_since_ : now;
    blocked_since_ = 0;
    retire(slot);
    complete_signal(completion, begin, now);
}

uint64_t Queue::take_packet_copy() {
    std::lock_guard lock(mutex_);
    const uint64_t at = packet_copies_.back();  // in_flight_ bounds them
    packet_copies_.pop_back();
    return at;
}

void Queue::give_packet_copy(uint64_t address) {
    std::lock_guard lock(mutex_);
    packet_copies_.push_back(address);
}

bool Queue::start_kernel(const hsa_kernel_dispatch_packet_t& packet, Caller caller) {
    runtime::DispatchRequest r;
    const uint32_t dimensions = packet.setup & 3;
    r.kernel_object = packet.kernel_object;
    r.grid = {packet.grid_size_x, dimensions > 1 ? packet.grid_size_y : 1,
              dimensions > 2 ? packet.grid_size_z : 1};
    r.work_group = {packet.workgroup_size_x, dimensions > 1 ? packet.workgroup_size_y : 1u,
                    dimensions > 2 ? packet.workgroup_size_z : 1u};
    r.group_segment_size = packet.group_segment_size;
    r.private_segment_size = packet.private_segment_size;
    r.kernarg_address = without_alias(reinterpret_cast<uint64_t>(packet.kernarg_address));
    r.queue_address = reinterpret_cast<uint64_t>(abi_);
    r.dispatch_id = next_ - 1;
    r.cooperative = abi_->hsa_queue.type == HSA_QUEUE_TYPE_COOPERATIVE;
    r.timeout_ns = state() ? state()->timeout_ns : 0;
    const uint64_t key = history_key(r);
    // Alone on the devices only: helping might take up a long kernel of another queue instead.
    State* s = state();
    r.caller_runs = caller != Caller::Other && expected_short(key) && s &&
                    s->busy.load(std::memory_order_relaxed) == 0;

    // The ring slot may be overwritten while the kernel still reads its packet through
    // dispatch_ptr.
    auto flight = std::make_shared<Flight>(
        Flight{shared_from_this(), packet.completion_signal, take_packet_copy(), key});
    std::memcpy(reinterpret_cast<void*>(flight->packet_copy), &packet, sizeof packet);
    r.packet_address = flight->packet_copy;

    if (const Status status = runtime::capture_if_wanted(*agent_.device, r); !status)
        log_error("a launch was not captured: " + status.message());
    in_flight_.fetch_add(1);
    if (s) s->busy.fetch_add(1);
    auto dispatch = agent_.device->dispatch(
        r,
        [this, flight](const runtime::DispatchResult& result) { finish_kernel(*flight, result); });
    if (!dispatch) {
        if (s) s->busy.fetch_sub(1);
        in_flight_.fetch_sub(1);
        give_packet_copy(flight->packet_copy);
        fail(fault_status(dispatch.status().code()),
             "a kernel launch was refused: " + dispatch.status().message());
        return false;
    }
    {
        std::lock_guard lock(mutex_);
        std::erase_if(dispatches_, [](const auto& d) { return d.expired(); });
        dispatches_.push_back(*dispatch);
    }
    if (r.caller_runs && caller == Caller::Program) agent_.device->help(run_here_ns);
    return true;
}

void Queue::finish_kernel(Flight& flight, const runtime::DispatchResult& result) {
    const std::shared_ptr<Queue> keep = std::move(flight.queue);
    give_packet_copy(flight.packet_copy);
    remember(flight.key, result.end_ns - result.start_ns);
    if (result.code == Code::Ok) {
        complete_signal(flight.completion, result.start_ns, result.end_ns);
    }
    const bool failed = result.code != Code::Ok && !stopped_.exchange(true);
    if (State* s = state()) s->busy.fetch_sub(1);
    in_flight_.fetch_sub(1);
    in_flight_.notify_all();
    // Who is told may destroy the queue, which waits for what is in flight.
    if (failed && !(result.code == Code::GuestFault && report_memory_fault(agent_, result.fault)))
        tell_of(fault_status(result.code), result.fault.text());
    process(Caller::Executor);
    doorbells().look();  // what the kernel has rung before it ended
}

void Queue::fail(hsa_status_t status, std::string report) {
    if (!stopped_.exchange(true)) tell_of(status, std::move(report));
}

// The report comes before the callback: HIP's aborts the process.
void Queue::tell_of(hsa_status_t status, std::string report) {
    auto self = shared_from_this();
    std::function<void()> tell = [self, status, report = std::move(report)] {
        print_fault(report);
        if (Signal* s = signal_of(self->abi_->queue_inactive_signal)) {
            __atomic_store_n(s->word(), static_cast<int64_t>(status), __ATOMIC_SEQ_CST);
            notify(*s, s->word());
        }
        if (self->callback_) self->callback_(status, &self->abi_->hsa_queue, self->callback_data_);
    };
    if (monitor().post(tell)) return;
    std::lock_guard lock(mutex_);
    not_posted_ = std::move(tell);
}

// Tells of a failure here, as no other thread can be had: when the queue is let go of, which the
// program may destroy now.
void Queue::call_back() {
    std::function<void()> tell;
    {
        std::lock_guard lock(mutex_);
        tell.swap(not_posted_);
    }
    if (tell) tell();
}

}  // namespace wj::hsa
