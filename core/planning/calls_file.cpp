#include "core/planning/calls_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/delimited_text.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/text_encoding.h"
#include "core/planning/nccl_tests.h"

namespace stormcell {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20, kMostCalls = 10000, kMostText = 400, kMostRowsText = 8000;
constexpr double kMostCount = 1e12, kMostUs = 1e12;
constexpr const char* kColumns = "docs/user-guide.md has the columns";

// The one list of what a call has: columns of CSV, keys of JSON.
struct TextField {
  const char* name;
  std::string MeasuredCall::*at;
  size_t most = kMostText;  // bytes
};
constexpr std::array kTexts = {
    TextField{"id", &MeasuredCall::id},
    TextField{"op", &MeasuredCall::op},
    TextField{"mode", &MeasuredCall::mode},
    TextField{"dtype", &MeasuredCall::dtype},
    TextField{"gpu", &MeasuredCall::gpu},
    TextField{"laboratory", &MeasuredCall::laboratory},
    TextField{"routing", &MeasuredCall::routing},
    TextField{"source", &MeasuredCall::source},
    TextField{"rows_each", &MeasuredCall::rows_each, kMostRowsText},
};
struct CountField {
  const char* name;
  int64_t MeasuredCall::*at;
};
constexpr std::array kCounts = {
    CountField{"nodes", &MeasuredCall::nodes},
    CountField{"ranks", &MeasuredCall::ranks},
    CountField{"gpus_per_node", &MeasuredCall::gpus_per_node},
    CountField{"tokens_per_rank", &MeasuredCall::tokens_per_rank},
    CountField{"tokens_total", &MeasuredCall::tokens_total},
    CountField{"top_k", &MeasuredCall::top_k},
    CountField{"experts", &MeasuredCall::experts},
    CountField{"hidden", &MeasuredCall::hidden},
    CountField{"ffn", &MeasuredCall::ffn},
    CountField{"inputs", &MeasuredCall::inputs},
    CountField{"outputs", &MeasuredCall::outputs},
    CountField{"rows", &MeasuredCall::rows},
};
struct RealField {
  const char* name;
  double MeasuredCall::*at;
};
constexpr std::array kReals = {
    RealField{"nic_gbit", &MeasuredCall::nic_gbit},
    RealField{"bytes_per_copy", &MeasuredCall::bytes_per_copy},
    RealField{"us", &MeasuredCall::us},
};

int64_t weights_in(const std::vector<AlikeRows>& rows) {
  int64_t sum = 0;
  for (const AlikeRows& r : rows) sum += r.weights;
  return sum;
}
int64_t rows_in(const std::vector<AlikeRows>& rows) {
  int64_t sum = 0;
  for (const AlikeRows& r : rows) sum += r.weights * r.rows;
  return sum;
}

/// What follows from the rows of each weight, where it is not told; those in one way of writing, so that like calls are known.
void fill_in(MeasuredCall& c) {
  const auto rows = c.is_grouped() ? alike_rows(c.rows_each) : std::nullopt;
  if (!rows) return;
  c.rows_each = to_text(*rows);
  if (c.experts == 0) c.experts = weights_in(*rows);
  if (c.rows == 0) c.rows = rows_in(*rows);
}

void check_rows_each(const MeasuredCall& c, const std::string& where) {
  const auto rows = alike_rows(c.rows_each);
  if (!rows || rows->empty() || rows_in(*rows) < 1 || static_cast<double>(rows_in(*rows)) > kMostCount)
    bad_input(where, "rows_each is " + in_quotes(c.rows_each) + ", no rows of each weight of op \"grouped\"",
              "numbers with spaces between, 15x3 for 15 weights of 3 rows: 120 15x3");
  const auto agrees = [&](const char* name, int64_t told, int64_t sum) {
    if (told != sum)
      bad_input(where, std::string(name) + " is " + std::to_string(told) + ", and rows_each has " + std::to_string(sum),
                "leave it empty: rows_each says it");
  };
  agrees("experts", c.experts, weights_in(*rows)), agrees("rows", c.rows, rows_in(*rows));
}

/// What must be told of a call, and that it fits together.
void check_call(const MeasuredCall& c, CallTimes times, const std::string& where) {
  const auto needs = [&](double value, const char* name, double least) {
    if (!(value >= least)) bad_input(where, std::string(name) + " is missing or too small for op " + in_quotes(c.op), kColumns);
  };
  if (c.op.empty()) bad_input(where, "op is missing", "dispatch, combine, experts, product or grouped");
  if (c.gpu.empty()) bad_input(where, "gpu is missing", kColumns);
  if (times == CallTimes::needed && !(c.us > 0)) bad_input(where, "us is no time above 0", "each call needs its microseconds");
  if (!c.is_grouped() && !c.rows_each.empty()) bad_input(where, "rows_each belongs to op \"grouped\"", kColumns);
  if (c.has_weights()) {
    if (c.dtype.empty())
      bad_input(where, "dtype is missing for op " + in_quotes(c.op), "the number format of the weight: bf16, fp8, f32, ...");
    needs(static_cast<double>(c.inputs), "inputs", 1), needs(static_cast<double>(c.outputs), "outputs", 1);
    if (c.is_grouped()) return check_rows_each(c, where);
    needs(static_cast<double>(c.rows), "rows", 1), needs(static_cast<double>(c.experts), "experts", 1);
    return;
  }
  needs(static_cast<double>(c.top_k), "top_k", 1);
  if (c.is_rank_experts()) {
    needs(static_cast<double>(c.ranks), "ranks", 1), needs(static_cast<double>(c.tokens_total), "tokens_total", 1);
    needs(static_cast<double>(c.experts), "experts", 1), needs(static_cast<double>(c.hidden), "hidden", 1);
    needs(static_cast<double>(c.ffn), "ffn", 1);
    if (c.top_k > c.experts) bad_input(where, "top_k is more than experts", kColumns);
    if (c.ranks > c.experts) bad_input(where, "has more ranks than experts", kColumns);
    return;
  }
  needs(static_cast<double>(c.ranks), "ranks", 2), needs(static_cast<double>(c.nodes), "nodes", 1);
  needs(static_cast<double>(c.tokens_per_rank), "tokens_per_rank", 1), needs(c.bytes_per_copy, "bytes_per_copy", 1);
  if (c.nodes > c.ranks) bad_input(where, "has more nodes than ranks", kColumns);
  if (c.nodes > 1 && !(c.nic_gbit > 0))
    bad_input(where, "spans " + std::to_string(c.nodes) + " nodes, and nic_gbit is 0", "0 is for ranks on one fabric, of one node");
}

int64_t as_count(double value, const char* name, const std::string& where) {
  if (!(value >= 0 && value <= kMostCount) || value != std::floor(value))
    bad_input(where, std::string(name) + " is no whole number from 0 to 10^12", kColumns);
  return static_cast<int64_t>(value);
}

double as_real(double value, const char* name, const std::string& where) {
  if (!(value >= 0 && value <= kMostUs)) bad_input(where, std::string(name) + " is no number from 0 to 10^12", kColumns);
  return value;
}

std::string as_text(std::string text, const TextField& field, const std::string& where) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.size() > field.most || control || find_invalid_utf8(text) != std::string_view::npos)
    bad_input(where, std::string(field.name) + " is no line of UTF-8 of at most " + std::to_string(field.most) + " bytes", kColumns);
  return text;
}

