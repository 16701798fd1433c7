#include "memory/address_space.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>

#include "memory/host_pages.h"
#include "memory/page_hooks.h"
#include "memory/pages.h"
#include "memory/window.h"

namespace wj::memory {
namespace {

constexpr uint64_t page_mask = page_size - 1;
constexpr size_t remembered_frees = 64, quarantined_frees = 4096;
constexpr uint64_t read_write_execute = read_write | executable;

std::string hex(uint64_t v) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
    return text;
}

std::string name_of(const Allocation& a) {
    return "allocation " + std::to_string(a.id) + " (" + (a.label.empty() ? "unnamed" : a.label) +
           ", " + std::to_string(a.size) + " bytes at " + hex(a.guest) + ")";
}

// Of a page: what is not allowed there.
const char* lacking(uint64_t rights) {
    if (!(rights & read_write)) return ", which may not be accessed";
    if (!(rights & writable)) return ", which is read-only";
    return rights & readable ? "" : ", which is write-only";
}

// Of pages that are hooked: which function there is not.
const char* lacking_hook(uint64_t rights) {
    if (!(rights & readable)) return ", which have no hook for loads";
    return rights & writable ? "" : ", which have no hook for stores";
}

uint64_t distance(const Allocation& a, uint64_t guest) {
    if (guest < a.guest) return a.guest - guest;
    if (guest < a.guest + a.size) return 0;
    return guest - (a.guest + a.size) + 1;
}

}  // namespace

struct AddressSpace::Impl {
    struct Owned {
        Allocation allocation;
        std::shared_ptr<const HostPages> pages;
    };
    using Views = std::multimap<uint64_t, Allocation>;

    PageTable table{};
    std::shared_ptr<Window> window;   // or null
    mutable std::shared_mutex mutex;  // guards everything below and all writes to the table
    std::map<uint64_t, Owned> owned;  // by first guest address; disjoint
    Views views;                      // mapped host memory; may overlap each other
    uint64_t largest_view = 0;        // bound for the search of overlapping views
    std::map<uint64_t, std::shared_ptr<HookedPages>> hooked;  // by first guest address; disjoint
    std::deque<Allocation> freed;                             // for reports of use after free
    bool keeps_freed = false, leaves_host_pages = false;
    std::deque<std::shared_ptr<const HostPages>> quarantine;  // the newest is in front
    uint64_t next_id = 1;
    uint64_t bytes = 0;
    std::atomic<uint64_t> epoch{1}, changes{0};
    std::mutex written_mutex;
    std::vector<uint64_t> written;  // pages, as take_written() gives them

    ~Impl() {
        for (auto& m : table.middle) {
            PageTable::Middle* middle = m.load();
            if (!middle) continue;
            for (auto& l : middle->leaf) delete l.load();
            delete middle;
        }
    }

    std::atomic<uint64_t>& entry(uint64_t guest) {
        auto& m = table.middle[guest >> 36];
        PageTable::Middle* middle = m.load(std::memory_order_relaxed);
        if (!middle) m.store(middle = new PageTable::Middle{}, std::memory_order_release);
        auto& l = middle->leaf[guest >> 24 & 0xfff];
        PageTable::Leaf* leaf = l.load(std::memory_order_relaxed);
        if (!leaf) l.store(leaf = new PageTable::Leaf{}, std::memory_order_release);
        return leaf->entry[guest >> page_bits & 0xfff];
    }

    uint64_t peek(uint64_t guest) const {
        if (guest >= guest_limit) return 0;
        const auto* middle = table.middle[guest >> 36].load(std::memory_order_acquire);
        if (!middle) return 0;
        const auto* leaf = middle->leaf[guest >> 24 & 0xfff].load(std::memory_order_acquire);
        return leaf ? leaf->entry[guest >> page_bits & 0xfff].load(std::memory_order_acquire) : 0;
    }

