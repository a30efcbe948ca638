// Megatron-LM's --moe-routing-trace-path: router_trace_rank{r}.jsonl, an object a line for each forward pass of a
// layer: step, block ("decoder" or "mtp"), layer, rank, num_tokens, topk, top_indices [tokens][topk]. A step has as
// many passes as it has micro-batches.
#include <algorithm>
#include <compare>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/missing_numbers.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_lines.h"
#include "core/traces/json_values.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

/// A router by its place in the model: the decoder's layers first, then those that predict further tokens.
struct Place {
  bool mtp = false;
  int64_t depth = 0;  ///< of the latter
  int64_t layer = 0;
  auto operator<=>(const Place&) const = default;
};

class MegatronTrace {
 public:
  MegatronTrace(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    for_each_pass([&](const JsonRow& row) { look_at(row); });
    if (const std::string gaps = gaps_text("step", numbers_); !gaps.empty())
      counts_.warnings.push_back(source_.path() + ": has " + gaps +
                                 ": lines are missing, or these steps were not recorded");
    if (routers_.empty() && rank_ < 0)
      bad_input(source_.path(), "has no line with top_indices", "record it with --moe-routing-trace-path");
    if (routers_.empty()) {
      counts_.nothing = "rank " + std::to_string(rank_) + " was idle: none of its passes has a token";
      counts_.rank_of_nothing = static_cast<int32_t>(rank_);
      return counts_;
    }
    begin();
    for_each_pass([&](const JsonRow& row) { take(row); });
    flush();
    return counts_;
  }

 private:
  template <class Visit>
  void for_each_pass(Visit&& visit) {
    JsonLines lines(source_.text(), source_.path());
    for (nlohmann::json value; lines.next(value);) {
      progress_.report("reading lines", lines.line(), 0);
      if (!value_at(value, "top_indices").is_array()) continue;
      const JsonRow row(value, source_.path(), lines.line());
      step_ = row.whole("step", 0, INT64_MAX);
      numbers_.insert(step_);
      place_ = {text_at(value, "block") == "mtp", whole_value(value_at(value, "mtp_idx")).value_or(0),
                row.whole("layer", 0, kMostTracedLayers - 1)};
      k_ = row.whole("topk", 1, kMostTracedChoices);
      rank_ = row.whole("rank", 0, INT32_MAX);
      int64_t columns = 0;
      ids_ = row.matrix("top_indices", row.whole("num_tokens", 0, INT32_MAX / 2), -1, kMostTracedBranches - 1, columns);
      if (!ids_.empty() && columns != k_)
        row.wrong("top_indices has " + counted(columns, "choice") + " of a token, topk is " + std::to_string(k_));
      if (!ids_.empty()) visit(row);  // a pass without tokens says nothing
    }
    counts_.empty_lines = lines.lines().empty_lines();
  }

  void look_at(const JsonRow& row) {
    TraceRouter& router = routers_[place_];
    if (routers_.size() > static_cast<size_t>(kMostTracedLayers))
      row.wrong("has more than " + counted(kMostTracedLayers, "layer"));
    if (router.fan_out > 1 && router.fan_out != k_)
      row.wrong("topk is " + std::to_string(k_) + ", it was " + std::to_string(router.fan_out));
    router.fan_out = static_cast<int32_t>(k_);
    if (first_rank_ >= 0 && rank_ != first_rank_)
      row.wrong("is of rank " + std::to_string(rank_) + ", the first line of rank " + std::to_string(first_rank_));
    first_rank_ = rank_;
    if (step_ < last_step_)
      row.wrong("step " + std::to_string(step_) + " after step " + std::to_string(last_step_) +
                ": two recordings in one file");
    last_step_ = step_;
    for (const int64_t id : ids_) largest_ = std::max(largest_, id);
    refuse_twice(row);
    const TracedModel& model = source_.model;
    if (model.branches > 0 && largest_ >= model.branches + model.zero_experts)
      row.wrong("names expert " + std::to_string(largest_) + ", " + model.source + " has " +
                std::to_string(model.branches));
  }

