// Findings as files: text, JSON, and SARIF 2.1.0 (the OASIS standard's schema).
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <initializer_list>

#include "frontend/code_object_bytes.h"
#include "runtime/fault_report.h"
#include "runtime/findings.h"

namespace wj::runtime {
namespace {

// A value of JSON (RFC 8259) as text; bytes that are no ASCII stay as they are.
struct Json {
    std::string text;

    static Json string(const std::string& value) {
        std::string out = "\"";
        for (const char c : value) {
            char escaped[8];
            if (c == '"' || c == '\\')
                out += std::string("\\") + c;
            else if (c == '\n')
                out += "\\n";
            else if (static_cast<unsigned char>(c) < 0x20)
                out.append(escaped, static_cast<size_t>(std::snprintf(escaped, sizeof escaped,
                                                                      "\\u%04x", unsigned(c))));
            else
                out += c;
        }
        return {out + "\""};
    }
    static Json number(uint64_t value) { return {std::to_string(value)}; }
    template <class Items>
    static Json array(const Items& items) {
        std::string out = "[";
        for (const Json& item : items) out += (out.size() > 1 ? ", " : "") + item.text;
        return {out + "]"};
    }
    using Member = std::pair<const char*, Json>;
    static Json object(std::initializer_list<Member> members) {
        std::string out = "{";
        for (const auto& [name, value] : members)
            out += (out.size() > 1 ? ", " : "") + string(name).text + ": " + value.text;
        return {out + "}"};
    }
};
using Jsons = std::vector<Json>;

struct SourceLine {
    std::string file;
    uint32_t line = 0;  // 0: not known
};
SourceLine source_line(const std::string& source) {
    const size_t colon = source.rfind(':');
    if (colon == std::string::npos) return {};
    SourceLine out{source.substr(0, colon), 0};
    std::from_chars(source.data() + colon + 1, source.data() + source.size(), out.line);
    return out;
}

std::string message_of(const FaultRecord& r) {
    return r.message + (r.exit.reason ? std::string(" (") + r.exit.reason + ")" : "");
}

std::string as_text(const std::vector<FaultRecord>& records) {
    std::string out;
    for (const FaultRecord& r : records)
        out += r.text() + "\n  found in    " + std::to_string(r.occurrences) +
               " dispatches\n  key         " + r.key + "\n\n";
    return out + std::to_string(records.size()) + " findings\n";
}

Json json_stack(const CallStack& stack) {
    Jsons frames;
    for (const StackFrame& f : stack.frames)
        frames.push_back(Json::object({{"function", Json::string(f.function)},
                                       {"file", Json::string(f.file)},
                                       {"line", Json::number(f.line)},
                                       {"column", Json::number(f.column)},
                                       {"pc", Json::string(hex(f.pc))},
                                       {"inlined", {f.inlined ? "true" : "false"}}}));
    return Json::array(frames);
}

Json as_json(const std::vector<FaultRecord>& records) {
    Jsons findings;
    for (const FaultRecord& r : records) {
        const SourceLine at = source_line(r.source);
        Jsons group;
        for (const uint32_t id : r.work_group) group.push_back(Json::number(id));
        findings.push_back(Json::object({{"check", Json::string(r.check)},
                                         {"message", Json::string(message_of(r))},
                                         {"key", Json::string(r.key)},
                                         {"kernel", Json::string(r.kernel)},
                                         {"place", Json::string(r.place)},
                                         {"instruction", Json::string(r.instruction)},
                                         {"file", Json::string(at.file)},
                                         {"line", Json::number(at.line)},
                                         {"stack", json_stack(r.stack)},
                                         {"stack_complete", {r.stack.complete ? "true" : "false"}},
                                         {"address", Json::string(hex(r.exit.address))},
                                         {"bytes", Json::number(r.exit.access_bytes)},
                                         {"lanes", Json::string(hex(r.exit.lane_mask))},
                                         {"work_group", Json::array(group)},
                                         {"wave", Json::number(r.wave)},
                                         {"dispatches", Json::number(r.occurrences)},
                                         {"report", Json::string(r.text())}}));
    }
    return Json::object({{"version", Json::number(1)}, {"findings", Json::array(findings)}});
}

Json sarif_location(const SourceLine& at, const std::string& function, uint32_t column = 0) {
    const Json logical = Json::array(Jsons{Json::object(
        {{"fullyQualifiedName", Json::string(function)}, {"kind", Json::string("function")}})});
    if (!at.line) return Json::object({{"logicalLocations", logical}});
    const Json file = Json::object({{"uri", Json::string(at.file)}}), line = Json::number(at.line),
               region =
                   column
                       ? Json::object({{"startLine", line}, {"startColumn", Json::number(column)}})
                       : Json::object({{"startLine", line}});
    return Json::object(
        {{"physicalLocation", Json::object({{"artifactLocation", file}, {"region", region}})},
         {"logicalLocations", logical}});
}

Json sarif_stack(const CallStack& stack) {
    Jsons frames;
    for (const StackFrame& f : stack.frames)
        frames.push_back(
            Json::object({{"location", sarif_location({f.file, f.line}, f.function, f.column)}}));
    const char* const text =
        stack.complete ? "call stack" : "call stack, of which the rest is not known";
    return Json::object({{"message", Json::object({{"text", Json::string(text)}})},
                         {"frames", Json::array(frames)}});
}

Json as_sarif(const std::vector<FaultRecord>& records) {
    Jsons rules{Json::object({{"id", Json::string("fault")}})}, results;
    for (const auto& known : check_names)
        rules.push_back(Json::object({{"id", Json::string(known.first)}}));
    for (const FaultRecord& r : records)
        results.push_back(Json::object(
            {{"ruleId", Json::string(r.check)},
             {"level", Json::string("error")},
             {"message", Json::object({{"text", Json::string(message_of(r))}})},
             {"locations", Json::array(Jsons{sarif_location(source_line(r.source), r.kernel)})},
             {"stacks", Json::array(Jsons{sarif_stack(r.stack)})},
             {"partialFingerprints", Json::object({{"wavejit/v1", Json::string(r.key)}})},
             {"occurrenceCount", Json::number(r.occurrences)},
             {"properties", Json::object({{"report", Json::string(r.text())}})}}));
    const Json driver =
        Json::object({{"name", Json::string("wavejit")}, {"rules", Json::array(rules)}});
    const Json run = Json::object(
        {{"tool", Json::object({{"driver", driver}})}, {"results", Json::array(results)}});
    return Json::object({{"$schema", Json::string("https://json.schemastore.org/sarif-2.1.0.json")},
                         {"version", Json::string("2.1.0")},
                         {"runs", Json::array(Jsons{run})}});
}

}  // namespace

Status Findings::write(const std::string& path) const {
    const std::lock_guard lock(file_mutex_);
    const std::vector<FaultRecord> records = all();
    std::ofstream file(path, std::ios::trunc);
    if (path.ends_with(".json"))
        file << as_json(records).text << '\n';
    else if (path.ends_with(".sarif"))
        file << as_sarif(records).text << '\n';
    else
        file << as_text(records);
    file.close();
    if (file) return Status::ok();
    return {Code::HostError,
            "the report '" + path + "' cannot be written: " + std::strerror(errno)};
}

}  // namespace wj::runtime