    // Adds what `a` has of page `page` to its entry. Rights of what shares a page add up, but where
    // protect() has said what they are; a page is whole when one allocation gives every byte all of
    // them.
    void add_page(uint64_t page, const Allocation& a) {
        auto& e = entry(page);
        const uint64_t old = e.load(), fixed = old & protected_page;
        const uint64_t rights = (fixed ? old : old | a.rights) & read_write_execute;
        const bool covers = a.guest <= page && page + page_size <= a.guest + a.reach;
        const bool was_whole = (old & ~page_mask) && !(old & partial_page);
        const bool whole = (covers && (fixed || a.rights == rights)) ||
                           (was_whole && (old & read_write_execute) == rights);
        const uint64_t host = page + (reinterpret_cast<uint64_t>(a.host) - a.guest);
        e.store(host | rights | fixed | (whole ? 0 : partial_page), std::memory_order_release);
    }

    // Those of [begin, end), which are whole pages.
    void add_pages(const Allocation& a, uint64_t begin, uint64_t end) {
        begin = std::max(begin, page_floor(a.guest));
        end = std::min(end, page_ceil(a.guest + a.reach));
        for (uint64_t page = begin; page < end; page += page_size) add_page(page, a);
    }
    void add_pages(const Allocation& a) { add_pages(a, 0, guest_limit); }

    // Views that reach `guest` begin here at the earliest.
    uint64_t first_view(uint64_t guest) const {
        return guest > largest_view + page_size ? guest - largest_view - page_size : 0;
    }

    // Rewrites the entries of the pages that [guest, guest + size) touches from what remains.
    void restore_pages(uint64_t guest, uint64_t size) {
        const uint64_t begin = page_floor(guest), end = page_ceil(guest + size);
        for (uint64_t page = begin; page < end; page += page_size) {
            const uint64_t old = peek(page);
            const uint64_t kept =
                old & protected_page ? old & (read_write_execute | protected_page) : 0;
            entry(page).store(kept, std::memory_order_release);
        }
        for_each_between(begin, end, [&](const Allocation& a) { add_pages(a, begin, end); });
        for (uint64_t page = begin; page < end; page += page_size)
            if (!(peek(page) & ~page_mask)) entry(page).store(0, std::memory_order_release);
    }

    // Calls with all allocations that have bytes in [begin, end), which are whole pages.
    template <class Call>
    void for_each_between(uint64_t begin, uint64_t end, Call call) const {
        each_between(*this, begin, end, call);
    }
    template <class Self, class Call>
    static void each_between(Self& self, uint64_t begin, uint64_t end, Call call) {
        auto o = self.owned.upper_bound(begin);
        if (o != self.owned.begin()) --o;
        for (; o != self.owned.end() && o->first < end; ++o)
            if (o->first + o->second.allocation.reach > begin) call(o->second.allocation);
        for (auto v = self.views.lower_bound(self.first_view(begin));
             v != self.views.end() && v->first < end; ++v)
            if (v->first + v->second.reach > begin) call(v->second);
    }

    // What protect() has said of the pages of [begin, end), which are whole pages.
    void fix_rights(uint64_t begin, uint64_t end, uint32_t rights) {
        for (uint64_t page = begin; page < end; page += page_size) {
            auto& e = entry(page);
            e.store((e.load() & ~read_write_execute) | rights | protected_page,
                    std::memory_order_release);
        }
        each_between(*this, begin, end, [](Allocation& a) { a.has_page_rights = true; });
        changes.fetch_add(1);
    }

    // The host's pages of these, which are an allocation's.
    Status protect_on_host(uint64_t begin, uint64_t end, uint32_t rights) const {
        if (leaves_host_pages) return {};
        const auto o = owned.upper_bound(begin);
        const Owned* const owner = o == owned.begin() ? nullptr : &std::prev(o)->second;
        if (!owner || begin - owner->allocation.guest + (end - begin) > owner->pages->bytes)
            return {Code::InvalidArgument,
                    "protect of " + hex(begin) +
                        ": without checked memory kernels reach registered host memory as the "
                        "program does, which may mprotect it"};
        auto* const host =
            static_cast<uint8_t*>(owner->pages->base) + (begin - owner->allocation.guest);
        if (protect_host_pages(host, end - begin, rights)) return {};
        return {Code::HostError, "mprotect of " + hex(begin) + " failed"};
    }

