#include "core/verification/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/number_format.h"
#include "core/bench/batch_inputs.h"
#include "core/bench/profile_split.h"
#include "core/cost/graph_cost.h"
#include "core/verification/batch_part.h"
#include "core/verification/judged_plan.h"
#include "core/verification/judged_texts.h"
#include "core/verification/references.h"

namespace stormcell {
namespace {

/// Most tokens of each sequence that are judged, for a workload that decodes: the oracle reads all weights for each.
constexpr int64_t kMostTokens = 16;

/// A batch of pictures for which the oracle needs less than this is judged whole, whatever time is left. It does at
/// least kLeastFlops: 30 to 195 GFLOP/s a thread in products (decision 003), the least in narrow convolutions.
constexpr double kWholeSeconds = 2, kLeastFlops = 1e9;

/// The batches that are compared, in this order: one of each size of picture, whatever time it takes, then the others
/// in the data's order.
struct ComparisonOrder {
  explicit ComparisonOrder(const Dataset& data) {
    std::vector<int64_t> all = all_batches(data);
    batches = one_of_each_size(data, all);
    at_least = batches.size();
    std::stable_partition(all.begin(), all.end(),
                          [&](int64_t b) { return std::binary_search(batches.begin(), batches.end(), b); });
    batches.insert(batches.end(), all.begin() + static_cast<int64_t>(at_least), all.end());
  }
  std::vector<int64_t> batches;
  size_t at_least = 0;
};

class Verifying {
 public:
  Verifying(Workload& work, ReadyPlan& plan, ReadyPlan* baseline, const VerifyOptions& options,
            const Progress& progress)
      : work_(work),
        s_(work.state()),
        oracle_until_(begin_ + options.oracle_seconds),
        until_(begin_ + options.all_seconds),
        judges_format_(options.format_cost && s_.converts()),
        progress_(progress),
        baseline_(baseline),
        order_(*s_.data),
        references_(*judge_, tokens_of(work), progress),
        format_(s_.nonfinite()),
        leaves_decisions_out_(!plan.promises.undecided.empty()),
        pixel_seconds_(options.pixel_seconds) {
    plans_.push_back(judge_->judged(plan, tokens_of(work), progress));
    if (baseline && baseline != &plan) plans_.push_back(judge_->judged(*baseline, tokens_of(work), progress));
  }

  Verification run() {
    const size_t checked = compare_with_oracle();
    const size_t more = compare_with_baseline(checked);
    JudgedTexts* const texts = plans_[0]->texts();
    if (texts && plans_.size() > 1) texts->compare_texts(*baseline_, until_, progress_);
    Verification v = plans_[0]->verdict();
    if (plans_.size() > 1)
      for (const std::string& reason : plans_[1]->verdict().reasons) v.reasons.push_back("the baseline: " + reason);
    if (judges_format_) format_.judge(s_.dtype, format_tolerance(), v);
    if (texts && v.reasons.empty()) texts->refuse_too_little(v);
    refuse_changed_files(v);
    v.passed = v.reasons.empty();
    v.batches = static_cast<int64_t>(checked), v.baseline_batches = static_cast<int64_t>(more);
    v.parts = parts_;
    v.text = v.text.empty() ? batches_text(v) : v.text + " (" + batches_text(v) + ")";
    v.seconds = seconds_now() - begin_;
    return v;
  }

 private:
  static int64_t tokens_of(const Workload& work) { return std::min(work.new_tokens(), kMostTokens); }

  void report(const char* what, size_t done) const {
    progress_.report(what, static_cast<int64_t>(done), std::ssize(order_.batches));
  }

  /// Compares what must be compared, whatever time that takes; then more batches until the time is up. Returns how
  /// many.
  size_t compare_with_oracle() {
    size_t checked = 0;
    for (; checked < order_.at_least; ++checked)
      compare_in_time(checked, (oracle_until_ - seconds_now()) / static_cast<double>(order_.at_least - checked));
    if (JudgedTexts* const texts = plans_[0]->texts()) {
      look_further(*texts);
      texts->compare_with_own(progress_);
    }
    const auto is_time = [&] {
      const double left = oracle_until_ - seconds_now();
      return left > 0 && (!pixel_seconds_ || oracle_seconds(order_.batches[checked]) <= left);
    };
    for (; checked < order_.batches.size() && is_time(); ++checked) compare_batch(checked);
    return checked;
  }

  /// Seconds of the oracle for a whole batch, as far as they are known.
  double oracle_seconds(int64_t batch) const {
    return *pixel_seconds_ *
           static_cast<double>(s_.data->picture_size(batch).pixels() * s_.data->outline(batch).size());
  }
  /// Whether the oracle may take longer for it than kWholeSeconds, and can do it in parts.
  bool may_be_long(const Batch& outline) const {
    if (outline.picture.pixels() == 0) return false;
    const std::shared_ptr<const Graph> graph = work_.judged_graph(outline.picture);
    const double flops = cost_of(*graph, {bindings_of(*graph, outline, 0), {}, {}, 1}).total.flops;
    return flops > kWholeSeconds * kLeastFlops * s_.device->info().host_threads && has_rows_by_item(*graph);
  }

