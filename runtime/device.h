// One emulated GPU: memory, loaded code objects, and a pool of worker threads that runs
// work-groups. The HSA drop-in (hsa/), the C API (runtime/c_api.cpp) and the tools are thin layers
// over this.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "frontend/target.h"
#include "machine/engine.h"
#include "machine/hooks.h"
#include "memory/address_space.h"
#include "runtime/guest_coverage.h"
#include "runtime/stack_frame.h"

namespace wj {
struct CodeObject;
}
namespace wj::machine {
class UnwrittenMemory;
}

namespace wj::runtime {

struct Capture;
class CaptureFolder;
class CoverageReport;
class Findings;

enum class EngineKind : uint8_t { Auto, Interpreter, Avx2, Avx512 };

// Files that a device writes; empty: none.
struct ReportFiles {
    // What kernels have reached (coverage_report.h), lines or blocks by its ending, and how near to
    // the hardware's the results of that are (fidelity_report.h): written when the device is made
    // and when it goes. With CoverageOptions::Kind::Auto they have counters of their own.
    std::string coverage, fidelity;
    bool count_edges() const { return !coverage.empty() || !fidelity.empty(); }
    // What checkers have found (findings.h), as text, JSON or SARIF by its ending; and what of it
    // is not told, which is read.
    std::string checks, suppressions;
    // Plans of translated blocks are appended to it (docs/howto/look-at-host-code.md).
    std::string plans;
};

struct DeviceOptions {
    std::string target = "gfx90a";
    EngineKind engine = EngineKind::Auto;  // Auto: see engine_factory.h
    uint32_t threads = 0;                  // worker threads; 0 = all processors
    machine::MemoryMode memory_mode = machine::MemoryMode::Identity;
    uint64_t window_bytes = uint64_t{64} << 30;  // a power of two; with MemoryMode::Window
    uint32_t compute_units = 8;
    uint64_t memory_bytes = 0;  // modelled device memory; 0 = three quarters of the host's
    uint64_t slice_instructions = 1u << 20;  // budget of a wave between scheduler visits
    uint64_t code_bytes = 0;                 // memory for translated code; 0 = the engine's default
    // Translations are kept on disk for later processes (docs/design/disk-cache.md).
    bool cache = false;
    std::string cache_directory;  // empty = ${XDG_CACHE_HOME:-$HOME/.cache}/wavejit
    uint64_t cache_bytes = 0;     // most on disk; 0 = the engine's default
    // No other thread or device touches memory that kernels update by atomics while they run.
    bool exclusive_memory = false;
    bool strict_registers = true;  // report registers beyond the allocation
    CoverageOptions coverage;
    ReportFiles reports;
    std::shared_ptr<CoverageReport> coverage_to;  // of another device, to share it; null: its own
    struct {
        // Dispatches run one after the other in one order of waves, and clocks count instructions.
        bool deterministic = false;
        // With it: stores stay under way, and caches hold old values, as a dispatch's seed says.
        bool weak_memory = false;
        uint64_t seed = 0;  // of dispatches that have none
    } schedule;
    uint32_t checks = 0;                 // machine::Check
    std::shared_ptr<Findings> findings;  // of another device, to share them; null: its own
    // With machine::check_init; of another device that has the same memory, or null: its own.
    std::shared_ptr<machine::UnwrittenMemory> unwritten;
    // A folder that launches are captured into (capture_folder.h), of kernels whose names fit the
    // pattern, so many of each; empty: none.
    struct Captures {
        std::string folder, kernels;
        uint32_t count = 1;
    } captures;
    uint32_t hot_blocks = 0;  // executed host instructions are counted; blocks that reports list

