#include "core/planning/calls_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
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
constexpr const char *kColumns = "the guide's page calibrate-and-simulate has the columns",
                     *kWriteOne = "stormcell calibrate CALLS.csv -o CAL.json writes one";

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
  bool is_whole = false;  // in a table
};
constexpr std::array kReals = {
    RealField{"nic_gbit", &MeasuredCall::nic_gbit},
    RealField{"bytes_per_copy", &MeasuredCall::bytes_per_copy, true},
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

/// Fills in the counts that the rows of each weight imply, where they are missing. Writes those rows in one way, so
/// that like calls are equal.
void fill_in(MeasuredCall& c) {
  const auto rows = c.is_grouped() ? alike_rows(c.rows_each) : std::nullopt;
  if (!rows) return;
  c.rows_each = to_text(*rows);
  if (c.experts == 0) c.experts = weights_in(*rows);
  if (c.rows == 0) c.rows = rows_in(*rows);
}

std::string advice_on_column(const std::string& there, std::string_view name) {
  return "is it the column " + in_quotes(there) + "? Call it " + std::string(name);
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

/// Checks that a call has all its fields and that they fit together. `unread` are columns of its table that nothing
/// reads: one of them may be a missing one under another name.
void check_call(const MeasuredCall& c, CallTimes times, const std::string& where,
                const std::vector<std::string>& unread = {}) {
  const auto advice = [&](const char* name, const char* otherwise) {
    const std::vector<std::string> near = nearest_words(name, unread);
    return near.empty() ? std::string(otherwise) : advice_on_column(near[0], name);
  };
  const auto needs = [&](double value, const char* name, double least) {
    if (!(value >= least))
      bad_input(where, std::string(name) + " is missing or too small for op " + in_quotes(c.op),
                advice(name, kColumns));
  };
  if (c.op.empty()) bad_input(where, "op is missing", "dispatch, combine, experts, product or grouped");
  if (c.gpu.empty()) bad_input(where, "gpu is missing", kColumns);
  if (times == CallTimes::needed && !(c.us > 0))
    bad_input(where, "us is not a time above 0", "each call needs its microseconds");
  if (!c.is_grouped() && !c.rows_each.empty()) bad_input(where, "rows_each belongs to op \"grouped\"", kColumns);
  if (c.has_weights()) {
    if (c.dtype.empty())
      bad_input(where, "dtype is missing for op " + in_quotes(c.op),
                advice("dtype", "the number format of the weight: bf16, fp8, f32, ..."));
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
    bad_input(where, "spans " + std::to_string(c.nodes) + " nodes, and nic_gbit is 0",
              advice("nic_gbit", "0 is for ranks on one fabric, of one node"));
}

int64_t as_count(double value, const char* name, const std::string& where) {
  if (!(value >= 0 && value <= kMostCount) || value != std::floor(value))
    bad_input(where, std::string(name) + " is not a whole number from 0 to 10^12", kColumns);
  return static_cast<int64_t>(value);
}

double as_real(double value, const char* name, const std::string& where) {
  if (!(value >= 0 && value <= kMostUs))
    bad_input(where, std::string(name) + " is not a number from 0 to 10^12", kColumns);
  return value;
}

std::string as_text(std::string text, const TextField& field, const std::string& where) {
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.size() > field.most || control || find_invalid_utf8(text) != std::string_view::npos)
    bad_input(where,
              std::string(field.name) + " is not a line of UTF-8 of at most " + std::to_string(field.most) + " bytes",
              kColumns);
  return text;
}

/// Errors name line and column: `where` is the place of the field.
void read_row(DelimitedText& table, MeasuredCall& c) {
  const std::vector<std::string>& fields = table.fields();
  const auto each = [&](const auto& list, const auto& read) {
    for (const auto& f : list)
      if (const int64_t at = table.column(f.name); at >= 0 && !fields[at].empty()) {
        const size_t column = at;
        c.*f.at = read(f, column, table.place() + ", column " + std::to_string(column + 1));
      }
  };
  each(kTexts,
       [&](const TextField& f, size_t column, const std::string& where) { return as_text(fields[column], f, where); });
  each(kCounts, [&](const CountField& f, size_t column, const std::string& where) {
    return as_count(static_cast<double>(table.whole(column)), f.name, where);
  });
  each(kReals, [&](const RealField& f, size_t column, const std::string& where) {
    return as_real(f.is_whole ? static_cast<double>(table.whole(column)) : table.real(column), f.name, where);
  });
  const int64_t experts = table.column("experts");
  if (c.is_product() && (experts < 0 || fields[experts].empty())) c.experts = 1;
}

/// A file of another kind is refused by its name, whatever its first line looks like as a row.
void refuse_unlike_calls(const std::string& path, std::string_view text, FileUse wanted) {
  const std::optional<KnownFile> known = known_kind({text, path}, path);
  if (known && !known->kind->uses.has(FileUse::calls) && !known->kind->uses.has(wanted))
    refuse_file(path, text, wanted, "is not a table", wanted == FileUse::calibration ? kWriteOne : kColumns);
}

/// Nearest names find misspelt columns: a missing column that is needed is refused, any other column that is not read
/// is named in a warning. Returns the other columns.
std::vector<std::string> check_names(const DelimitedText& table, const std::vector<std::string_view>& known,
                                     std::span<const std::string_view> needed, const std::string& path,
                                     CallsFile& out) {
  std::vector<std::string> strange;
  for (const std::string& name : table.names())
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) strange.push_back(name);
  for (const std::string_view name : needed)
    if (table.column(name) < 0)
      if (const std::vector<std::string> near = nearest_words(name, strange); !near.empty())
        table.wrong("has no column " + std::string(name), advice_on_column(near[0], name));
  const std::vector<std::string> words(known.begin(), known.end());
  std::string list;
  constexpr size_t kMostNamed = 6;
  for (size_t i = 0; i < std::min(kMostNamed, strange.size()); ++i) {
    const std::vector<std::string> near = nearest_words(strange[i], words);
    add_to_list(list, in_quotes(strange[i]) + (near.empty() ? "" : " (" + did_you_mean(near) + ")"));
  }
  if (strange.size() > kMostNamed) list += " and " + std::to_string(strange.size() - kMostNamed) + " more";
  if (!list.empty())
    out.warnings.push_back(path + ": nothing reads the " + noun_for(std::ssize(strange), "column") + " " + list);
  return strange;
}

CallsFile read_csv(std::string_view text, const std::string& path, CallTimes times, FileUse wanted) {
  DelimitedText table(text, path, TableComments::hash, kColumns);
  if (!table.next_row()) bad_input(path, "is empty", kColumns);
  std::vector<std::string_view> known;
  for (const TextField& f : kTexts) known.emplace_back(f.name);
  for (const CountField& f : kCounts) known.emplace_back(f.name);
  for (const RealField& f : kReals) known.emplace_back(f.name);
  try {
    table.read_names(known, {});
  } catch (const Error&) {
    refuse_unlike_calls(path, text, wanted);
    throw;
  }
  if (table.column("op") < 0) refuse_unlike_calls(path, text, wanted);
  constexpr std::array<std::string_view, 3> kNames = {"op", "gpu", "us"};
  const std::span<const std::string_view> needed = std::span(kNames).first(times == CallTimes::needed ? 3 : 2);
  CallsFile out;
  const std::vector<std::string> unread = check_names(table, known, needed, path, out);
  table.read_names(known, needed);
  while (table.next_row()) {
    if (out.calls.size() == kMostCalls)
      bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
    MeasuredCall& c = out.calls.emplace_back();
    read_row(table, c);
    const std::string where = table.place();
    if (c.id.empty()) c.id = where.substr(path.size() + 2);
    fill_in(c);
    check_call(c, times, where, unread);
  }
  if (std::string left_out = table.lines().empty_lines().warning(path); !left_out.empty())
    out.warnings.push_back(std::move(left_out));
  if (std::string comments = table.warning_of_comments(); !comments.empty())
    out.warnings.push_back(std::move(comments));
  return out;
}

std::vector<MeasuredCall> read_calibration(const nlohmann::json& json, const std::string& path, CallTimes times) {
  std::vector<MeasuredCall> calls;
  const nlohmann::json& list = list_at(json, "calls");
  if (list.size() > kMostCalls)
    bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
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

CallsFile read_calls(const std::string& path, CallTimes times, double nic_gbit, const Progress& progress,
                     FileUse wanted) {
  const std::string content = read_unpacked_text(path, kMostBytes, progress), text(utf8_text(content, path));
  CallsFile out;
  if (is_calibration_text(text)) {
    const std::optional<KnownFile> known = known_kind({text, path}, path);
    if (known && known->kind->id == "json-lines") refuse_file(path, text, wanted, "is not a calibration", kWriteOne);
    const nlohmann::json json = parse_json_text(text, path);
    if (!json.is_object() || !json.contains("schema") || json["schema"] != "stormcell.calibration/1")
      refuse_file(path, text, wanted, "has a schema that is not \"stormcell.calibration/1\"", kWriteOne);
    out.calls = read_calibration(json, path, times);
  } else if (is_nccl_tests(text)) {
    NcclTests log = parse_nccl_tests(text, path, nic_gbit);
    out = {.calls = std::move(log.calls), .warnings = std::move(log.warnings)};
  } else {
    if (text.find('\0') != std::string::npos || find_invalid_utf8(text) != std::string_view::npos)
      refuse_unlike_calls(path, text, wanted);
    out = read_csv(text, path, times, wanted);
  }
  check_calls(out.calls, path, times);
  return out;
}

void check_calls(const std::vector<MeasuredCall>& calls, const std::string& path, CallTimes times) {
  if (calls.empty()) bad_input(path, "holds no call", kColumns);
  if (calls.size() > kMostCalls)
    bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
  std::set<std::string> ids;
  for (const MeasuredCall& c : calls) {
    for (const TextField& f : kTexts) as_text(c.*f.at, f, path);
    for (const RealField& f : kReals) as_real(c.*f.at, f.name, path);
    check_call(c, times, path);
    if (!ids.insert(c.id).second)
      bad_input(path, "id " + in_quotes(c.id) + " occurs twice", "give each call an id of its own");
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
