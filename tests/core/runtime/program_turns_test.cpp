// When a step of a program runs next, beside the steps as they run.
#include "core/runtime/program_turns.h"

#include <algorithm>

#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class ProgramTurnsTest : public QObject {
  Q_OBJECT
 private slots:
  void steps_until_the_next_use_are_counted_as_they_run() {
    Random random(9);
    for (int turn = 0; turn < 300; ++turn) {
      // Steps, some of them in repeats that follow each other.
      Program program;
      std::vector<std::pair<int32_t, int32_t>> repeats;
      const auto steps = static_cast<int32_t>(random.between(4, 30));
      program.steps.resize(static_cast<size_t>(steps));
      for (int32_t s = 0; s + 3 < steps;) {
        const auto end = static_cast<int32_t>(random.between(s + 1, steps - 2));
        if (random.chance(0.5)) {
          program.steps[end].kind = StepKind::repeat_end;
          program.steps[end].target = s;
          repeats.emplace_back(s, end + 1);
        }
        s = end + 1;
      }
      const ProgramTurns turns(program);
      const auto at = static_cast<int32_t>(random.below(steps));
      // The steps as they run: the rest of this turn, one more of it, then what is behind, to the end and from the
      // beginning.
      std::vector<int32_t> run;
      const auto add = [&](int32_t from, int32_t to) {
        for (int32_t s = from; s < to; ++s) run.push_back(s);
      };
      int32_t behind = at;
      size_t first_turn = 0;
      for (const auto& [begin, end] : repeats)
        if (begin <= at && at < end) {
          add(at, end);
          first_turn = run.size();
          add(begin, end);
          behind = end;
        }
      add(behind, steps);
      if (first_turn == 0) first_turn = run.size();
      add(0, steps);
      for (int32_t s = 0; s < steps; ++s) {
        const auto came = std::find(run.begin(), run.end(), s);
        QCOMPARE(turns.steps_until(at, s, false), came - run.begin());
        const auto after = std::find(run.begin() + static_cast<std::ptrdiff_t>(first_turn), run.end(), s);
        if (s >= at && static_cast<size_t>(came - run.begin()) < first_turn)
          QCOMPARE(turns.steps_until(at, s, true), after - run.begin());
      }
    }
  }
};
STORMCELL_TEST(ProgramTurnsTest)

}  // namespace stormcell::testing
#include "program_turns_test.moc"
