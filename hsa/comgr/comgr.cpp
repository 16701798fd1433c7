// Stands in front of AMD's code object manager: what it compiled once is kept on disk. HIP 5 and 6
// compile their own fill and copy kernels with it in each process, which takes more time than the
// start of the process otherwise does.
//
// All functions of the library are passed on to the real one (functions.txt). amd_comgr_do_action
// looks first whether the same action was done for the same inputs by the same library; those that
// make and set an action's parameters note what cannot be asked for. Files lie in the cache of
// translated code (backend_x64/cache_directory.h), with its variables and its bounds.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "backend_x64/cache_directory.h"

namespace {

namespace fs = std::filesystem;
using wj::x64::CacheDirectory;

// As amd_comgr.h declares them; the numbers of kinds differ between 2 and 3, and only their range
// matters here.
using Status = int;
struct Handle {
    uint64_t handle;
};
constexpr Status success = 0, failed = 1;
constexpr int source_kind = 1, include_kind = 2, log_kind = 5, last_data_kind = 0x20;
constexpr uint64_t largest = 8 << 20;  // bytes of inputs that are worth a look

Status missing_function() {
    return failed;
}

void* real_library = nullptr;
uint64_t real_identity[3];  // size, time, inode: another library has other results

}  // namespace

// The addresses of the real functions, and code that jumps there.
#define WJ_OWN(name)                                              \
    extern "C" {                                                  \
    [[gnu::visibility("hidden")]] void* wj_real_##name = nullptr; \
    }
