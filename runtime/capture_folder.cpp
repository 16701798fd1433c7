#include "runtime/capture_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "frontend/code_object.h"
#include "runtime/kernel_pattern.h"

namespace wj::runtime {
namespace {

// Names of C++ have brackets and commas, and may be longer than names of files.
std::string file_name(const std::string& kernel) {
    constexpr size_t longest = 120;
    std::string name = kernel.substr(0, longest);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') c = '_';
    return name;
}

Result<CapturedLaunch> captured_launch(Device& device, const DispatchRequest& request,
                                       const KernelInfo& kernel) {
    CapturedLaunch launch;
    launch.kernel = kernel.name;
    launch.grid = request.grid;
    launch.work_group = request.work_group;
    const KernelDescriptor& d = kernel.descriptor;
    launch.dynamic_lds = request.group_segment_size -
                         std::min(request.group_segment_size, d.group_segment_fixed_size);
    launch.dynamic_stack_bytes =
        request.private_segment_size -
        std::min(request.private_segment_size, d.private_segment_fixed_size);
    launch.cooperative = request.cooperative;
    launch.arguments.resize(kernel.kernarg_segment_size());
    if (launch.arguments.empty()) return launch;
    const void* const from = device.memory().translate(request.kernarg_address,
                                                       launch.arguments.size(), memory::readable);
    if (!from)
        return Status(Code::NotFound, "the arguments of kernel '" + kernel.name +
                                          "' are not in device memory: " +
                                          device.memory().describe(request.kernarg_address));
    std::memcpy(launch.arguments.data(), from, launch.arguments.size());
    return launch;
}

}  // namespace

CaptureFolder::CaptureFolder(std::string folder, std::string kernels, uint32_t count)
    : folder_(std::move(folder)),
      kernels_(kernels.empty() ? "*" : std::move(kernels)),
      count_(count) {}

Status CaptureFolder::open() const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    // It says of a file that it is no directory.
    if (!error && access((folder_ + "/.").c_str(), W_OK | X_OK) != 0)
        error = {errno, std::system_category()};
    if (!error) return Status::ok();
    return {Code::HostError, "captures cannot be written to the folder '" + folder_ +
                                 "': " + error.message() + "; name another one (WAVEJIT_CAPTURE)"};
}

bool CaptureFolder::take(const std::string& kernel) {
    constexpr size_t most_others = 5;
    const bool wanted = kernel_fits(kernels_, kernel);
    std::lock_guard lock(mutex_);
    if (!wanted && others_.size() < most_others) others_.insert(kernel);
    if (!wanted) return false;
    uint32_t& taken = taken_[kernel];
    return taken < count_ && ++taken;
}

Status CaptureFolder::outcome() {
    std::lock_guard lock(mutex_);
    if (!taken_.empty() || others_.empty()) return Status::ok();
    std::string names;
    for (const std::string& kernel : others_)
        names += (names.empty() ? "" : "; ") + readable_name(kernel);
    return {Code::NotFound, "no launch was captured: '" + kernels_ +
                                "' fits the name of no kernel that was launched, such as " + names};
}

Status CaptureFolder::write(Device& device, const std::shared_ptr<Module>& module,
                            CapturedLaunch launch) {
    auto capture = device.capture(module);
    if (!capture) return capture.status();
    capture->launch = std::move(launch);
    std::error_code error;
    std::lock_guard lock(mutex_);
    const std::string stem = folder_ + "/" + file_name(capture->launch.kernel) + ".";
    for (uint32_t number = 0;; number++) {
        const std::string path = stem + std::to_string(number) + ".wjcapture";
        if (!std::filesystem::exists(path, error)) return write_capture(*capture, path);
    }
}

Status capture_if_wanted(Device& device, const DispatchRequest& request) {
    CaptureFolder* const folder = device.captures();
    const auto module = folder ? device.module_of(request.kernel_object) : nullptr;
    if (!module) return Status::ok();
    const auto& kernels = module->kernels();
    const auto kernel =
        std::ranges::find(kernels, request.kernel_object, &LoadedKernel::kernel_object);
    if (kernel == kernels.end() || !folder->take(kernel->name)) return Status::ok();
    const KernelInfo& info =
        module->object().kernels[static_cast<size_t>(kernel - kernels.begin())];
    auto launch = captured_launch(device, request, info);
    return launch ? folder->write(device, module, std::move(*launch)) : launch.status();
}

}  // namespace wj::runtime
