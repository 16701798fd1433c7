// The runtime's own thread: calls signal handlers and error callbacks, and looks after queues and
// copies that wait for signals which guest code may write.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace wj::hsa {

struct Signal;

// Something that waits for signals. poll() looks again and goes on if it can; it may be called from
// any thread at any time, with no lock held.
class Parked {
public:
    virtual ~Parked() = default;
    virtual void poll() = 0;
};

class Monitor {
public:
    // `handler` is called on the monitor's thread each time the condition is seen to hold, until it
    // returns false. False: there is no such thread, nor can one be started.
    bool add_handler(Signal& signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
                     hsa_amd_signal_handler handler, void* argument);
    void forget(Signal& signal);  // the signal dies: its handlers go
    // Calls it on the monitor's thread; false = there is none, and none can be started.
    bool post(std::function<void()> function);

    void park(std::shared_ptr<Parked> item);
    void unpark(const Parked* item);

    void changed();  // a watched signal has changed: looks after those who wait for it
    void wake();     // the same on the monitor's thread and on those of wait_event
    uint32_t event() const { return event_.load(); }
    void wait_event(uint32_t seen, uint64_t timeout_ns);

private:
    struct Handler {
        Signal* signal;
        hsa_signal_condition_t condition;
        hsa_signal_value_t value;
        hsa_amd_signal_handler function;
        void* argument;
        bool removed = false;
    };

    bool start();  // with mutex_ held; false = no thread can be started
    void main();
    bool run_handlers();
    bool run_posted();
    void poll_parked();

    std::mutex mutex_;
    bool started_ = false;
    std::list<Handler> handlers_;
    std::vector<std::function<void()>> posted_;
    std::vector<std::shared_ptr<Parked>> parked_;
    std::atomic<uint32_t> parked_count_{0};
    std::atomic<uint32_t> event_{0}, event_sleepers_{0};
};

Monitor& monitor();  // leaked, like the rest of the state

}  // namespace wj::hsa
