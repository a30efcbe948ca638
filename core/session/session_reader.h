// Answers questions about a session with plain values. Opening reads a few kilobytes, whatever the session's size.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/base/ranges.h"
#include "core/cell/thumbnail.h"
#include "core/session/session_types.h"

namespace stormcell {

/// "S.storm#3" or "S.storm#name" -> file and run; a file whose whole name exists is taken as it is.
struct SessionPath {
  std::string file;
  std::string run;  ///< empty: the newest
};
SessionPath parse_session_path(std::string_view text);

/// Reads a session, also one that is being written or that a killed run left. Every method may throw Error. One thread
/// at a time.
class SessionReader {
 public:
  explicit SessionReader(const std::string& path);
  ~SessionReader();  ///< the last to close a session whose writer is gone makes it one plain file
  SessionReader(SessionReader&&) noexcept;
  SessionReader& operator=(SessionReader&&) noexcept;

  const SessionSummary& summary() const;
  const std::string& path() const;

  std::vector<RunSummary> runs() const;
  RunSummary run(int64_t id) const;
  /// Finds a run by its id or name, or by those of a placement made from it; runs and placements share their numbers.
  /// Empty: the newest run. For an unknown one, Error(bad_input) lists what there is.
  RunSummary find_run(std::string_view selector) const;
  RunLayout layout(int64_t run) const;

  /// Finest level first; the last one has at most 256 windows.
  std::vector<PyramidLevel> levels(int64_t run) const;
  /// Fewer at the end of the run.
  std::vector<RouterLoads> loads(int64_t run, int32_t router, int32_t level, WindowRange windows) const;
  /// Sum over the whole run.
  RouterLoads total_loads(int64_t run, int32_t router) const;

  std::vector<BatchSummary> batches(int64_t run, BatchRange range = {}) const;
  /// The sequences that these batches hold together; empty if other sequences are between them, as in batches of like
  /// length, which hold items from anywhere.
  std::optional<ItemRange> sequences_of(int64_t run, BatchRange batches) const;
  std::vector<BatchSpace> spaces(int64_t run, int64_t batch) const;
  /// Phases that have cells, ascending.
  std::vector<Phase> phases(int64_t run) const;
  /// Cell spaces in these batches that are of a phase, ascending by batch.
  std::vector<SpaceOfBatch> batches_of_phase(int64_t run, Phase phase, BatchRange batches) const;
  bool has_decisions(int64_t run) const;
  /// Empty if the batch or the decision does not exist.
  std::optional<StoredDecision> decision(int64_t run, int32_t router, int64_t batch) const;
  /// The routers that one cell met, along the edges of their graph, each after those that sent it the cell. `cell.item`
  /// is ignored. `space` is an index into RunLayout::spaces. Routers of another cell space are included only if they
  /// sent the cell's parent (its sequence, its picture), with those before and behind them in their space.
  std::vector<PathStep> cell_path(int64_t run, int32_t space, const CellId& cell) const;

  /// Cells of `router` that came to `next` with no router between; empty where layout().edges has no
  /// such edge. Only real cells count, not padding.
  PairTable transitions(int64_t run, int32_t router, int32_t next, BatchRange batches = {}) const;
  /// Pairs (i < j) of branches that one cell got from this router.
  PairTable coactivation(int64_t run, int32_t router, BatchRange batches = {}) const;

  std::vector<LabelLoads> label_loads(int64_t run, int32_t router) const;
  /// The `most` tokens with the most cells.
  std::vector<TokenLoads> token_loads(int64_t run, int32_t router, int64_t most) const;
  std::vector<StepEvent> events(int64_t run, int64_t batch) const;
  std::vector<GuardTotal> guards(int64_t run) const;
  std::vector<SequenceInput> inputs(int64_t run, ItemRange items = {}) const;
  /// Thumbnails of pictures, by item; items without one are left out.
  std::map<int64_t, Thumbnail> thumbnails(int64_t run, ItemRange items = {}) const;
  /// The number of items that have a thumbnail.
  int64_t thumbnail_count(int64_t run) const;
  /// The items that have a thumbnail, ascending.
  std::vector<int64_t> thumbnail_items(int64_t run) const;
  /// One past the last sequence of a run.
  int64_t sequences(int64_t run) const;
  /// The number of sequences in batches: fewer than sequences() if items were left out or the run was interrupted.
  int64_t recorded_sequences(int64_t run) const;
  /// Numbers of the batches that hold any of these sequences, ascending, at most `most` of them: one batch in a
  /// forward pass, one a step in decoding.
  std::vector<int64_t> batches_with(int64_t run, ItemRange items, int64_t most) const;
  /// Tokens as the vocabulary has them; those that no recorded input had, and all of a session of schema 1, are left
  /// out.
  std::map<int32_t, std::string> pieces(std::span<const int32_t> tokens) const;
  bool has_pieces() const;

  /// Reads all of the file, page by page and table by table, and repeats the counts made while recording: windows,
  /// loads by label and token and real cells, from decisions and masks. Throws Error(bad_input) at the first damage.
  struct Checked {
    int64_t pages = 0, runs = 0, batches = 0, decisions = 0;
  };
  Checked check(const Progress& progress = {}) const;
  /// Does check() if the file takes only a moment to read (64 MiB) and no run is being recorded into it; false: it was
  /// not checked.
  bool check_if_small(const Progress& progress = {}) const;

  /// Ascending by number.
  std::vector<StoredPlacement> placements() const;
  /// Finds a placement by number or name; if several have the name, the newest. Nothing: there is none.
  std::optional<StoredPlacement> named_placement(std::string_view selector) const;
  /// Finds a placement by its number or name, or by those of the run that it was made from; empty: the newest. If there
  /// is none, Error(bad_input) lists what there is.
  StoredPlacement find_placement(std::string_view selector) const;

  /// Pages read from disk since opening.
  int64_t pages_read() const;

  struct State;  ///< of the sources of this class

 private:
  std::unique_ptr<State> state_;
};

enum class CopyPictures : uint8_t { yes, no };
/// A consistent copy of a session, also of one that is being written: one plain file. `to` must not exist. Where
/// pictures stay behind, no byte of them is in the copy.
void copy_session(const std::string& from, const std::string& to, const Progress& progress = {},
                  CopyPictures pictures = CopyPictures::yes);

}  // namespace stormcell
