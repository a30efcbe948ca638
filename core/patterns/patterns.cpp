#include "core/patterns/patterns.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/base/balance.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/chance/even_shares.h"
#include "core/chance/even_vocabulary.h"
#include "core/difference/recording_source.h"
#include "core/formats/file_text.h"
#include "core/patterns/label_file.h"
#include "core/patterns/named_recording.h"
#include "core/patterns/pattern_counter.h"

namespace stormcell {
namespace {

/// Tables of tokens and branches that are held at once.
constexpr int64_t kMostVocabularyBytes = int64_t{64} << 20;

class Patterns {
 public:
  Patterns(const PatternOptions& options, const Progress& progress)
      : options_(options), progress_(progress), counter_(options), recordings_(named_recordings(options.recordings)) {
    for (const NamedRecording& r : recordings_) sources_.push_back(open_recording(r.path, progress));
  }

  PatternFigures count() {
    take_labels();
    read_all();
    f_.model = counter_.header().model;
    f_.first_choices = options_.first_choices, f_.fewest_cells = options_.fewest_cells;
    for (const auto& source : sources_) {
      f_.recordings.push_back(source->name());
      add_to_list(f_.origin, source->origin(), "; ");
      for (const std::string& warning : source->warnings()) f_.warnings.push_back(warning);
    }
    f_.cells = counter_.cells();
    if (std::none_of(counter_.routers().begin(), counter_.routers().end(),
                     [](const CountedRouter& r) { return r.cells > 0; }))
      bad_input(f_.recordings[0], "holds no choice of a real cell", "record while requests run");
    if (!options_.labels.empty() && !counter_.met_label())
      bad_input(options_.labels, "names no request of " + f_.recordings[0],
                "requests have the numbers that the recording gives them");
    if (!f_.label_names.empty()) f_.cells_without_label = counter_.cells_without_label();
    find_questions();
    EvenRouters even(f_.questions * std::ssize(counter_.routers())), even_labels(1);
    for (CountedRouter& counted : counter_.routers()) add_router(counted, even, even_labels);
    for (CountedGap& counted : counter_.gaps()) add_gap(counted);
    add_vocabulary();
    tell_lacks();
    return std::move(f_);
  }

 private:
  double verdicts() const { return static_cast<double>(f_.questions * std::ssize(counter_.routers())); }

  void read_all() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      counter_.set_name(sources_[i]->name());
      if (sources_.size() > 1) counter_.set_label(static_cast<int32_t>(i));
      sources_[i]->read(ReadParts::choices, counter_, progress_);
    }
  }

  void take_labels() {
    if (sources_.size() > 1) {
      if (!options_.labels.empty())
        bad_input("--labels", "works with one recording: several are labels themselves", "leave it out");
      for (const NamedRecording& r : recordings_) f_.label_names.push_back(r.name);
      return;
    }
    const std::map<int64_t, std::string> labels =
        options_.labels.empty() ? sources_[0]->labels() : read_label_file(options_.labels);
    std::map<std::string, int32_t> index;
    for (const auto& [request, label] : labels) index.emplace(label, 0);
    for (auto& [label, at] : index) {
      at = static_cast<int32_t>(f_.label_names.size());
      f_.label_names.push_back(label);
    }
    std::map<int64_t, int32_t> of_request;
    for (const auto& [request, label] : labels) of_request.emplace(request, index.at(label));
    counter_.set_labels(std::move(of_request));
  }

  void find_questions() {
    const auto& routers = counter_.routers();
    f_.questions = 1 + !counter_.gaps().empty() +
                   std::any_of(routers.begin(), routers.end(), [](const CountedRouter& r) { return r.k > 1; }) +
                   !f_.label_names.empty() + counter_.has_tokens();
  }