    // InvalidArgument: options that exclude each other, or need another one.
    Status check() const;
    // The same of devices whose dispatches have no seeds of their own.
    Status check_seeded() const;
    // Overrides by the WAVEJIT_ variables (environment.h). An unknown value, and a variable that
    // says nothing without another one, is an error that names it.
    static Result<DeviceOptions> from_environment(DeviceOptions base);
};

// A kernel stop, as a value: everything that a report can say.
struct FaultRecord {
    Code code = Code::Ok;
    machine::ExitInfo exit;
    std::string kernel;           // symbol, "?" if unknown
    std::string instruction;      // disassembly
    std::vector<uint32_t> words;  // its bytes
    std::string source;           // "file:line" or empty
    bool lanes_are_exact = true;  // false: exit.lane_mask are the lanes that may have faulted
    int64_t kernel_offset = 0;    // pc relative to the kernel's entry; functions may lie in front
    std::string place;            // the same by the object's symbols: "kernel + 0x10"
    std::array<uint32_t, 3> work_group{};
    uint32_t wave = 0;
    std::string memory;              // AddressSpace::describe of the address
    std::string check;               // of a finding: the checker's name; or empty
    std::string key;                 // the same for what findings have in common, in every process
    uint64_t occurrences = 1;        // dispatches that have it
    std::string message;             // what happened, one line; text() builds one when empty
    std::vector<std::string> notes;  // further lines: lanes and addresses, where other waves were
    // Empty, or of each lane in exit.lane_mask the first address that faulted.
    std::vector<uint64_t> addresses;
    uint64_t number = 0;  // the same for faults of one kind at one instruction, in every process
    CallSites callers;    // of the function that the pc is in
    CallStack stack;      // a text, for `tell`
    // Not null: of the texts there is only the kernel's name yet, and this makes the others, of
    // what memory and code hold then.
    std::function<void(FaultRecord&)> tell;
    void make_texts();
    std::string text() const;  // the whole report, several lines
};

// Which waves are kept of a dispatch that stops otherwise than by its end.
enum class KeptWaves : uint8_t {
    None,
    Exact,    // the dispatch is interpreted
    OfEngine  // as the engine has left them
};

// One of them, which stands still as long as the dispatch is there.
struct StoppedWave {
    enum class State : uint8_t { Running, AtBarrier, Ended, Stopped };
    machine::Wave* wave = nullptr;  // wave->pc is where it stands
    const Target* target = nullptr;
    State state = State::Running;
    bool exact = true;  // its registers are what the instructions in front of its pc have made
};

struct DispatchRequest {
    uint64_t kernel_object = 0;  // guest address of the kernel descriptor (or amd_kernel_code_t)
    std::array<uint32_t, 3> grid{1, 1, 1};        // work-items
    std::array<uint32_t, 3> work_group{1, 1, 1};  // work-items
    uint32_t group_segment_size = 0;              // static + dynamic LDS bytes
    uint32_t private_segment_size = 0;            // bytes per work-item
    uint64_t kernarg_address = 0;
    // Instead of kernarg_address: the arguments' bytes, which the device puts where scalar loads
    // may fetch up to 64 bytes beyond the last one.
    std::span<const std::byte> arguments;
    uint64_t packet_address =
        0;  // guest address of the AQL packet (dispatch_ptr), 0 = the device makes one
    uint64_t queue_address = 0;  // guest address of the amd_queue_t (queue_ptr)
    uint64_t dispatch_id = 0;
    bool cooperative = false;  // all work-groups resident at once
    bool caller_runs =
        false;  // the caller calls wait() at once: no worker is woken for a small grid
    uint64_t timeout_ns = 0;         // 0 = none
    uint64_t instruction_limit = 0;  // wave instructions of the whole dispatch, 0 = none
    bool deterministic = false;      // the device fills it in
    uint32_t checks = 0;             // machine::Check; the device fills it in
    bool weak_memory = false;        // the device fills it in
    uint64_t schedule_seed = 0;      // of a deterministic device: another order for each number
    std::shared_ptr<machine::Hooks> hooks;  // or null; else the dispatch is interpreted
    KeptWaves kept_waves = KeptWaves::None;
    bool interpreted() const { return hooks || kept_waves == KeptWaves::Exact; }
};

// How a dispatch that has stopped goes on.
struct ResumeRequest {
    // Of what it does from there on; 0 = none.
    uint64_t timeout_ns = 0, instruction_limit = 0;
    std::shared_ptr<machine::Hooks> hooks;
    KeptWaves kept_waves = KeptWaves::None;  // when it stops again
    bool wait = false;  // this thread runs it until it has ended or stopped again
};

struct DispatchResult {
    Code code = Code::Ok;
    FaultRecord fault;  // filled when code != Ok
    uint64_t waves = 0, work_groups = 0, wave_instructions = 0;
    uint64_t start_ns = 0, end_ns = 0;  // steady clock
};

struct LoadedKernel {
    std::string name;  // without ".kd"
    uint64_t kernel_object = 0;
    uint64_t entry = 0;
    uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0, kernarg_size = 0,
             kernarg_align = 16;
    bool dynamic_call_stack = false;
};

class Device;

// A code object in guest memory. Unloading frees its memory and drops its translations.
class Module {
public:
    virtual ~Module() = default;
    // Guest address of an undefined symbol, or nothing.
    using Resolver = std::function<std::optional<uint64_t>(std::string_view name)>;
    virtual const std::vector<LoadedKernel>& kernels() const = 0;
    virtual const LoadedKernel* find_kernel(
        std::string_view name) const = 0;  // with or without ".kd"
    struct Variable {
        std::string name;
        uint64_t address, size;
        bool read_only;
    };
    virtual const std::vector<Variable>& variables() const = 0;
    virtual uint64_t load_address() const = 0;
    virtual uint64_t load_size() const = 0;
    virtual std::span<const std::byte> file_bytes() const = 0;
    virtual const CodeObject& object() const = 0;  // symbols, metadata (frontend/code_object.h)

