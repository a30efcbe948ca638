#include "core/patterns/saturation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/chance/even_shares.h"
#include "core/difference/router_pairs.h"
#include "core/patterns/cell_stream.h"
#include "core/patterns/named_recording.h"
#include "core/patterns/pattern_counter.h"
#include "core/profile/agreement.h"

namespace stormcell {
namespace {

/// An earlier recording, and where its reading is.
struct EarlierRecording {
  std::unique_ptr<CellStream> stream;
  std::vector<int32_t> router_of;     ///< by router of the last recording; -1: it has none
  std::vector<Agreement> agreements;  ///< by router of the last recording
  CellBlock block;
  int64_t at = 0;  ///< next cell of the block
};

std::string cell_name(const CellBlock& block, int64_t i) {
  return "request " + std::to_string(block.request[i]) + ", position " + std::to_string(block.position[i]);
}

class Saturation {
 public:
  Saturation(const SaturationOptions& options, const Progress& progress) : progress_(progress) {
    if (options.recordings.size() < 2)
      bad_input("RECORDING", "fewer than two are named", "name recordings of the first checkpoint to the last");
    for (const NamedRecording& r : named_recordings(options.recordings)) {
      std::unique_ptr<RecordingSource> source = open_recording(r.path, progress);
      f_.names.push_back(r.name), f_.recordings.push_back(source->name());
      add_to_list(f_.origin, source->origin(), "; ");
      earlier_.push_back({std::make_unique<CellStream>(std::move(source), progress.cancel), {}, {}, {}, 0});
    }
    last_ = std::move(earlier_.back().stream);
    earlier_.pop_back();
  }

  SaturationFigures count() {
    const TraceHeader header = last_->header();
    for (EarlierRecording& e : earlier_) pair(header, e);
    f_.by_tokens = true;
    CellBlock block;
    while (last_->next(block)) {
      progress_.report("comparing checkpoints", f_.cells, 0);
      for (EarlierRecording& e : earlier_) compare(block, e);
      f_.cells += block.cells();
    }
    for (EarlierRecording& e : earlier_)
      if (e.at < e.block.cells() || e.stream->next(e.block)) refuse_length(e, last_->source().name());
    if (f_.cells == 0) bad_input(last_->source().name(), "holds no real cell", "record while requests run");
    fill(header);
    return std::move(f_);
  }

 private:
  void pair(const TraceHeader& header, EarlierRecording& e) {
    const TraceHeader& other = e.stream->header();
    const RouterPairs pairs = pair_routers(header, last_->source().name(), other, e.stream->source().name());
    f_.warnings.insert(f_.warnings.end(), pairs.warnings.begin(), pairs.warnings.end());
    e.router_of.assign(header.routers.size(), -1);
    for (const RouterPair& p : pairs.pairs) e.router_of[p.a] = p.b;
    for (size_t r = 0; r < header.routers.size(); ++r) {
      int32_t branches = header.routers[r].branches;
      if (e.router_of[r] >= 0) branches = std::max(branches, other.routers[e.router_of[r]].branches);
      e.agreements.emplace_back(branches);
    }
  }

  [[noreturn]] void refuse_length(const EarlierRecording& e, const std::string& shorter) const {
    const std::string& longer =
        shorter == e.stream->source().name() ? last_->source().name() : e.stream->source().name();
    bad_input(shorter, "ends before " + longer + " does", "record the same tokens at each checkpoint");
  }

  /// Compares cells of the last recording with as many of an earlier one.
  void compare(const CellBlock& last, EarlierRecording& e) {
    for (int64_t i = 0; i < last.cells();) {
      while (e.at == e.block.cells()) {
        e.at = 0;
        if (!e.stream->next(e.block)) refuse_length(e, e.stream->source().name());
      }
      const int64_t many = std::min(last.cells() - i, e.block.cells() - e.at);
      for (int64_t j = 0; j < many; ++j) check_cell(last, i + j, e, e.at + j);
      for (size_t r = 0; r < e.router_of.size(); ++r) count_router(last, i, e, r, many);
      i += many, e.at += many;
    }
  }