  /// A batch whose pictures an oracle is asked about in parts.
  struct InParts {
    size_t place = 0;
    Batch batch;
    std::vector<Observed> whole;  ///< the results of each plan, running freely; empty: not run yet
  };
  /// Returns how long the oracle took for these pictures, the plans' runs of the whole batch left out.
  double compare_pictures(InParts& of, const std::vector<int64_t>& rows) {
    report("verifying against the oracle", of.place);
    if (of.whole.empty())
      for (const auto& plan : plans_) of.whole.push_back(plan->run(of.batch, nullptr));
    const double begin = seconds_now();
    compare_part(of.batch, rows, of.whole);
    return seconds_now() - begin;
  }
  /// Its first one.
  void time_one_picture(InParts& of) {
    pixel_seconds_ = compare_pictures(of, {0}) / static_cast<double>(of.batch.picture.pixels());
  }

  /// A batch, or, where the oracle would take longer than `seconds` for it, as many of its pictures as there is time
  /// for, at least one.
  void compare_in_time(size_t place, double seconds) {
    const int64_t number = order_.batches[place];
    const Batch outline = s_.data->outline(number);
    if (outline.size() == 1 || leaves_decisions_out_ || (!pixel_seconds_ && !may_be_long(outline)))
      return compare_batch(place);
    const double until = seconds_now() + std::max(seconds, kWholeSeconds);
    InParts of{place, s_.data->batch(number, progress_.cancel), {}};
    const bool has_first = !pixel_seconds_;
    if (has_first) time_one_picture(of);
    const double left = until - seconds_now();
    if (oracle_seconds(number) <= left) {
      of.whole.clear();
      return compare_batch(place);
    }
    const double pictures = left / (*pixel_seconds_ * static_cast<double>(of.batch.picture.pixels()));
    const auto count = static_cast<int64_t>(std::clamp(pictures, 1.0, static_cast<double>(of.batch.size())));
    std::vector<int64_t> rows = further_rows(count, of.batch.size());
    if (!has_first) rows.insert(rows.begin(), 0);
    if (!rows.empty()) compare_pictures(of, rows);
    parts_.push_back({number, count, of.batch.size()});
    in_part_.push_back(place);
  }

  /// `whole`: what each plan gave of the batch, running freely.
  void compare_part(const Batch& batch, const std::vector<int64_t>& rows, const std::vector<Observed>& whole) {
    const Batch part = part_of(batch, rows);
    Observed reference;
    for (size_t p = 0; p < plans_.size(); ++p) {
      Observed ours;
      ours.decisions = part_of(whole[p].decisions, rows, batch.size());
      ours.outputs = part_of(whole[p].outputs, rows, batch.size());
      if (p == 0 || !decided_alike(reference.decisions, ours.decisions)) {
        reference = references_.replaying(part, ours.decisions);
        place_in_batch(reference.decisions, rows);
      }
      plans_[p]->compare_part(batch, reference, ours, whole[p].decisions);
    }
    // The cost of a format is judged on the part as a batch of its own: there both sides decide freely.
    if (judges_format_) plans_[0]->compare_with_stored(part, references_.stored(part), format_);
  }

  /// All plans beside the same reference of the oracle, and for the format the first beside the stored weights.
  void compare_batch(size_t place) {
    const bool stored_apart = judges_format_ && s_.rounds_weights();
    report("verifying against the oracle", place);
    const Batch batch = s_.data->batch(order_.batches[place], progress_.cancel);
    Observed reference = references_.running(batch);
    for (size_t p = 0; p < plans_.size(); ++p)
      plans_[p]->compare_with_oracle(batch, reference, p == 0 && judges_format_ && !stored_apart ? &format_ : nullptr);
    if (!stored_apart) return;
    reference = {};  // before the next one is made
    reference = references_.stored(batch);
    plans_[0]->compare_with_stored(batch, reference, format_);
  }

  void look_further(const JudgedTexts& texts) {
    const std::optional<JudgedTexts::Further> further = texts.further(order_.batches, progress_.cancel);
    if (!further) return;
    progress_.report("verifying past a page of states", 0, 0);
    const Batch batch = s_.data->batch(further->batch, progress_.cancel);
    const Observed reference = References(*judge_, further->tokens, progress_).running(batch);
    for (const auto& plan : plans_) plan->texts()->compare_further(batch, reference, further->tokens, progress_);
  }

