// The contents of a session, and what it lacks, as plain values for views. A few small reads for each run.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/enum_words.h"
#include "core/base/progress.h"
#include "core/readings/session_view.h"
#include "core/summary/results.h"

namespace stormcell {

/// The kinds of data that a run may keep.
enum class Kept : uint8_t {
  sums,
  decisions,
  weights,
  tokens,
  texts,
  pieces,
  pictures,
  labels,
  margins,
  scores,
  events,
  guards
};
inline constexpr size_t kKeptKinds = 12;

struct RunContents {
  RunLine line;
  std::array<bool, kKeptKinds> kept{};
  bool has(Kept what) const { return row_of(kept, what); }
  int64_t sequences = 0;              ///< sequences that are recorded
  std::vector<PictureFigures> sizes;  ///< sizes of the data's pictures; empty: they are none, or an older run does not
                                      ///< say
  std::string items_text() const;     ///< "3 sequences", "24 pictures of 64x64", "10 of 24 pictures of 64x64"
  std::string dataset, dataset_fingerprint;
  std::string machine, isa;
  int threads = 0;
  struct Router {
    RouterLine line;
    int64_t cells = 0, padding = 0;  ///< choices that its branches got, and how many of them were padding
    int touched = 0;                 ///< branches that got any
  };
  std::vector<Router> routers;  ///< routers of the run that was asked for; empty for the others
  std::vector<std::string> labels;
};
struct SessionData {
  std::string file, id, created, program;
  int schema = 0;
  int64_t bytes = 0;
  std::string model, family, fingerprint, weights;  ///< weights: "trained", "seeded", ...; empty: not known
  bool weights_stated = true;                       ///< false: nobody said how they were made
  int64_t parameters = 0, weight_bytes = 0;         ///< 0: not known
  std::vector<RunContents> runs;                    ///< oldest first
};
/// `run`: whose routers and labels are wanted.
std::shared_ptr<const SessionData> read_session_data(const std::string& file, int64_t run,
                                                     const Progress& progress = {});

}  // namespace stormcell
