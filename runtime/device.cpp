#include "runtime/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "common/fork.h"
#include "frontend/code_object_bytes.h"
#include "interpreter/interpreter.h"
#include "machine/checks.h"
#include "machine/guard.h"
#include "machine/unwritten_memory.h"
#include "memory/clone.h"
#include "memory/labels.h"
#include "runtime/call_stack.h"
#include "runtime/capture.h"
#include "runtime/capture_folder.h"
#include "runtime/coverage_report.h"
#include "runtime/engine_factory.h"
#include "runtime/findings.h"
#include "runtime/module.h"
#include "runtime/not_emulated.h"
#include "runtime/scheduler.h"
#include "runtime/service_memory.h"
#include "runtime/unassigned_uses.h"

namespace wj::runtime {
namespace {

uint32_t processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<uint32_t>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
}

// Layouts: hsa_kernel_dispatch_packet_t (64 bytes) and amd_queue_t (256 bytes, SEED-DISP-18..31).
struct KernelDispatchPacket {
    uint16_t header, setup;
    uint16_t workgroup_size[3], reserved0;
    uint32_t grid_size[3];
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
};
static_assert(sizeof(KernelDispatchPacket) == 64);
constexpr uint64_t amd_queue_bytes = 256;

// When a device goes.
void tell(const Status& status) {
    if (!status) std::fprintf(stderr, "wavejit: %s\n", status.message().c_str());
}

class DeviceImpl final : public Device {
public:
    DeviceImpl(DeviceOptions options, const Target& target)
        : options_(std::move(options)),
          target_(target),
          other_waves_(with_wave_size(target, 96 - target.traits.wave_size)),
          service_(memory_, memory::service_label) {
        if (options_.memory_mode == machine::MemoryMode::Checked) memory_.leave_host_pages();
    }

    ~DeviceImpl() override {
        if (left_behind()) {  // their threads and locks are those of another process
            (void)scheduler_.release();
            new std::shared_ptr(shared_);
        } else {
            scheduler_.reset();  // no dispatch runs from here on
            if (options_.coverage_to) {
                collect_coverage();
                tell(options_.coverage_to->write_at_end(options_.reports));
            }
            if (captures_) tell(captures_->outcome());
            if (shared_) shared_->remove(this);
        }
        std::lock_guard lock(modules_mutex_);
        for (Entry& entry : modules_)
            if (auto module = entry.weak.lock()) module->detach();
    }

