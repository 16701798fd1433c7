// C interface: context and memory. Modules and dispatches: c_api_launch.cpp.
#include "runtime/c_api_internal.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "frontend/code_object_bytes.h"
#include "machine/checks.h"
#include "runtime/engine_factory.h"
#include "runtime/environment.h"
#include "runtime/launch_plan.h"

using namespace wj;
using namespace wj::c_api;

namespace wj::c_api {

wj_status to_c(Code code) {
    static_assert(static_cast<int>(Code::InvalidArgument) == WJ_INVALID_ARGUMENT);
    static_assert(static_cast<int>(Code::GuestFault) == WJ_GUEST_FAULT);
    static_assert(static_cast<int>(Code::HostError) == WJ_HOST_ERROR);
    return static_cast<wj_status>(code);
}

Result<runtime::DeviceOptions> make_device_options(const wj_context_options& o) {
    runtime::DeviceOptions d;
    if (o.target) d.target = o.target;
    if (o.engine > WJ_ENGINE_AVX512)
        return Status(Code::InvalidArgument,
                      "engine " + std::to_string(o.engine) + " does not exist");
    d.engine = static_cast<runtime::EngineKind>(o.engine);
    if (o.memory_mode > WJ_MEMORY_WINDOW)
        return Status(Code::InvalidArgument,
                      "memory mode " + std::to_string(o.memory_mode) + " does not exist");
    d.memory_mode = static_cast<machine::MemoryMode>(o.memory_mode);
    if (o.window_bytes && o.memory_mode != WJ_MEMORY_WINDOW)
        return Status(Code::InvalidArgument,
                      "window_bytes are given, but the memory mode is not WJ_MEMORY_WINDOW");
    if (o.window_bytes) d.window_bytes = o.window_bytes;
    d.threads = o.threads;
    if (o.threads > 1024) return Status(Code::InvalidArgument, "more than 1024 threads");
    if (o.compute_units) d.compute_units = o.compute_units;
    if (o.slice_instructions) d.slice_instructions = o.slice_instructions;
    d.strict_registers = !o.allow_unallocated_registers;
    d.exclusive_memory = o.exclusive_memory != 0;
    d.cache = o.cache_translations != 0;
    d.hot_blocks = o.count_host_instructions != 0;
    if (o.cache_directory) d.cache_directory = o.cache_directory;
    if (o.coverage > WJ_COVERAGE_COUNTERS)
        return Status(Code::InvalidArgument,
                      "coverage " + std::to_string(o.coverage) + " does not exist");
    d.schedule.deterministic = o.deterministic != 0;
    d.schedule.weak_memory = o.weak_memory != 0;
    static_assert(machine::all_checks == WJ_CHECK_ALL &&
                  uint32_t{machine::check_unaligned} == WJ_CHECK_UNALIGNED &&
                  uint32_t{machine::check_inexact} == WJ_CHECK_INEXACT);
    if (o.checks & ~machine::known_checks)
        return Status(Code::InvalidArgument,
                      "checks " + hex(o.checks & ~machine::known_checks) + " do not exist");
    d.checks = o.checks;
    if (o.check_report) d.reports.checks = o.check_report;
    if (o.check_suppressions) d.reports.suppressions = o.check_suppressions;
    d.coverage.kind = static_cast<runtime::CoverageOptions::Kind>(o.coverage);
    d.coverage.counters = o.coverage_counters;
    d.coverage.size = o.coverage_size;
    d.coverage.divergence = o.coverage_divergence != 0;
    d.coverage.lanes = o.coverage_lanes != 0;
    if (o.coverage_report) d.reports.coverage = o.coverage_report;
    if (o.coverage != WJ_COVERAGE_COUNTERS && (o.coverage_counters || o.coverage_size))
        return Status(Code::InvalidArgument,
                      "coverage_counters are given, but coverage is not WJ_COVERAGE_COUNTERS");
    if (!o.use_environment) return d;
    runtime::report_unknown_variables();
    return runtime::DeviceOptions::from_environment(d);
}

namespace {

wj_status create(const wj_context_options* options, wj_context** context, std::string& error) {
    wj_context_options o;
    if (!context || !read_options(options, o)) {
        error = context ? bad_size : "context is NULL";
        return WJ_INVALID_ARGUMENT;
    }
    *context = nullptr;
    auto device_opts = make_device_options(o);
    if (!device_opts) {
        error = device_opts.status().message();
        return to_c(device_opts.status().code());
    }
    auto device = runtime::Device::create(*device_opts);
    if (!device) {
        error = device.status().message();
        return to_c(device.status().code());
    }
    *context = new wj_context(std::move(*device));
    return WJ_OK;
}

// Host bytes of a device range, or an error that says what is there.
wj_status device_bytes(wj_context* context, uint64_t address, uint64_t size, uint32_t rights,
                       void*& host) {
    memory::AddressSpace& memory = context->device->memory();
    host = memory.translate(address, size, rights);
    if (host && rights & memory::writable) {
        memory.note_write(address, size);
        if (auto* unwritten = context->device->unwritten()) unwritten->write(address, size);
    }
    if (host || !size) return WJ_OK;
    return context->fail(WJ_INVALID_ARGUMENT,
                         std::to_string(size) + " bytes at " + hex(address) + " are not " +
                             (rights & memory::writable ? "writable" : "readable") +
                             " device memory: " + memory.describe(address));
}

// Of host memory that kernels are to reach: empty, or what is wrong with it.
std::string wrong_mapping(const void* host, uint64_t size, uint32_t rights) {
    if (!host) return "host is NULL";
    if (!size) return "size is 0";
    if (size > UINT64_MAX - reinterpret_cast<uint64_t>(host))
        return std::to_string(size) + " bytes from " + hex(reinterpret_cast<uint64_t>(host)) +
               " on are more than there are addresses";
    if (const uint32_t unknown = rights & ~(WJ_READ | WJ_WRITE))
        return "rights " + hex(unknown) + " do not exist; there are WJ_READ and WJ_WRITE";
    return rights ? "" : "rights are 0: WJ_READ, WJ_WRITE or both are wanted";
}

}  // namespace
}  // namespace wj::c_api