    PageRights page_rights(const Allocation& a) const {
        PageRights rights;
        if (!a.has_page_rights) return rights;
        for (uint64_t page = page_floor(a.guest); page < page_ceil(a.guest + a.reach);
             page += page_size)
            rights.push_back(static_cast<uint8_t>(peek(page) & read_write_execute));
        return rights;
    }

    Allocation* same(const Allocation& a) {
        const auto o = owned.find(a.guest);
        if (o != owned.end() && o->second.allocation.id == a.id) return &o->second.allocation;
        const auto [first, last] = views.equal_range(a.guest);
        const auto view =
            std::find_if(first, last, [&](const auto& v) { return v.second.id == a.id; });
        return view == last ? nullptr : &view->second;
    }

    void set_page_rights(const Held& held) {
        const Allocation& a = held.allocation;
        const uint64_t begin = page_floor(a.guest), end = page_ceil(a.guest + a.reach);
        if (held.page_rights.empty()) {
            for (uint64_t page = begin; page < end; page += page_size)
                entry(page).fetch_and(~protected_page);
            restore_pages(begin, end - begin);
            (void)protect_on_host(begin, end, a.rights);
        }
        for (size_t first = 0, last = 0; first < held.page_rights.size(); first = last) {
            const uint8_t rights = held.page_rights[first];
            while (last < held.page_rights.size() && held.page_rights[last] == rights) ++last;
            fix_rights(begin + first * page_size, begin + last * page_size, rights);
            (void)protect_on_host(begin + first * page_size, begin + last * page_size, rights);
        }
    }

    // From a whole page to the bytes around `guest` that allocations with these rights have of it,
    // be they several that touch.
    bool clip(uint64_t guest, uint32_t rights, Span& span) const {
        std::shared_lock lock(mutex);
        const bool fixed = peek(guest) & protected_page;
        Span found{guest, guest, span.delta};
        for (bool grown = true; grown;) {
            grown = false;
            for_each_between(span.begin, span.end, [&](const Allocation& a) {
                const uint64_t begin = std::max(a.guest, span.begin),
                               end = std::min(a.guest + a.reach, span.end);
                if (!fixed && (a.rights & rights) != rights) return;
                if (begin > found.end || end < found.begin) return;
                if (begin >= found.begin && end <= found.end) return;
                found.begin = std::min(found.begin, begin), found.end = std::max(found.end, end);
                grown = true;
            });
        }
        span = found;
        return found.begin <= guest && guest < found.end;
    }

    std::shared_ptr<HookedPages> hooked_at(uint64_t guest) const {
        auto it = hooked.upper_bound(guest);
        if (it == hooked.begin()) return nullptr;
        const auto& pages = std::prev(it)->second;
        return pages->contains(guest) ? pages : nullptr;
    }

    const Allocation* containing(uint64_t guest) const {
        auto it = owned.upper_bound(guest);
        if (it != owned.begin()) {
            const Allocation& a = std::prev(it)->second.allocation;
            if (guest - a.guest < a.size) return &a;
        }
        // The latest of overlapping views answers.
        const Allocation* best = nullptr;
        for (auto v = views.lower_bound(first_view(guest)); v != views.end() && v->first <= guest;
             ++v)
            if (guest - v->first < v->second.size && (!best || best->id < v->second.id))
                best = &v->second;
        return best;
    }

