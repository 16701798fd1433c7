// Dynamic segment, symbol tables and relocation records of code objects.
#include <algorithm>
#include <unordered_set>

#include "frontend/code_object_parser.h"

namespace wj {
namespace {

constexpr uint16_t shn_amdgpu_lds = 0xff00;
constexpr uint8_t stt_amdgpu_hsa_kernel = 10;

Symbol::Kind symbol_kind(const Elf64_Sym& sym, std::string_view name) {
    uint8_t type = ELF64_ST_TYPE(sym.st_info);
    if (sym.st_shndx == shn_amdgpu_lds) return Symbol::Kind::Lds;
    if (sym.st_shndx == SHN_UNDEF) return Symbol::Kind::Undefined;
    if (type == stt_amdgpu_hsa_kernel) return Symbol::Kind::Kernel;
    if (type == STT_FUNC) return Symbol::Kind::Function;
    if (type == STT_OBJECT)
        return name.ends_with(".kd") && sym.st_size == kernel_descriptor_size
                   ? Symbol::Kind::Kernel
                   : Symbol::Kind::Variable;
    return Symbol::Kind::Other;
}

}  // namespace

// Tables are found through the dynamic segment, not by section type.
Status CodeObjectParser::read_dynamic() {
    uint64_t at = 0, size = 0;
    for (const Elf64_Phdr& ph : program_headers_)
        if (ph.p_type == PT_DYNAMIC) at = ph.p_offset, size = ph.p_filesz;
    if (!size) return Status::ok();
    auto range = file_.slice(at, size);
    if (!range)
        return invalid("the dynamic segment at file offset " + hex(at) + ", " + hex(size) +
                       " bytes, ends behind the end of the file: it is truncated");
    Bytes dynamic(*range);
    uint64_t values[64] = {}, gnu_hash = 0;
    for (uint64_t i = 0; dynamic.contains(i, sizeof(Elf64_Dyn)); i += sizeof(Elf64_Dyn)) {
        auto entry = dynamic.at<Elf64_Dyn>(i);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag > 0 && entry.d_tag < 64) values[entry.d_tag] = entry.d_un.d_val;
        if (entry.d_tag == DT_GNU_HASH) gnu_hash = entry.d_un.d_val;
    }
    if (values[DT_REL] && values[DT_RELSZ])
        return invalid(
            "DT_REL relocations in the dynamic segment: AMDGPU only has DT_RELA; link it with "
            "ld.lld");
    if (values[DT_SYMTAB]) {
        auto strings_at = file_offset(values[DT_STRTAB], values[DT_STRSZ]);
        if (!strings_at)
            return invalid("the dynamic string table (DT_STRTAB " + hex(values[DT_STRTAB]) + ", " +
                           hex(values[DT_STRSZ]) + " bytes) is in no LOAD segment");
        Bytes strings(file_.span().subspan(*strings_at, values[DT_STRSZ]));
        uint64_t count = count_dynamic_symbols(values[DT_HASH], gnu_hash);
        auto symbols_at = file_offset(values[DT_SYMTAB], 0);
        if (!symbols_at || count > file_.size() / sizeof(Elf64_Sym) ||
            !file_offset(values[DT_SYMTAB], count * sizeof(Elf64_Sym)))
            return invalid("the dynamic symbol table (DT_SYMTAB " + hex(values[DT_SYMTAB]) + ", " +
                           std::to_string(count) + " symbols) is in no LOAD segment");
        Status status = add_symbols(*symbols_at, count, strings, true);
        if (!status) return status;
    }
    dynamic_symbol_count_ = static_cast<uint32_t>(out_.symbols.size());
    struct {
        uint64_t table, size;
    } const tables[] = {{values[DT_RELA], values[DT_RELASZ]},
                        {values[DT_JMPREL], values[DT_PLTRELSZ]}};
    for (auto [table, bytes] : tables) {
        if (!bytes) continue;
        Status status = read_relocations(table, bytes);
        if (!status) return status;
    }
    return Status::ok();
}

