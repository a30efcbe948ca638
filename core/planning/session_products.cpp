#include "core/planning/session_products.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/planning/call_labels.h"
#include "core/planning/model_sizes.h"
#include "core/readings/session_lookup.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

constexpr const char* kRecord = "record one: stormcell profile MODEL --data D -o S.storm";
constexpr size_t kFewestTimes = 3;      // fewer do not tell which were disturbed
constexpr int64_t kMostBatches = 1000;  // evenly chosen where there are more
constexpr int64_t kExactRows = 16;      // more are taken together with others within an eighth of an octave
constexpr double kGroupsOfOctave = 8;

/// A product of one expert with a weight of one shape.
struct ExpertStep {
  int32_t router = 0, branch = 0;
  int64_t inputs = 0, outputs = 0;
};

/// A session's file may name routers that it does not have.
bool is_expert_product(const StepInfo& s, size_t routers) {
  return s.op == "linear" && s.router >= 0 && static_cast<size_t>(s.router) < routers && s.branch >= 0;
}

bool has_products(const SessionReader& session, const RunSummary& run) {
  const RunLayout layout = session.layout(run.id);
  return run.batches > 0 && session.has_decisions(run.id) &&
         std::any_of(layout.steps.begin(), layout.steps.end(),
                     [&](const StepInfo& s) { return is_expert_product(s, layout.routers.size()); });
}

class ProductReader {
 public:
  ProductReader(const std::string& name, const SessionReader& session, RunSummary run, const SizeOptions& options)
      : name_(name), session_(session), run_(std::move(run)), layout_(session.layout(run_.id)), options_(options) {
    const nlohmann::json dataset = json_or_null(run_.dataset), machine = json_or_null(run_.machine);
    const nlohmann::json& settings = value_at(dataset, "settings");
    if (whole_at(settings, "weight_budget") > 0)
      bad_input(name_, "read weights while it ran, and its times have that in them",
                "record a run without --weight-budget");
    call_.op = to_text(CallKind::product), call_.experts = 1, call_.gpu = text_at(machine, "name");
    if (text_at(machine, "backend") != "cpu") call_.gpu = gpu_label(call_.gpu);
    if (call_.gpu.empty()) bad_input(name_, "does not say what device it ran on", kRecord);
    if (const int64_t threads = whole_at(machine, "threads"); threads > 0) call_.mode = counted(threads, "thread");
    call_.dtype = options.dtype.empty() ? text_at(settings, "dtype") : options.dtype;
    if (call_.dtype.empty()) bad_input(name_, "does not say the number format of its weights", "--dtype does");
    find_steps();
  }

  std::vector<MeasuredCall> read(const Progress& progress) {
    const int64_t stride = std::max<int64_t>(1, (run_.batches + kMostBatches - 1) / kMostBatches);
    for (int64_t b = 0; b < run_.batches; b += stride) {
      progress.report("reading times of products", b, run_.batches);
      add_batch(b);
    }
    return calls();
  }

 private:
  /// Finds each expert's steps in their order. All but the last take a token's width to the expert's; the last one
  /// takes it back.
  void find_steps() {
    const std::optional<ModelSizes> sizes = find_model_sizes(options_, run_, layout_, session_.summary().model.name);
    if (!sizes || sizes->hidden < 1 || sizes->ffn < 1)
      bad_input(name_, "says no sizes of its experts", "--model-config config.json, or --hidden N --ffn N");
    const nlohmann::json about = json_or_null(run_.dataset);
    for (const auto& [key, width] : {std::pair{"hidden", sizes->hidden}, std::pair{"ffn", sizes->ffn}})
      if (const int64_t recorded = whole_at(about, key); recorded > 0 && recorded != width)
        bad_input(name_,
                  "was recorded with " + std::to_string(recorded) + " for --" + key + ", and " + sizes->source +
                      " says " + std::to_string(width),
                  "leave the sizes out");
    std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> experts;
    for (size_t i = 0; i < layout_.steps.size(); ++i)
      if (is_expert_product(layout_.steps[i], layout_.routers.size()))
        experts[{layout_.steps[i].router, layout_.steps[i].branch}].push_back(i);
    steps_.resize(layout_.steps.size());
    for (const auto& [expert, of] : experts) {
      const StepInfo &first = layout_.steps[of.front()], &last = layout_.steps[of.back()];
      // Two products in one have their weights beside each other.
      const bool joined =
          of.size() == 2 && std::fabs(first.flops - 2 * last.flops) <= 1e-6 * first.flops && last.flops > 0;
      if (of.size() != 2 && of.size() != 3)
        bad_input(name_,
                  first.name + " is one of " + counted(std::ssize(of), "product") + " of its expert, not of 2 or 3",
                  "an expert has two products, or three if it is gated");
      for (const size_t i : of) {
        const bool is_last = i == of.back();
        steps_[i] = ExpertStep{expert.first, expert.second, is_last ? sizes->ffn : sizes->hidden,
                               is_last ? sizes->hidden : sizes->ffn * (joined ? 2 : 1)};
        check_shape(layout_.steps[i], *steps_[i], sizes->source);
      }
    }
  }
  /// A plan counts two operations a weight and row, of an even share of a whole number of cells.
  void check_shape(const StepInfo& step, const ExpertStep& expert, const std::string& source) const {
    const double branches = layout_.routers[expert.router].branches;
    const double rows = branches * step.flops / (2 * static_cast<double>(expert.inputs) * expert.outputs);
    if (step.flops <= 0 || (rows > 0.5 && std::fabs(rows - std::round(rows)) <= std::min(1e-6 * rows, 0.25))) return;
    bad_input(name_,
              step.name + " is not a product with " + std::to_string(expert.inputs) + " x " +
                  std::to_string(expert.outputs) + " weights, which " + source + " says",
              "--hidden and --ffn are the widths of a token and of an expert");
  }

