// route_trace v1: CSV with a preamble of comments, a row a choice.
//
//   # route_trace v1
//   # model=NAME arch=qwen3moe n_layer=48 n_expert=128 n_expert_used=6
//   # layer=0 expert_bytes=3059712 dense_bytes=11953152        (a line a layer; may be missing)
//   turn,phase,step,layer,slot,expert,weight,residency,expert_bytes[,dropped]
//
// Columns are found by name, between commas, semicolons or tabs; from weight on they may be missing. phase 0: the
// prompt, its rows layer by layer; 1: decoding, step by step. The step is the position. The last layer may have seen
// the prompt's last token alone. A row's expert_bytes is what was read.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/delimited_text.h"
#include "core/formats/file_text.h"
#include "core/formats/trace_marks.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int32_t kUnset = kNoBranch + 1;  // a choice that no row has given yet
constexpr int64_t kMostCells = int64_t{1} << 24;
constexpr const char* kRecordAgain = "record it again, or cut the file at the end of a step";

enum Column : uint8_t { kTurn, kPhase, kStep, kLayer, kSlot, kExpert, kWeight, kResidency, kBytes, kDropped, kOther };
constexpr std::array<std::string_view, kOther> kNames = {"turn",   "phase",  "step",      "layer",        "slot",
                                                         "expert", "weight", "residency", "expert_bytes", "dropped"};
constexpr std::span<const std::string_view> kNeeded = std::span(kNames).first(kWeight);

/// Choices of one router in the batch that is being collected.
struct Rows {
  std::vector<int32_t> choice;
  std::vector<float> weight;
  std::vector<uint8_t> residency;
  std::vector<int64_t> bytes;
  int64_t filled = 0;
  // Rows of the cells that are handed on, if not all cells were seen.
  std::vector<int32_t> row;

  void clear() {
    choice.clear(), weight.clear(), residency.clear(), bytes.clear(), row.clear();
    filled = 0;
  }
};

struct LayerFacts {
  int64_t expert_bytes = 0, dense_bytes = 0;
  bool told = false;
};

class RouteTrace {
 public:
  RouteTrace(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source),
        sink_(sink),
        progress_(progress),
        table_(source.text(), source.path(), TableComments::hash, kRecordAgain) {}

  TraceCounts read() {
    read_preamble();
    rows_.resize(layers_);
    constexpr int64_t kBetweenReports = 1 << 14;
    for (DelimitedText::Line line; (line = table_.next()) != DelimitedText::Line::end;) {
      if (line == DelimitedText::Line::comment) {
        if (table_.comment().starts_with(kRouteTrace))
          wrong("a second preamble begins", "import the parts as files of their own");
        continue;
      }
      table_.numbers(places_);
      add();
      if (++counts_.rows_read % kBetweenReports == 0) report();
    }
    if (counts_.rows_read == 0) bad_input(source_.path(), "holds no rows, only a preamble", "record it again");
    ended_ = true;
    flush();
    counts_.empty_lines = table_.lines().empty_lines();
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice) const { table_.wrong(what, advice); }

  void report() {
    const size_t at = table_.lines().bytes_read(), all = source_.file->size();
    progress_.report("reading bytes", static_cast<int64_t>(std::min(at, all)), static_cast<int64_t>(all));
    constexpr size_t kKept = size_t{16} << 20;
    if (at < dropped_ + 2 * kKept) return;
    source_.file->drop_pages(dropped_, at - dropped_ - kKept);
    dropped_ = at - kKept;
  }

  // Preamble -------------------------------------------------------------------------------------------------------