    // As a clone of `original`, or on its own.
    Status start(const DeviceImpl* original = nullptr) {
        if (original)
            coverage_ = original->coverage_;
        else if (Status status = start_coverage(); !status)
            return status;
        if (options_.memory_mode == machine::MemoryMode::Window)
            if (Status status = memory_.confine(options_.window_bytes); !status) return status;
        if (coverage_.counters) {
            coverage_.places = this;
            coverage_.place = [](const void* device, uint64_t pc) {
                return static_cast<const DeviceImpl*>(device)->place(pc);
            };
        }
        if (Status status = options_.check(); !status) return status;
        if (options_.checks & machine::check_memory) memory_.keep_freed_addresses();
        if (const auto& c = options_.captures; !c.folder.empty()) {
            captures_ = std::make_unique<CaptureFolder>(c.folder, c.kernels, c.count);
            if (Status status = captures_->open(); !status) return status;
        }
        // Code that counts edges or time, or checks, is this device's own.
        if (coverage_.counters || options_.schedule.deterministic || options_.checks)
            options_.cache = false;
        if (options_.schedule.deterministic) options_.threads = 1;
        if (options_.checks & (machine::check_waitcnt | machine::check_inexact) ||
            options_.schedule.weak_memory)
            options_.engine = EngineKind::Interpreter;
        if (!options_.findings) {
            options_.findings = std::make_shared<Findings>();
            if (Status status =
                    options_.findings->open(options_.reports.checks, options_.reports.suppressions);
                !status)
                return status;
        }
        if (original) {
            shared_ = original->shared_;
        } else {
            shared_ = std::make_shared<Shared>();
            auto engine = make_engine(options_, target_, [shared = shared_.get()](uint64_t pc) {
                return shared->symbol(pc);
            });
            if (!engine) return engine.status();
            shared_->engine = std::move(*engine);
        }
        if (options_.checks & machine::check_init && (original || !options_.unwritten))
            options_.unwritten = std::make_shared<machine::UnwrittenMemory>();
        if (original && original->unwritten())
            options_.unwritten->restore(original->options_.unwritten->save());
        shared_->add(this);
        options_.engine = choose_engine(options_.engine);
        if (options_.memory_mode != machine::MemoryMode::Checked &&
            !machine::install_fault_handler())
            return {Code::HostError,
                    "the handler for guest memory faults could not be installed; use "
                    "WAVEJIT_MEMORY=checked"};
        auto queue = service_.allocate(amd_queue_bytes);
        if (!queue) return queue.status();
        queue_ = std::move(*queue);
        auto put = [&](uint32_t offset, uint32_t value) {
            std::memcpy(reinterpret_cast<void*>(queue_.address() + offset), &value, 4);
        };
        put(64, static_cast<uint32_t>(machine::shared_aperture >> 32));
        put(68, static_cast<uint32_t>(machine::private_aperture >> 32));
        put(72, options_.compute_units - 1);
        put(76, 39);
        put(136, 128);
        if (!options_.threads) options_.threads = processors();
        scheduler_ = std::make_unique<Scheduler>(options_, target_, memory_, engine(),
                                                 shared_->used, options_.threads,
                                                 coverage_.counters ? &coverage_ : nullptr);
        return Status::ok();
    }

    const DeviceOptions& options() const override { return options_; }
    const Target& target() const override { return target_; }
    machine::Engine& engine() override { return *shared_->engine; }
    memory::AddressSpace& memory() override { return memory_; }
    uint64_t default_queue() const override { return queue_.address(); }
    bool help(uint64_t max_ns) override { return scheduler_->help(max_ns); }
    void set_look_around(void (*look)()) override { scheduler_->set_look_around(look); }
    void set_alias_bit47(bool on) override {
        scheduler_->set_address_mask(on ? ~(uint64_t{1} << 47) : ~uint64_t{0});
    }
    Statistics statistics() const override {
        Statistics s = scheduler_->statistics();
        s.engine = shared_->engine->counters();
        s.engine.wave_instructions = s.wave_instructions;
        s.engine.interpreted = s.interpreted;
        return s;
    }

    Findings& findings() override { return *options_.findings; }
    machine::UnwrittenMemory* unwritten() const override {
        return options_.checks & machine::check_init ? options_.unwritten.get() : nullptr;
    }

    void collect_coverage() override {
        if (!options_.coverage_to) return;
        for (const auto& module : loaded_modules()) report_coverage(*module);
    }
    Status write_coverage(const std::string& path) override {
        if (!options_.coverage_to)
            return {Code::InvalidArgument,
                    "nothing is counted for reports: name a file in coverage_report or "
                    "WAVEJIT_COVERAGE when the GPU is made"};
        collect_coverage();
        return options_.coverage_to->write(path);
    }

    Status write_reports() override {
        if (!options_.coverage_to) return Status::ok();
        collect_coverage();
        return options_.coverage_to->write(options_.reports);
    }

    bool idle() const override { return scheduler_->idle(); }
    bool left_behind() const override { return shared_ && shared_->used.left_behind(); }

