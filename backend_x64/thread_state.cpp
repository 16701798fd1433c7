#include "backend_x64/thread_state.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "backend_x64/column_store.h"
#include "backend_x64/row_loop.h"
#include "common/per_thread.h"

namespace wj::x64 {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<ThreadState*> threads;
};

// Never destroyed: threads of the embedder may end after static destructors.
Registry& registry() {
    static Registry& r = *new Registry;
    return r;
}

}  // namespace

ThreadState::ThreadState() {
    fill_constants(frame);
    frame.column_stub = reinterpret_cast<const void*>(&store_columns);
    frame.row_order_stub = reinterpret_cast<const void*>(&rows_in_any_order);
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.threads.push_back(this);
}

ThreadState::~ThreadState() {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    std::erase(r.threads, this);
}

ThreadState& this_thread_state() {
    return per_thread<ThreadState>();
}

bool any_thread_inside(const void* engine) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    return std::any_of(r.threads.begin(), r.threads.end(),
                       [&](const ThreadState* t) { return t->inside.load() == engine; });
}

}  // namespace wj::x64