wj_context::wj_context(std::unique_ptr<runtime::Device> made)
    : device(std::move(made)),
      target(device->options().target),
      engine(device->engine().name()),
      snapshots(std::make_unique<memory::Snapshots>(device->memory())) {}

wj_context::~wj_context() {
    for (wj_module* module : std::exchange(modules, {})) {
        module->context = nullptr;
        if (module->of_clone) delete module;
    }
}

extern "C" {

const char* wj_status_name(wj_status status) {
    if (status == WJ_NOT_READY) return "not ready";
    if (status < WJ_OK || status > WJ_NOT_READY) return "unknown status";
    return code_name(static_cast<Code>(status));
}

void wj_version(int* major, int* minor) {
    if (major) *major = WJ_VERSION_MAJOR;
    if (minor) *minor = WJ_VERSION_MINOR;
}

wj_status wj_context_create(const wj_context_options* options, wj_context** context, char* error,
                            size_t error_size) {
    wj_status status = WJ_HOST_ERROR;
    try {
        std::string text;
        status = create(options, context, text);
        if (error && error_size) std::snprintf(error, error_size, "%s", text.c_str());
    } catch (const std::exception& e) {
        if (error && error_size) std::snprintf(error, error_size, "%s", e.what());
    }
    return status;
}

void wj_context_destroy(wj_context* context) {
    if (!context || refused_in_callback(context)) return;
    delete context;
}

wj_status wj_context_get_info(wj_context* context, wj_context_info* info) {
    return guarded_in_callbacks(context, [&] {
        const runtime::Device& device = *context->device;
        wj_context_info i{};
        i.target = context->target.c_str();
        i.engine = context->engine.c_str();
        i.memory_mode = static_cast<wj_memory_mode>(device.options().memory_mode);
        i.threads = device.options().threads;
        i.compute_units = device.options().compute_units;
        i.wave_size = device.target().traits.wave_size;
        i.lds_bytes = device.target().traits.lds_bytes;
        i.max_work_group_size = runtime::max_work_group_items;
        return write_struct(info, i) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

const char* wj_last_error(wj_context* context) {
    if (!context) return "";
    std::lock_guard lock(context->error_mutex);
    auto it = context->errors.find(std::this_thread::get_id());
    if (it == context->errors.end()) return "";
    if (const auto* fault = std::get_if<runtime::FaultRecord>(&it->second))
        it->second = fault->text();
    return std::get<std::string>(it->second).c_str();
}

wj_status wj_context_get_counters(wj_context* context, wj_counters* counters) {
    return guarded_in_callbacks(context, [&] {
        runtime::Statistics s = context->device->statistics();
        wj_counters c{};
        c.dispatches = s.dispatches;
        c.work_groups = s.work_groups;
        c.waves = s.waves;
        c.wave_instructions = s.wave_instructions;
        c.execution_ns = s.execution_ns;
        c.blocks_translated = s.engine.blocks_translated;
        c.instructions_translated = s.engine.instructions_translated;
        c.host_code_bytes = s.engine.host_code_bytes;
        c.translation_ns = s.engine.translation_ns;
        c.interpreter_fallbacks = s.engine.interpreted;
        c.blocks_loaded = s.engine.blocks_loaded;
        c.blocks_stored = s.engine.blocks_stored;
        c.host_instructions = s.engine.host_instructions;
        c.host_calls = s.engine.host_calls;
        return write_struct(counters, c) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_context_get_hot_blocks(wj_context* context, size_t most, char* text, size_t size,
                                    size_t* needed) {
    return guarded_in_callbacks(context, [&] {
        const std::string all = context->device->engine().hot_blocks(most);
        if (needed) *needed = all.size() + 1;
        if (size) {
            const size_t part = std::min(all.size(), size - 1);
            std::memcpy(text, all.data(), part);
            text[part] = 0;
        }
        return WJ_OK;
    });
}

wj_status wj_memory_allocate(wj_context* context, uint64_t size, uint64_t* address) {
    return guarded(context, [&] {
        if (!address) return context->fail(WJ_INVALID_ARGUMENT, "address is NULL");
        auto made = context->device->memory().allocate(size, memory::read_write,
                                                       "wj_memory_allocate", memory::Extent::Bytes);
        if (!made) return context->fail(made.status());
        *address = *made;
        if (auto* unwritten = context->device->unwritten()) unwritten->add(*made, size);
        return WJ_OK;
    });
}

wj_status wj_memory_free(wj_context* context, uint64_t address) {
    return guarded(context, [&] {
        if (auto* unwritten = context->device->unwritten()) unwritten->remove(address);
        Status status = context->device->memory().free(address);
        return status ? WJ_OK : context->fail(status);
    });
}

wj_status wj_memory_register(wj_context* context, void* host, uint64_t size, uint32_t rights,
                             uint64_t* address) {
    return guarded(context, [&] {
        if (const std::string wrong = wrong_mapping(host, size, rights); !wrong.empty() || !address)
            return context->fail(WJ_INVALID_ARGUMENT,
                                 "wj_memory_register: " + (address ? wrong : "address is NULL"));
        const uint64_t guest = reinterpret_cast<uint64_t>(host);
        const Status status =
            context->device->memory().map(guest, host, size, rights, "registered host memory");
        if (!status) return context->fail(status);
        *address = guest;
        return WJ_OK;
    });
}

wj_status wj_memory_map(wj_context* context, uint64_t address, void* host, uint64_t size,
                        uint32_t rights) {
    return guarded(context, [&] {
        if (const std::string wrong = wrong_mapping(host, size, rights); !wrong.empty())
            return context->fail(WJ_INVALID_ARGUMENT, "wj_memory_map: " + wrong);
        if (context->device->options().memory_mode != machine::MemoryMode::Checked)
            return context->fail(WJ_INVALID_ARGUMENT,
                                 "wj_memory_map needs checked memory: in the other modes kernels "
                                 "see memory at the host's addresses (wj_memory_register)");
        const auto map = [&](memory::AddressSpace& memory) {
            return memory.map(address, host, size, rights, "mapped host memory");
        };
        if (address != reinterpret_cast<uint64_t>(host))
            return map_at(context, "wj_memory_map", address, size, map);
        const Status status = map(context->device->memory());
        return status ? WJ_OK : context->fail(status);
    });
}

wj_status wj_memory_unregister(wj_context* context, uint64_t address) {
    return guarded(context, [&] {
        std::lock_guard lock(context->mapped_mutex);
        Status status = context->device->memory().unmap(address);
        if (!status) return context->fail(status);
        const auto reserved = context->mapped.find(address);
        if (reserved != context->mapped.end()) context->mapped.erase(reserved);
        return WJ_OK;
    });
}

wj_status wj_memory_write(wj_context* context, uint64_t to, const void* from, uint64_t size) {
    return guarded_in_callbacks(context, [&] {
        if (!from && size) return context->fail(WJ_INVALID_ARGUMENT, "from is NULL");
        void* host;
        wj_status status = device_bytes(context, to, size, memory::writable, host);
        if (status == WJ_OK && size) std::memcpy(host, from, size);
        return status;
    });
}

wj_status wj_memory_read(wj_context* context, void* to, uint64_t from, uint64_t size) {
    return guarded_in_callbacks(context, [&] {
        if (!to && size) return context->fail(WJ_INVALID_ARGUMENT, "to is NULL");
        void* host;
        wj_status status = device_bytes(context, from, size, memory::readable, host);
        if (status == WJ_OK && size) std::memcpy(to, host, size);
        return status;
    });
}

wj_status wj_memory_copy(wj_context* context, uint64_t to, uint64_t from, uint64_t size) {
    return guarded_in_callbacks(context, [&] {
        void *target, *source;
        wj_status status = device_bytes(context, to, size, memory::writable, target);
        if (status == WJ_OK) status = device_bytes(context, from, size, memory::readable, source);
        if (status == WJ_OK && size) std::memmove(target, source, size);
        auto* const unwritten = context->device->unwritten();
        if (status == WJ_OK && unwritten) unwritten->copy(to, from, size);
        return status;
    });
}

wj_status wj_memory_fill(wj_context* context, uint64_t to, const void* pattern, size_t pattern_size,
                         uint64_t size) {
    return guarded_in_callbacks(context, [&] {
        if (!pattern || !pattern_size || pattern_size > 16 || size % pattern_size)
            return context->fail(
                WJ_INVALID_ARGUMENT,
                "a fill pattern has 1 to 16 bytes and the size is a multiple of it");
        void* host;
        wj_status status = device_bytes(context, to, size, memory::writable, host);
        if (status != WJ_OK || !size) return status;
        auto* at = static_cast<uint8_t*>(host);
        std::memcpy(at, pattern, pattern_size);
        for (uint64_t done = pattern_size; done < size;) {
            uint64_t part = std::min(done, size - done);
            std::memcpy(at + done, at, part);
            done += part;
        }
        return WJ_OK;
    });
}

wj_status wj_memory_host_pointer(wj_context* context, uint64_t address, uint64_t size,
                                 uint32_t rights, void** host) {
    return guarded_in_callbacks(context, [&] {
        if (!host) return context->fail(WJ_INVALID_ARGUMENT, "host is NULL");
        const wj_status status = device_bytes(context, address, size, rights, *host);
        if (status != WJ_OK || !(rights & WJ_WRITE)) return status;
        context->snapshots->add_host_range(address, size);
        // From here on nobody knows what the host writes.
        memory::Allocation allocation;
        auto* const unwritten = context->device->unwritten();
        if (unwritten && context->device->memory().find(address, allocation))
            unwritten->give_away(allocation.guest);
        return status;
    });
}

}  // extern "C"