    Result<std::shared_ptr<Module>> load(std::span<const std::byte> code_object) override {
        auto module = ModuleImpl::load(code_object, options_.target, memory_);
        if (!module) return module.status();
        if (!(*module)->linked()) {
            const auto others = loaded_modules();
            Status status = (*module)->link([&](std::string_view name) -> std::optional<uint64_t> {
                for (const auto& other : others)
                    if (auto address = other->find_definition(name)) {
                        (*module)->uses.push_back(other);
                        return address;
                    }
                return std::nullopt;
            });
            if (!status) return status;
        }
        return enter(*module);
    }

    Result<std::shared_ptr<Module>> load_unlinked(std::span<const std::byte> code_object) override {
        auto module = ModuleImpl::load(code_object, options_.target, memory_);
        if (!module) return module.status();
        return enter(*module);
    }

    Status patch(Module& module, uint64_t address, std::span<const std::byte> bytes, uint64_t begin,
                 uint64_t end) override {
        if (shared_->count() > 1)
            return {Code::InvalidArgument,
                    "code of a context that has clones cannot be changed, as they share "
                    "translations: change it before, and clone then"};
        Status status = static_cast<ModuleImpl&>(module).patch(address, bytes);
        if (status) forget_code(begin, end);
        return status;
    }

    Result<Clone> clone() override {
        if (options_.memory_mode != machine::MemoryMode::Checked)
            return Status(Code::InvalidArgument,
                          "only a context with checked memory can be cloned: with identity memory "
                          "the guest's addresses are the host's, which a copy cannot have, too "
                          "(WJ_MEMORY_CHECKED)");
        if (left_behind()) return Status(Code::HostError, left_behind_text);
        auto device = std::make_unique<DeviceImpl>(options_, target_);
        Status status = memory::clone_memory(memory_, device->memory_);
        if (status) status = device->start(this);
        if (!status) return status;
        Clone made;
        std::vector<std::pair<ModuleImpl*, const ModuleImpl*>> copies;
        for (const auto& module : loaded_modules()) {
            auto copy = module->clone(device->memory_);
            if (!copy) return copy.status();
            made.modules[module.get()] = device->enter(*copy);
            copies.emplace_back(copy->get(), module.get());
        }
        for (const auto& [copy, module] : copies)
            for (const auto& used : module->uses)
                copy->uses.push_back(
                    std::static_pointer_cast<ModuleImpl>(made.modules.at(used.get())));
        made.device = std::move(device);
        return made;
    }

    // With the memory of `capture`, instead of start() alone.
    Status start(const Capture& capture) {
        if (options_.memory_mode == machine::MemoryMode::Window)
            return {Code::InvalidArgument,
                    "captured memory has addresses of its own, which are outside of a window: use "
                    "checked or identity memory"};
        auto placed = memory::put_image(capture.image, memory_,
                                        options_.memory_mode == machine::MemoryMode::Identity);
        if (!placed) return placed.status();
        placed_ = std::move(*placed);
        return start();
    }

    Result<std::vector<std::shared_ptr<Module>>> restore_modules(const Capture& capture) {
        std::vector<std::shared_ptr<Module>> modules;
        for (const Capture::Code& code : capture.code) {
            auto module = ModuleImpl::restore(code.file, code.address, options_.target, memory_);
            if (!module) return module.status();
            modules.push_back(enter(*module));
        }
        return modules;
    }

