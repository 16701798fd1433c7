#include "bench/yardstick/backend_wavejit.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace yardstick {
namespace {

// WJ_INIT for C++, where it would warn of missing initializers.
template <class T>
T sized() {
    T t{};
    t.size = sizeof t;
    return t;
}

bool holds_zeros(const Buffer& buffer) {
    const auto* const bytes = static_cast<const char*>(buffer.host);
    return !bytes[0] && !std::memcmp(bytes, bytes + 1, buffer.bytes - 1);
}

}  // namespace

std::unique_ptr<WavejitBackend> WavejitBackend::create(const WavejitOptions& options,
                                                       std::string& error) {
    static const std::map<std::string, wj_engine> engines = {{"auto", WJ_ENGINE_AUTO},
                                                             {"interp", WJ_ENGINE_INTERPRETER},
                                                             {"avx2", WJ_ENGINE_AVX2},
                                                             {"avx512", WJ_ENGINE_AVX512}};
    auto engine = engines.find(options.engine);
    if (engine == engines.end()) {
        error = "no engine is called " + options.engine;
        return nullptr;
    }
    wj_context_options o = sized<wj_context_options>();
    const std::string processor = options.target.substr(0, options.target.find('-'));
    o.target = processor.c_str();
    o.engine = engine->second;
    o.threads = options.threads;
    o.exclusive_memory = 1;  // the host waits for each launch
    o.memory_mode = options.memory == "checked"  ? WJ_MEMORY_CHECKED
                    : options.memory == "window" ? WJ_MEMORY_WINDOW
                                                 : WJ_MEMORY_IDENTITY;
    o.cache_translations = !options.cache.empty();
    o.cache_directory = options.cache.c_str();
    o.count_host_instructions = options.count;
    // docs/howto/look-at-host-code.md, checkers; nothing else of the environment is wanted in a
    // measurement.
    o.use_environment = std::getenv("WAVEJIT_PLANS") || std::getenv("WAVEJIT_CHECK");
    wj_context* context = nullptr;
    char reason[512] = "";
    if (wj_context_create(&o, &context, reason, sizeof reason) != WJ_OK) {
        error = reason;
        return nullptr;
    }
    return std::unique_ptr<WavejitBackend>(new WavejitBackend(options, context));
}

WavejitBackend::~WavejitBackend() {
    wj_context_destroy(context_);
}

void WavejitBackend::require(wj_status status, const std::string& what) {
    if (status != WJ_OK)
        fail(what + ": " + wj_status_name(status) + ": " + wj_last_error(context_));
}

std::string WavejitBackend::describe() {
    wj_context_info info = sized<wj_context_info>();
    require(wj_context_get_info(context_, &info), "context");
    return std::string("wavejit ") + info.target + " " + info.engine + " " +
           std::to_string(info.threads) + " threads";
}

void WavejitBackend::load(Bench& bench) {
    std::string stem = bench.file.substr(0, bench.file.rfind('.'));
    std::string path = options_.code_objects + "/" + options_.target + "/" + stem + ".hsaco";
    require(wj_module_load_file(context_, path.c_str(), &module_), path);
    for (Buffer& buffer : bench.bufs) {
        uint64_t address = 0;
        require(copies() ? wj_memory_allocate(context_, mapped(buffer.bytes), &address)
                         : wj_memory_register(context_, buffer.host, buffer.bytes,
                                              WJ_READ | WJ_WRITE, &address),
                "buffer");
        addresses_.push_back(address);
    }
    // Memory that is allocated holds zeros: what kernels begin with is what they have to write.
    for (size_t b = 0; copies() && b < addresses_.size(); b++)
        if (!holds_zeros(bench.bufs[b]) || !bench.bufs[b].init.empty()) write(bench, b);
    launches_.resize(bench.launches.size());
    for (size_t i = 0; i < bench.launches.size(); i++) {
        const Launch& launch = bench.launches[i];
        Prepared& p = launches_[i];
        require(wj_module_get_kernel(module_, launch.kernel.c_str(), &p.kernel), launch.kernel);
        p.values.resize(launch.args.size());
        for (size_t a = 0; a < launch.args.size(); a++) {
            const Arg& arg = launch.args[a];
            bool pointer = arg.kind == Arg::Buf;
            p.values[a] = pointer ? addresses_[arg.buf] : arg.u;
            p.arguments.push_back({&p.values[a], size_t(pointer ? 8 : 4)});
        }
        p.options = sized<wj_launch_options>();
        for (int d = 0; d < 3; d++) {
            p.options.grid[d] = uint32_t(launch.global[d]);
            p.options.block[d] = uint32_t(launch.local[d]);
        }
        p.options.arguments = p.arguments.data();
        p.options.argument_count = uint32_t(p.arguments.size());
        if (options_.prepared)
            require(wj_launch_prepare(p.kernel, &p.options, &p.prepared), launch.kernel);
    }
}

void WavejitBackend::to_device(Bench& bench) {
    if (!copies()) return bench.restore();
    for (size_t b = 0; b < addresses_.size(); b++)
        if (const auto& init = bench.bufs[b].init; !init.empty())
            require(wj_memory_write(context_, addresses_[b], init.data(), init.size()), "buffer");
}

void WavejitBackend::all_to_device(Bench& bench) {
    if (!copies()) return;
    for (size_t b = 0; b < addresses_.size(); b++) write(bench, b);
}

void WavejitBackend::write(const Bench& bench, size_t b) {
    require(wj_memory_write(context_, addresses_[b], bench.bufs[b].host, bench.bufs[b].bytes),
            "buffer");
}

void WavejitBackend::to_host(Bench& bench) {
    if (!copies()) return;
    for (size_t b = 0; b < addresses_.size(); b++)
        require(wj_memory_read(context_, bench.bufs[b].host, addresses_[b], bench.bufs[b].bytes),
                "buffer");
}

double WavejitBackend::run(Bench& bench) {
    double begin = now();
    for (size_t i = 0; i < launches_.size(); i++) {
        const Prepared& p = launches_[i];
        require(p.prepared ? wj_prepared_launch(p.prepared, nullptr)
                           : wj_launch(p.kernel, &p.options, nullptr),
                bench.launches[i].kernel);
    }
    return now() - begin;
}

void WavejitBackend::unload(Bench&) {
    for (const Prepared& p : launches_) wj_prepared_release(p.prepared);
    launches_.clear();
    for (uint64_t address : addresses_)
        require(
            copies() ? wj_memory_free(context_, address) : wj_memory_unregister(context_, address),
            "buffer");
    addresses_.clear();
    wj_module_unload(module_);
    module_ = nullptr;
}

wj_counters WavejitBackend::counters() {
    wj_counters c = sized<wj_counters>();
    require(wj_context_get_counters(context_, &c), "counters");
    return c;
}

}  // namespace yardstick