    // Guest address of a variable or function that other code objects may use.
    virtual std::optional<uint64_t> find_definition(std::string_view name) const = 0;
    // False: symbols are undefined that the resolver given to Device::load did not know. Nothing
    // may be dispatched before link() has resolved them. Its error is NotFound and names the
    // symbol.
    virtual bool linked() const = 0;
    virtual Status link(const Resolver& resolver) = 0;
};

// What a stopped dispatch was, as often as it is wanted back. It goes before the dispatch is let
// go.
class DispatchImage {
public:
    virtual ~DispatchImage() = default;
    // While no dispatch runs, whatever has become of this one.
    virtual void restore() = 0;
};

// An asynchronous dispatch in flight.
class Dispatch {
public:
    virtual ~Dispatch() = default;
    virtual bool done() const = 0;
    virtual void wait() = 0;  // lets the calling thread run work-groups meanwhile
    virtual bool wait_for(uint64_t timeout_ns) = 0;    // only waits; true = done
    virtual const DispatchResult& result() const = 0;  // valid once done
    virtual void cancel() = 0;
    virtual void progress(uint64_t& groups_done, uint64_t& groups_total) const = 0;  // at any time
    // Valid once done: of the work-groups that had begun and not ended.
    virtual std::vector<StoppedWave> stopped_waves() const = 0;
    // A limit, a hook or cancel() has stopped it, and its waves were kept: they go on where they
    // stand, with what has been changed in them. Otherwise InvalidArgument, which says why not.
    virtual Status may_resume() const = 0;
    // Of one that may be resumed, without checkers.
    virtual Result<std::unique_ptr<DispatchImage>> save() = 0;
    virtual Status resume(const ResumeRequest& request) = 0;
    // Done, and never to be resumed: nothing of it is needed any more.
    virtual void let_go() = 0;
};

struct Statistics {
    machine::EngineCounters engine;
    uint64_t dispatches = 0, work_groups = 0, waves = 0, wave_instructions = 0, execution_ns = 0;
    uint64_t interpreted = 0;  // of wave_instructions
};

// A launch that is made again and again: its plan, its arguments' memory and how its waves start
// are kept. One thread at a time may use it.
class PreparedLaunch {
public:
    virtual ~PreparedLaunch() = default;
    // As the kernel finds them. What is written here is what the next run sees.
    virtual std::span<std::byte> arguments() = 0;
    // Until the launch has ended. timed: the result tells when it began and ended.
    virtual Status run(bool timed) = 0;
    virtual const DispatchResult& result() const = 0;  // of the last run
    virtual std::vector<StoppedWave> stopped_waves() const = 0;
};

class Device {
public:
    static Result<std::unique_ptr<Device>> create(const DeviceOptions& options);
    virtual ~Device() = default;

    virtual const DeviceOptions& options() const = 0;
    virtual const Target& target() const = 0;
    virtual machine::Engine& engine() = 0;
    virtual memory::AddressSpace& memory() = 0;

