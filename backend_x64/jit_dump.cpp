#include "backend_x64/jit_dump.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <vector>

namespace wj::x64 {
namespace {

enum : uint32_t { code_load = 0, debug_info = 2 };

struct FileHead {
    uint32_t magic = 0x4a695444, version = 1, total_size = sizeof(FileHead), elf_mach = EM_X86_64,
             pad = 0, pid = 0;
    uint64_t timestamp = 0, flags = 0;
};
static_assert(sizeof(FileHead) == 40);

struct RecordHead {
    uint32_t id, total_size;
    uint64_t timestamp;
};
struct CodeLoad {
    uint32_t pid, tid;
    uint64_t vma, code_addr, code_size, code_index;
};
struct DebugInfo {
    uint64_t code_addr, entries;
};
struct DebugEntry {
    uint64_t addr;
    uint32_t line, discriminator;
};

// The clock of `perf record -k mono`.
uint64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

class Record {
public:
    explicit Record(uint32_t id) { put(RecordHead{id, 0, now()}); }
    template <class T>
    void put(const T& value) {
        bytes(&value, sizeof value);
    }
    void text(const std::string& s) { bytes(s.c_str(), s.size() + 1); }
    void bytes(const void* from, size_t size) {
        const auto* b = static_cast<const uint8_t*>(from);
        content_.insert(content_.end(), b, b + size);
    }
    void write(std::FILE* to) {
        const auto size = static_cast<uint32_t>(content_.size());
        std::copy_n(reinterpret_cast<const uint8_t*>(&size), 4,
                    content_.begin() + offsetof(RecordHead, total_size));
        std::fwrite(content_.data(), 1, size, to);
    }

private:
    std::vector<uint8_t> content_;
};

// Not through what somebody else has put into /tmp.
std::FILE* make_file(const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? nullptr : fdopen(fd, "w+");
}

}  // namespace

JitDump* JitDump::get() {
    static JitDump* const dump = [] {
        auto* made = new JitDump;  // as long as the process
        if (made->open()) return made;
        delete made;
        return static_cast<JitDump*>(nullptr);
    }();
    return dump;
}

bool JitDump::open() {
    const std::string stem = "/tmp/jit-" + std::to_string(getpid());
    listing_name_ = stem + ".gpu.s";
    std::FILE* dump = make_file(stem + ".dump");
    std::FILE* listing = make_file(listing_name_);
    if (dump && listing) {
        FileHead head;
        head.pid = static_cast<uint32_t>(getpid());
        head.timestamp = now();
        std::fwrite(&head, sizeof head, 1, dump);
        std::fflush(dump);
        // perf finds the file by this mapping.
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        if (mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) !=
            MAP_FAILED) {
            dump_ = dump;
            listing_ = listing;
            return true;
        }
    }
    if (dump) std::fclose(dump);
    if (listing) std::fclose(listing);
    return false;
}

void JitDump::add(const BlockRecord& block, const std::string& name, const GuestText& text) {
    const std::lock_guard lock(mutex_);
    auto* dump = static_cast<std::FILE*>(dump_);
    auto* listing = static_cast<std::FILE*>(listing_);
    const auto code = reinterpret_cast<uint64_t>(block.host);
    const uint32_t first_line = lines_ + 2;
    std::fprintf(listing, "%s:\n", name.c_str());
    for (const uint64_t pc : block.guest_pcs)
        std::fprintf(listing, "    %-56s // %lx\n", text(pc).c_str(),
                     static_cast<unsigned long>(pc));
    lines_ += 1 + static_cast<uint32_t>(block.guest_pcs.size());
    std::fflush(listing);

    Record lines(debug_info);
    uint64_t entries = 0;
    for (const PcEntry& e : block.pcs) entries += e.guest < block.guest_pcs.size();
    lines.put(DebugInfo{code, entries});
    for (const PcEntry& e : block.pcs) {
        if (e.guest >= block.guest_pcs.size()) continue;
        lines.put(DebugEntry{code + e.offset, first_line + e.guest, 0});
        lines.text(listing_name_);
    }
    lines.write(dump);
    Record load(code_load);
    load.put(CodeLoad{static_cast<uint32_t>(getpid()), static_cast<uint32_t>(syscall(SYS_gettid)),
                      code, code, block.code_size, blocks_++});
    load.text(name);
    load.bytes(block.host, block.code_size);
    load.write(dump);
    std::fflush(dump);
}

}  // namespace wj::x64