    const Allocation* closest(uint64_t guest) const {
        if (const Allocation* a = containing(guest)) return a;
        const Allocation* best = nullptr;
        auto consider = [&](const Allocation& a) {
            if (!best || distance(a, guest) < distance(*best, guest)) best = &a;
        };
        auto it = owned.upper_bound(guest);
        if (it != owned.end()) consider(it->second.allocation);
        if (it != owned.begin()) consider(std::prev(it)->second.allocation);
        auto v = views.upper_bound(guest);
        if (v != views.end()) consider(v->second);
        for (v = views.lower_bound(first_view(guest)); v != views.end() && v->first <= guest; ++v)
            consider(v->second);
        if (!best && !views.empty()) consider(views.rbegin()->second);
        return best;
    }

    void remember(const Allocation& a) {
        freed.push_front(a);
        if (freed.size() > (keeps_freed ? quarantined_frees : remembered_frees)) freed.pop_back();
    }
};

AddressSpace::AddressSpace() : impl_(new Impl) {}
AddressSpace::~AddressSpace() {
    delete impl_;
}

Status AddressSpace::confine(uint64_t bytes) {
    auto window = Window::reserve(bytes);
    if (!window) return window.status();
    impl_->window = std::move(*window);
    return {};
}

void AddressSpace::leave_host_pages() {
    impl_->leaves_host_pages = true;
}

const Window* AddressSpace::window() const {
    return impl_->window.get();
}

Result<uint64_t> AddressSpace::allocate(uint64_t size, uint32_t rights, std::string label,
                                        Extent extent) {
    if (size == 0) return Status(Code::InvalidArgument, "an allocation of 0 bytes was asked for");
    HostPages pages;
    if (!reserve_host_pages(size, rights, pages, impl_->window.get()))
        return Status(Code::OutOfMemory, std::string(impl_->window ? "the window" : "the host") +
                                             " has no memory for " + std::to_string(size) +
                                             " bytes of device memory (" + label + ")");
    if (rights & executable) populate_host_pages(pages);  // a code object, to be filled at once
    const uint64_t guest = reinterpret_cast<uint64_t>(pages.base);
    std::shared_ptr<const HostPages> shared(new HostPages(pages),
                                            [window = impl_->window](const HostPages* p) {
                                                release_host_pages(*p, window.get());
                                                delete p;
                                            });
    std::unique_lock lock(impl_->mutex);
    Impl::Owned o;
    o.allocation = {impl_->next_id++,
                    guest,
                    size,
                    pages.base,
                    rights,
                    std::move(label),
                    extent == Extent::Pages ? pages.bytes : size,
                    extent};
    o.pages = std::move(shared);
    impl_->add_pages(o.allocation);
    impl_->owned.emplace(guest, std::move(o));
    impl_->changes.fetch_add(1);
    impl_->bytes += pages.bytes;
    return guest;
}

Status AddressSpace::free(uint64_t guest) {
    std::shared_ptr<const HostPages> pages, oldest;  // let go of without the lock
    {
        std::unique_lock lock(impl_->mutex);
        auto it = impl_->owned.find(guest);
        if (it == impl_->owned.end())
            return Status(Code::InvalidArgument,
                          "free of " + hex(guest) + ", which no allocation starts at");
        pages = std::move(it->second.pages);
        impl_->bytes -= pages->bytes;
        impl_->remember(it->second.allocation);
        impl_->owned.erase(it);
        impl_->changes.fetch_add(1);
        impl_->restore_pages(guest, pages->bytes);
        impl_->epoch.fetch_add(1, std::memory_order_release);
        if (impl_->keeps_freed) {
            discard_host_pages(*pages);
            impl_->quarantine.push_front(pages);
            if (impl_->quarantine.size() > quarantined_frees) {
                oldest = std::move(impl_->quarantine.back());
                impl_->quarantine.pop_back();
            }
        }
    }
    return {};
}

void AddressSpace::keep_freed_addresses() {
    std::unique_lock lock(impl_->mutex);
    impl_->keeps_freed = true;
}

