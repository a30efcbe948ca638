// Reads RouterTrace v2: a JSON object with selections[token][layer][rank] and their origin. Layers count routers; there
// are neither weights nor requests. Selections are nearly all of the file, so they are read in place, without a tree of
// values.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/traces/json_cursor.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

class RouterTrace {
 public:
  RouterTrace(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress), cursor_(source.text(), source.path()) {}

  TraceCounts read() {
    find_selections();
    read_header();
    sink_.begin(header_);
    read_selections();
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = JsonCursor::kRecordAgain) const {
    bad_input(source_.path(), what, advice);
  }

  // Finds the place of the selections among the other keys.
  void find_selections() {
    cursor_.expect('{', "a RouterTrace");
    if (!cursor_.take('}')) {
      do {
        if (cursor_.peek() != '"') cursor_.wrong("a key of the object is missing");
        const std::string_view key = cursor_.string();
        cursor_.expect(':', "after a key");
        cursor_.peek();
        const bool is_selections = key == "\"selections\"";
        if (is_selections) begin_ = cursor_.at(), line_ = cursor_.line();
        cursor_.skip_value();
        if (is_selections) end_ = cursor_.at(), end_line_ = cursor_.line();
      } while (cursor_.take(','));
      cursor_.expect('}', "the end of the object");
    }
    if (end_ == 0) wrong("has no selections");
  }

  int64_t size_of(const nlohmann::json& header, const char* key, int64_t most) const {
    const std::optional<int64_t> value = whole_value(value_at(header, key));
    if (!value) wrong(std::string(key) + " is missing or no whole number");
    if (*value < 1 || *value > most)
      wrong(std::string(key) + " is " + std::to_string(*value) + ", 1 to " + std::to_string(most) + " are allowed");
    return *value;
  }

  void read_header() {
    const std::string_view text = source_.text();
    std::string rest(text.substr(0, begin_));
    rest += "null" + std::string(end_line_ - line_, '\n');
    rest += text.substr(end_);
    const nlohmann::json header = parse_json_text(rest, source_.path());
    const std::optional<int64_t> version = whole_value(value_at(header, "version"));
    if (!version) wrong("has no version");
    if (*version != 1 && *version != 2)
      wrong("is RouterTrace version " + std::to_string(*version) + ", 1 and 2 are known", "not in this version");
    tokens_ = size_of(header, "tokens", int64_t{1} << 31);
    layers_ = size_of(header, "layers", kMostTracedLayers);
    branches_ = size_of(header, "expertsPerLayer", kMostTracedBranches);
    k_ = size_of(header, "topK", std::min<int64_t>(branches_, 1024));
    const nlohmann::json source = header.value("source", nlohmann::json::object());
    if (source.is_object()) {
      const nlohmann::json model = source.value("model", nlohmann::json::object());
      if (model.is_object() && model.value("id", nlohmann::json()).is_string())
        header_.model = model["id"].get<std::string>();
    }
    header_.origin["format"] = "RouterTrace v" + std::to_string(*version);
    for (const auto& [key, value] : header.items())
      if (key == "source" || key == "scenario" || key == "seed")
        header_.origin[key] = value.is_string() ? value.get<std::string>() : value.dump();
    const std::vector<int32_t> numbers = numbers_of_layers_with_branches(source_, layers_);
    for (int64_t l = 0; l < layers_; ++l) {
      TraceRouter router;
      router.layer = numbers[l];
      router.name = "layer." + std::to_string(router.layer >= 0 ? router.layer : l);
      router.branches = static_cast<int32_t>(branches_);
      router.fan_out = static_cast<int32_t>(k_);
      header_.routers.push_back(std::move(router));
    }
    header_.lacks = lacks_without({{"model", !header_.model.empty()}, "branches", "k", "decisions", "steps", "order"});
  }

  void read_selections() {
    cursor_.start(begin_, line_);
    const int64_t group = cells_a_batch(layers_ * k_);
    choice_.resize(layers_);
    for (auto& c : choice_) c.reserve(group * k_);
    cursor_.expect('[', "selections");
    int64_t first = 0;
    for (int64_t t = 0; t < tokens_; ++t) {
      if (cursor_.peek() == ']')
        cursor_.wrong("selections has " + counted(t, "token") + ", \"tokens\" says " + std::to_string(tokens_));
      if (t > 0) cursor_.expect(',', token(t));
      read_token(t);
      if (t + 1 - first < group && t + 1 < tokens_) continue;
      hand_on(first, t + 1 - first);
      first = t + 1;
      progress_.report("reading tokens", t + 1, tokens_);
    }
    if (cursor_.peek() != ']')
      cursor_.wrong("selections has more than the " + std::to_string(tokens_) + " tokens that \"tokens\" says");
  }

  static std::string token(int64_t t) { return "token " + std::to_string(t); }

  void read_token(int64_t t) {
    cursor_.expect('[', token(t));
    for (int64_t l = 0; l < layers_; ++l) {
      const auto where = [&] { return token(t) + ", layer " + std::to_string(l); };
      if (l > 0 && !cursor_.take(','))
        cursor_.wrong(token(t) + " has " + counted(l, "layer") + ", \"layers\" says " + std::to_string(layers_));
      cursor_.expect('[', where());
      auto& choice = choice_[l];
      const size_t begin = choice.size();
      for (int64_t r = 0; r < k_; ++r) {
        if (r > 0 && !cursor_.take(','))
          cursor_.wrong(where() + " has " + counted(r, "selection") + ", \"topK\" says " + std::to_string(k_));
        const int32_t expert = cursor_.whole_number("an expert", branches_);
        if (std::find(choice.begin() + begin, choice.end(), expert) != choice.end())
          cursor_.wrong(where() + " has expert " + std::to_string(expert) + " twice");
        choice.push_back(expert);
      }
      if (!cursor_.take(']')) cursor_.wrong(where() + " has more selections than \"topK\", " + std::to_string(k_));
    }
    if (!cursor_.take(']')) cursor_.wrong(token(t) + " has more layers than \"layers\", " + std::to_string(layers_));
    counts_.rows_read += layers_ * k_;
  }

  void hand_on(int64_t first, int64_t cells) {
    const TraceCells table{0, {0, 1, static_cast<int32_t>(cells), static_cast<int32_t>(first), Phase::forward}, {}};
    decisions_.clear();
    for (size_t l = 0; l < choice_.size(); ++l)
      decisions_.push_back({.router = static_cast<int32_t>(l), .choice = choice_[l]});
    sink_.batch({&table, 1}, decisions_);
    for (auto& c : choice_) c.clear();
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  JsonCursor cursor_;
  size_t begin_ = 0, end_ = 0;
  int64_t line_ = 1, end_line_ = 1;
  TraceHeader header_;
  int64_t tokens_ = 0, layers_ = 0, branches_ = 0, k_ = 0;
  std::vector<std::vector<int32_t>> choice_;  // by layer
  std::vector<DecisionRecord> decisions_;
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_router_trace_json(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return RouterTrace(source, sink, progress).read();
}

}  // namespace stormcell