/// What does not fit is said with line and column: `where` is that of the field.
void read_row(DelimitedText& table, MeasuredCall& c) {
  const std::vector<std::string>& fields = table.fields();
  const auto each = [&](const auto& list, const auto& read) {
    for (const auto& f : list)
      if (const int64_t at = table.column(f.name); at >= 0 && !fields[static_cast<size_t>(at)].empty()) {
        const auto column = static_cast<size_t>(at);
        c.*f.at = read(f, column, table.place() + ", column " + std::to_string(column + 1));
      }
  };
  each(kTexts, [&](const TextField& f, size_t column, const std::string& where) { return as_text(fields[column], f, where); });
  each(kCounts, [&](const CountField& f, size_t column, const std::string& where) {
    return as_count(static_cast<double>(table.whole(column)), f.name, where);
  });
  each(kReals, [&](const RealField& f, size_t column, const std::string& where) { return as_real(table.real(column), f.name, where); });
  const int64_t experts = table.column("experts");
  if (c.is_product() && (experts < 0 || fields[static_cast<size_t>(experts)].empty())) c.experts = 1;
}

CallsFile read_csv(std::string_view text, const std::string& path, CallTimes times) {
  DelimitedText table(text, path, TableComments::hash, kColumns);
  if (!table.next_row()) bad_input(path, "is empty", kColumns);
  std::vector<std::string_view> known;
  for (const TextField& f : kTexts) known.emplace_back(f.name);
  for (const CountField& f : kCounts) known.emplace_back(f.name);
  for (const RealField& f : kReals) known.emplace_back(f.name);
  // A file of another kind is named as that, whatever its first line looks like as a row.
  try {
    table.read_names(known, {});
  } catch (const Error&) {
    refuse_other_kind(path, text, FileUse::calls);
    throw;
  }
  if (table.column("op") < 0) refuse_other_kind(path, text, FileUse::calls);
  constexpr std::array<std::string_view, 3> kNeeded = {"op", "gpu", "us"};
  table.read_names(known, std::span(kNeeded).first(times == CallTimes::needed ? 3 : 2));
  CallsFile out;
  while (table.next_row()) {
    if (out.calls.size() == kMostCalls) bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
    MeasuredCall& c = out.calls.emplace_back();
    read_row(table, c);
    const std::string where = table.place();
    if (c.id.empty()) c.id = where.substr(path.size() + 2);
    fill_in(c);
    check_call(c, times, where);
  }
  if (std::string left_out = table.lines().empty_lines().warning(path); !left_out.empty()) out.warnings.push_back(std::move(left_out));
  return out;
}

