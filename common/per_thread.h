// Data that each thread has its own of.
#pragma once

#include <pthread.h>

#include <new>

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

// The same without thread-local storage, for what is asked for seldom: some nanoseconds more.
template <class T>
T& per_thread_by_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        if (pthread_key_create(&made, [](void* object) { delete static_cast<T*>(object); }))
            throw std::bad_alloc();
        return made;
    }();
    void* data = pthread_getspecific(key);
    if (!data) {
        data = new T;
        if (pthread_setspecific(key, data)) throw std::bad_alloc();
    }
    return *static_cast<T*>(data);
}

}  // namespace wj
