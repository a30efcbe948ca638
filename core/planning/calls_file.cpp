#include "core/planning/calls_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
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

/// Lines of CSV with fields in double quotes where they hold commas (RFC 4180); no field goes over lines.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& path) : text_(text), path_(path) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  /// Null at the end. Empty lines and comments are passed over.
  bool next(std::vector<std::string>& fields) {
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size())), ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
      split(line, fields);
      return true;
    }
    return false;
  }
  std::string where() const { return path_ + ": line " + std::to_string(number_); }

 private:
  void split(std::string_view line, std::vector<std::string>& fields) const {
    fields.assign(1, {});
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"' && fields.back().empty()) {
        for (++i;; ++i) {
          if (i >= line.size()) bad_input(where(), "a quote is not closed", "close it on the same line");
          if (line[i] != '"')
            fields.back() += line[i];
          else if (i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += line[i++];
          else
            break;
        }
      } else if (line[i] == ',') {
        fields.emplace_back();
      } else {
        fields.back() += line[i];
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  int64_t number_ = 0;
};

double number_in(const std::string& text, const char* name, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    bad_input(where, std::string(name) + " is " + in_quotes(text) + ", no number", "leave a field empty where it does not apply");
  return value;
}

std::vector<MeasuredCall> read_csv(const std::string& text, const std::string& path, CallTimes times) {
  CsvReader csv(text, path);
  std::vector<std::string> names, fields;
  if (!csv.next(names)) bad_input(path, "is empty", kColumns);
  if (std::find(names.begin(), names.end(), "op") == names.end()) refuse_other_kind(path, text, FileUse::calls);
  const auto column = [&](const char* name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? fields.size() : static_cast<size_t>(at - names.begin());
  };
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    bad_input(csv.where(), "a column stands there twice", kColumns);
  for (const char* needed : {"op", "gpu", "us"})
    if ((times == CallTimes::needed || std::string_view(needed) != "us") && std::find(names.begin(), names.end(), needed) == names.end())
      bad_input(csv.where(), std::string("has no column ") + needed, kColumns);
  std::vector<MeasuredCall> calls;
  while (csv.next(fields)) {
    const std::string where = csv.where();
    if (fields.size() != names.size())
      bad_input(where, "has " + std::to_string(fields.size()) + " fields, the first line has " + std::to_string(names.size()), kColumns);
    if (calls.size() == kMostCalls) bad_input(path, "has more than " + std::to_string(kMostCalls) + " calls", "leave the oldest out");
    MeasuredCall& c = calls.emplace_back();
    const auto field = [&](const char* name) {
      const size_t at = column(name);
      return at < fields.size() ? fields[at] : std::string();
    };
    for (const TextField& f : kTexts) c.*f.at = as_text(field(f.name), f, where);
    for (const CountField& f : kCounts)
      if (const std::string value = field(f.name); !value.empty()) c.*f.at = as_count(number_in(value, f.name, where), f.name, where);
    for (const RealField& f : kReals)
      if (const std::string value = field(f.name); !value.empty()) c.*f.at = as_real(number_in(value, f.name, where), f.name, where);
    if (c.id.empty()) c.id = where.substr(path.size() + 2);
    if (c.is_product() && field("experts").empty()) c.experts = 1;
    fill_in(c);
    check_call(c, times, where);
  }
  return calls;
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

std::vector<MeasuredCall> read_calls(const std::string& path, CallTimes times, double nic_gbit) {
  const std::string text = read_file_text(path, kMostBytes);
  std::vector<MeasuredCall> calls;
  if (is_calibration_text(text)) {
    if (text_at(parse_json_text(text, path), "schema") != "stormcell.calibration/1") refuse_other_kind(path, text, FileUse::calls);
    if (text_at(parse_json_text(text, path), "schema") != "stormcell.calibration/1")
      bad_input(path, "is JSON, and schema is not \"stormcell.calibration/1\"", "calibrate CALLS.csv -o CAL.json writes one");
    calls = read_calibration(text, path, times);
  } else if (is_nccl_tests(text)) {
    calls = parse_nccl_tests(text, path, nic_gbit);
  } else {
    if (text.find('\0') != std::string::npos || find_invalid_utf8(text) != std::string_view::npos)
      refuse_other_kind(path, text, FileUse::calls);
    calls = read_csv(text, path, times);
  }
  check_calls(calls, path, times);
  return calls;
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
