#include "core/planning/calibrated_model.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/counted.h"
#include "core/planning/call_labels.h"
#include "core/planning/expert_curve.h"

namespace stormcell {
namespace {

PredictionKind less_sure(PredictionKind a, PredictionKind b) {
  if (a == PredictionKind::none || b == PredictionKind::none) return PredictionKind::none;
  return std::max(a, b);
}

/// A call of one series at about the asked size, and the time that is predicted for it.
struct PredictedSize {
  double bytes = 0;
  MeasuredCall call;
  Prediction predicted;
};

/// The line t0 + bytes * us_per_byte through the times at, or nearest to, the asked size.
struct FittedLine {
  PredictionKind kind = PredictionKind::none;
  double us = 0, t0_us = 0, us_per_byte = 0, size = 1;
  Prediction at;
  const MeasuredCall* like = nullptr;
  std::string why_not;
  bool found_no_call = false;  ///< why_not is what is said before any call was looked at: another reason says more
};

FittedLine no_line(std::string why_not) {
  FittedLine line;
  line.why_not = std::move(why_not);
  return line;
}
FittedLine no_call(std::string why_not) {
  FittedLine line = no_line(std::move(why_not));
  line.found_no_call = true;
  return line;
}

/// `sizes`: those with a prediction, by bytes.
FittedLine line_at(const Calibration& calibration, const std::vector<PredictedSize>& sizes, double bytes,
                   const std::string& why_not) {
  if (sizes.empty()) return no_line(why_not);
  if (const double more = bytes / sizes.back().bytes; more > 1 + 1e-9)
    return no_line("a step moves " +
                   (more < 10 ? std::to_string(more).substr(0, 3) : std::to_string(std::lround(more))) +
                   " times the largest measured size");
  const auto far = [&](const PredictedSize& s) { return std::fabs(std::log(s.bytes / bytes)); };
  const PredictedSize& at =
      *std::min_element(sizes.begin(), sizes.end(), [&](const auto& a, const auto& b) { return far(a) < far(b); });
  const PredictedSize *below = nullptr, *above = nullptr;
  for (const PredictedSize& s : sizes) {
    if (s.bytes * kApart <= at.bytes) below = &s;
    if (!above && s.bytes >= at.bytes * kApart) above = &s;
  }
  // The surer side alone says the rate.
  if (below && above && below->predicted.kind != above->predicted.kind)
    (below->predicted.kind < above->predicted.kind ? above : below) = nullptr;
  if (!below && !above) return no_line("only one size was measured, so its start-up time is not known");
  const PredictedSize &low = below ? *below : at, &high = above ? *above : at;
  FittedLine line;
  line.us_per_byte = (*high.predicted.us - *low.predicted.us) / (high.bytes - low.bytes);
  if (!(line.us_per_byte > 0)) return no_line("more bytes took no longer, so there is no rate");
  line.t0_us = *at.predicted.us - line.us_per_byte * at.bytes;
  if (line.t0_us < 0) line.t0_us = 0, line.us_per_byte = *at.predicted.us / at.bytes;
  // A line is never one measured call.
  line.kind = less_sure(PredictionKind::interpolated, at.predicted.kind);
  for (const PredictedSize* s : {below, above})
    if (s) line.kind = less_sure(line.kind, s->predicted.kind);
  line.size = bytes / at.bytes;
  if (std::fabs(line.size - 1) > 1e-9) line.kind = less_sure(line.kind, PredictionKind::extrapolated);
  line.us = line.t0_us + line.us_per_byte * bytes;
  line.at = calibration.predict(at.call);
  for (const PredictedSize* s : {below, above})
    for (const size_t i : s ? s->predicted.from : std::vector<size_t>())
      if (std::find(line.at.from.begin(), line.at.from.end(), i) == line.at.from.end()) line.at.from.push_back(i);
  for (const PredictedSize* s : {below, above}) {
    if (!s) continue;
    if (!line.at.laboratories) line.at.laboratories = s->predicted.laboratories;
    if (!line.at.held_out) line.at.held_out = calibration.predict(s->call).held_out;
  }
  return line;
}

class ModelCalibrator {
 public:
  ModelCalibrator(const Calibration& calibration, const Cluster& cluster, const ModelSizes& sizes, const MeanStep& step)
      : calibration_(calibration), cluster_(cluster), sizes_(sizes), step_(step) {}