#define WJ_PASSED_ON(name)                                                       \
    WJ_OWN(name)                                                                 \
    asm(".text\n.p2align 4\n.globl " #name "\n.type " #name ",@function\n" #name \
        ":\n  jmp *wj_real_" #name "(%rip)\n.size " #name ", .-" #name "\n");
#include <comgr_functions.inc>  // made by CMake from functions.txt
#undef WJ_OWN
#undef WJ_PASSED_ON

extern "C" {
extern const char wj_comgr_soname[];  // whom this one stands in for (soname.c)

// By this name stand-ins know each other.
[[gnu::visibility("default")]] extern const char wavejit_comgr_stand_in;
const char wavejit_comgr_stand_in = 1;
}

namespace {

template <class... Parameters>
Status call(void* function, Parameters... parameters) {
    return reinterpret_cast<Status (*)(Parameters...)>(function)(parameters...);
}

// Folders where the dynamic loader would have found the library, without this one's.
std::vector<fs::path> library_folders() {
    Dl_info own;
    if (!dladdr(&real_library, &own)) return {};
    std::error_code error;
    const fs::path here = fs::path(own.dli_fname).parent_path();
    std::vector<fs::path> folders;
    for (const char* list : {static_cast<const char*>(std::getenv("LD_LIBRARY_PATH")),
                             "/usr/local/lib:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/"
                             "lib64:/usr/lib:/opt/rocm/lib"}) {
        std::string_view rest = list ? list : "";
        while (!rest.empty()) {
            const size_t end = std::min(rest.find(':'), rest.size());
            const fs::path folder = rest.substr(0, end);
            if (end && !fs::equivalent(folder, here, error)) folders.push_back(folder);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return folders;
}

// Opens the library that would have been loaded without this one; the reason when there is none.
// Two installations of wavejit may be among the folders: a stand-in that took the other one for
// the real library would be called by it in turn, for ever.
std::string open_real_library(fs::path& path) {
    std::string reason = "it is in no folder of libraries; install the package libamd-comgr";
    std::error_code error;
    for (const fs::path& folder : library_folders()) {
        path = folder / wj_comgr_soname;
        if (!fs::exists(path, error)) continue;
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            reason = dlerror();
        } else if (dlsym(library, "wavejit_comgr_stand_in")) {
            dlclose(library);
        } else {
            real_library = library;
            return {};
        }
    }
    return reason;
}

[[gnu::constructor]] void load_real_library() {
    fs::path path;
    const std::string reason = open_real_library(path);
    if (!real_library)
        std::fprintf(stderr, "wavejit: %s (AMD's code object manager) was not found: %s\n",
                     wj_comgr_soname, reason.c_str());
    struct stat info;
    if (real_library && stat(path.c_str(), &info) == 0) {
        real_identity[0] = static_cast<uint64_t>(info.st_size);
        real_identity[1] = static_cast<uint64_t>(info.st_mtime);
        real_identity[2] = info.st_ino;
    }
    const auto find = [](const char* name) {
        void* function = real_library ? dlsym(real_library, name) : nullptr;
        return function ? function : reinterpret_cast<void*>(missing_function);
    };
#define WJ_OWN(name) wj_real_##name = find(#name);
#define WJ_PASSED_ON WJ_OWN
#include <comgr_functions.inc>  // made by CMake from functions.txt
#undef WJ_OWN
#undef WJ_PASSED_ON
}

// --- bytes ---------------------------------------------------------------------------------------

void put(std::vector<std::byte>& out, const void* bytes, size_t size) {
    const size_t at = out.size();
    out.resize(at + size);
    if (size) std::memcpy(out.data() + at, bytes, size);
}
void put(std::vector<std::byte>& out, uint64_t value) {
    put(out, &value, sizeof value);
}
void put(std::vector<std::byte>& out, std::string_view text) {
    put(out, text.size());
    put(out, text.data(), text.size());
}

class Reader {
public:
    explicit Reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}
    bool get(uint64_t& value) {
        if (bytes_.size() - at_ < sizeof value) return false;
        std::memcpy(&value, &bytes_[at_], sizeof value);
        at_ += sizeof value;
        return true;
    }
    bool get(std::string_view& text) {
        uint64_t size = 0;
        if (!get(size) || bytes_.size() - at_ < size) return false;
        text = {reinterpret_cast<const char*>(bytes_.data()) + at_, size};
        at_ += size;
        return true;
    }
    bool at_end() const { return at_ == bytes_.size(); }

private:
    const std::vector<std::byte>& bytes_;
    size_t at_ = 0;
};

// --- what an action depends on -------------------------------------------------------------------

// A text that a function gives in two calls: its size with the end of the string, then its bytes.
template <class... Parameters>
bool get_text(std::string& out, void* function, Parameters... parameters) {
    size_t size = 0;
    if (call(function, parameters..., &size, static_cast<char*>(nullptr)) != success) return false;
    out.assign(size, 0);
    if (size && call(function, parameters..., &size, out.data()) != success) return false;
    while (!out.empty() && !out.back()) out.pop_back();
    return true;
}

struct Data {
    int kind;
    std::string name, bytes;
};

bool read_data(Handle set, std::vector<Data>& out) {
    uint64_t total = 0;
    for (int kind = 1; kind <= last_data_kind; kind++) {
        size_t count = 0;
        if (call(wj_real_amd_comgr_action_data_count, set, kind, &count) != success) continue;
        for (size_t i = 0; i < count; i++) {
            Handle data{};
            if (call(wj_real_amd_comgr_action_data_get_data, set, kind, i, &data) != success)
                return false;
            Data d{kind, {}, {}};
            size_t size = 0;
            bool good = get_text(d.name, wj_real_amd_comgr_get_data_name, data) &&
                        call(wj_real_amd_comgr_get_data, data, &size,
                             static_cast<char*>(nullptr)) == success;
            total += size;
            good = good && total <= largest;
            if (good && size) {
                d.bytes.assign(size, 0);
                good = call(wj_real_amd_comgr_get_data, data, &size, d.bytes.data()) == success;
            }
            call(wj_real_amd_comgr_release_data, data);
            if (!good) return false;
            out.push_back(std::move(d));
        }
    }
    return true;
}

// Parameters of an action for which the library has no question, or one that an action without them
// does not survive (the ISA's name in ROCm 7.2).
struct Parameters {
    bool isa = false;
    bool others = false;  // that the name of a file does not tell
    bool device_libraries = false, virtual_files = false;
};

std::mutex parameters_mutex;
std::map<uint64_t, Parameters>& all_parameters() {
    static auto* const all = new std::map<uint64_t, Parameters>;  // leaked: used until the end
    return *all;
}

template <class Change>
void note(Handle info, Change change) {
    std::lock_guard lock(parameters_mutex);
    change(all_parameters()[info.handle]);
}

Parameters parameters_of(Handle info) {
    std::lock_guard lock(parameters_mutex);
    return all_parameters()[info.handle];
}

// Options that name files, and texts that name a time.
bool depends_on_more(std::string_view option) {
    for (std::string_view start :
         {"-I", "-isystem", "-iquote", "-include", "-idirafter", "-imacros", "-save-temps",
          "--save-temps", "-fpch", "-ivfs", "@"})
        if (option.starts_with(start)) return true;
    return false;
}

bool names_time(const Data& d) {
    return (d.kind == source_kind || d.kind == include_kind) &&
           (d.bytes.find("__TIME") != std::string::npos ||
            d.bytes.find("__DATE__") != std::string::npos);
}

// The name of the action's file in the cache; nothing when its results may depend on what is not
// known here.
std::optional<std::string> name_of(int kind, Handle info, Handle inputs) {
    for (const char* variable :
         {"AMD_COMGR_SAVE_TEMPS", "AMD_COMGR_EMIT_VERBOSE_LOGS", "AMD_COMGR_REDIRECT_LOGS",
          "AMD_COMGR_TIME_STATISTICS", "AMD_COMGR_SAVE_LLVM_TEMPS"})
        if (std::getenv(variable)) return {};
    const Parameters parameters = parameters_of(info);
    if (!parameters.isa || parameters.others) return {};
    std::vector<std::byte> key;
    put(key, std::string("comgr 2 ") + wj_comgr_soname);
    put(key, uint64_t{parameters.device_libraries});
    put(key, uint64_t{parameters.virtual_files});
    put(key, real_identity, sizeof real_identity);
    size_t major = 0, minor = 0;
    reinterpret_cast<void (*)(size_t*, size_t*)>(wj_real_amd_comgr_get_version)(&major, &minor);
    put(key, major);
    put(key, minor);
    put(key, static_cast<uint64_t>(kind));
    for (const char* variable : {"HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH", "ROCM_PATH", "LLVM_PATH",
                                 "CPATH", "C_INCLUDE_PATH"}) {
        const char* value = std::getenv(variable);
        put(key, std::string_view(value ? value : ""));
    }
    std::string text;
    if (get_text(text, wj_real_amd_comgr_action_info_get_isa_name, info)) put(key, text);
    int language = 0;
    bool logging = false;
    if (call(wj_real_amd_comgr_action_info_get_language, info, &language) != success ||
        call(wj_real_amd_comgr_action_info_get_logging, info, &logging) != success)
        return {};
    put(key, static_cast<uint64_t>(language));
    put(key, uint64_t{logging});
    size_t options = 0;
    if (call(wj_real_amd_comgr_action_info_get_option_list_count, info, &options) != success)
        return {};
    put(key, options);
    for (size_t i = 0; i < options; i++) {
        if (!get_text(text, wj_real_amd_comgr_action_info_get_option_list_item, info, i) ||
            depends_on_more(text))
            return {};
        put(key, text);
    }
    std::vector<Data> data;
    if (!read_data(inputs, data)) return {};
    for (const Data& d : data) {
        if (d.kind == log_kind) continue;  // of an earlier action
        if (names_time(d)) return {};
        put(key, static_cast<uint64_t>(d.kind));
        put(key, d.name);
        put(key, d.bytes);
    }
    const XXH128_hash_t h = XXH3_128bits(key.data(), key.size());
    char name[40];
    std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(h.high64),
                  static_cast<unsigned long long>(h.low64));
    return std::string(name) + wj::x64::cache_file_suffix;
}

// --- results -------------------------------------------------------------------------------------

constexpr uint64_t file_magic = 0x31524d47434a5741;  // "AWJCGMR1"

std::vector<std::byte> encode(const std::vector<Data>& results) {
    std::vector<std::byte> body;
    for (const Data& d : results) {
        if (d.bytes.empty()) continue;  // a log in which nothing stands cannot be made by others
        put(body, static_cast<uint64_t>(d.kind));
        put(body, d.name);
        put(body, d.bytes);
    }
    std::vector<std::byte> file;
    put(file, file_magic);
    put(file, XXH3_64bits(body.data(), body.size()));
    put(file, body.data(), body.size());
    return file;
}

bool decode(const std::vector<std::byte>& file, std::vector<Data>& results) {
    Reader in(file);
    uint64_t magic = 0, checksum = 0, kind = 0;
    if (!in.get(magic) || !in.get(checksum) || magic != file_magic ||
        XXH3_64bits(file.data() + 16, file.size() - 16) != checksum)
        return false;
    while (!in.at_end()) {
        std::string_view name, bytes;
        if (!in.get(kind) || !in.get(name) || !in.get(bytes)) return false;
        results.push_back({static_cast<int>(kind), std::string(name), std::string(bytes)});
    }
    return true;
}

bool add_data(Handle set, const std::vector<Data>& results) {
    for (const Data& d : results) {
        Handle data{};
        if (call(wj_real_amd_comgr_create_data, d.kind, &data) != success) return false;
        const bool good =
            call(wj_real_amd_comgr_set_data, data, d.bytes.size(), d.bytes.data()) == success &&
            call(wj_real_amd_comgr_set_data_name, data, d.name.c_str()) == success &&
            call(wj_real_amd_comgr_data_set_add, set, data) == success;
        call(wj_real_amd_comgr_release_data, data);
        if (!good) return false;
    }
    return true;
}

CacheDirectory* cache() {
    static CacheDirectory* const directory = []() -> CacheDirectory* {
        const char* on = std::getenv("WAVEJIT_CACHE");
        if (on && std::strcmp(on, "0") == 0) return nullptr;
        const char* path = std::getenv("WAVEJIT_CACHE_DIR");
        auto* d = new CacheDirectory(
            path && *path ? path : CacheDirectory::default_path());  // leaked: used until the end
        return !d->path().empty() && d->open(true) ? d : nullptr;
    }();
    return directory;
}

}  // namespace

