#include "core/verification/output_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The difference of values that are not refused: those that are not finite are the same on both sides.
double difference(float ours, float reference) {
  return std::isfinite(ours) ? std::fabs(static_cast<double>(ours) - static_cast<double>(reference)) : 0;
}

/// "element [0, 3]"
std::string place_of(const OutputValue& output, size_t element) {
  std::vector<int64_t> index(output.shape.size());
  for (size_t d = index.size(); d-- > 0;) {
    const size_t extent = std::max<int64_t>(output.shape[d], 1);
    index[d] = static_cast<int64_t>(element % extent), element /= extent;
  }
  return "element " + shape_text(index);
}

}  // namespace

void OutputJudge::add(const std::vector<OutputValue>& ours, const std::vector<OutputValue>& reference,
                      const std::map<std::string, std::vector<int32_t>>& real, int64_t items, int64_t batch) {
  for (const OutputValue& r : reference) {
    auto sum = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.name == r.name; });
    if (sum == sums_.end()) sum = sums_.insert(sum, Sum{r.name, NonFiniteValues(nonfinite_)});
    const auto o = std::find_if(ours.begin(), ours.end(), [&](const OutputValue& v) { return v.name == r.name; });
    if (o == ours.end() || o->reals.size() != r.reals.size() || o->integers.size() != r.integers.size()) {
      sum->error.add_difference(kInfinite, 0);
      continue;
    }
    const auto mask = real.find(r.name);
    const size_t elements = std::max(r.reals.size(), r.integers.size());
    const size_t width = mask == real.end() || mask->second.empty() ? elements : elements / mask->second.size();
    const auto counts = [&](size_t i) {
      return mask == real.end() || mask->second.empty() || mask->second[i / width] != 0;
    };
    for (size_t i = 0; i < r.integers.size(); ++i)
      if (counts(i) && o->integers[i] != r.integers[i]) sum->error.add_difference(kInfinite, 0);
    // A batch counts as one item if the output does not have as much of each.
    const bool by_item = items > 0 && elements % static_cast<size_t>(items) == 0;
    const size_t of_item = by_item ? elements / static_cast<size_t>(items) : elements;
    for (size_t begin = 0; begin < r.reals.size(); begin += of_item) {
      double most = 0, size = 0;
      for (size_t i = begin; i < begin + of_item; ++i) {
        if (!counts(i)) continue;
        const bool stands = sum->nonfinite.add(o->reals[i], r.reals[i], batch, [&] { return place_of(r, i); });
        most = std::max(most, stands ? difference(o->reals[i], r.reals[i]) : kInfinite);
        if (std::isfinite(r.reals[i])) size = std::max(size, std::fabs(static_cast<double>(r.reals[i])));
      }
      sum->error.add_size(size);
      sum->error.add_difference(most, size);
    }
  }
}

std::vector<OutputDifference> OutputJudge::differences() const { return differences_on_scale_of(*this); }

std::vector<OutputDifference> OutputJudge::differences_on_scale_of(const OutputJudge& other) const {
  std::vector<OutputDifference> list;
  for (const Sum& s : sums_) {
    const auto o =
        std::find_if(other.sums_.begin(), other.sums_.end(), [&](const Sum& sum) { return sum.name == s.name; });
    const double usual = (o == other.sums_.end() ? s : *o).error.usual_size();
    list.push_back({s.name, s.error.largest_difference(), s.error.largest(usual), 0});
  }
  return list;
}

std::string OutputJudge::nonfinite_in(const std::string& output) const {
  for (const Sum& s : sums_)
    if (s.name == output) return s.nonfinite.reason();
  return {};
}

int64_t OutputJudge::allowed_nonfinite() const {
  int64_t count = 0;
  for (const Sum& s : sums_) count += s.nonfinite.allowed();
  return count;
}

double largest(const std::vector<OutputDifference>& outputs) {
  double most = 0;
  for (const OutputDifference& o : outputs) most = std::max(most, o.max_rel_diff);
  return most;
}

}  // namespace stormcell
