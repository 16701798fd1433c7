// wavejit replay FILE: launches what a capture file holds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/capture.h"
#include "tools/captured.h"
#include "tools/cli.h"
#include "tools/difference.h"

namespace wj::tools {
namespace {

struct ReplayOptions {
    DeviceFlags device;
    std::string file, compare, dump, save;
    std::string writer;
    double timeout = 0;
    uint64_t limit = 0, repeat = 1;
};

runtime::Capture file_of(const std::string& path) {
    auto capture = runtime::read_capture(path);
    if (!capture) fail(capture.status().message());
    return std::move(*capture);
}

// What each allocation holds, and what of it was something else before.
void print_memory(const std::vector<Piece>& before, const std::vector<Piece>& after) {
    for (size_t i = 0; i < after.size(); i++) {
        fmt::print("{}: {:016x}", after[i].name, hash_of(after[i]));
        const Change change = change_of(before[i], after[i]);
        if (change.bytes)
            fmt::print(", {} bytes changed, first at offset {:#x}", change.bytes, change.first);
        fmt::print("\n");
    }
}

void dump(const std::string& folder, const std::vector<Piece>& pieces) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (const Piece& piece : pieces) {
        const std::string path = fmt::format("{}/{:012x}.bin", folder, piece.address);
        std::ofstream out(path, std::ios::binary);
        for (uint64_t at = 0; at < piece.size;) {
            const auto part = piece.at(at);
            out.write(reinterpret_cast<const char*>(part.data()),
                      static_cast<std::streamsize>(part.size()));
            at += part.size();
        }
        out.close();
        if (!out) fail(path + " cannot be written");
    }
}

bool equals(const ReplayOptions& o, const std::vector<Piece>& after,
            const runtime::Capture& compared) {
    const auto wanted = pieces_of(compared.image);
    const auto same_place = [](const Piece& a, const Piece& b) {
        return a.address == b.address && a.size == b.size;
    };
    if (!std::ranges::equal(after, wanted, same_place)) {
        fmt::print(stderr, "wavejit: {} and {} have different allocations\n", o.file, o.compare);
        return false;
    }
    const auto difference = compare(after, wanted);
    if (difference)
        fmt::print(stderr, "wavejit: differs from {}: {}\n", o.compare,
                   describe(*difference, after, wanted));
    return !difference;
}

void print_times(std::vector<double>& milliseconds) {
    std::ranges::sort(milliseconds);
    fmt::print("{} launches: shortest {:.3f} ms, median {:.3f} ms\n", milliseconds.size(),
               milliseconds.front(), milliseconds[milliseconds.size() / 2]);
}

// Each launch finds memory as it was captured.
Ending launch_again_and_again(const CapturedContext& captured, const ReplayOptions& o) {
    const LaunchLimits limits{o.limit, to_nanoseconds(o.timeout)};
    wj_context* const context = captured.get();
    const auto check = [&](wj_status status) {
        if (status != WJ_OK) fail(wj_last_error(context));
    };
    wj_snapshot snapshot = 0;
    wj_snapshot_options options = WJ_INIT(wj_snapshot_options);
    options.registered_memory = 1;
    if (o.repeat > 1) check(wj_snapshot_take(context, &options, &snapshot));
    std::vector<double> milliseconds;
    Ending ending;
    for (uint64_t i = 0; i < o.repeat; i++) {
        if (i) check(wj_snapshot_restore(context, snapshot, nullptr));
        ending = captured.launch(limits);
        if (ending.status != WJ_OK) return ending;
        milliseconds.push_back(static_cast<double>(ending.result.end_ns - ending.result.start_ns) *
                               1e-6);
    }
    if (o.repeat > 1) print_times(milliseconds);
    return ending;
}

int find_writer(const ReplayOptions& o) {
    const uint64_t address = parse_size(o.writer, "--writer");
    Setup setup;
    if (!o.device.engine.empty()) setup.engine = o.device.engine;
    const LaunchLimits limits{o.limit, to_nanoseconds(o.timeout)};
    fmt::print("{:#x}: {}\n", address, first_writer(file_of(o.file), address, setup, limits));
    return exit_ok;
}

int replay(const ReplayOptions& o) {
    o.device.to_checked_environment();
    wj_context_options options = WJ_INIT(wj_context_options);
    options.use_environment = 1;
    options.memory_mode = WJ_MEMORY_CHECKED;
    std::string error;
    const auto captured = CapturedContext::open(o.file, options, error);
    if (!captured) fail(error);
    const runtime::Capture file = file_of(o.file);
    std::optional<runtime::Capture> compared;
    if (!o.compare.empty()) compared = file_of(o.compare);
    const Ending ending = launch_again_and_again(*captured, o);
    const auto after = captured->memory();
    fmt::print("{}: {}, {} work-groups, {} wave instructions\n", file.launch.kernel,
               wj_status_name(ending.status), ending.result.work_groups,
               ending.result.wave_instructions);
    print_memory(pieces_of(file.image), after);
    if (!o.dump.empty()) dump(o.dump, after);
    const wj_launch_options& launch = captured->launch_options();
    if (!o.save.empty() && wj_capture_write(captured->kernel(), &launch, o.save.c_str()) != WJ_OK)
        fail(wj_last_error(captured->get()));
    if (ending.status != WJ_OK) fail(ending.report);
    return !compared || equals(o, after, *compared) ? exit_ok : exit_mismatch;
}

}  // namespace

void add_replay(CLI::App& app, int& result) {
    auto* sub = app.add_subcommand("replay", "launch what a capture file holds");
    auto o = std::make_shared<ReplayOptions>();
    o->device.add(*sub);
    sub->add_option("file", o->file, "capture file (launch --capture, run --capture)")->required();
    add_number(*sub, "--repeat", o->repeat,
               "launches, each with the memory of the file; prints times");
    sub->add_option("--compare", o->compare,
                    "capture file that memory has to be equal to afterwards");
    sub->add_option("--save", o->save, "capture file to write, with memory as it is afterwards");
    sub->add_option("--dump", o->dump, "folder for what each allocation holds afterwards");
    sub->add_option("--writer", o->writer,
                    "an address: only find out who is the first to store there, and where");
    add_timeout(*sub, o->timeout, "seconds after which a launch is stopped");
    add_number(*sub, "--limit", o->limit, "wave instructions after which a launch is stopped");
    sub->callback([=, &result] {
        if (o->writer.empty()) {
            result = replay(*o);
        } else {
            refuse_others(*sub, {"file", "--writer", "--engine", "--timeout", "--limit"},
                          "with --writer");
            result = find_writer(*o);
        }
    });
}

}  // namespace wj::tools