uint64_t CodeObjectParser::count_dynamic_symbols(uint64_t hash, uint64_t gnu_hash) const {
    // DT_HASH: nbucket, nchain; nchain is the number of symbols.
    if (auto at = hash ? file_offset(hash, 8) : std::nullopt) return file_.at<uint32_t>(*at + 4);
    for (const Elf64_Shdr& sh : section_headers_)
        if (sh.sh_type == SHT_DYNSYM) return sh.sh_size / sizeof(Elf64_Sym);
    auto at = gnu_hash ? file_offset(gnu_hash, 16) : std::nullopt;
    if (!at) return 0;
    // DT_GNU_HASH: buckets hold each chain's first index; the last chain's end is the count.
    uint64_t buckets = file_.at<uint32_t>(*at), first = file_.at<uint32_t>(*at + 4);
    uint64_t bucket_at = *at + 16 + uint64_t{file_.at<uint32_t>(*at + 8)} * 8;
    if (!file_.contains(bucket_at, buckets * 4)) return 0;
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; i++)
        last = std::max<uint64_t>(last, file_.at<uint32_t>(bucket_at + i * 4));
    if (last < first) return first;
    uint64_t chain = bucket_at + buckets * 4;
    while (true) {
        auto word = file_.get<uint32_t>(chain + (last - first) * 4);
        if (!word) return 0;
        last++;
        if (*word & 1) return last;
    }
}

Status CodeObjectParser::add_symbols(uint64_t offset, uint64_t count, Bytes strings, bool dynamic) {
    std::unordered_set<std::string> known;
    auto key = [](const Symbol& s) { return s.name + '\0' + hex(s.address); };
    if (!dynamic)
        for (const Symbol& s : out_.symbols) known.insert(key(s));
    for (uint64_t i = 1; i < count; i++) {  // 0 is the null symbol
        uint64_t at = offset + i * sizeof(Elf64_Sym);
        auto sym = file_.get<Elf64_Sym>(at);
        if (!sym)
            return invalid("symbol " + std::to_string(i) + " at file offset " + hex(at) +
                           " is behind the end of the file: it is truncated");
        auto name = sym->st_name ? strings.c_string(sym->st_name) : std::string_view{};
        if (!name)
            return invalid("the name of symbol " + std::to_string(i) + " at file offset " +
                           hex(at) + " is outside its string table");
        if (!spend_name(*name))
            return invalid("symbol names overlap too often; the file is damaged");
        if (sym->st_value + sym->st_size < sym->st_value)
            return invalid("symbol '" + printable(*name) + "' at file offset " + hex(at) +
                           ": address " + hex(sym->st_value) + " plus size " + hex(sym->st_size) +
                           " overflows");
        Symbol s;
        s.name = *name;
        s.kind = symbol_kind(*sym, *name);
        s.address = sym->st_value;
        s.size = sym->st_size;
        s.dynamic = dynamic;
        s.weak = ELF64_ST_BIND(sym->st_info) == STB_WEAK;
        s.local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
        s.absolute = sym->st_shndx == SHN_ABS;
        s.section = sym->st_shndx;
        for (const Segment& segment : out_.segments)
            if (s.address >= segment.address && s.address - segment.address < segment.memory_size)
                s.writable = segment.writable;
        if (!dynamic && (s.name.empty() || !known.insert(key(s)).second)) continue;
        out_.symbols.push_back(std::move(s));
    }
    return Status::ok();
}

// .symtab, when the object is not stripped.
Status CodeObjectParser::read_symbols() {
    for (const Elf64_Shdr& sh : section_headers_) {
        if (sh.sh_type != SHT_SYMTAB) continue;
        if (sh.sh_link >= section_headers_.size())
            return invalid(".symtab names the string table section " + std::to_string(sh.sh_link) +
                           ", which does not exist");
        const Elf64_Shdr& strings = section_headers_[sh.sh_link];
        auto bytes =
            file_.slice(strings.sh_offset, strings.sh_type == SHT_NOBITS ? 0 : strings.sh_size);
        if (!bytes) return invalid("the string table of .symtab is outside the file");
        // ELF allows one .symtab.
        return add_symbols(sh.sh_offset, sh.sh_size / sizeof(Elf64_Sym), Bytes(*bytes), false);
    }
    return Status::ok();
}

Status CodeObjectParser::read_relocations(uint64_t address, uint64_t size) {
    auto at = file_offset(address, size);
    if (!at)
        return invalid("the relocation table (DT_RELA " + hex(address) + ", " + hex(size) +
                       " bytes) is in no LOAD segment");
    for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= size; i += sizeof(Elf64_Rela)) {
        auto rela = file_.at<Elf64_Rela>(*at + i);
        Relocation r;
        r.address = rela.r_offset;
        r.type = static_cast<uint32_t>(ELF64_R_TYPE(rela.r_info));
        r.addend = rela.r_addend;
        uint64_t symbol = ELF64_R_SYM(rela.r_info);
        if (symbol > dynamic_symbol_count_)
            return invalid("relocation at file offset " + hex(*at + i) + " names dynamic symbol " +
                           std::to_string(symbol) + " of " + std::to_string(dynamic_symbol_count_));
        if (symbol) r.symbol = static_cast<uint32_t>(symbol - 1);
        out_.relocations.push_back(r);
    }
    return Status::ok();
}

}  // namespace wj