Status AddressSpace::map(uint64_t guest, void* host, uint64_t size, uint32_t rights,
                         std::string label) {
    if (size == 0 || guest >= guest_limit || size > guest_limit - guest || !host)
        return Status(Code::InvalidArgument, "cannot map " + std::to_string(size) + " bytes at " +
                                                 hex(guest) + ": empty or beyond 48 bits");
    if (impl_->window)
        return Status(Code::InvalidArgument,
                      "cannot map host memory: with a window, guests reach memory that the context "
                      "allocates alone (wj_memory_allocate)");
    const uint64_t h = reinterpret_cast<uint64_t>(host);
    if ((guest ^ h) & page_mask)
        return Status(Code::InvalidArgument, "cannot map host memory " + hex(h) + " at " +
                                                 hex(guest) + ": different offsets in their pages");
    std::unique_lock lock(impl_->mutex);
    const uint64_t delta = h - guest;
    for (uint64_t a = page_floor(guest); a < page_ceil(guest + size); a += page_size) {
        const uint64_t present = impl_->peek(a);
        if (present && (present & ~page_mask) != a + delta)
            return Status(Code::InvalidArgument, "cannot map " + std::to_string(size) +
                                                     " bytes at " + hex(guest) + ": " + hex(a) +
                                                     " is mapped already");
    }
    const Allocation view{impl_->next_id++, guest, size,         host, rights,
                          std::move(label), size,  Extent::Bytes};
    impl_->add_pages(view);
    impl_->views.emplace(guest, view);
    impl_->largest_view = std::max(impl_->largest_view, size);
    return {};
}

Status AddressSpace::hook(uint64_t guest, uint64_t size, const PageHooks& hooks) {
    if (size == 0 || guest >= guest_limit || size > guest_limit - guest ||
        (guest | size) & page_mask)
        return Status(Code::InvalidArgument, "cannot hook " + std::to_string(size) + " bytes at " +
                                                 hex(guest) +
                                                 ": not whole pages of 4 KiB, or beyond 48 bits");
    std::unique_lock lock(impl_->mutex);
    for (uint64_t page = guest; page < guest + size; page += page_size)
        if (impl_->peek(page))
            return Status(Code::InvalidArgument, "cannot hook " + std::to_string(size) +
                                                     " bytes at " + hex(guest) + ": " + hex(page) +
                                                     " is mapped already");
    for (uint64_t page = guest; page < guest + size; page += page_size)
        impl_->entry(page).store(hooked_page | hooks.rights(), std::memory_order_release);
    impl_->hooked.emplace(guest,
                          std::make_shared<HookedPages>(guest, size, hooks, impl_->next_id++));
    return {};
}

std::shared_ptr<HookedPages> AddressSpace::hooked(uint64_t guest, uint32_t rights) const {
    const uint64_t e = impl_->peek(guest);
    if (!(e & hooked_page) || (e & rights) != rights) return nullptr;
    std::shared_lock lock(impl_->mutex);
    return impl_->hooked_at(guest);
}

Status AddressSpace::unmap(uint64_t guest) {
    std::unique_lock lock(impl_->mutex);
    if (const auto it = impl_->hooked.find(guest); it != impl_->hooked.end()) {
        for (uint64_t at = 0; at < it->second->bytes; at += page_size)
            impl_->entry(guest + at).store(0, std::memory_order_release);
        impl_->hooked.erase(it);
        return {};
    }
    auto [first, last] = impl_->views.equal_range(guest);
    if (first == last)
        return Status(Code::InvalidArgument,
                      "unmap of " + hex(guest) + ", which no mapping starts at");
    auto it = std::prev(last);  // the latest mapping of this address
    const Allocation view = it->second;
    impl_->views.erase(it);
    impl_->restore_pages(view.guest, view.size);
    impl_->remember(view);
    impl_->epoch.fetch_add(1, std::memory_order_release);
    return {};
}