  FittedLine exchange(std::string_view op, double row_bytes, double& copy_bytes) const {
    if (cluster_.ranks() == 1) return no_line("one GPU exchanges nothing");
    if (!cluster_.rank_cost.empty()) return no_line("the cluster says the costs between its ranks");
    if (!step_.tokens || step_.k < 1) return no_line("the tokens of a step are not known");
    FittedLine best = no_call("no " + std::string(op) + " was measured on such links (" + links() + ")");
    const double copies = *step_.tokens / cluster_.ranks() * static_cast<double>(step_.k);
    // The time of an all-to-all of bytes counts for either way. Over a network another GPU with the same card may lend
    // its times; within a node none does.
    for (const bool own : {true, false})
      for (const std::string_view of : {op, to_text(CallKind::alltoall)}) {
        if (best.like || (!own && cluster_.nodes == 1)) continue;
        for (const MeasuredCall& like : series([&](const MeasuredCall& c) {
               return c.op == of && on_such_links(c) && own == is_gpu_of(c.gpu, cluster_.gpu);
             })) {
          const double copy =
              like.hidden > 0 ? like.bytes_per_copy * static_cast<double>(sizes_.hidden) / like.hidden : row_bytes;
          FittedLine line = exchange_line(like, copies * copy);
          if (better(line, best)) best = std::move(line), copy_bytes = copy;
        }
      }
    return best;
  }

  /// Empty where no product over rows was measured.
  ExpertCurve curve() const {
    ExpertCurve out;
    if (calibration_.over_rows().empty()) return out;
    out.why_not = "the tokens of a step are not known";
    if (!step_.tokens || step_.k < 1 || !step_.rows) return out;
    out.why_not = "the widths of an expert are not known";
    if (sizes_.hidden < 1 || sizes_.ffn < 1 || sizes_.matrices < 2) return out;
    const ExpertRows rows = expert_rows();
    out.why_not = "no expert gets rows";
    if (!(rows.active > 0) || !std::isfinite(rows.mean)) return out;
    return find_expert_curve(calibration_, cluster_.gpu, sizes_, bits(), rows);
  }
  CalibratedPhase as_phase(const ExpertCurve& found) const {
    CalibratedPhase out;
    const ExpertRows rows = expert_rows();
    out.phase = LayerPhase::experts, out.kind = found.kind, out.like = words_of(*found.like),
    out.held_out = found.held_out;
    out.us = rows.active * found.curve->us(rows.mean);
    out.rows = PhaseRows{found.curve->least(), found.curve->most(), rows.range.least, rows.mean, rows.range.most};
    for (const size_t i : found.from) out.from.push_back(calibration_.calls()[i].id);
    return out;
  }

  FittedLine experts() const {
    if (!step_.tokens || step_.k < 1) return no_line("the tokens of a step are not known");
    if (sizes_.matrices != kGatedMatrices || sizes_.ffn < 1)
      return no_line("measured products are of gated experts whose inner width is known");
    if (cluster_.ranks() > step_.experts) return no_line("there are more GPUs than experts");
    FittedLine best = no_call("no products of " + cluster_.gpu + " were measured");
    for (const MeasuredCall& like :
         series([&](const MeasuredCall& c) { return c.is_rank_experts() && is_gpu_of(c.gpu, cluster_.gpu); })) {
      if (std::fabs(bits_of_label(like.dtype) / bits() - 1) > 0.1) {
        if (!best.like)
          best = no_line("products of " + cluster_.gpu + " were measured in " + like.dtype +
                         ", the model's weights take " + rounded(bits()) + " bits");
        continue;
      }
      FittedLine line = products_line(like);
      if (better(line, best)) best = std::move(line);
    }
    return best;
  }

  double weights() const { return kGatedMatrices * static_cast<double>(sizes_.hidden) * sizes_.ffn; }

  CalibratedPhase as_phase(LayerPhase phase, const FittedLine& line, double bytes_per_s) const {
    CalibratedPhase out;
    out.phase = phase, out.kind = line.kind, out.why_not = line.why_not;
    if (line.kind == PredictionKind::none) return out;
    out.like = words_of(*line.like);
    out.us = line.us, out.t0_us = line.t0_us, out.bytes_per_s = bytes_per_s, out.size = line.size;
    out.held_out = line.at.held_out, out.laboratories = line.at.laboratories;
    for (const size_t i : line.at.from) out.from.push_back(calibration_.calls()[i].id);
    return out;
  }

 private:
  static std::string words_of(const MeasuredCall& c) {
    std::string words = c.op;
    for (const std::string* word : {&c.mode, &c.dtype})
      if (!word->empty()) words += " " + *word;
    return words + " of " + c.gpu + (c.laboratory.empty() ? "" : " (" + c.laboratory + ")");
  }
  /// Bits of one weight of this model.
  double bits() const {
    return 8 * sizes_.branch_bytes / (static_cast<double>(sizes_.matrices) * (sizes_.hidden * sizes_.ffn));
  }
  ExpertRows expert_rows() const {
    const auto experts = static_cast<double>(step_.experts), k = static_cast<double>(step_.k);
    const double touched = 1 - std::pow(1 - k / experts, *step_.tokens);
    return {experts / cluster_.ranks() * touched, *step_.tokens * k / experts / touched, *step_.rows};
  }
  static std::string rounded(double value) { return std::to_string(std::lround(value)); }