  static MarginFigures margin_figures(MarginKind kind, const CountedMargins& counted,
                                      const std::vector<double>& limits) {
    MarginFigures m;
    m.kind = kind, m.cells = counted.cells;
    m.quarter = counted.bins.quantile(.25), m.median = counted.bins.quantile(.5);
    m.three_quarters = counted.bins.quantile(.75);
    for (size_t i = 0; i < limits.size(); ++i) m.below.push_back({limits[i], counted.below[i]});
    const auto& bins = counted.bins.count;
    const auto is_filled = [](int64_t n) { return n > 0; };
    const auto first = std::find_if(bins.begin(), bins.end(), is_filled);
    const auto end = std::find_if(bins.rbegin(), bins.rend(), is_filled).base();
    for (auto bin = first; bin < end; ++bin) {
      const auto at = static_cast<int32_t>(bin - bins.begin());
      m.edges.push_back(at == 0 ? 0 : MarginBins::begin_of(at)), m.bins.push_back(*bin);
    }
    return m;
  }

  void add_router(CountedRouter& counted, EvenRouters& even, EvenRouters& even_labels) {
    progress_.report("comparing with even routers", std::ssize(f_.routers), std::ssize(counter_.routers()));
    PatternRouter r;
    r.router = counted.about.name;
    r.layer = layer_number(counted.about);
    r.branches = counted.about.branches, r.k = counted.k, r.cells = counted.cells;
    r.load = counted.loads.real();
    r.imbalance = imbalance(r.load), r.entropy_bits = entropy_bits(r.load), r.gini = gini(r.load);
    r.chance = even.judge(r.load, r.k);
    r.beyond = r.cells > 0 && r.chance.p_value * verdicts() <= kFalseCalls;
    for (const MarginKind kind : {MarginKind::cut, MarginKind::first})
      if (const CountedMargins& margins = kind == MarginKind::cut ? counted.cut : counted.first; margins.cells > 0)
        r.margins.push_back(margin_figures(kind, margins, options_.margins));
    if (r.k > 1) r.together = together_figures(counted);
    add_labels(counted, even_labels, r);
    f_.routers.push_back(std::move(r));
  }

  TogetherFigures together_figures(CountedRouter& counted) const {
    TogetherFigures t;
    t.all = counted.together.take(), t.neighbours = counted.neighbours.take();
    t.strongest = strongest_together(t.all);
    t.largest_lift = largest_lift_by_chance(t.all.total(), counted.about.branches, counted.k);
    t.chance = coactivation_beside_chance(t.all, counted.k, f_.questions * std::ssize(counter_.routers()));
    return t;
  }

  void add_labels(const CountedRouter& counted, EvenRouters& even, PatternRouter& r) const {
    std::vector<int64_t> table;
    int64_t with_cells = 0, choices = 0;
    // One p-value for each branch and label, of all routers.
    const double many = verdicts() * static_cast<double>(f_.label_names.size()) * r.branches;
    for (size_t l = 0; l < counted.labels.load.size(); ++l) {
      LabelFigures label;
      label.label = f_.label_names[l], label.cells = counted.labels.cells[l], label.load = counted.labels.load[l];
      if (label.cells == 0) continue;
      label.imbalance = imbalance(label.load), label.entropy_bits = entropy_bits(label.load);
      label.gini = gini(label.load);
      label.chance = even.judge(label.load, r.k);
      for (const int64_t load : label.load) {
        label.shares.push_back(branch_beside_uniform(load, label.cells, r.k, r.branches));
        label.beyond |= label.shares.back().p_value * many <= kFalseCalls;
        choices += load;
      }
      table.insert(table.end(), label.load.begin(), label.load.end());
      ++with_cells;
      r.labels.push_back(std::move(label));
    }
    if (with_cells < 2) return;
    r.label_bits = mutual_information_bits(table, with_cells, r.branches);
    r.label_chance = label_bits_beside_chance(choices, with_cells, r.branches, r.k, *r.label_bits);
  }

  void add_gap(CountedGap& counted) {
    GapFigures gap;
    gap.from = counted.from, gap.to = counted.to;
    gap.all = counted.all.take(), gap.equal_ranks = counted.equal_ranks.take();
    if (gap.all.entries.empty()) return;
    const PatternRouter &from = f_.routers[gap.from], &to = f_.routers[gap.to];
    const bool keeps_all = !to.together || keeps_all_choices(to.together->all, to.load, to.k);
    const std::vector<int64_t> came = cells_that_came(gap.all, from.load, to.k, keeps_all),
                               came_by_rank = cells_that_came(gap.equal_ranks, from.load, 1, true);
    gap.figures = transition_figures(gap.all, came);
    gap.published = transition_figures(gap.equal_ranks, came_by_rank);
    gap.likeliest = likeliest_beside_chance(gap.all, came, gap.figures.likeliest, to.k);
    gap.likeliest_published = likeliest_beside_chance(gap.equal_ranks, came_by_rank, gap.published.likeliest, 1);
    gap.chance = transitions_beside_chance(gap.all, to.k, f_.questions * std::ssize(counter_.gaps()));
    f_.gaps.push_back(std::move(gap));
  }