Status AddressSpace::protect(uint64_t guest, uint64_t size, uint32_t rights) {
    if (size == 0 || guest >= guest_limit || size > guest_limit - guest)
        return Status(Code::InvalidArgument,
                      "protect of an empty range or beyond 48 bits at " + hex(guest));
    std::unique_lock lock(impl_->mutex);
    const uint64_t begin = page_floor(guest), end = page_ceil(guest + size);
    for (uint64_t a = begin; a < end; a += page_size)
        if (!(impl_->peek(a) & ~page_mask))
            return Status(Code::InvalidArgument,
                          "protect of " + hex(guest) + ": " + hex(a) + " is not mapped");
    if (Status status = impl_->protect_on_host(begin, end, rights); !status) return status;
    impl_->fix_rights(begin, end, rights);
    impl_->epoch.fetch_add(1, std::memory_order_release);
    return {};
}

Status AddressSpace::overwrite(uint64_t guest, std::span<const std::byte> bytes) {
    std::unique_lock lock(impl_->mutex);
    const Allocation* const a = impl_->containing(guest);
    if (!a || bytes.size() > a->size - (guest - a->guest))
        return Status(Code::InvalidArgument, "there is no allocation of " +
                                                 std::to_string(bytes.size()) + " bytes at " +
                                                 hex(guest));
    const uint64_t begin = page_floor(guest), end = page_ceil(guest + bytes.size());
    if (Status status = impl_->protect_on_host(begin, end, read_write); !status) return status;
    std::memcpy(static_cast<std::byte*>(a->host) + (guest - a->guest), bytes.data(), bytes.size());
    for (uint64_t page = begin; page < end; page += page_size) {
        const auto rights = static_cast<uint32_t>(impl_->peek(page) & read_write_execute);
        if (Status status = impl_->protect_on_host(page, page + page_size, rights); !status)
            return status;
    }
    return {};
}

void* AddressSpace::translate(uint64_t guest, uint64_t size, uint32_t rights) const {
    if (guest >= guest_limit || size > guest_limit - guest) return nullptr;
    Span first;
    if (!span(guest, rights, first)) return nullptr;
    for (Span s = first; s.end < guest + size;)
        if (!span(s.end, rights, s) || s.delta != first.delta) return nullptr;
    return reinterpret_cast<void*>(guest + first.delta);
}

bool AddressSpace::span(uint64_t guest, uint32_t rights, Span& out) const {
    const uint64_t page = page_floor(guest), e = impl_->peek(guest);
    if (!(e & ~page_mask) || (e & rights) != rights) return false;
    out = {page, page + page_size, (e & ~page_mask) - page};
    return !(e & partial_page) || impl_->clip(guest, rights, out);
}

bool AddressSpace::find(uint64_t guest, Allocation& out) const {
    std::shared_lock lock(impl_->mutex);
    const Allocation* a = impl_->containing(guest);
    if (a) out = *a;
    return a != nullptr;
}

bool AddressSpace::nearest(uint64_t guest, Allocation& out) const {
    std::shared_lock lock(impl_->mutex);
    const Allocation* a = impl_->closest(guest);
    if (a) out = *a;
    return a != nullptr;
}

std::string AddressSpace::describe(uint64_t guest) const {
    std::shared_lock lock(impl_->mutex);
    if (const Allocation* a = impl_->containing(guest)) {
        std::string text = std::to_string(guest - a->guest) + " bytes into " + name_of(*a);
        return text + lacking(impl_->peek(guest));
    }
    if (const auto pages = impl_->hooked_at(guest))
        return std::to_string(guest - pages->begin) + " bytes into hooked pages " +
               std::to_string(pages->id) + " (" + std::to_string(pages->bytes) + " bytes at " +
               hex(pages->begin) + ")" + lacking_hook(pages->rights());
    if (guest < page_size)
        return guest ? "a null pointer plus " + std::to_string(guest) : "a null pointer";
    for (const Allocation& a : impl_->freed)
        if (guest - a.guest < a.size)
            return std::to_string(guest - a.guest) + " bytes into freed " + name_of(a);
    const bool canonical = guest < (1ull << 47) || guest >= ~((1ull << 47) - 1);
    const std::string prefix = canonical ? "" : "not a canonical address; ";
    const Allocation* a = impl_->closest(guest);
    if (!a) return prefix + "nothing is allocated";
    if (guest < a->guest)
        return prefix + std::to_string(a->guest - guest) + " bytes before " + name_of(*a);
    return prefix + std::to_string(guest - (a->guest + a->size)) + " bytes after " + name_of(*a);
}