std::vector<MeasuredCall> read_calibration(const std::string& text, const std::string& path, CallTimes times) {
  const nlohmann::json json = parse_json_text(text, path);
  std::vector<MeasuredCall> calls;
  const nlohmann::json& list = list_at(json, "calls");
  if (list.size() > kMostCalls) bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
  for (const nlohmann::json& row : list) {
    const std::string where = path + ": call " + std::to_string(calls.size());
    MeasuredCall& c = calls.emplace_back();
    for (const TextField& f : kTexts) c.*f.at = as_text(text_at(row, f.name), f, where);
    for (const CountField& f : kCounts) c.*f.at = as_count(real_at(row, f.name), f.name, where);
    for (const RealField& f : kReals) c.*f.at = as_real(real_at(row, f.name), f.name, where);
    fill_in(c);
    check_call(c, times, where);
  }
  return calls;
}

}  // namespace

bool is_calibration_text(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

CallsFile read_calls(const std::string& path, CallTimes times, double nic_gbit, const Progress& progress) {
  const std::string content = read_unpacked_text(path, kMostBytes, progress), text(utf8_text(content, path));
  CallsFile out;
  if (is_calibration_text(text)) {
    if (text_at(parse_json_text(text, path), "schema") != "stormcell.calibration/1") refuse_other_kind(path, text, FileUse::calls);
    if (text_at(parse_json_text(text, path), "schema") != "stormcell.calibration/1")
      bad_input(path, "is JSON, and schema is not \"stormcell.calibration/1\"", "calibrate CALLS.csv -o CAL.json writes one");
    out.calls = read_calibration(text, path, times);
  } else if (is_nccl_tests(text)) {
    out.calls = parse_nccl_tests(text, path, nic_gbit);
  } else {
    if (text.find('\0') != std::string::npos || find_invalid_utf8(text) != std::string_view::npos)
      refuse_other_kind(path, text, FileUse::calls);
    out = read_csv(text, path, times);
  }
  check_calls(out.calls, path, times);
  return out;
}

void check_calls(const std::vector<MeasuredCall>& calls, const std::string& path, CallTimes times) {
  if (calls.empty()) bad_input(path, "holds no call", kColumns);
  if (calls.size() > kMostCalls) bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
  std::set<std::string> ids;
  for (const MeasuredCall& c : calls) {
    for (const TextField& f : kTexts) as_text(c.*f.at, f, path);
    for (const RealField& f : kReals) as_real(c.*f.at, f.name, path);
    check_call(c, times, path);
    if (!ids.insert(c.id).second) bad_input(path, "id " + in_quotes(c.id) + " stands there twice", "an id names one call");
  }
}

nlohmann::ordered_json json_of_call(const MeasuredCall& c) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const TextField& f : kTexts)
    if (!(c.*f.at).empty()) json[f.name] = c.*f.at;
  for (const CountField& f : kCounts)
    if (c.*f.at != 0) json[f.name] = c.*f.at;
  for (const RealField& f : kReals)
    if (c.*f.at != 0) json[f.name] = c.*f.at;
  return json;
}

}  // namespace stormcell