  /// Compares the plan with the baseline in the time that is left, on the batches that no oracle has run whole. At
  /// least one batch is compared, even if the oracle has run all: with rounded numbers, plan and baseline must be
  /// closer to each other than either to the oracle. Returns how many batches that no oracle has run whole it compared.
  /// `first`: no oracle has run this batch or any later one.
  size_t compare_with_baseline(size_t first) {
    if (plans_.size() < 2) return 0;
    const auto compare = [this](size_t place) {
      report("verifying against the baseline", place);
      const Batch batch = s_.data->batch(order_.batches[place], progress_.cancel);
      plans_[0]->compare_with_baseline(batch, plans_[1]->run(batch, nullptr));
    };
    std::vector<size_t> places = in_part_;
    for (size_t place = first; place < order_.batches.size(); ++place) places.push_back(place);
    if (places.empty()) {
      compare(order_.batches.size() - 1);
      return 0;
    }
    size_t done = 0;
    do compare(places[done++]);
    while (done < places.size() && seconds_now() < until_);
    return done;
  }

  /// The tolerance of what the format may cost against the stored weights.
  double format_tolerance() const {
    if (s_.options.tolerance) return *s_.options.tolerance;
    return format_of(s_.dtype).conversion_tolerance;
  }

  void refuse_changed_files(Verification& v) const {
    if (!s_.model->changed_files) return;
    const std::vector<std::string> changes = s_.model->changed_files();
    if (changes.empty()) return;
    // First: what else is wrong follows from it.
    v.reasons.insert(v.reasons.begin(), changes.begin(), changes.end());
    v.what_to_do = "leave the files of a model as they are until the run ends, and run it again";
  }

  std::string batches_text(const Verification& v) const {
    const int64_t whole = v.batches - std::ssize(v.parts);
    std::string text;
    if (whole > 0 || v.parts.empty()) text = fmt::format("{} of {} batches", whole, s_.data->batch_count());
    if (!v.parts.empty()) text += (whole > 0 ? " and " : "") + parts_text(v.parts);
    text += " against the oracle";
    if (s_.data->sizes().size() > 1)
      text += fmt::format(", at least one of each of the {} sizes", s_.data->sizes().size());
    if (!v.parts.empty() && v.baseline_batches > 0)
      text += fmt::format(", {} of {} batches against the baseline", v.baseline_batches, s_.data->batch_count());
    else if (v.baseline_batches > 0)
      text += fmt::format(", {} more against the baseline", v.baseline_batches);
    else if (plans_.size() > 1)
      text += ", one of them against the baseline too";
    return text;
  }

  const double begin_ = seconds_now();
  Workload& work_;
  const std::unique_ptr<WorkloadJudge> judge_ = judge_of(work_);
  const ExperimentState& s_;
  const double oracle_until_, until_;
  const bool judges_format_;
  const Progress& progress_;
  ReadyPlan* const baseline_;  // null: none
  const ComparisonOrder order_;
  References references_;
  FormatJudge format_;
  /// The plan leaves decisions out, so an oracle cannot replay them for a part of a batch.
  const bool leaves_decisions_out_;
  std::optional<double> pixel_seconds_;  // the oracle's time for a pixel
  std::vector<JudgedPart> parts_;
  std::vector<size_t> in_part_;                     // places of those batches
  std::vector<std::unique_ptr<JudgedPlan>> plans_;  // the baseline behind it
};

}  // namespace

VerifyOptions verify_options(const ExperimentState& s) {
  return {s.options.verify_seconds, 1.5 * s.options.verify_seconds};
}

Verification verify(Workload& work, ReadyPlan& plan, ReadyPlan* baseline, const VerifyOptions& options,
                    const Progress& progress) {
  return Verifying(work, plan, baseline, options, progress).run();
}

std::vector<std::string> differences_from(Workload& work, ReadyPlan& baseline,
                                          const std::vector<std::unique_ptr<ReadyPlan>>& plans, int64_t number,
                                          const CancellationToken& cancel) {
  const Progress unseen{cancel};
  const Batch batch = work.state().data->batch(number, cancel);
  std::optional<Observed> reference;
  std::vector<std::string> differences(plans.size());
  const std::unique_ptr<WorkloadJudge> judge = judge_of(work);
  for (size_t p = 0; p < plans.size(); ++p) {
    if (judge->wrote_alike(*plans[p], baseline, batch)) continue;
    if (!reference) reference = judge->judged(baseline, work.new_tokens(), unseen)->run(batch, nullptr);
    const std::unique_ptr<JudgedPlan> judged = judge->judged(*plans[p], work.new_tokens(), unseen);
    judged->compare_with_baseline(batch, *reference);
    if (const std::vector<std::string> found = judged->differences(); !found.empty()) differences[p] = found.front();
  }
  return differences;
}

}  // namespace stormcell