  void add_batch(int64_t batch) {
    std::map<uint32_t, std::vector<double>> times;  // by step
    for (const StepEvent& e : session_.events(run_.id, batch))
      if (e.step < steps_.size() && steps_[e.step] && e.end_ns > e.begin_ns)
        times[e.step].push_back(1e-3 * static_cast<double>(e.end_ns - e.begin_ns));
    std::map<int32_t, std::optional<StoredDecision>> decisions;
    for (const auto& [step, us] : times) {
      if (us.size() != 1) continue;  // computed in parts, each of some of the rows
      const ExpertStep& expert = *steps_[step];
      const auto [found, is_new] = decisions.try_emplace(expert.router);
      if (is_new) found->second = session_.decision(run_.id, expert.router, batch);
      if (!found->second || expert.branch >= found->second->branches) continue;
      const size_t b = expert.branch;
      const int64_t rows = found->second->offsets[b + 1] - found->second->offsets[b];
      if (rows < 1) continue;
      const int64_t group =
          rows <= kExactRows
              ? rows
              : kExactRows + std::lround(std::floor(kGroupsOfOctave * std::log2(static_cast<double>(rows))));
      auto& into = times_[{expert.inputs, expert.outputs, group}];
      into.first.push_back(static_cast<double>(rows)), into.second.push_back(us[0]);
    }
  }

  std::vector<MeasuredCall> calls() const {
    std::vector<MeasuredCall> out;
    const std::string run = std::filesystem::path(session_.path()).filename().string() + "#" + std::to_string(run_.id);
    for (const auto& [key, group] : times_) {
      if (group.second.size() < kFewestTimes) continue;
      MeasuredCall& c = out.emplace_back(call_);
      std::tie(c.inputs, c.outputs, std::ignore) = key;
      c.rows = std::llround(median(group.first)), c.us = median(group.second);
      c.id = run + " " + std::to_string(c.inputs) + "x" + std::to_string(c.outputs) + " rows " + std::to_string(c.rows);
      c.source = run + (run_.started.empty() ? "" : " of " + run_.started) + ", median of " +
                 counted(std::ssize(group.second), "time");
    }
    const bool varies =
        std::any_of(out.begin(), out.end(), [&](const MeasuredCall& c) { return c.rows != out[0].rows; });
    if (!varies)
      bad_input(name_,
                out.empty() ? "has no number of rows at which a product was timed three times"
                            : "timed products at " + counted(out[0].rows, "row") + " only, which is not a curve",
                "record more batches, of several sizes: --batch, --length");
    return out;
  }

  const std::string& name_;
  const SessionReader& session_;
  const RunSummary run_;
  const RunLayout layout_;
  const SizeOptions& options_;
  MeasuredCall call_;                             // the part that is alike in all calls
  std::vector<std::optional<ExpertStep>> steps_;  // [steps] of the plan
  // rows, microseconds
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::pair<std::vector<double>, std::vector<double>>> times_;
};

}  // namespace

std::vector<MeasuredCall> read_session_products(const std::string& session, const SizeOptions& sizes,
                                                const Progress& progress) {
  const SessionPath path = parse_session_path(session);
  const SessionReader reader(path.file);
  RunSummary run = choose_run(reader, path.run, has_products,
                              std::string("keeps no times of single experts' products (") + kRecord + ")");
  return ProductReader(session, reader, std::move(run), sizes).read(progress);
}

}  // namespace stormcell