  /// The value of "key=" in a comment; values may hold spaces, which end at the next key.
  static std::string_view value_of(std::string_view line, std::string_view key) {
    for (size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
      if (at > 0 && line[at - 1] != ' ') continue;
      line.remove_prefix(at + key.size());
      size_t end = line.size();
      for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] != ' ') continue;
        size_t name = i + 1;
        while (name < line.size() && (std::islower(static_cast<unsigned char>(line[name])) || line[name] == '_'))
          ++name;
        if (name > i + 1 && name < line.size() && line[name] == '=') {
          end = i;
          break;
        }
      }
      line = line.substr(0, end);
      while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
      return line;
    }
    return {};
  }
  int64_t number_of(std::string_view line, std::string_view key, int64_t least, int64_t most) const {
    const std::string_view text = value_of(line, key);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      wrong(std::string(key) + std::string(text.substr(0, 40)) + " is not a number from " + std::to_string(least) +
                " to " + std::to_string(most),
            "mend the preamble");
    return value;
  }

  void read_preamble() {
    using Line = DelimitedText::Line;
    const auto next = [&] {
      const Line line = table_.next();
      if (line == Line::end) wrong("the file ends within its preamble", "it may be truncated; record it again");
      return line == Line::comment ? table_.comment() : std::string();
    };
    std::string line = table_.next() == Line::comment ? table_.comment() : std::string();
    if (!line.starts_with(kRouteTrace))
      wrong("is not a route_trace: \"# route_trace v1\" is missing",
            "check that it is the right file, or name its --format");
    if (line != "# route_trace v1") wrong("is " + in_quotes(line.substr(2)) + ", v1 is known", "not in this version");
    header_.origin["format"] = "route_trace v1";
    for (line = next(); !line.empty(); line = next())
      if (line.find("n_layer=") != std::string::npos)
        read_model(line);
      else if (line.starts_with("# layer="))
        read_layer(line);
    if (layers_ == 0)
      wrong("the preamble has no \"# model= ... n_layer= n_expert= n_expert_used=\"", "record it again");
    read_columns();
  }

  void read_model(std::string_view line) {
    layers_ = number_of(line, "n_layer=", 1, kMostTracedLayers);
    branches_ = static_cast<int32_t>(number_of(line, "n_expert=", 1, kMostTracedBranches));
    k_ = number_of(line, "n_expert_used=", 1, std::min<int64_t>(branches_, kMostTracedChoices));
    const std::string model(value_of(line, "model="));
    header_.origin["model"] = model;
    header_.model = model.substr(model.find_last_of("/\\") + 1);
    header_.family = value_of(line, "arch=");
    facts_.resize(layers_);
    k_groups_ = cells_a_batch(layers_ * k_);
  }

  void read_layer(std::string_view line) {
    if (layers_ == 0) wrong("a layer is named before the model", "record it again");
    LayerFacts& layer = facts_[number_of(line, "layer=", 0, layers_ - 1)];
    layer.expert_bytes = number_of(line, "expert_bytes=", 0, int64_t{1} << 50);
    if (!value_of(line, "dense_bytes=").empty())
      layer.dense_bytes = number_of(line, "dense_bytes=", 0, int64_t{1} << 50);
    layer.told = true;
  }

  void read_columns() {
    table_.read_names(kNames, kNeeded);
    for (const std::string& name : table_.names()) {
      const size_t at = std::find(kNames.begin(), kNames.end(), name) - kNames.begin();
      if (at == kWeight)
        places_.push_back({nullptr, &weight_});
      else
        places_.push_back({at == kOther ? nullptr : &value_[at], nullptr});
      if (at == kOther)
        header_.origin["columns_not_read"] += (header_.origin["columns_not_read"].empty() ? "" : ",") + name;
    }
    weighted_ = table_.column(kNames[kWeight]) >= 0;
    resident_ = table_.column(kNames[kResidency]) >= 0;
    measured_ = table_.column(kNames[kBytes]) >= 0;
    doubt_names();
  }

  /// A column that is not read may be one that the file lacks, under another name.
  void doubt_names() {
    std::vector<std::string> lacking;
    for (const std::string_view name : kNames)
      if (table_.column(name) < 0) lacking.emplace_back(name);
    for (const std::string& name : table_.names()) {
      if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) continue;
      if (const std::vector<std::string> near = nearest_words(name, lacking); !near.empty())
        counts_.warnings.push_back(table_.place() + ": the column " + in_quotes(name) +
                                   " is not read: " + did_you_mean(near));
    }
  }

  // Rows -----------------------------------------------------------------------------------------------------------

  void check_range(Column column, int64_t below) const {
    if (value_[column] >= 0 && value_[column] < below) return;
    const std::string name(kNames[column]);
    const char* told = column == kLayer    ? "n_layer="
                       : column == kExpert ? "n_expert="
                       : column == kSlot   ? "n_expert_used="
                                           : "";
    wrong(name + " " + std::to_string(value_[column]) + " is out of range, 0 to " + std::to_string(below - 1) +
              " are allowed",
          *told ? "the preamble says " + std::string(told) + std::to_string(below) : table_.correct_line());
  }

  void add() {
    check_range(kPhase, 2);
    check_range(kLayer, layers_);
    check_range(kSlot, k_);
    check_range(kExpert, branches_);
    check_range(kStep, INT32_MAX);
    check_range(kTurn, int64_t{1} << 40);
    if (!open_ || value_[kTurn] != turn_ || value_[kPhase] != phase_ || next_group()) {
      if (open_) flush();
      begin_group();
    }
    const int64_t cell = value_[kStep] - first_;
    if (cell < 0 || cell > cells_) {
      const std::string step = "step " + std::to_string(value_[kStep]);
      wrong(cell < 0
                ? step + " comes after step " + std::to_string(first_ + cells_ - 1) + ": a row twice, or out of order"
                : step + " follows step " + std::to_string(first_ + cells_ - 1) + ": what is between is missing",
            kRecordAgain);
    }
    if (cell == cells_) ++cells_;
    if (cells_ > kMostCells) wrong("a prompt of more than 2^24 tokens", "record it in turns");
    put(cell);
  }

  /// Decoding goes on step by step; a step back is no new group but an error of order.
  bool next_group() const {
    if (phase_ == 0) return false;
    const int64_t last = first_ + cells_ - 1;
    return value_[kStep] > last + 1 || (value_[kStep] == last + 1 && cells_ >= k_groups_);
  }

  void begin_group() {
    turn_ = value_[kTurn];
    phase_ = value_[kPhase];
    first_ = value_[kStep];
    cells_ = 0;
    open_ = true;
    auto [known, is_new] = ended_at_.try_emplace(turn_, -1);
    if (!is_new && first_ <= known->second)
      wrong("step " + std::to_string(first_) + " of turn " + std::to_string(turn_) +
                " comes again, so a row is there twice or out of order",
            kRecordAgain);
  }

  void put(int64_t cell) {
    Rows& rows = rows_[value_[kLayer]];
    const auto k = static_cast<size_t>(k_), begin = static_cast<size_t>(cell) * k,
               at = begin + static_cast<size_t>(value_[kSlot]);
    if (begin + k > rows.choice.size()) {
      rows.choice.resize(begin + k, kUnset);
      if (weighted_) rows.weight.resize(begin + k);
      if (resident_) rows.residency.resize(begin + k);
      if (measured_) rows.bytes.resize(begin + k);
    }
    if (rows.choice[at] != kUnset)
      wrong("the row of turn " + std::to_string(turn_) + ", step " + std::to_string(value_[kStep]) + ", layer " +
                std::to_string(value_[kLayer]) + ", slot " + std::to_string(value_[kSlot]) + " comes twice",
            "record it again, or remove the duplicate");
    const int32_t expert = value_[kExpert];
    for (size_t i = begin; i < begin + k; ++i)
      if (rows.choice[i] == expert || rows.choice[i] == dropped_from(expert))
        wrong("expert " + std::to_string(expert) + " comes twice for step " + std::to_string(value_[kStep]) +
                  " in layer " + std::to_string(value_[kLayer]),
              "record it again, or remove the duplicate");
    rows.choice[at] = value_[kDropped] != 0 ? dropped_from(expert) : expert;
    if (weighted_) rows.weight[at] = weight_;
    if (resident_) {
      check_range(kResidency, 3);
      rows.residency[at] = static_cast<uint8_t>(value_[kResidency]);
    }
    if (measured_) {
      check_range(kBytes, int64_t{1} << 50);
      rows.bytes[at] = value_[kBytes];
    }
    ++rows.filled;
  }

  // Batches --------------------------------------------------------------------------------------------------------

  /// Layers that have branches: those whose experts have a size, and those that the first batch met.
  void begin() {
    header_.model_layers = static_cast<int32_t>(layers_);
    router_.assign(layers_, -1);
    bool sized = false;
    for (int64_t l = 0; l < layers_; ++l) {
      const LayerFacts& facts = facts_[l];
      if (rows_[l].filled == 0 && facts.expert_bytes == 0) continue;
      router_[l] = static_cast<int32_t>(header_.routers.size());
      TraceRouter router;
      router.name = "layer." + std::to_string(l);
      router.layer = static_cast<int32_t>(l);
      router.branches = branches_;
      router.fan_out = static_cast<int32_t>(k_);
      router.branch_bytes = facts.expert_bytes;
      router.dense_bytes = facts.dense_bytes;
      sized |= facts.expert_bytes > 0;
      header_.routers.push_back(std::move(router));
    }
    header_.lacks = lacks_without({{"model", !header_.model.empty()},
                                   "branches",
                                   "k",
                                   "decisions",
                                   "steps",
                                   "order",
                                   "requests",
                                   "positions",
                                   "phases",
                                   {"weights", weighted_},
                                   {"residency", resident_},
                                   {"branch_bytes", sized}});
    sink_.begin(header_);
    begun_ = true;
  }

  /// Every layer must see every cell; only the last layer may have seen just the last tokens of a prompt.
  void check_whole(int64_t layer, const Rows& rows, bool is_last) const {
    const bool may_miss = is_last && phase_ == 0 && rows.filled > 0;
    const auto where = [&](int64_t cell) {
      return "layer " + std::to_string(layer) + " of turn " + std::to_string(turn_) + ", step " +
             std::to_string(first_ + cell);
    };
    const std::string advice = ended_ ? "the file may be truncated; " + std::string(kRecordAgain) : kRecordAgain;
    const int64_t stored = std::ssize(rows.choice) / k_;
    for (int64_t c = 0; c < cells_; ++c) {
      int64_t there = 0;
      for (int64_t i = c * k_; c < stored && i < (c + 1) * k_; ++i) there += rows.choice[i] != kUnset;
      if (there == k_ || (there == 0 && may_miss)) continue;
      wrong(where(c) + " has " + std::to_string(there) + " of " + std::to_string(k_) + " choices", advice);
    }
  }

  /// Leaves the cells that a layer saw, and which they were.
  void compact(Rows& rows) const {
    const size_t k = k_;
    size_t kept = 0;
    for (size_t c = 0; c * k < rows.choice.size(); ++c) {
      if (rows.choice[c * k] == kUnset) continue;
      const auto move = [&](auto& values) {
        if (!values.empty()) std::copy_n(values.begin() + c * k, k, values.begin() + kept * k);
      };
      move(rows.choice), move(rows.weight), move(rows.residency), move(rows.bytes);
      rows.row.push_back(static_cast<int32_t>(c));
      ++kept;
    }
    const auto shorten = [&](auto& values) { values.resize(std::min(values.size(), kept * k)); };
    shorten(rows.choice), shorten(rows.weight), shorten(rows.residency), shorten(rows.bytes);
  }

  static bool follows_from_residency(const Rows& rows, int64_t expert_bytes) {
    for (size_t i = 0; i < rows.bytes.size(); ++i)
      if (rows.bytes[i] != (rows.residency[i] == 0 ? expert_bytes : 0)) return false;
    return true;
  }

  void flush() {
    if (!begun_) begin();
    decisions_.clear();
    for (int64_t l = 0; l < layers_; ++l) {
      Rows& rows = rows_[l];
      const int32_t router = router_[l];
      if (rows.filled > 0 && router < 0)
        wrong("layer " + std::to_string(l) + " has rows, but none in the first batch and no expert_bytes",
              kRecordAgain);
      if (router < 0) continue;
      if (rows.filled != cells_ * k_) {
        check_whole(l, rows, static_cast<size_t>(router) + 1 == header_.routers.size());
        compact(rows);
      }
      DecisionRecord d{.router = router,
                       .choice = rows.choice,
                       .weight = rows.weight,
                       .ancestor = rows.row,
                       .residency = rows.residency};
      if (measured_ && !(resident_ && follows_from_residency(rows, facts_[l].expert_bytes))) d.bytes_read = rows.bytes;
      decisions_.push_back(d);
    }
    const TraceCells cells{0,
                           {turn_, 1, static_cast<int32_t>(cells_), static_cast<int32_t>(first_),
                            phase_ == 1 ? Phase::decode : Phase::prefill},
                           {}};
    sink_.batch({&cells, 1}, decisions_);
    ended_at_[turn_] = first_ + cells_ - 1;
    for (Rows& rows : rows_) rows.clear();
    open_ = false;
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  DelimitedText table_;
  std::vector<NumberPlace> places_;  // the numbers of a row, by column
  size_t dropped_ = 0;
  bool ended_ = false;  // columns that the file has

  TraceHeader header_;
  std::vector<LayerFacts> facts_;
  int64_t layers_ = 0, k_ = 1, k_groups_ = 16;
  int32_t branches_ = 1;
  bool weighted_ = false, resident_ = false, measured_ = false, begun_ = false;

  std::array<int64_t, kOther> value_{};
  float weight_ = 0;
  bool open_ = false;
  int64_t turn_ = 0, phase_ = 0, first_ = 0, cells_ = 0;
  std::vector<Rows> rows_;       // by layer
  std::vector<int32_t> router_;  // by layer, -1: none
  std::vector<DecisionRecord> decisions_;
  std::unordered_map<int64_t, int64_t> ended_at_;  // by turn: its last step so far
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_route_trace_csv(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return RouteTrace(source, sink, progress).read();
}

}  // namespace stormcell
