#include "tests/gpu/device_check/report.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

namespace stormcell::device_check {
namespace {
bool field(std::string_view line, std::string_view key, std::string& value) {
  const std::string start = "\"" + std::string(key) + "\": ";
  size_t at = line.find(start);
  if (at == std::string_view::npos) return false;
  at += start.size();
  value.clear();
  if (at < line.size() && line[at] != '"') {
    while (at < line.size() && line[at] != ',' && line[at] != '}') value += line[at++];
    return true;
  }
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    value += line[at];
  }
  return at < line.size();
}

std::string number_text(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", std::isfinite(number) ? number : 0.0);
  return text;
}
bool can_be_read(const std::string& path, std::string& why) {
  if (std::ifstream(path)) return true;
  why = path + " cannot be read";
  return false;
}
/// Microseconds by family and case.
std::map<std::string, double> times_of(const std::string& path) {
  std::map<std::string, double> times;
  std::ifstream file(path);
  Record r;
  for (std::string line; std::getline(file, line);)
    if (from_json(line, r) && r.result == "measured" && r.value.ends_with(" us") && r.number > 0)
      times[r.family + ", " + r.name] = r.number;
  return times;
}
}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}
std::string to_json(const Record& r) {
  return "{\"family\": " + quoted(r.family) + ", \"case\": " + quoted(r.name) + ", \"result\": " + quoted(r.result) +
         ", \"value\": " + quoted(r.value) + ", \"number\": " + number_text(r.number) +
         ", \"share\": " + number_text(r.share) + ", \"note\": " + quoted(r.note) + "}";
}

bool from_json(std::string_view line, Record& r) {
  std::string number, share;
  if (!field(line, "family", r.family) || !field(line, "case", r.name) || !field(line, "result", r.result) ||
      !field(line, "value", r.value) || !field(line, "number", number) || !field(line, "share", share) ||
      !field(line, "note", r.note))
    return false;
  r.number = std::atof(number.c_str()), r.share = std::atof(share.c_str());
  return true;
}

bool compare(const std::string& a, const std::string& b, std::string& why) {
  if (!can_be_read(a, why) || !can_be_read(b, why)) return false;
  const auto mine = times_of(a), others = times_of(b);
  size_t common = 0;
  for (const auto& [name, time] : mine) {
    const auto other = others.find(name);
    if (other == others.end()) continue;
    ++common;
    std::printf("%5.2f  %10.4g us  %10.4g us  %s\n", other->second / time, time, other->second, name.c_str());
  }
  if (common == 0) why = a + " and " + b + " have no time in common";
  return common > 0;
}

bool print_calls(const std::string& path, const std::string& laboratory, std::string& why) {
  if (!can_be_read(path, why)) return false;
  std::ifstream file(path);
  std::string card, date;
  Record r;
  size_t calls = 0;
  for (std::string line; std::getline(file, line);) {
    if (!from_json(line, r)) {
      for (auto [key, value] : {std::pair("card", &card), std::pair("date", &date)})
        if (std::string found; field(line, key, found)) *value = found;
      continue;
    }
    int inputs = 0, outputs = 0, weights = 0, rows = 0;
    if (r.family != "bench-rows" || r.result != "measured" ||
        std::sscanf(r.name.c_str(), kRowsName, &inputs, &outputs, &weights, &rows) != 4)
      continue;
    if (calls++ == 0) std::printf("op,gpu,dtype,inputs,outputs,experts,rows,us,laboratory,source\n");
    const std::string gpu = card.substr(0, card.find(','));
    std::printf("product,%s,bf16,%d,%d,%d,%d,%.6g,%s,device_check %s\n",
                gpu.substr(gpu.starts_with("NVIDIA ") ? 7 : 0).c_str(), inputs, outputs, weights, rows, r.number,
                laboratory.c_str(), date.c_str());
  }
  if (calls == 0) why = path + " has no times of bench-rows";
  return calls > 0;
}

Report::Report(const std::string& family, const std::string& path)
    : family_(family), file_(std::fopen(path.c_str(), "a")) {
  if (!file_) file_ = stdout;
}
Report::~Report() {
  if (file_ != stdout) std::fclose(file_);
}
void Report::add(const Record& record) {
  std::fprintf(file_, "%s\n", to_json(record).c_str());
  std::fflush(file_);
}
void Report::begins(const std::string& name) { add({family_, name, "begun", {}, {}}); }
void Report::passed(const std::string& name, const std::string& note) { add({family_, name, "passed", "", note}); }
void Report::failed(const std::string& name, const std::string& why) {
  all_passed_ = false;
  add({family_, name, "failed", "", why});
}
void Report::absent(const std::string& name, const std::string& why) { add({family_, name, "absent", "", why}); }
void Report::measured(const std::string& name, double number, const char* unit, double share, const std::string& note) {
  char value[64];
  std::snprintf(value, sizeof value, "%.4g %s", number, unit);
  add({family_, name, "measured", value, note, number, share});
}
void Report::check(bool holds, const std::string& name, const std::string& note) {
  holds ? passed(name, note) : failed(name, note);
}

}  // namespace stormcell::device_check
