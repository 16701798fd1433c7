// C interface: hooks, and waves that stand still.
#include <algorithm>
#include <cstdio>

#include "frontend/code_object_bytes.h"
#include "frontend/decode.h"
#include "interpreter/registers.h"
#include "machine/work_group.h"
#include "runtime/c_api_internal.h"
#include "runtime/guest_code.h"

using namespace wj;
using namespace wj::c_api;
using machine::Wave;

static_assert(int{WJ_REGISTER_TTMP} + 1 == interp::register_files &&
              WJ_REGISTER_TTMP == static_cast<int>(interp::RegisterFile::Ttmp) &&
              WJ_REGISTER_MODE == static_cast<int>(interp::RegisterFile::Mode));
static_assert(WJ_SPACE_SCALAR == static_cast<int>(machine::Space::Scalar));
static_assert(WJ_WAVE_STOPPED == static_cast<int>(runtime::StoppedWave::State::Stopped));

namespace {

// Calls the embedder's functions.
class HookCaller final : public machine::Hooks {
public:
    HookCaller(const wj_hooks& hooks, wj_context* context) : hooks_(hooks), context_(context) {}

    bool at_block(Wave& wave) override { return call(hooks_.block, wave); }
    bool at_instruction(Wave& wave) override { return call(hooks_.instruction, wave); }
    bool at_barrier(Wave& wave) override { return call(hooks_.barrier, wave); }
    bool at_access(Wave& wave, const machine::LaneAccesses& a) override {
        wj_access_info info{};
        info.size = sizeof(info);
        info.space = static_cast<wj_space>(a.space);
        info.access = static_cast<wj_access>(a.access);
        info.bytes = a.bytes;
        info.lane_mask = a.lane_mask;
        info.addresses = a.addresses.data();
        const wj_access_info* const what = &info;
        if (!call(hooks_.access, wave, what)) return false;
        return a.access != machine::Access::Atomic || call(hooks_.atomic, wave, what);
    }
    bool wants_accesses() const override { return hooks_.access || hooks_.atomic; }

private:
    template <class... Arguments>
    bool call(wj_hook_answer (*hook)(void*, wj_wave*, Arguments...), Wave& wave,
              Arguments... arguments) {
        if (!hook) return true;
        const Callback within(context_);
        wj_wave view{context_, {.wave = &wave, .target = wave.ctx->target}, nullptr};
        return hook(hooks_.hook_context, &view, arguments...) == WJ_HOOK_GO_ON;
    }

    const wj_hooks hooks_;
    wj_context* const context_;
};

bool in_range(uint64_t first, uint64_t count, uint64_t size) {
    return first <= size && count <= size - first;
}

const char* name_of(interp::RegisterFile file) {
    static const char* const names[] = {"SGPRs", "VGPRs",        "AGPRs",      "PC",
                                        "EXEC",  "VCC",          "M0",         "SCC",
                                        "MODE",  "FLAT_SCRATCH", "XNACK_MASK", "trap registers"};
    return names[static_cast<size_t>(file)];
}

// Checks the range and calls access(file).
template <class Access>
wj_status with_registers(wj_wave* wave, wj_register_file file, uint32_t first, uint32_t count,
                         const void* dwords, Access&& access) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        if (static_cast<uint32_t>(file) >= interp::register_files)
            return wave->context->fail(WJ_INVALID_ARGUMENT,
                                       "register file " + std::to_string(file) + " does not exist");
        const auto which = static_cast<interp::RegisterFile>(file);
        const uint32_t have = interp::register_count(*wave->stopped.wave, which);
        if (!dwords || !in_range(first, count, have))
            return wave->context->fail(
                WJ_INVALID_ARGUMENT, dwords ? std::to_string(count) + " of the " + name_of(which) +
                                                  " from " + std::to_string(first) +
                                                  " on are wanted, of which the wave has " +
                                                  std::to_string(have)
                                            : "dwords is NULL");
        access(which);
        return WJ_OK;
    });
}

template <class Access>
wj_status with_lds(wj_wave* wave, uint32_t offset, uint32_t bytes, const void* data,
                   Access&& access) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        const Wave& w = *wave->stopped.wave;
        if (!data || !in_range(offset, bytes, w.group->lds_bytes))
            return wave->context->fail(WJ_INVALID_ARGUMENT,
                                       data ? std::to_string(bytes) + " bytes of LDS from " +
                                                  std::to_string(offset) +
                                                  " on are wanted, of which the work-group has " +
                                                  std::to_string(w.group->lds_bytes)
                                            : "data is NULL");
        access(w.lds + offset);
        return WJ_OK;
    });
}

// Byte `offset` of a lane's private segment: dwords of the lanes lie side by side.
uint8_t* private_byte(const Wave& w, uint32_t lane, uint32_t offset) {
    return w.scratch + (size_t{offset / 4} * w.size + lane) * 4 + offset % 4;
}