    // Undefined symbols are those of other modules of the device, which stay loaded as long.
    virtual Result<std::shared_ptr<Module>> load(std::span<const std::byte> code_object) = 0;
    // Undefined symbols are left to Module::link.
    virtual Result<std::shared_ptr<Module>> load_unlinked(
        std::span<const std::byte> code_object) = 0;

    // Changes code of a module of the device, while no dispatch runs and none is being made;
    // prepared launches see it. [begin, end): what may have been translated by what is there, the
    // kernel. InvalidArgument: a clone shares translations, or it is not executable.
    virtual Status patch(Module& module, uint64_t address, std::span<const std::byte> bytes,
                         uint64_t begin, uint64_t end) = 0;

    // Another device with the same options, memory contents at the same addresses and modules,
    // which share translations and findings. Only with checked memory, and while no dispatch runs.
    struct Clone {
        std::unique_ptr<Device> device;
        std::map<const Module*, std::shared_ptr<Module>> modules;  // by those of this one
    };
    virtual Result<Clone> clone() = 0;

    // A device with what was captured, and its code. options.memory_mode: checked or identity.
    struct Restored {
        std::unique_ptr<Device> device;
        std::vector<std::shared_ptr<Module>> modules;  // in the capture's order
    };
    static Result<Restored> restore(const DeviceOptions& options, const Capture& capture);
    // What launches of the module's kernels can reach, but for the launch itself.
    virtual Result<Capture> capture(const std::shared_ptr<Module>& module) = 0;
    // Null: launches are not captured.
    virtual CaptureFolder* captures() = 0;
    // Of a wave that stands still, from its pc on.
    virtual CallStack call_stack(const StoppedWave& stopped) = 0;
    // The module that has a kernel object there, or null.
    virtual std::shared_ptr<Module> module_of(uint64_t kernel_object) = 0;

    // Validates the request (sizes against the device's limits, descriptor, LDS, registers) and
    // queues the work-groups. `on_done` runs on a worker (or the waiting) thread with no lock held,
    // once; of a dispatch whose waves are kept each time that it ends or stops. `module`: the one
    // that holds the kernel object, if it is known.
    virtual Result<std::shared_ptr<Dispatch>> dispatch(
        const DispatchRequest& request, std::function<void(const DispatchResult&)> on_done = {},
        const std::shared_ptr<Module>& module = {}) = 0;

    // The same for many launches, one after the other, whose arguments have the request's size.
    virtual Result<std::unique_ptr<PreparedLaunch>> prepare(
        const DispatchRequest& request, const std::shared_ptr<Module>& module) = 0;

    // Guest address of an amd_queue_t with the device's apertures: queue_ptr of dispatches that
    // come without a queue.
    virtual uint64_t default_queue() const = 0;

    // Runs queued work-groups on the calling thread for about `max_ns`; false = there was nothing
    // to do.
    virtual bool help(uint64_t max_ns) = 0;

    // `look` is called by the threads that run work-groups, with no lock held, when all that they
    // run waits, and every two milliseconds: for what kernels write to start something else. To be
    // set before the first dispatch.
    virtual void set_look_around(void (*look)()) = 0;

    // No dispatch is in flight.
    virtual bool idle() const = 0;

    // While true every global address has bit 47 cleared before use (registered host memory has an
    // alias with bit 47 set; see docs/design/hsa.md).
    virtual void set_alias_bit47(bool on) = 0;

    virtual Statistics statistics() const = 0;

    // What checkers have found in all dispatches so far.
    virtual Findings& findings() = 0;
    // Null without machine::check_init. Who allocates memory that the host cannot write by itself
    // tells it, and what the host writes to it then.
    virtual machine::UnwrittenMemory* unwritten() const = 0;

    // What kernels have reached so far, as ReportFiles::coverage. InvalidArgument without that,
    // NotFound when the file is empty for want of line tables.
    virtual Status write_coverage(const std::string& path) = 0;
    // The coverage and fidelity reports that the options name.
    virtual Status write_reports() = 0;
    // Adds it to the report that devices share, for one of them to write.
    virtual void collect_coverage() = 0;

    // This process was forked from one that had run kernels on the device or a clone: nothing may
    // be asked of it here but to be destroyed.
    virtual bool left_behind() const = 0;
};

}  // namespace wj::runtime
