// The time that each stage of an optimisation took, beside the time that a limit left for it.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>

#include "core/measuring/time_plan.h"

namespace stormcell {

/// Measures stages by the clock of their plan.
class StageTimes {
 public:
  /// `before`: the work that is done already, in words: "opening the model".
  StageTimes(const TimePlan& plan, std::string before);
  /// Runs `work` as a part of `stage`. A stage inside another one is counted by itself.
  void run(Stage stage, const std::function<void()>& work);
  /// Names the stages that took longer than the limit left for them, the worst first: "verifying took 24.0 s where 3.1
  /// s were left (one batch is always verified)". Empty: there is no limit, or it was kept.
  std::string overrun_text() const;

 private:
  struct Took {
    double seconds = 0;
    std::optional<double> allowed;  ///< when the stage began; nothing: it did not run
  };
  void turn_to(std::optional<Stage> next);

  const TimePlan plan_;
  const std::string before_;
  const double begun_;
  std::array<Took, kStages> stages_;
  std::optional<Stage> now_;
  double since_ = 0, between_ = 0;
};

}  // namespace stormcell