    Result<Capture> capture(const std::shared_ptr<Module>& holder) override {
        if (left_behind()) return Status(Code::HostError, left_behind_text);
        std::vector<std::shared_ptr<ModuleImpl>> modules{
            std::static_pointer_cast<ModuleImpl>(holder)};
        for (size_t i = 0; i < modules.size(); i++)
            for (const auto& used : modules[i]->uses)
                if (std::ranges::find(modules, used) == modules.end()) modules.push_back(used);
        Capture made;
        made.target = options_.target;
        made.compute_units = options_.compute_units;
        for (const auto& module : modules) {
            made.code.push_back({module->load_address(), module->file_bytes()});
            made.holders.push_back(module);
        }
        made.image = memory::take_image(memory_, [&](const memory::Allocation& a) {
            if (a.label == memory::service_label) return false;
            return !(a.rights & memory::executable) ||
                   std::ranges::find(modules, a.guest, &ModuleImpl::load_address) != modules.end();
        });
        return made;
    }
    CaptureFolder* captures() override { return captures_.get(); }
    CallStack call_stack(const StoppedWave& stopped) override {
        const machine::Wave& wave = *stopped.wave;
        const FindModule find = [&](uint64_t pc) { return module_at(pc); };
        return describe_stack(find, wave.pc,
                              find_callers(memory_, *stopped.target, find, wave, wave.pc));
    }
    std::shared_ptr<Module> module_of(uint64_t kernel_object) override {
        std::shared_ptr<ModuleImpl> module;
        (void)find_kernel(kernel_object, module);
        return module;
    }

    Result<std::shared_ptr<Dispatch>> dispatch(const DispatchRequest& request,
                                               std::function<void(const DispatchResult&)> on_done,
                                               const std::shared_ptr<Module>& holder) override {
        auto state = make_dispatch(request, holder);
        if (!state) return state.status();
        (*state)->on_done = options_.reports.fidelity.empty() ? std::move(on_done)
                                                              : noting_refused(std::move(on_done));
        if ((*state)->keeps_waves()) (*state)->kept = DispatchState::Kept::ForOneRun;
        if (Status status = scheduler_->submit(*state); !status) return status;
        return std::shared_ptr<Dispatch>(std::move(*state));
    }

    Result<std::unique_ptr<PreparedLaunch>> prepare(
        const DispatchRequest& request, const std::shared_ptr<Module>& holder) override {
        auto state = make_dispatch(request, holder);
        if (!state) return state.status();
        if ((*state)->plan.kernel.kernarg_preload_length)
            return Status(Code::Unimplemented,
                          "kernel '" + (*state)->kernel_name +
                              "' gets arguments in registers (kernarg preload): its launches "
                              "cannot be prepared, use wj_launch");
        return std::unique_ptr<PreparedLaunch>(new Prepared(*this, request, std::move(*state)));
    }

private:
    class Prepared final : public PreparedLaunch {
    public:
        Prepared(DeviceImpl& device, const DispatchRequest& request,
                 std::shared_ptr<DispatchState> state)
            : device_(device), request_(request), bytes_(request.arguments.size()) {
            keep(std::move(state));
        }
        ~Prepared() override { let_go(); }
        std::span<std::byte> arguments() override {
            return {reinterpret_cast<std::byte*>(state_->plan.request.kernarg_address), bytes_};
        }
        Status run(bool timed) override {
            if (device_.left_behind()) return Status(Code::HostError, left_behind_text);
            if (state_->module->patches() != patches_) [[unlikely]]
                if (Status status = plan_again(); !status) return status;
            if (std::exchange(ran_, true)) state_->restart();
            return device_.scheduler_->run(state_, timed);
        }
        const DispatchResult& result() const override { return state_->result(); }
        std::vector<StoppedWave> stopped_waves() const override { return state_->stopped_waves(); }

    private:
        void keep(std::shared_ptr<DispatchState> state) {
            state_ = std::move(state);
            state_->kept = DispatchState::Kept::ForOneRun;
            patches_ = state_->module->patches();
            ran_ = false;
        }
        // A thread that has run it may be about to let go of the state, later than the program of
        // the module and the device.
        void let_go() {
            state_->module.reset();
            state_->piece = {};
        }
        // What the plan says of the code was true of another one.
        Status plan_again() {
            request_.arguments = arguments();
            auto state = device_.make_dispatch(request_, state_->module);
            if (!state) return state.status();
            let_go();
            keep(std::move(*state));
            return Status::ok();
        }

        DeviceImpl& device_;
        DispatchRequest request_;
        const size_t bytes_;
        std::shared_ptr<DispatchState> state_;
        uint32_t patches_ = 0;
        bool ran_ = false;
    };

