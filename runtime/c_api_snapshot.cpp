// C interface: snapshots of a context's memory, and of a stopped dispatch.
#include "memory/snapshot.h"

#include "frontend/code_object_bytes.h"
#include "runtime/c_api_internal.h"

using namespace wj;
using namespace wj::c_api;

static constexpr const char* snapshots_move = "snapshots are taken and restored";

extern "C" {

wj_status wj_snapshot_take(wj_context* context, const wj_snapshot_options* options,
                           wj_snapshot* snapshot) {
    return guarded(context, [&] {
        wj_snapshot_options o;
        if (!snapshot) return context->fail(WJ_INVALID_ARGUMENT, "snapshot is NULL");
        if (!read_options(options, o)) return context->fail(WJ_INVALID_ARGUMENT, bad_size);
        if (o.only_marked_writes &&
            context->device->options().memory_mode != machine::MemoryMode::Checked)
            return context->fail(
                WJ_INVALID_ARGUMENT,
                "only_marked_writes needs checked memory: in identity mode nothing "
                "marks what kernels write");
        if (const wj_status status = need_idle(context, snapshots_move); status != WJ_OK)
            return status;
        std::unique_ptr<SavedDispatch> dispatch;
        if (o.dispatch) {
            if (!context->stopped.has(o.dispatch))
                return context->fail(
                    WJ_INVALID_ARGUMENT,
                    "`dispatch` is none of this context's that was launched with keep_waves: it "
                    "was released, is another context's, or keeps no waves");
            const Status status = context->stopped.save(o.dispatch, dispatch);
            if (!status) return context->fail(status);
        }
        *snapshot = context->snapshots->take(
            {.marked_only = o.only_marked_writes != 0, .mapped_memory = o.registered_memory != 0});
        if (const auto* now = context->device->unwritten())
            context->unwritten[*snapshot] = now->save();
        if (dispatch) context->stopped.add(*snapshot, std::move(dispatch));
        return WJ_OK;
    });
}

wj_status wj_snapshot_restore(wj_context* context, wj_snapshot snapshot, wj_restore_info* info) {
    return guarded(context, [&] {
        if (const wj_status status = need_idle(context, snapshots_move); status != WJ_OK)
            return status;
        memory::Snapshots::Restored restored;
        Status status = context->stopped.check(snapshot);
        if (status) status = context->snapshots->restore(snapshot, restored);
        if (!status) return context->fail(status);
        context->stopped.restore(snapshot);
        if (auto* now = context->device->unwritten()) now->restore(context->unwritten[snapshot]);
        if (!info) return WJ_OK;
        wj_restore_info i{};
        i.pages_examined = restored.pages_looked_at;
        i.pages_copied = restored.pages_copied;
        i.allocations_freed = restored.freed;
        i.allocations_put_back = restored.put_back;
        return write_struct(info, i) ? WJ_OK : context->fail(WJ_INVALID_ARGUMENT, bad_size);
    });
}

wj_status wj_snapshot_release(wj_context* context, wj_snapshot snapshot) {
    return guarded(context, [&] {
        const Status status = context->snapshots->release(snapshot);
        context->unwritten.erase(snapshot);
        if (status) context->stopped.release(snapshot);
        return status ? WJ_OK : context->fail(status);
    });
}

wj_status wj_memory_mark_written(wj_context* context, uint64_t address, uint64_t size) {
    return guarded_in_callbacks(context, [&] {
        memory::AddressSpace& memory = context->device->memory();
        if (!memory.translate(address, size, memory::writable))
            return context->fail(
                WJ_INVALID_ARGUMENT,
                std::to_string(size) + " bytes at " + hex(address) +
                    " are not writable device memory: " + memory.describe(address));
        memory.note_write(address, size);
        if (auto* unwritten = context->device->unwritten()) unwritten->write(address, size);
        return WJ_OK;
    });
}

}  // extern "C"