  double gbit() const { return 8 * cluster_.network_bytes_per_s / 1e9; }
  std::string links() const {
    const std::string ranks = counted(cluster_.ranks(), "rank") + " of " + cluster_.gpu;
    return cluster_.nodes > 1
               ? ranks + ", " + std::to_string(cluster_.gpus_per_node) + " a node, " + rounded(gbit()) + " Gbit/s"
               : ranks + " in one node";
  }
  bool on_such_links(const MeasuredCall& c) const {
    if (c.leaves_node() != (cluster_.nodes > 1)) return false;
    if (cluster_.nodes == 1) return c.gpus_per_node == 0 || c.gpus_per_node >= cluster_.gpus_per_node;
    return (c.gpus_per_node == 0 || c.gpus_per_node == cluster_.gpus_per_node) &&
           std::fabs(c.nic_gbit / gbit() - 1) < 0.01;
  }

  /// One call of each series.
  template <class Is>
  std::vector<MeasuredCall> series(Is&& is) const {
    std::vector<MeasuredCall> out;
    for (const MeasuredCall& c : calibration_.calls())
      if (is(c) && std::none_of(out.begin(), out.end(), [&](const MeasuredCall& o) { return same_series(o, c); }))
        out.push_back(c);
    return out;
  }

  /// Prefers a line that has a call, then the surer kind, then the smaller error where it could be checked.
  static bool better(const FittedLine& a, const FittedLine& b) {
    if (!a.like) return !b.like && b.found_no_call;
    if (!b.like) return true;
    if (a.kind != b.kind) return a.kind < b.kind;
    const auto error = [](const FittedLine& l) { return l.at.held_out ? std::fabs(*l.at.held_out) : 1e9; };
    return error(a) < error(b);
  }

  const MeasuredCall* stored(const MeasuredCall& like) const {
    const auto& calls = calibration_.calls();
    return &*std::find_if(calls.begin(), calls.end(), [&](const MeasuredCall& c) { return same_series(c, like); });
  }

  FittedLine fit_through(const std::vector<MeasuredCall>& calls, double (*bytes_of)(const MeasuredCall&), double bytes,
                         const MeasuredCall& like) const {
    std::vector<PredictedSize> sizes;
    std::string why_not;
    for (const MeasuredCall& call : calls) {
      Prediction p = calibration_.predict_without(call, {});
      if (p.us)
        sizes.push_back({bytes_of(call), call, std::move(p)});
      else if (why_not.empty())
        why_not = p.why_not;
    }
    std::sort(sizes.begin(), sizes.end(),
              [](const PredictedSize& a, const PredictedSize& b) { return a.bytes < b.bytes; });
    FittedLine line = line_at(calibration_, sizes, bytes, why_not);
    if (line.kind != PredictionKind::none) line.like = stored(like);
    return line;
  }

  /// The line at the step's size, else through sizes about it that have a prediction.
  FittedLine exchange_line(const MeasuredCall& like, double bytes) const {
    std::vector<double> measured;
    for (const MeasuredCall& c : calibration_.calls())
      if (same_network(c, like)) measured.push_back(sent_bytes(c));
    std::sort(measured.begin(), measured.end());
    measured.erase(std::unique(measured.begin(), measured.end()), measured.end());
    constexpr std::ptrdiff_t kNeighbours = 4;
    const auto middle = std::lower_bound(measured.begin(), measured.end(), bytes);
    std::vector<MeasuredCall> calls = {call_of_bytes(like, bytes)};
    for (auto at = middle - std::min(kNeighbours, middle - measured.begin());
         at != middle + std::min(kNeighbours, measured.end() - middle); ++at)
      for (const double factor : {0.5, 0.75, 1., 1.5, 2.}) calls.push_back(call_of_bytes(like, *at * factor));
    return fit_through(calls, sent_bytes, bytes, like);
  }
  /// A call of this cluster in which a rank sends so many bytes.
  MeasuredCall call_of_bytes(const MeasuredCall& like, double bytes) const {
    MeasuredCall c = like;
    if (!is_gpu_of(like.gpu, cluster_.gpu)) c.gpu = cluster_.gpu;
    c.nodes = cluster_.nodes, c.ranks = cluster_.ranks(), c.tokens_per_rank = 1, c.tokens_total = 0, c.top_k = 1,
    c.bytes_per_copy = bytes;
    return c;
  }