    Result<std::shared_ptr<DispatchState>> make_dispatch(const DispatchRequest& request,
                                                         const std::shared_ptr<Module>& holder) {
        if (left_behind()) return Status(Code::HostError, left_behind_text);
        auto module = std::static_pointer_cast<ModuleImpl>(holder);
        const KernelInfo* kernel = module ? module->kernel_at(request.kernel_object)
                                          : find_kernel(request.kernel_object, module);
        if (!kernel)  // SEED-DISP-07
            return Status(Code::NotFound, "no loaded code object has a kernel object at " +
                                              hex(request.kernel_object) + ": " +
                                              memory_.describe(request.kernel_object));
        if (!module->linked())
            return Status(Code::InvalidArgument,
                          "kernel '" + kernel->name +
                              "': its code object refers to symbols that are not resolved yet; "
                              "freeze the executable first");
        DispatchRequest complete = request;
        complete.deterministic = options_.schedule.deterministic;
        complete.checks = options_.checks;
        complete.weak_memory = options_.schedule.weak_memory;
        if (!complete.schedule_seed) complete.schedule_seed = options_.schedule.seed;
        complete.kept_waves = scheduler_->kept(complete.kept_waves);
        if (!complete.queue_address) complete.queue_address = queue_.address();
        ServiceMemory::Piece piece;
        if (const uint64_t bytes = service_bytes(request)) {
            auto made = service_.allocate(bytes);
            if (!made) return made.status();
            piece = std::move(*made);
            place_service(complete, piece.address());
        }
        const Target& target =
            kernel->descriptor.wave_size == target_.traits.wave_size ? target_ : *other_waves_;
        auto plan = make_launch_plan(
            target, options_, *kernel, module->code_of(*kernel, target), complete, memory_,
            {module->stores_columns.of(request.kernel_object), engine().prefetch()});
        if (!plan) return plan.status();
        // Registers with two names would have two shadows.
        plan->code.watches_bits = !plan->code.sgpr_aliases && watches_bits(*plan, complete.checks);
        auto state = std::make_shared<DispatchState>(*scheduler_, *plan, kernel->name);
        if (complete.checks)
            state->findings =
                std::make_unique<DispatchFindings>(*state, memory_, findings(), unwritten());
        if (complete.hooks)
            state->hooked = interp::make_interpreter(target, {.hooks = complete.hooks.get()});
        state->module = std::move(module);
        state->before.patches = state->module->patches();
        state->piece = std::move(piece);
        return state;
    }

    bool watches_bits(const LaunchPlan& plan, uint32_t checks) {
        if (checks & machine::check_inexact) return true;
        return checks & machine::check_init &&
               (!plan.named_by_code() || unassigned_uses_.possible(plan, memory_));
    }

    // For the fidelity report.
    std::function<void(const DispatchResult&)> noting_refused(
        std::function<void(const DispatchResult&)> on_done) {
        return [report = options_.coverage_to,
                on_done = std::move(on_done)](const DispatchResult& result) {
            if (result.code == Code::Unimplemented) {
                FaultRecord fault = result.fault;
                fault.make_texts();
                report->add_refused(fault);
            }
            if (on_done) on_done(result);
        };
    }

    struct Entry {
        ModuleImpl* module;
        std::weak_ptr<ModuleImpl> weak;
    };

    // What a device and its clones have together. Code is at one address in all of them that have
    // it, and no other code of theirs is there as long as one of them has it (memory/clone.h).
    struct Shared {
        ForkGuard used;
        std::unique_ptr<machine::Engine> engine;

        void add(DeviceImpl* device) {
            std::lock_guard lock(mutex_);
            devices_.push_back(device);
        }
        size_t count() {
            std::lock_guard lock(mutex_);
            return devices_.size();
        }
        void remove(DeviceImpl* device) {
            std::lock_guard lock(mutex_);
            std::erase(devices_, device);
        }
        std::string symbol(uint64_t pc) {
            std::lock_guard lock(mutex_);
            for (DeviceImpl* device : devices_)
                if (std::string text = device->symbol(pc); !text.empty()) return text;
            return {};
        }