std::vector<Held> AddressSpace::all_held() const {
    std::shared_lock lock(impl_->mutex);
    std::vector<Held> all;
    for (const auto& [guest, o] : impl_->owned)
        all.push_back({o.allocation, o.pages, impl_->page_rights(o.allocation)});
    for (const auto& [guest, view] : impl_->views)
        all.push_back({view, nullptr, impl_->page_rights(view)});
    return all;
}

bool AddressSpace::has(const Allocation& a) const {
    std::shared_lock lock(impl_->mutex);
    return impl_->same(a) != nullptr;
}

bool AddressSpace::open_to_host(const Held& held) {
    if (impl_->leaves_host_pages || !held.pages) return false;
    std::unique_lock lock(impl_->mutex);
    const Allocation* const now = impl_->same(held.allocation);
    if (!now || !now->has_page_rights) return false;
    protect_host_pages(held.pages->base, held.pages->bytes, read_write);
    return true;
}

void AddressSpace::set_page_rights(const Held& held) {
    std::unique_lock lock(impl_->mutex);
    Allocation* const now = impl_->same(held.allocation);
    if (!now || (held.page_rights.empty() && !now->has_page_rights)) return;
    impl_->set_page_rights(held);
    now->has_page_rights = !held.page_rights.empty();
    impl_->epoch.fetch_add(1, std::memory_order_release);
}

void AddressSpace::put_back(const Held& held) {
    std::unique_lock lock(impl_->mutex);
    std::erase_if(impl_->freed, [&](const Allocation& a) { return a.id == held.allocation.id; });
    // With checked memory kernels' rights are those of the table alone, and may change.
    protect_host_pages(held.pages->base, held.pages->bytes,
                       impl_->leaves_host_pages ? read_write : held.allocation.rights);
    impl_->add_pages(held.allocation);
    impl_->bytes += held.pages->bytes;
    impl_->changes.fetch_add(1);
    impl_->owned.emplace(held.allocation.guest, Impl::Owned{held.allocation, held.pages});
    if (!held.page_rights.empty()) impl_->set_page_rights(held);
    impl_->next_id = std::max(impl_->next_id, held.allocation.id + 1);
}

uint64_t AddressSpace::changes() const {
    return impl_->changes.load();
}

// What is in TLBs now would not be noted.
void AddressSpace::track_writes() {
    if (!tracks_writes_.exchange(true)) impl_->epoch.fetch_add(1, std::memory_order_release);
}

void AddressSpace::add_written(uint64_t guest, uint64_t bytes) {
    for (uint64_t page = page_floor(guest); page < page_ceil(guest + bytes); page += page_size) {
        if (!(impl_->peek(page) & ~page_mask)) continue;
        if (impl_->entry(page).fetch_or(written_page) & written_page) continue;
        std::lock_guard lock(impl_->written_mutex);
        impl_->written.push_back(page);
    }
}

std::vector<uint64_t> AddressSpace::take_written() {
    std::vector<uint64_t> pages;
    {
        std::lock_guard lock(impl_->written_mutex);
        pages.swap(impl_->written);
    }
    if (pages.empty()) return pages;
    std::unique_lock lock(impl_->mutex);
    for (const uint64_t page : pages)
        if (impl_->peek(page)) impl_->entry(page).fetch_and(~written_page);
    impl_->epoch.fetch_add(1, std::memory_order_release);
    return pages;
}

const PageTable* AddressSpace::page_table() const {
    return &impl_->table;
}
uint64_t AddressSpace::epoch() const {
    return impl_->epoch.load(std::memory_order_acquire);
}

uint64_t AddressSpace::bytes_allocated() const {
    std::shared_lock lock(impl_->mutex);
    return impl_->bytes;
}

}  // namespace wj::memory
