// A figure is a row: the key, the member that holds it, and what a reader must know about it. fields() of a struct has
// one row for each key of the JSON (core/summary/fields.h), and each row hands its Figure to the visitor.
#pragma once
#include <cstdint>

namespace stormcell {

enum class Better : uint8_t { less, more, neither };

/// How a figure came about. It decides whether a difference between two runs needs an interval to be judged.
enum class Origin : uint8_t {
  unknown,    ///< no row describes the figure: no difference is judged
  counted,    ///< exact: the same inputs give the same figure
  measured,   ///< by a clock, or as pages of a process: it needs an interval
  predicted,  ///< computed by a model of the hardware: the same inputs give the same figure
  simulated,  ///< from simulated steps: the same inputs give the same figure
};

enum class Unit : uint8_t {
  none,  ///< a plain number or a count
  milliseconds,
  seconds,
  bytes,
  share,        ///< of 1
  limit_share,  ///< the same for the share of a limit; above 1 the data came from a cache
  ratio,        ///< of two times
  bits,
  yes_no,
};

/// The condition under which a figure of one run has a difference from that of another.
enum class Scope : uint8_t {
  run,   ///< both runs have it
  time,  ///< and machines, data and terms are the same
  work,  ///< and the phases are the same, too: it is of the work that a phase does
  sum,   ///< never: a sum over all executions of a verb, and two runs have unlike numbers of them
};

struct Figure {
  const char* name = "";        ///< as people say it: "latency, median"; empty: the words of the key
  const char* definition = "";  ///< a sentence; empty: the key says it
  Unit unit = Unit::none;
  Better better = Better::neither;
  Origin origin = Origin::unknown;
  Scope scope = Scope::run;
  const char* withheld_by = "";  ///< for a speed-up: the key, in the same object, of the reason why it is not stated

  using Text = const char*;
  static constexpr Figure counted(Text name, Text definition, Unit unit = Unit::none, Better better = Better::neither) {
    return {name, definition, unit, better, Origin::counted, Scope::run};
  }
  /// Pages of a process, ceilings of a machine, and counts that depend on a clock.
  static constexpr Figure measured(Text name, Text definition, Unit unit = Unit::none,
                                   Better better = Better::neither) {
    return {name, definition, unit, better, Origin::measured, Scope::run};
  }
  /// A measured time that does not depend on the phase.
  static constexpr Figure timed(Text name, Text definition, Unit unit, Better better = Better::neither) {
    return {name, definition, unit, better, Origin::measured, Scope::time};
  }
  /// A measured figure of the work that a phase does.
  static constexpr Figure worked(Text name, Text definition, Unit unit, Better better = Better::neither) {
    return {name, definition, unit, better, Origin::measured, Scope::work};
  }
  static constexpr Figure predicted(Text name, Text definition, Unit unit = Unit::none,
                                    Better better = Better::neither) {
    return {name, definition, unit, better, Origin::predicted, Scope::run};
  }
  static constexpr Figure simulated(Text name, Text definition, Unit unit = Unit::none,
                                    Better better = Better::neither) {
    return {name, definition, unit, better, Origin::simulated, Scope::run};
  }
  /// A measured ratio of two times of the same work; more is better.
  static constexpr Figure speedup(Text name, Text definition, Text withheld_by = "speedup_withheld") {
    return {name, definition, Unit::ratio, Better::more, Origin::measured, Scope::work, withheld_by};
  }
  /// A sum over all executions, counted or measured.
  static constexpr Figure summed(Text definition, Unit unit = Unit::none, Origin origin = Origin::counted,
                                 Better better = Better::neither) {
    return {"", definition, unit, better, origin, Scope::sum};
  }
};

/// True if a difference between two of these needs an interval.
constexpr bool needs_interval(Origin origin) { return origin == Origin::measured || origin == Origin::unknown; }

}  // namespace stormcell
