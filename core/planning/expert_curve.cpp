#include "core/planning/expert_curve.h"

#include <algorithm>
#include <cmath>

#include "core/planning/call_labels.h"

namespace stormcell {
namespace {

std::string rounded(double value) { return std::to_string(std::lround(value)); }
std::string shape(int64_t inputs, int64_t outputs) { return std::to_string(inputs) + " x " + std::to_string(outputs); }

/// Products that one laboratory measured in one way, of whatever shape.
bool same_way(const MeasuredCall& a, const MeasuredCall& b) {
  return a.gpu == b.gpu && a.laboratory == b.laboratory && a.mode == b.mode && a.dtype == b.dtype &&
         a.experts == b.experts;
}

class CurveFinder {
 public:
  CurveFinder(const Calibration& calibration, const ModelSizes& sizes, const ExpertRows& rows)
      : calibration_(calibration), all_(calibration.over_rows()), sizes_(sizes), rows_(rows) {}

  ExpertCurve best(const std::string& gpu, double bits) const {
    ExpertCurve out;
    double nearest = 0;
    for (const CallRows& way : all_) {
      if (!is_gpu_of(way.like->gpu, gpu)) continue;
      if (std::fabs(bits_of_label(way.like->dtype) / bits - 1) > 0.1) {
        keep_reason(out, "products over rows of " + gpu + " were measured in " + way.like->dtype +
                             ", the model's weights take " + rounded(bits) + " bits");
        continue;
      }
      ExpertCurve found = of_way(*way.like);
      if (!found.curve) {
        keep_reason(out, std::move(found.why_not));
        continue;
      }
      const double far = std::fabs(std::log(static_cast<double>(way.like->experts) / rows_.active));
      if (out.curve && (found.kind > out.kind || (found.kind == out.kind && far >= nearest))) continue;
      out = std::move(found), nearest = far;
    }
    return out;
  }

 private:
  static void keep_reason(ExpertCurve& out, std::string why_not) {
    if (!out.curve && out.why_not.empty()) out.why_not = std::move(why_not);
  }

  const CallRows* find(const MeasuredCall& way, int64_t inputs, int64_t outputs) const {
    for (const CallRows& c : all_)
      if (same_way(*c.like, way) && c.like->inputs == inputs && c.like->outputs == outputs) return &c;
    return nullptr;
  }

  ExpertCurve of_way(const MeasuredCall& way) const {
    const int64_t hidden = sizes_.hidden, ffn = sizes_.ffn, gates = sizes_.matrices - 1;
    const CallRows *both = gates == 2 ? find(way, hidden, 2 * ffn) : nullptr, *up = find(way, hidden, ffn),
                   *down = find(way, ffn, hidden);
    ExpertCurve out;
    const bool whole = (both || up) && down;
    if (!both && !up) up = down;
    if (!down) down = up;
    if (!down) {
      out.why_not = "products of " + way.gpu + " were measured with weights of " + shape(way.inputs, way.outputs) +
                    ", an expert's are " + shape(hidden, ffn) + " and " + shape(ffn, hidden);
      return out;
    }
    const double each = 1 / static_cast<double>(way.experts);
    const RowCurve::Term terms[] = {{&(both ? both : up)->curve, both ? each : each * static_cast<double>(gates)},
                                    {&down->curve, each}};
    const double least = std::max(terms[0].curve->least(), terms[1].curve->least());
    const double most = std::min(terms[0].curve->most(), terms[1].curve->most());
    if (least >= most) {
      out.why_not = "an expert's two products of " + way.gpu + " were measured with other numbers of rows each";
      return out;
    }
    RowCurve curve = RowCurve::sum(terms);
    const RowRange& asked = rows_.range;
    if (!curve.reaches(asked.least) || !curve.reaches(asked.most)) {
      out.why_not = "experts get " + rounded(asked.least) + " to " + rounded(asked.most) +
                    " rows, and the measured calls cover " + rounded(std::ceil(curve.least_told())) + " to " +
                    rounded(curve.most_told());
      return out;
    }
    const bool within = curve.holds(asked.least) && curve.holds(rows_.mean) && curve.holds(asked.most);
    out.kind = !whole ? PredictionKind::borrowed : within ? PredictionKind::interpolated : PredictionKind::extrapolated;
    out.like = down->like;
    for (const double rows : {asked.least, rows_.mean, asked.most})
      for (const size_t i : curve.from(rows))
        if (std::find(out.from.begin(), out.from.end(), i) == out.from.end()) out.from.push_back(i);
    const auto keep_larger = [&](std::optional<double> off) {
      if (off && (!out.held_out || std::fabs(*off) > std::fabs(*out.held_out))) out.held_out = off;
    };
    for (const CallRows* part : {both ? both : up, down}) {
      MeasuredCall call = *part->like;
      call.rows = std::max<int64_t>(std::llround(rows_.mean), 1);
      keep_larger(calibration_.predict(call).held_out);
      // Calls of unlike rows say whether the times of experts may be summed: nothing of the curve is made of them.
      for (const MeasuredCall& c : calibration_.calls()) {
        if (!c.is_grouped() || c.gpu != call.gpu || c.laboratory != call.laboratory || !same_weight(c, call)) continue;
        const auto sum =
            sum_over_rows(part->curve, call.experts, alike_rows(c.rows_each).value_or(std::vector<AlikeRows>()));
        if (sum) keep_larger(sum->us / c.us - 1);
      }
    }
    out.curve = std::make_shared<const RowCurve>(std::move(curve));
    return out;
  }

  const Calibration& calibration_;
  const std::vector<CallRows> all_;
  const ModelSizes& sizes_;
  const ExpertRows& rows_;
};

}  // namespace

ExpertCurve find_expert_curve(const Calibration& calibration, const std::string& gpu, const ModelSizes& sizes,
                              double bits, const ExpertRows& rows) {
  return CurveFinder(calibration, sizes, rows).best(gpu, bits);
}

}  // namespace stormcell
