// The selection that all views share. A view asks for another one, the document decides, and everyone is notified.
#pragma once
#include <QFlags>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/readings/session_view.h"

namespace stormcell::views {

struct Selection {
  int64_t first_batch = 0, end_batch = -1;  ///< [first, end); end -1: to the run's end
  QString phase;                            ///< "forward", "prefill", "decode"; empty: all
  QString label;                            ///< empty: all
  QString router;                           ///< empty: none
  int branch = -1;                          ///< -1: none
  std::optional<CellPlace> cell;

  bool all_batches() const { return first_batch == 0 && end_batch < 0; }
  bool operator==(const Selection&) const = default;
};

/// One run of one session.
struct Source {
  std::string file;
  int64_t run = 0;
  QString title;                 ///< "demo.storm #3 optimize"
  std::string revision;          ///< of the file when it was examined; another one means that it must be read again
  std::string settings, config;  ///< JSON texts of the run, may be empty
  bool decisions = false;
  bool figures = false;  ///< its verb left figures when it ended

  bool empty() const { return file.empty(); }
  bool operator==(const Source&) const = default;
};

/// The content of a view: a run, perhaps beside another one.
struct Context {
  Source main;
  Source other;                                    ///< empty: nothing to compare with
  std::shared_ptr<const SessionOverview> session;  ///< of `main`: all its runs
  /// A trace beside the run, in place of `other`: the view diff alone reads it. Empty: none.
  std::string recording;
  bool operator==(const Context&) const = default;
};

/// Parts of a context and a selection that can change, and that a view may depend on.
enum class Part : unsigned {
  run = 1,
  other = 2,
  session = 4,
  range = 8,
  phase = 16,
  label = 32,
  router = 64,
  branch = 128,
  cell = 256,
};
Q_DECLARE_FLAGS(Parts, Part)
inline constexpr Parts kNoPart{}, kEveryPart{static_cast<Parts::enum_type>(511)};
/// These narrow the figures; the others only mark some.
inline constexpr Parts kNarrowing{static_cast<Parts::enum_type>(8 + 16 + 32)};
Parts difference(const Context& context, const Selection& selection, const Context& next,
                 const Selection& next_selection);
/// The set parts, each in words: "batches 3 to 8", "phase decode", "label fr", "branch 3".
struct Chosen {
  Part part;
  QString text;
};
std::vector<Chosen> chosen(const Selection& selection, Parts of = kEveryPart);
/// The selection without one part; a branch goes with its router.
Selection without(Selection selection, Part part);

}  // namespace stormcell::views
Q_DECLARE_OPERATORS_FOR_FLAGS(stormcell::views::Parts)