    private:
        std::mutex mutex_;
        std::vector<DeviceImpl*> devices_;
    };

    std::shared_ptr<Module> enter(const std::shared_ptr<ModuleImpl>& module) {
        module->on_unload = [this](ModuleImpl& m) { unload(m); };
        std::lock_guard lock(modules_mutex_);
        modules_.push_back({module.get(), module});
        return module;
    }

    // To be let go of without the lock, as the last one to do so unloads the module.
    std::vector<std::shared_ptr<ModuleImpl>> loaded_modules() {
        std::vector<std::shared_ptr<ModuleImpl>> list;
        std::lock_guard lock(modules_mutex_);
        for (Entry& entry : modules_)
            if (auto module = entry.weak.lock()) list.push_back(std::move(module));
        return list;
    }

    const KernelInfo* find_kernel(uint64_t kernel_object, std::shared_ptr<ModuleImpl>& module) {
        std::lock_guard lock(modules_mutex_);
        // Only the wanted module is held: to let go of another one here, which might be the last to
        // do so, would unload it with the lock taken.
        for (Entry& entry : modules_) {
            if (!entry.module->contains(kernel_object)) continue;
            module = entry.weak.lock();
            return module ? module->kernel_at(kernel_object) : nullptr;
        }
        return nullptr;
    }

    std::shared_ptr<const ModuleImpl> module_at(uint64_t pc) {
        std::lock_guard lock(modules_mutex_);
        for (const Entry& entry : modules_)
            if (entry.module->contains(pc)) return entry.weak.lock();
        return nullptr;
    }

    // For profilers. A module that goes away waits in unload() until it is not looked at.
    std::string symbol(uint64_t pc) {
        std::lock_guard lock(modules_mutex_);
        for (const Entry& entry : modules_)
            if (entry.module->contains(pc)) return entry.module->where(pc);
        return {};
    }

    // machine::Coverage::place
    uint64_t place(uint64_t pc) const {
        std::lock_guard lock(modules_mutex_);
        for (const Entry& entry : modules_)
            if (entry.module->contains(pc)) return entry.module->place(pc);
        return pc;
    }

    // Counters are the fuzzer's or the embedder's, or the report's.
    Status start_coverage() {
        if (options_.reports.count_edges()) {
            using Kind = CoverageOptions::Kind;
            if (options_.coverage.kind == Kind::Off)
                return {Code::InvalidArgument,
                        "a coverage report is wanted, and coverage is switched off"};
            if (!options_.coverage_to) {
                auto report = std::make_shared<CoverageReport>();
                if (Status status = report->write(options_.reports); !status) return status;
                options_.coverage_to = std::move(report);
            }
            if (options_.coverage.kind == Kind::Auto)
                options_.coverage = {Kind::Counters, options_.coverage_to->counters(),
                                     CoverageReport::counter_count, options_.coverage.divergence,
                                     options_.coverage.lanes};
        }
        return find_counters(options_.coverage, coverage_);
    }

    void report_coverage(const ModuleImpl& module) {
        machine::Coverage coverage = coverage_;
        coverage.places = &module;
        coverage.place = [](const void* places, uint64_t address) {
            const auto& of = *static_cast<const ModuleImpl*>(places);
            return of.place(of.guest_address(address));
        };
        options_.coverage_to->add(module.file_name(), module.object(), target_, coverage);
    }

    void unload(ModuleImpl& module) {
        if (left_behind()) return;
        if (options_.coverage_to) report_coverage(module);
        {
            std::lock_guard lock(modules_mutex_);
            std::erase_if(modules_, [&](const Entry& e) { return e.module == &module; });
        }
        forget_code(module.load_address(), module.load_address() + module.load_size());
    }

