// The figures of routing that papers publish, from recordings of any size: curves over layers, label x expert beside the
// uniform line, transitions over gaps of layers, vocabulary by expert, margins, and co-activation of all pairs. Chance
// (core/chance) is beside each of them but the margins, which an even router does not have.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/chance/even_pairs.h"
#include "core/chance/even_router.h"
#include "core/patterns/named_recording.h"
#include "core/profile/pair_figures.h"
#include "core/profile/vocabulary.h"

namespace stormcell {

struct PatternOptions {
  /// Sessions (S.storm, S.storm#3, S.storm#name) or traces of one model. With several, each is a label: NAME=RECORDING,
  /// or the name of its file.
  std::vector<std::string> recordings;
  std::string labels;  ///< CSV file of requests and labels (label_file.h); empty: those that the recording has
  /// Pairs of layers whose transitions are counted, by their numbers; empty: all that are `gap` layers apart.
  std::vector<std::array<int64_t, 2>> layer_pairs;
  int64_t gap = 1;            ///< 1: the next router of the same cells
  int64_t first_choices = 0;  ///< choices of each cell that count, the first ones by weight; 0: all
  int64_t fewest_cells = 10;  ///< a token with fewer cells is left out of the vocabulary
  std::vector<double> margins = {.01, .03, .05, .1};  ///< margins below which cells are counted
};

/// Distances between two scores of a cell.
enum class MarginKind : uint8_t {
  cut,    ///< of the last chosen and the first not chosen branch: what a near tie is judged by
  first,  ///< of the first and the second choice, by weights or scores: what papers plot
};
inline std::string_view to_text(MarginKind kind) { return kind == MarginKind::cut ? "cut" : "first"; }

struct MarginsBelow {
  double margin = 0;
  int64_t cells = 0;
};
struct MarginFigures {
  MarginKind kind = MarginKind::cut;
  int64_t cells = 0;
  double quarter = 0, median = 0, three_quarters = 0;  ///< upper ends of their bins
  std::vector<MarginsBelow> below;                     ///< exact counts
  std::vector<double> edges;                           ///< lower ends of bins, four for each power of two
  std::vector<int64_t> bins;                           ///< cells
};

/// Pairs of branches that one cell got. `neighbours`: only pairs of successive ranks, as published matrices have them.
struct TogetherFigures {
  PairTable all, neighbours;  ///< rows < columns
  std::vector<BranchesTogether> strongest;
  std::optional<ChanceRange> largest_lift;
  PairsBesideChance chance;
};

/// One label at one router, without padding.
struct LabelFigures {
  std::string label;
  int64_t cells = 0;
  std::vector<int64_t> load;  ///< [branches]
  double imbalance = 0, entropy_bits = 0, gini = 0;
  LoadsBesideChance chance;          ///< of loads as many
  std::vector<ChanceFigure> shares;  ///< [branches] load / cells beside the uniform line k / branches
  bool beyond = false;               ///< called, with regard to the number of labels and routers
};

struct PatternVocabulary {
  VocabularyFigures figures;
  ChanceFigure chance;  ///< of `specialization`
  bool beyond = false;
};

struct PatternRouter {
  std::string router;
  int32_t layer = -1;  ///< the model's number of the layer, -1: not known
  int32_t branches = 1, k = 1;
  int64_t cells = 0;          ///< without padding
  std::vector<int64_t> load;  ///< [branches] without padding
  double imbalance = 0, entropy_bits = 0, gini = 0;
  LoadsBesideChance chance;
  bool beyond = false;
  std::vector<MarginFigures> margins;           ///< empty: nothing that makes them is recorded
  std::optional<TogetherFigures> together;      ///< null: a cell gets one branch
  std::vector<LabelFigures> labels;             ///< empty: there are no labels
  std::optional<double> label_bits;             ///< mutual information of label and branch
  std::optional<ChanceFigure> label_chance;     ///< of label_bits
  std::optional<PatternVocabulary> vocabulary;  ///< null: token ids are not recorded
};

/// Transitions between two routers, from the branches of one to those of a later one.
struct GapFigures {
  int32_t from = 0, to = 0;  ///< indexes into `routers`
  PairTable all;
  /// Only pairs of equal rank, as a published matrix between layers has them.
  PairTable equal_ranks;
  TransitionFigures figures, published;  ///< of `all`, of `equal_ranks`
  std::optional<ChanceFigure> likeliest, likeliest_published;
  PairsBesideChance chance;
};

struct PatternFigures {
  std::vector<std::string> recordings;
  std::string origin;  ///< for exported files, of all recordings
  std::string model;
  int64_t cells = 0;  ///< of the routers' spaces, without padding
  int64_t first_choices = 0, fewest_cells = 1;
  std::vector<std::string> label_names;
  int64_t cells_without_label = 0;
  std::vector<PatternRouter> routers;
  std::vector<GapFigures> gaps;
  int64_t questions = 1;           ///< that may find something beyond chance; each gets its part of kFalseCalls
  std::vector<std::string> lacks;  ///< sentences: what is not recorded, and how to record it
  std::vector<std::string> warnings;
  std::vector<std::pair<int32_t, std::string>> pieces;  ///< texts of the tokens that `vocabulary` lists, by id
};

/// Reads each recording once, and again for vocabulary where the tables of all layers take more than 64 MiB. Keeps
/// counts alone, nothing of a cell. Throws Error(bad_input) as open_recording() does, for recordings of unlike models,
/// for layers that do not exist, and for labels of no request.
PatternFigures count_patterns(const PatternOptions& options, const Progress& progress = {});
/// stormcell.patterns/1
std::string to_json(const PatternFigures& figures);

/// The command that counts the same: `stormcell patterns S.storm --gap 2`. Options at their defaults are left out.
std::string command_of(const PatternOptions& options);

/// "0-7,7-15" -> pairs of layers. Error(bad_input) names --layers.
std::vector<std::array<int64_t, 2>> parse_layer_pairs(const std::string& text);
/// "0.01,0.03": up to eight numbers above 0, ascending. Error(bad_input) names --below.
std::vector<double> parse_margins(const std::string& text);

}  // namespace stormcell