extern "C" {
#define WJ_EXPORT [[gnu::visibility("default")]] Status

WJ_EXPORT amd_comgr_create_action_info(Handle* info) {
    const Status status = call(wj_real_amd_comgr_create_action_info, info);
    // The handle may have been another one's before.
    if (status == success) note(*info, [](Parameters& p) { p = {}; });
    return status;
}

WJ_EXPORT amd_comgr_destroy_action_info(Handle info) {
    {
        std::lock_guard lock(parameters_mutex);
        all_parameters().erase(info.handle);
    }
    return call(wj_real_amd_comgr_destroy_action_info, info);
}

WJ_EXPORT amd_comgr_action_info_set_isa_name(Handle info, const char* name) {
    note(info, [&](Parameters& p) { p.isa = name && *name; });
    return call(wj_real_amd_comgr_action_info_set_isa_name, info, name);
}

WJ_EXPORT amd_comgr_action_info_set_bundle_entry_ids(Handle info, const char** ids, size_t count) {
    note(info, [](Parameters& p) { p.others = true; });
    return call(wj_real_amd_comgr_action_info_set_bundle_entry_ids, info, ids, count);
}

WJ_EXPORT amd_comgr_action_info_set_device_lib_linking(Handle info, bool on) {
    note(info, [&](Parameters& p) { p.device_libraries = on; });
    return call(wj_real_amd_comgr_action_info_set_device_lib_linking, info, on);
}

WJ_EXPORT amd_comgr_action_info_set_vfs(Handle info, bool on) {
    note(info, [&](Parameters& p) { p.virtual_files = on; });
    return call(wj_real_amd_comgr_action_info_set_vfs, info, on);
}

WJ_EXPORT amd_comgr_action_info_set_working_directory_path(Handle info, const char* path) {
    note(info, [&](Parameters& p) { p.others = p.others || (path && *path); });
    return call(wj_real_amd_comgr_action_info_set_working_directory_path, info, path);
}

WJ_EXPORT amd_comgr_do_action(int kind, Handle info, Handle inputs, Handle results) {
    const auto act = [&] { return call(wj_real_amd_comgr_do_action, kind, info, inputs, results); };
    std::vector<Data> found;
    // A set that holds something already shows only the sum of both.
    if (!real_library || !cache() || !read_data(results, found) || !found.empty()) return act();
    const std::optional<std::string> name = name_of(kind, info, inputs);
    if (!name) return act();
    std::vector<std::byte> file;
    if (cache()->read(*name, file) && decode(file, found))
        return add_data(results, found) ? success : failed;
    const Status status = act();
    found.clear();
    if (status == success && read_data(results, found)) cache()->write(*name, encode(found));
    return status;
}

#undef WJ_EXPORT
}
