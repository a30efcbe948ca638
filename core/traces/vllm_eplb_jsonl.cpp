// Reads vLLM's recording for offline EPLB (its pull request 41141): a JSON object a line. Lines with record_type
// eplb_load_stats are steps: expert_load [layers][slots] and p2l_map [layers][slots], the expert in each slot at that
// step; other kinds of lines are skipped.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/missing_numbers.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_lines.h"
#include "core/traces/json_values.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int64_t kMostLoad = int64_t{1} << 40;

class VllmLoads {
 public:
  VllmLoads(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    for_each_step([&](const JsonRow& row) { look_at(row); });
    if (steps_ == 0)
      bad_input(source_.path(), "has no line with record_type eplb_load_stats",
                "record it with expert_load_stats_path");
    if (const std::string gaps = gaps_text("step", numbers_); !gaps.empty())
      counts_.warnings.push_back(source_.path() + ": has " + gaps +
                                 ": lines are missing, or these steps were not recorded");
    if (repeated_ > 0)
      counts_.warnings.push_back(source_.path() + ": " + counted(repeated_, "line has", "lines have") +
                                 " the step of the line before, the first one step " + std::to_string(first_repeated_) +
                                 ": all are counted");
    begin();
    steps_ = 0;
    for_each_step([&](const JsonRow& row) { hand_on(row); });
    return counts_;
  }

 private:
  template <class Visit>
  void for_each_step(Visit&& visit) {
    JsonLines lines(source_.text(), source_.path());
    for (nlohmann::json value; lines.next(value);) {
      progress_.report("reading lines", lines.line(), 0);
      if (text_at(value, "record_type") != "eplb_load_stats") continue;
      const JsonRow row(value, source_.path(), lines.line());
      if (const int64_t version = row.whole("version", 0, INT32_MAX); version != 1)
        row.wrong("version " + std::to_string(version) + " is not known");
      load_ = row.matrix("expert_load", layers_ > 0 ? layers_ : -1, 0, kMostLoad - 1, slots_);
      int64_t slots = 0;
      if (load_.empty()) row.wrong("expert_load is empty");
      layers_ = std::ssize(load_) / slots_;
      map_ = row.matrix("p2l_map", layers_, -1, kMostTracedBranches - 1, slots);
      if (slots != slots_)
        row.wrong("expert_load has " + counted(slots_, "slot") + ", p2l_map " + std::to_string(slots));
      visit(row);
    }
    counts_.empty_lines = lines.lines().empty_lines();
  }

  void look_at(const JsonRow& row) {
    const int64_t step = row.whole("step", 0, INT64_MAX);
    if (step < last_step_)
      row.wrong("step " + std::to_string(step) + " after step " + std::to_string(last_step_) +
                ": two recordings in one file");
    if (layers_ > kMostTracedLayers) row.wrong("has " + counted(layers_, "layer"));
    compare_layers(row);
    if (steps_ > 0 && step == last_step_ && repeated_++ == 0) first_repeated_ = step;
    last_step_ = step;
    numbers_.insert(step);
    ++steps_;
    for (size_t i = 0; i < map_.size(); ++i) {
      branches_ = std::max(branches_, map_[i] + 1);
      if (map_[i] < 0 && load_[i] > 0) row.wrong("a slot without an expert has a load");
    }
    add_slots(row);
    const TracedModel& model = source_.model;
    if (model.branches > 0 && branches_ > model.branches + model.shared)
      row.wrong("names expert " + std::to_string(branches_ - 1) + ", " + model.source + " has " +
                std::to_string(model.branches));
  }

  /// The loads count if a line states another number of layers: one that was cut, or a rank of a pipeline.
  void compare_layers(const JsonRow& row) {
    if (is_unlike_ || !row.has("num_layers")) return;
    const int64_t stated = row.whole("num_layers", 0, INT32_MAX);
    if (stated == layers_) return;
    is_unlike_ = true;
    counts_.warnings.push_back(row.place() + ": num_layers is " + std::to_string(stated) + ", but expert_load has " +
                               counted(layers_, "layer") + ", which are read: are layers missing?");
  }

  /// Adds the slots of all steps as long as no expert moves.
  void add_slots(const JsonRow& row) {
    const int32_t ranks = row.has("num_ranks") ? row.whole("num_ranks", 1, kMostTracedBranches) : 0;
    if (steps_ == 1) first_map_ = map_, slot_load_.assign(load_.size(), 0), ranks_ = ranks;
    if (map_ != first_map_ || ranks != ranks_) slot_load_.clear();
    for (size_t i = 0; i < slot_load_.size(); ++i) slot_load_[i] += load_[i];
  }
  RecordedSlots recorded_slots() const {
    RecordedSlots slots;
    if (!slot_load_.empty()) slots.ranks = ranks_;
    for (size_t at = 0; at < slot_load_.size(); at += static_cast<size_t>(slots_)) {
      const auto begin = static_cast<std::ptrdiff_t>(at), end = begin + slots_;
      slots.layers.push_back({{first_map_.begin() + begin, first_map_.begin() + end},
                              {slot_load_.begin() + begin, slot_load_.begin() + end}});
    }
    return slots;
  }

  // The file has only layers with experts.
  void begin() {
    const TracedModel& model = source_.model;
    if (model.branches > 0) branches_ = branches_ > model.branches ? model.branches + model.shared : model.branches;
    const std::vector<int32_t> numbers = numbers_of_layers_with_branches(source_, layers_);
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "vLLM eplb_load_stats";
    header.counts = true;
    header.model_layers = model.layers;
    header.recorded_slots = recorded_slots();
    for (int64_t l = 0; l < layers_; ++l) {
      TraceRouter& router = header.routers.emplace_back();
      router.layer = numbers[l];
      router.name = router.layer >= 0 ? "layer." + std::to_string(router.layer) : "moe." + std::to_string(l);
      router.branches = static_cast<int32_t>(branches_);
      router.fan_out = static_cast<int32_t>(std::clamp<int64_t>(model.k, 1, branches_));
    }
    header.lacks = lacks_without(
        {{"model", !model.name.empty()}, "branches", {"k", model.k > 0}, {"steps", steps_ != 1}, "order"});
    sink_.begin(header);
  }

  void hand_on(const JsonRow& row) {
    sink_.server_step(row.whole("step", 0, INT64_MAX));
    std::vector<int64_t> loads(branches_);
    for (int64_t l = 0; l < layers_; ++l) {
      std::fill(loads.begin(), loads.end(), 0);
      for (int64_t s = 0; s < slots_; ++s) {
        const size_t at = l * slots_ + s;
        if (map_[at] >= 0) loads[map_[at]] += load_[at];
      }
      counts_.rows_read += branches_;
      sink_.loads(steps_, static_cast<int32_t>(l), loads);
    }
    ++steps_;
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  int64_t layers_ = 0, slots_ = 0, branches_ = 1, steps_ = 0, last_step_ = 0;
  int64_t repeated_ = 0, first_repeated_ = 0;   // lines with the step of the line before
  std::vector<int64_t> load_, map_;             // of the line at hand, [layers, slots]
  std::vector<int64_t> first_map_, slot_load_;  // of the first line; over all of them, empty: experts moved
  std::set<int64_t> numbers_;                   // of all steps
  int32_t ranks_ = 0;
  bool is_unlike_ = false;  // a line states another number of layers
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_vllm_eplb_jsonl(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return VllmLoads(source, sink, progress).read();
}

}  // namespace stormcell