    void forget_code(uint64_t begin, uint64_t end) {
        engine().invalidate(begin, end);
        scheduler_->forget_code(begin, end);
    }

    // What the device has to put into memory for a dispatch: arguments, and behind them, which is
    // what scalar loads may fetch beyond the last one, the packet.
    static uint64_t packet_offset(const DispatchRequest& r) {
        return (r.arguments.size() + 63) & ~uint64_t{63};
    }
    static uint64_t service_bytes(const DispatchRequest& r) {
        return r.packet_address && r.arguments.empty()
                   ? 0
                   : packet_offset(r) + sizeof(KernelDispatchPacket);
    }
    static void place_service(DispatchRequest& r, uint64_t block) {
        const uint64_t packet = block + packet_offset(r);
        if (!r.arguments.empty()) {
            std::memcpy(reinterpret_cast<void*>(block), r.arguments.data(), r.arguments.size());
            r.kernarg_address = block;
            r.arguments = {};
        }
        if (r.packet_address) return;
        KernelDispatchPacket p{};
        p.header = 2 | 2 << 9 | 2 << 11;  // kernel dispatch, acquire and release at system scope
        p.setup = 3;
        for (int i = 0; i < 3; i++) {
            p.workgroup_size[i] = static_cast<uint16_t>(r.work_group[i]);
            p.grid_size[i] = r.grid[i];
        }
        p.private_segment_size = r.private_segment_size;
        p.group_segment_size = r.group_segment_size;
        p.kernel_object = r.kernel_object;
        p.kernarg_address = r.kernarg_address;
        r.packet_address = packet;
        std::memcpy(reinterpret_cast<void*>(packet), &p, sizeof(p));
    }

    DeviceOptions options_;
    const Target& target_;
    // The same processor with waves of the other size, for kernels that choose it; or nullptr:
    // where there is none, decode_kernel_descriptor() refuses them.
    const Target* const other_waves_;
    memory::AddressSpace memory_;
    memory::PlacedImage placed_;
    ServiceMemory service_;
    ServiceMemory::Piece queue_;
    mutable std::mutex modules_mutex_;
    std::vector<Entry> modules_;
    machine::Coverage coverage_;
    std::shared_ptr<Shared> shared_;
    UnassignedUses unassigned_uses_;
    std::unique_ptr<CaptureFolder> captures_;
    std::unique_ptr<Scheduler> scheduler_;  // goes first: its threads use the rest
};

}  // namespace

static Result<std::unique_ptr<DeviceImpl>> new_device(const DeviceOptions& options) {
    const Target* target = emulated_target(options.target);
    if (!target) return Status(Code::UnsupportedTarget, not_emulated(options.target));
    DeviceOptions checked = options;
    if (!checked.compute_units) checked.compute_units = 1;
    if (!checked.slice_instructions) checked.slice_instructions = 1;
    return std::make_unique<DeviceImpl>(std::move(checked), *target);
}

Result<std::unique_ptr<Device>> Device::create(const DeviceOptions& options) {
    auto device = new_device(options);
    if (!device) return device.status();
    if (Status status = (*device)->start(); !status) return status;
    return std::unique_ptr<Device>(std::move(*device));
}

Result<Device::Restored> Device::restore(const DeviceOptions& options, const Capture& capture) {
    std::vector<memory::ReservedAddresses> held;  // as a device takes memory for itself, too
    if (options.memory_mode == machine::MemoryMode::Identity)
        held = memory::hold_addresses(capture.image);
    auto device = new_device(options);
    held.clear();
    if (!device) return device.status();
    if (Status status = (*device)->start(capture); !status) return status;
    auto modules = (*device)->restore_modules(capture);
    if (!modules) return modules.status();
    return Restored{std::move(*device), std::move(*modules)};
}

}  // namespace wj::runtime
