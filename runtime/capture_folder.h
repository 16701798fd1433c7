// Launches of a program that are captured as they are made: WAVEJIT_CAPTURE.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/capture.h"
#include "runtime/device.h"

namespace wj::runtime {

class CaptureFolder {
public:
    // kernels: their names, as kernel_fits() has patterns; empty: all. count: launches of each
    // kernel.
    CaptureFolder(std::string folder, std::string kernels, uint32_t count);

    // Makes the folder. HostError: nothing can be written there.
    Status open() const;
    // True once for each launch that is to be captured.
    bool take(const std::string& kernel);
    // FOLDER/KERNEL.NUMBER.wjcapture, a number that no file there has.
    Status write(Device& device, const std::shared_ptr<Module>& module, CapturedLaunch launch);

    // NotFound: there were launches, and none that was wanted.
    Status outcome();

private:
    const std::string folder_, kernels_;
    const uint32_t count_;
    std::mutex mutex_;
    std::map<std::string, uint32_t> taken_;
    std::set<std::string> others_;  // some kernels that were not wanted
};

// Of a request whose arguments are in memory, in front of Device::dispatch(). NotFound: they are
// not.
Status capture_if_wanted(Device& device, const DispatchRequest& request);

}  // namespace wj::runtime
