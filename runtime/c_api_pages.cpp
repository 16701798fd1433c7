// C interface: rights of pages, and pages whose accesses are calls.
#include "frontend/code_object_bytes.h"
#include "memory/page_hooks.h"
#include "memory/pages.h"
#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

namespace {

// Empty, or why rights cannot be given to these bytes of what lies at `address`.
std::string no_pages(const memory::AddressSpace& memory, uint64_t address, uint64_t size) {
    memory::Allocation a;
    const bool known = memory.find(address, a);
    if (!known || !size || size > a.size - (address - a.guest))
        return "they are not in one allocation or mapping: " + memory.describe(address);
    if (a.extent != memory::Extent::Bytes)
        return "that is no memory of wj_memory_allocate, _register or _map: " +
               memory.describe(address);
    const uint64_t end = address + size;
    const bool begins = address == a.guest || memory::page_floor(address) == address;
    const bool ends = end == a.guest + a.size || memory::page_floor(end) == end;
    if (begins && ends) return {};
    return "rights are those of pages of 4 KiB, and these bytes are a part of one: " +
           memory.describe(begins ? end : address);
}

// Calls the embedder's functions.
struct HookedDevice {
    const wj_context* context;
    wj_page_hooks hooks;

    static int load(void* self, uint64_t address, uint32_t bytes, uint32_t* value) {
        const auto& d = *static_cast<const HookedDevice*>(self);
        const Callback within(d.context);
        return d.hooks.load(d.hooks.context, address, bytes, value);
    }
    static int store(void* self, uint64_t address, uint32_t bytes, uint32_t value) {
        const auto& d = *static_cast<const HookedDevice*>(self);
        const Callback within(d.context);
        return d.hooks.store(d.hooks.context, address, bytes, value);
    }
};

memory::PageHooks page_hooks(const wj_context* context, const wj_page_hooks& hooks) {
    const auto device = std::make_shared<HookedDevice>(HookedDevice{context, hooks});
    return {device.get(), hooks.load ? HookedDevice::load : nullptr,
            hooks.store ? HookedDevice::store : nullptr, device};
}

}  // namespace

extern "C" {

wj_status wj_memory_protect(wj_context* context, uint64_t address, uint64_t size, uint32_t rights) {
    return guarded(context, [&] {
        const auto fail = [&](const std::string& why) {
            return context->fail(WJ_INVALID_ARGUMENT, "wj_memory_protect of " +
                                                          std::to_string(size) + " bytes at " +
                                                          hex(address) + ": " + why);
        };
        if (rights & ~(WJ_READ | WJ_WRITE))
            return fail("rights " + hex(rights & ~(WJ_READ | WJ_WRITE)) +
                        " do not exist; there are WJ_READ, WJ_WRITE and 0. What is executed is the "
                        "code of modules alone");
        memory::AddressSpace& memory = context->device->memory();
        if (const std::string why = no_pages(memory, address, size); !why.empty()) return fail(why);
        const Status status = memory.protect(address, size, rights);
        return status ? WJ_OK : context->fail(status);
    });
}

wj_status wj_memory_hook(wj_context* context, uint64_t address, uint64_t size,
                         const wj_page_hooks* hooks) {
    return guarded(context, [&] {
        wj_page_hooks h;
        if (!hooks || !read_options(hooks, h)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        if (!h.load && !h.store)
            return context->fail(WJ_INVALID_ARGUMENT,
                                 "wj_memory_hook needs a function for loads or one for stores");
        if (context->device->options().memory_mode != machine::MemoryMode::Checked)
            return context->fail(WJ_INVALID_ARGUMENT,
                                 "wj_memory_hook needs checked memory: in the other modes nothing "
                                 "looks at accesses (WJ_MEMORY_CHECKED)");
        return map_at(context, "wj_memory_hook", address, size, [&](memory::AddressSpace& memory) {
            return memory.hook(address, size, page_hooks(context, h));
        });
    });
}

}  // extern "C"