  FittedLine products_line(const MeasuredCall& like) const {
    int64_t most = 1;
    for (const MeasuredCall& c : calibration_.calls())
      if (same_series(c, like)) most = std::max(most, c.tokens_total);
    const auto of = [&](int64_t tokens) {
      MeasuredCall c = like;
      c.ranks = cluster_.ranks(), c.tokens_total = tokens, c.top_k = step_.k, c.experts = step_.experts;
      c.hidden = sizes_.hidden, c.ffn = sizes_.ffn;
      return c;
    };
    const auto tokens = std::max<int64_t>(std::llround(*step_.tokens), 1);
    std::vector<MeasuredCall> calls = {of(tokens)};
    // Such a step moves no more weights than a smaller one that was measured, but they no longer take the time.
    if (static_cast<double>(tokens * step_.k) > kRowTile * step_.experts)
      if (const Prediction whole = calibration_.predict_without(calls[0], {}); !whole.us) return no_line(whole.why_not);
    for (int64_t t = 1; t <= 2 * most; t *= 2) calls.push_back(of(t)), calls.push_back(of(t + t / 2));
    return fit_through(calls, moved_bytes, moved_bytes(calls[0]), like);
  }

  const Calibration& calibration_;
  const Cluster& cluster_;
  const ModelSizes& sizes_;
  const MeanStep& step_;
};

}  // namespace

CalibrationUse calibrate_model(const Calibration& calibration, const Cluster& cluster, const ModelSizes& sizes,
                               const MeanStep& step, CostModel& model) {
  const ModelCalibrator calibrator(calibration, cluster, sizes, step);
  CalibrationUse use;
  use.tokens_per_step = step.tokens.value_or(0);
  const auto way = [&](LayerPhase phase, double row_bytes, WayCost& cost) {
    double copy_bytes = 0, bytes_per_s = 0;
    const FittedLine line = calibrator.exchange(to_text(phase), row_bytes, copy_bytes);
    if (line.kind != PredictionKind::none) {
      // The share of a rank's copies that crosses the links in question.
      const double share = 1 - 1. / (cluster.nodes > 1 ? cluster.nodes : cluster.ranks());
      bytes_per_s = row_bytes / (1e-6 * line.us_per_byte * copy_bytes / share);
      cost.t0_s = 1e-6 * line.t0_us;
      (cluster.nodes > 1 ? cost.network_factor : cost.fabric_factor) =
          (cluster.nodes > 1 ? cluster.network_bytes_per_s : cluster.fabric_bytes_per_s) / bytes_per_s;
    }
    use.phases.push_back(calibrator.as_phase(phase, line, bytes_per_s));
  };
  way(LayerPhase::dispatch, model.dispatch_row_bytes, model.dispatch);
  // A curve over rows says more than a rank's products together: the time of each expert by its own rows.
  const ExpertCurve curve = calibrator.curve();
  if (curve.curve) {
    model.expert_curve = curve.curve;
    use.phases.push_back(calibrator.as_phase(curve));
  } else {
    const FittedLine experts = calibrator.experts();
    if (experts.kind != PredictionKind::none) {
      model.product_t0_s = 1e-6 * experts.t0_us;
      model.memory_bytes_per_s = model.branch_bytes / (1e-6 * experts.us_per_byte * calibrator.weights());
    }
    use.phases.push_back(calibrator.as_phase(LayerPhase::experts, experts, model.memory_bytes_per_s));
    if (experts.kind == PredictionKind::none && !curve.why_not.empty()) use.phases.back().why_not = curve.why_not;
  }
  way(LayerPhase::combine, model.combine_row_bytes, model.combine);
  return use;
}

StepTrust trust_in(const CalibrationUse& use, double dispatch, double compute, double combine) {
  StepTrust out;
  const double all = dispatch + compute + combine;
  double calibrated = 0, off = 0;
  bool known = true;
  PredictionKind least = PredictionKind::none;
  for (const CalibratedPhase& p : use.phases) {
    const double time = p.phase == LayerPhase::dispatch ? dispatch : p.phase == LayerPhase::experts ? compute : combine;
    if (!p.calibrated() || time <= 0) continue;
    least = std::max(least, p.kind), calibrated += time;
    known = known && p.held_out.has_value();
    off += time * std::fabs(p.held_out.value_or(0));
  }
  if (calibrated <= 0) return out;
  out.kind = least, out.share = calibrated / all;
  if (known) out.held_out = off / calibrated;
  return out;
}

}  // namespace stormcell
