#include "core/chance/even_shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/chance/count_tail.h"

namespace stormcell {
namespace {

constexpr double kTwoSided = 1.959964;  // 95 % of normal numbers

/// Nothing varies: chance gives this value alone.
ChanceFigure certain(double middle, double value) {
  constexpr double kRounded = 1e-9;
  ChanceFigure figure{{middle, middle, middle}, 1, BesideChance::within};
  if (std::abs(value - middle) <= kRounded) return figure;
  figure.p_value = 0, figure.beside = value > middle ? BesideChance::more_skewed : BesideChance::more_even;
  return figure;
}

void call_by_p_value(ChanceFigure& figure, bool above) {
  if (figure.p_value <= kFalseCalls) figure.beside = above ? BesideChance::more_skewed : BesideChance::more_even;
}

}  // namespace

ChanceFigure agreement_beside_chance(const EvenAgreement& even, double share) {
  const double n = even.branches, middle = std::min(even.earlier / n, 1.);
  const double of_cell = n > 1 ? even.last * middle * (1 - middle) * (n - even.last) / (n - 1) : 0;
  const double deviation = even.cells > 0 && even.last > 0
                               ? std::sqrt(std::max(of_cell, 0.) / static_cast<double>(even.cells)) / even.last
                               : 0;
  if (deviation <= 0) return certain(middle, share);
  ChanceFigure figure;
  figure.range = {middle, std::max(middle - kTwoSided * deviation, 0.), std::min(middle + kTwoSided * deviation, 1.)};
  // A count is whole: half a choice belongs to the tail.
  const double half = .5 / (static_cast<double>(even.cells) * even.last);
  figure.p_value = normal_beyond(std::max(std::abs(share - middle) - half, 0.) / deviation);
  call_by_p_value(figure, share > middle);
  return figure;
}

ChanceFigure branch_beside_uniform(int64_t count, int64_t cells, int32_t k, int32_t branches) {
  const double all = static_cast<double>(cells), hit = std::min(static_cast<double>(k) / branches, 1.);
  const double share = cells > 0 ? static_cast<double>(count) / all : 0;
  if (cells <= 0 || hit >= 1) return certain(hit, cells > 0 ? share : hit);
  const double deviation = std::sqrt(hit * (1 - hit) / all);
  ChanceFigure figure;
  figure.range = {hit, std::max(hit - kTwoSided * deviation, 0.), std::min(hit + kTwoSided * deviation, 1.)};
  const double from = binomial_from(count, all, hit), to = 1 - binomial_from(count + 1, all, hit);
  figure.p_value = std::min(1., 2 * std::min(from, to));
  call_by_p_value(figure, share > hit);
  return figure;
}

ChanceFigure label_bits_beside_chance(int64_t choices, int64_t labels, int32_t branches, int32_t k, double bits) {
  const double n = branches, freedom = static_cast<double>(labels - 1) * (n - 1);
  const double spread = n > 1 ? (n - k) / (n - 1) : 0;
  if (choices <= 0 || freedom <= 0 || spread <= 0) return certain(0, bits);
  // Williams 1976: small counts raise the statistic, here of labels and branches of equal size.
  const double all = static_cast<double>(choices), raised = 1 + static_cast<double>(labels + 1) * (n + 1) * spread / (6 * all);
  const double unit = raised * spread / (2 * all * std::numbers::ln2);
  // Wilson and Hilferty 1931: the cube root of a chi-square over its freedom is nearly normal.
  const double part = 2 / (9 * freedom), deviation = std::sqrt(part);
  const auto at = [&](double z) {
    const double root = std::max(1 - part + z * deviation, 0.);
    return unit * freedom * root * root * root;
  };
  ChanceFigure figure;
  figure.range = {at(0), at(-kTwoSided), at(kTwoSided)};
  const double z = (std::cbrt(std::max(bits, 0.) / (unit * freedom)) - (1 - part)) / deviation;
  figure.p_value = normal_beyond(z);
  call_by_p_value(figure, z > 0);
  return figure;
}

}  // namespace stormcell
