#include "common/per_thread.h"

#include <pthread.h>

#include <utility>
#include <vector>

namespace wj::detail {
namespace {

using Objects = std::vector<std::pair<void*, void (*)(void*)>>;

pthread_key_t key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, [](void* objects) {
            auto* const list = static_cast<Objects*>(objects);
            for (size_t n = list->size(); n-- > 0;) (*list)[n].second((*list)[n].first);
            delete list;
        });
        return made;
    }();
    return key;
}

}  // namespace

void at_thread_end(void* object, void (*destroy)(void*)) {
    auto* list = static_cast<Objects*>(pthread_getspecific(key()));
    if (!list) pthread_setspecific(key(), list = new Objects);
    list->emplace_back(object, destroy);
}

}  // namespace wj::detail