  void take_vocabulary(size_t r, std::map<std::pair<int32_t, int32_t>, EvenVocabulary>& even) {
    CountedRouter& counted = counter_.routers()[r];
    if (!counted.vocabulary || counted.vocabulary->tokens() == 0) return;
    PatternVocabulary v;
    v.figures = vocabulary_figures(*counted.vocabulary, options_.fewest_cells);
    counted.vocabulary.reset();
    if (v.figures.specialization) {
      const std::pair key{counted.about.branches, counted.k};
      EvenVocabulary& of = even.try_emplace(key, key.first, key.second).first->second;
      v.chance = of.judge(v.figures.tokens_with, *v.figures.specialization);
      v.beyond = v.chance.p_value * verdicts() <= kFalseCalls;
    }
    f_.routers[r].vocabulary = std::move(v);
  }

  /// The first router was counted with all the rest. The others are counted in further passes, as many at once as there
  /// is room for.
  void add_vocabulary() {
    if (!counter_.has_tokens()) return;
    std::map<std::pair<int32_t, int32_t>, EvenVocabulary> even;
    const int64_t tokens = counter_.routers()[0].vocabulary->tokens();
    take_vocabulary(0, even);
    for (size_t next = 1; next < f_.routers.size();) {
      std::vector<int32_t> group;
      int64_t bytes = 0;
      for (; next < f_.routers.size(); ++next) {
        bytes += std::max<int64_t>(tokens, 1) * (f_.routers[next].branches + 1) * 4;
        if (!group.empty() && bytes > kMostVocabularyBytes) break;
        group.push_back(static_cast<int32_t>(next));
      }
      counter_.count_vocabulary_of(group, tokens);
      read_all();
      for (const int32_t r : group) take_vocabulary(static_cast<size_t>(r), even);
    }
    std::set<int32_t> listed;
    for (const PatternRouter& r : f_.routers)
      if (r.vocabulary)
        for (const BranchVocabulary& b : r.vocabulary->figures.branches)
          for (const BranchToken& t : b.strongest) listed.insert(t.token);
    const std::vector<int32_t> ids(listed.begin(), listed.end());
    for (const auto& [id, text] : sources_[0]->pieces(ids)) f_.pieces.emplace_back(id, text);
  }

  void tell_lacks() {
    const auto none = [&](auto&& has) { return std::none_of(f_.routers.begin(), f_.routers.end(), has); };
    if (none([](const PatternRouter& r) { return !r.margins.empty(); })) {
      const std::string how = sources_[0]->how_to_record("weights");
      f_.lacks.push_back(
          "margins: neither weights, scores nor margins are recorded" +
          (how.empty() ? std::string(" (record them: profile --record-scores, or a recorder)") : " (" + how + ")"));
    }
    if (none([](const PatternRouter& r) { return r.vocabulary.has_value(); }))
      f_.lacks.emplace_back(
          "vocabulary: token ids are not recorded (record them: profile --record-inputs, or a recorder)");
    if (f_.label_names.empty())
      f_.lacks.emplace_back("labels: none are recorded (give them with --labels FILE, or several recordings)");
  }

  const PatternOptions& options_;
  const Progress& progress_;
  PatternFigures f_;
  PatternCounter counter_;
  const std::vector<NamedRecording> recordings_;
  std::vector<std::unique_ptr<RecordingSource>> sources_;
};

}  // namespace

PatternFigures count_patterns(const PatternOptions& options, const Progress& progress) {
  if (options.recordings.empty()) bad_input("RECORDING", "is missing", "name a session or a trace");
  return Patterns(options, progress).count();
}

}  // namespace stormcell