  void check_cell(const CellBlock& last, int64_t i, const EarlierRecording& e, int64_t j) {
    const CellBlock& other = e.block;
    const std::string& name = e.stream->source().name();
    if (last.request[i] != other.request[j] || last.position[i] != other.position[j] || last.stack != other.stack ||
        last.decode[i] != other.decode[j])
      bad_input(name,
                "has " + cell_name(other, j) + " where " + last_->source().name() + " has " + cell_name(last, i) +
                    ": cells are compared in their order",
                "record the same requests in the same order at each checkpoint");
    if (last.token[i] < 0 || other.token[j] < 0)
      f_.by_tokens = false;
    else if (last.token[i] != other.token[j])
      bad_input(name,
                "has token " + std::to_string(other.token[j]) + " at " + cell_name(other, j) + ", and " +
                    last_->source().name() + " token " + std::to_string(last.token[i]),
                "record the same tokens at each checkpoint");
  }

  void count_router(const CellBlock& last, int64_t i, EarlierRecording& e, size_t r, int64_t many) {
    if (e.router_of[r] < 0) return;
    const std::vector<int32_t>&ours = last.choice[r], &theirs = e.block.choice[e.router_of[r]];
    if (ours.empty() || theirs.empty()) return;
    const int64_t k = std::ssize(ours) / last.cells(), other_k = std::ssize(theirs) / e.block.cells();
    for (int64_t j = 0; j < many; ++j)
      e.agreements[r].add(std::span(theirs).subspan((e.at + j) * other_k, other_k),
                          std::span(ours).subspan((i + j) * k, k));
  }

  static SaturationPoint point_of(const Agreement& a, int32_t branches, double verdicts) {
    SaturationPoint point;
    point.cells = a.cells();
    point.share = a.share(), point.first_share = a.first_share(), point.by_load = a.share_by_load();
    if (!point.share) return point;
    const auto cells = static_cast<double>(a.cells());
    point.chance = agreement_beside_chance({a.cells(), static_cast<double>(a.choices_earlier()) / cells,
                                            static_cast<double>(a.choices()) / cells, branches},
                                           *point.share);
    point.beyond = point.chance.p_value * verdicts <= kFalseCalls;
    return point;
  }

  void fill(const TraceHeader& header) {
    const auto verdicts = static_cast<double>(header.routers.size() * earlier_.size());
    for (size_t r = 0; r < header.routers.size(); ++r) {
      const TraceRouter& about = header.routers[r];
      SaturationRouter router{about.name, layer_number(about), about.branches, about.fan_out, {}};
      for (const EarlierRecording& e : earlier_)
        router.points.push_back(point_of(e.agreements[r], about.branches, verdicts));
      f_.routers.push_back(std::move(router));
    }
    for (size_t i = 0; i < earlier_.size(); ++i) f_.all.push_back(mean_of(i));
  }

  /// Means over the choices, and over the cells, of all routers. Chance is the mean of theirs; its interval is left to
  /// the routers, whose cells are the same.
  SaturationPoint mean_of(size_t checkpoint) const {
    SaturationPoint mean;
    double choices = 0, common = 0, first = 0, by_load = 0, even = 0;
    for (const Agreement& a : earlier_[checkpoint].agreements) {
      if (a.cells() == 0) continue;
      const auto of = static_cast<double>(a.choices()), cells = static_cast<double>(a.cells());
      mean.cells += a.cells();
      choices += of, common += static_cast<double>(a.common());
      first += *a.first_share() * cells, by_load += *a.share_by_load() * of;
    }
    if (mean.cells == 0) return mean;
    for (const SaturationRouter& r : f_.routers) {
      const SaturationPoint& point = r.points[checkpoint];
      even += point.chance.range.middle * static_cast<double>(point.cells);
      mean.beyond |= point.beyond;
    }
    mean.share = common / choices, mean.by_load = by_load / choices;
    mean.first_share = first / static_cast<double>(mean.cells);
    const double middle = even / static_cast<double>(mean.cells);
    mean.chance.range = {middle, middle, middle};
    return mean;
  }

  const Progress& progress_;
  SaturationFigures f_;
  std::unique_ptr<CellStream> last_;
  std::vector<EarlierRecording> earlier_;
};

}  // namespace

SaturationFigures saturation_of(const SaturationOptions& options, const Progress& progress) {
  return Saturation(options, progress).count();
}

}  // namespace stormcell