template <class Access>
wj_status with_private(wj_wave* wave, uint32_t lane, uint32_t offset, uint32_t bytes,
                       const void* data, Access&& access) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        const Wave& w = *wave->stopped.wave;
        if (!data || lane >= w.size || !in_range(offset, bytes, w.scratch_bytes))
            return wave->context->fail(
                WJ_INVALID_ARGUMENT,
                data ? std::to_string(bytes) + " bytes of private memory from " +
                           std::to_string(offset) + " on are wanted in lane " +
                           std::to_string(lane) + ": the wave has " + std::to_string(w.size) +
                           " lanes with " + std::to_string(w.scratch_bytes) + " bytes each"
                     : "data is NULL");
        for (uint32_t b = 0; b < bytes; b++) access(*private_byte(w, lane, offset + b), b);
        return WJ_OK;
    });
}

wj_wave_info info_of(const runtime::StoppedWave& stopped) {
    const Wave& w = *stopped.wave;
    wj_wave_info i{};
    i.state = static_cast<wj_wave_state>(stopped.state);
    std::copy_n(w.group->id.begin(), 3, i.work_group);
    i.wave = w.wave_in_group;
    i.lanes = w.size;
    i.pc = w.pc;
    i.exec = w.exec();
    i.exact = stopped.exact;
    i.sgprs = interp::register_count(w, interp::RegisterFile::Sgpr);
    i.vgprs = interp::register_count(w, interp::RegisterFile::Vgpr);
    i.agprs = interp::register_count(w, interp::RegisterFile::Agpr);
    i.lds_bytes = w.group->lds_bytes;
    i.private_bytes = w.scratch_bytes;
    return i;
}

}  // namespace

std::shared_ptr<machine::Hooks> wj::c_api::make_hooks(const wj_hooks& hooks, wj_context* context) {
    return std::make_shared<HookCaller>(hooks, context);
}

extern "C" {

wj_status wj_wave_get_info(wj_wave* wave, wj_wave_info* info) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        return write_struct(info, info_of(wave->stopped))
                   ? WJ_OK
                   : wave->context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_wave_read_registers(wj_wave* wave, wj_register_file file, uint32_t first,
                                 uint32_t count, uint32_t* dwords) {
    return with_registers(wave, file, first, count, dwords, [&](interp::RegisterFile which) {
        interp::read_registers(*wave->stopped.wave, which, first, count, dwords);
    });
}

wj_status wj_wave_write_registers(wj_wave* wave, wj_register_file file, uint32_t first,
                                  uint32_t count, const uint32_t* dwords) {
    return with_registers(wave, file, first, count, dwords, [&](interp::RegisterFile which) {
        interp::write_registers(*wave->stopped.wave, which, first, count, dwords);
    });
}

wj_status wj_wave_read_lds(wj_wave* wave, uint32_t offset, void* to, uint32_t bytes) {
    return with_lds(wave, offset, bytes, to, [&](uint8_t* at) { std::memcpy(to, at, bytes); });
}

wj_status wj_wave_write_lds(wj_wave* wave, uint32_t offset, const void* from, uint32_t bytes) {
    return with_lds(wave, offset, bytes, from, [&](uint8_t* at) { std::memcpy(at, from, bytes); });
}

wj_status wj_wave_read_private(wj_wave* wave, uint32_t lane, uint32_t offset, void* to,
                               uint32_t bytes) {
    auto* const out = static_cast<uint8_t*>(to);
    return with_private(wave, lane, offset, bytes, to,
                        [&](uint8_t& byte, uint32_t b) { out[b] = byte; });
}

wj_status wj_wave_write_private(wj_wave* wave, uint32_t lane, uint32_t offset, const void* from,
                                uint32_t bytes) {
    const auto* const in = static_cast<const uint8_t*>(from);
    return with_private(wave, lane, offset, bytes, from,
                        [&](uint8_t& byte, uint32_t b) { byte = in[b]; });
}

wj_status wj_wave_disassemble(wj_wave* wave, uint64_t pc, char* text, size_t size,
                              uint32_t* bytes) {
    if (!wave) return WJ_INVALID_ARGUMENT;
    return guarded_in_callbacks(wave->context, [&] {
        Inst inst;
        const Target& target = *wave->stopped.target;
        if (!runtime::fetch_inst(target, wave->context->device->memory(), pc, inst))
            return wave->context->fail(
                WJ_NOT_FOUND,
                "there is no instruction of " + std::string(target.name) + " at " + hex(pc));
        if (bytes) *bytes = inst.size;
        if (text && size) std::snprintf(text, size, "%s", disassemble(target, inst).c_str());
        return WJ_OK;
    });
}

size_t wj_dispatch_wave_count(wj_dispatch* dispatch) {
    if (!dispatch || !dispatch->dispatch->done()) return 0;
    return dispatch->waves.count(dispatch->context, *dispatch->dispatch);
}

wj_wave* wj_dispatch_wave_at(wj_dispatch* dispatch, size_t index) {
    return index < wj_dispatch_wave_count(dispatch) ? dispatch->waves.at(index) : nullptr;
}

}  // extern "C"