  /// The choices of a token differ. Several choices that are all zero are none, as for padding.
  void refuse_twice(const JsonRow& row) {
    for (size_t first = 0; first < ids_.size(); first += static_cast<size_t>(k_)) {
      const auto chosen = token_at(first);
      if (is_no_choice(chosen)) continue;
      for (size_t j = 1; j < chosen.size(); ++j)
        if (chosen[j] >= 0 && std::find(chosen.begin(), chosen.begin() + j, chosen[j]) != chosen.begin() + j)
          row.wrong("token " + std::to_string(static_cast<int64_t>(first) / k_) + " names expert " +
                    std::to_string(chosen[j]) + " twice");
    }
  }
  std::span<const int64_t> token_at(size_t first) const {
    return std::span<const int64_t>(ids_).subspan(first, static_cast<size_t>(k_));
  }
  static bool is_no_choice(std::span<const int64_t> chosen) {
    return chosen.size() > 1 && std::all_of(chosen.begin(), chosen.end(), [](int64_t id) { return id == 0; });
  }

  void begin() {
    const TracedModel& model = source_.model;
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "Megatron-LM routing trace";
    header.rank = static_cast<int32_t>(first_rank_);
    header.model_layers = model.layers;
    header.stacks = {"decoder"};
    if (routers_.rbegin()->first.mtp) header.stacks.emplace_back("mtp");
    int32_t branches = model.branches > 0 ? model.branches : static_cast<int32_t>(largest_ + 1);
    for (const auto& [place, router] : routers_) branches = std::max(branches, router.fan_out);
    for (auto& [place, router] : routers_) {
      router.stack = place.mtp ? 1 : 0;
      router.layer = static_cast<int32_t>(place.layer);
      router.name = (place.mtp ? "mtp." + std::to_string(place.depth) + "." : "decoder.") + "layer." +
                    std::to_string(place.layer);
      router.branches = branches;
      number_[place] = static_cast<int32_t>(header.routers.size());
      header.routers.push_back(router);
    }
    header.lacks = lacks_without({{"model", !model.name.empty()},
                                  {"branches", model.branches > 0},
                                  "k",
                                  "decisions",
                                  "homes",
                                  "steps",
                                  "order"});
    sink_.begin(header);
    last_step_ = -1;
  }

  // A layer that comes again, another number of tokens or another step is the next micro-batch.
  void take(const JsonRow& row) {
    const int32_t router = number_[place_];
    const auto tokens = std::ssize(ids_) / k_;
    int64_t& of_stack = tokens_[place_.mtp ? 1 : 0];
    if (step_ != last_step_ || passes_.contains(router) || (of_stack > 0 && of_stack != tokens)) flush();
    last_step_ = step_;
    of_stack = tokens;
    std::vector<int32_t>& choice = passes_[router];
    const TracedModel& model = source_.model;
    for (size_t i = 0; i < ids_.size(); ++i) {
      const int64_t id = ids_[i], of_token = static_cast<int64_t>(i) % k_;
      const bool is_none = id < 0 || (model.branches > 0 && id >= model.branches) ||
                           (id == 0 && is_no_choice(token_at(i - static_cast<size_t>(of_token))));
      choice.push_back(is_none ? kNoBranch : static_cast<int32_t>(id));
      ++(is_none ? counts_.rows_masked : counts_.rows_read);
    }
    if (choice.size() > (size_t{1} << 31)) row.wrong("has too many tokens");
  }

  void flush() {
    if (passes_.empty()) return;
    std::vector<TraceCells> cells;
    std::vector<DecisionRecord> decisions;
    for (int32_t stack = 0; stack < 2; ++stack)
      if (tokens_[stack] > 0)
        cells.push_back({stack, {batch_, 1, static_cast<int32_t>(tokens_[stack]), 0, Phase::forward}, {}});
    for (const auto& [router, choice] : passes_) decisions.push_back({.router = router, .choice = choice});
    sink_.server_step(last_step_);
    sink_.batch(cells, decisions);
    passes_.clear();
    tokens_[0] = tokens_[1] = 0;
    ++batch_;
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  std::map<Place, TraceRouter> routers_;
  std::map<Place, int32_t> number_;
  int64_t first_rank_ = -1, last_step_ = -1, largest_ = 0, batch_ = 0;
  // State of the current line.
  Place place_;
  int64_t step_ = 0, k_ = 1, rank_ = -1;
  std::vector<int64_t> ids_;
  // State of the current micro-batch.
  std::map<int32_t, std::vector<int32_t>> passes_;
  int64_t tokens_[2] = {0, 0};
  std::set<int64_t> numbers_;  // of all steps
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_megatron_jsonl(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return MegatronTrace(source, sink, progress).read();
}

}  // namespace stormcell
