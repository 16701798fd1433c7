// Data that each thread has its own of.
#pragma once

namespace wj {

namespace detail {
// Calls destroy(object) when the calling thread ends.
void at_thread_end(void* object, void (*destroy)(void*));
}  // namespace detail

// This thread's T, made when it is first asked for and destroyed when the thread ends (not when the
// process does). Only a pointer lies in thread-local storage: a shared library that is opened while
// a process runs has to share what little room there is for it in threads that exist already.
// Initial-exec keeps access free of calls, which may allocate.
template <class T>
T& per_thread() {
    static thread_local constinit T* data __attribute__((tls_model("initial-exec"))) = nullptr;
    if (!data) [[unlikely]] {
        data = new T;
        detail::at_thread_end(data, [](void* object) {
            data = nullptr;
            delete static_cast<T*>(object);
        });
    }
    return *data;
}

}  // namespace wj
