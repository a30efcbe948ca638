// The demand on optimize for a network with exits: thresholds for a budget, or for a quality.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

std::string_view to_text(Bounded what);
/// Reads the word of a summary, which a program of another version may have written.
Bounded bounded(std::string_view word);

struct LatencyTarget {
  double value = 0;       ///< milliseconds of a batch, or a share of the operations of the whole network
  bool is_share = false;  ///< given in percent
};

/// "2.5" and "2.5ms" are milliseconds, "60%" is a share. Throws Error(bad_input) that names --target-latency.
LatencyTarget parse_latency_target(std::string_view word);
/// "0.98" and "98%" are the same share. Throws Error(bad_input) that names --target-quality.
double parse_quality_target(std::string_view word);

/// The target in words: "accuracy of at least 98.0 %", "at most 60.0 % of the operations of the whole network", "at
/// most 2.5 ms a batch".
std::string exit_target_text(const ExitTarget& target);
/// "0.87 at exit 1, 0.62 at exit 2; the model's own: 0.9, 0.9"; a test at which all leave or none does is called so.
std::string thresholds_text(const ExitTarget& target);
/// One part of the data: "98.4 % [97.2, 99.1] at 48.1 % of the operations, 1.21 ms a batch".
std::string exit_point_text(const ExitTarget& target, const ExitPoint& point,
                            const std::optional<double>& milliseconds);
/// Says whether it holds on data it was not found on: "met on 750 pictures that it was not found on: ...", "missed
/// ...".
std::string held_out_text(const ExitTarget& target);
/// The thresholds that run beside quality: "with the thresholds that were found; with the model's own: 95.0 % [86.3,
/// 98.3] over 44 pictures that they were not found on".
std::string found_thresholds_text(const ExitTarget& target);
/// Says whether the real run was as the replay predicted.
std::string replay_text(const ExitTarget& target);
/// The thresholds found, their target, and how well they did: a title and a sentence each.
std::vector<std::pair<std::string, std::string>> exit_target_lines(const ExitTarget& target);
/// A sentence for each exit that takes all or none of the judged items: "exit 1 takes all 44 pictures", "exit 2 takes
/// none of 44 pictures". Empty: every exit takes some.
std::vector<std::string> exits_taken_text(const ExitTarget& target);
/// The gain of thresholds and passes together as a headline: "2.31 [2.2, 2.42] times as fast as the model as it came,
/// with its own thresholds". Empty: it is not stated.
std::string over_model_text(const ExitTarget& target);
/// The same as a sentence, with the shares of exits. If no gain is stated, the sentence says so.
std::string over_model_sentence(const ExitTarget& target);
/// Says that such a plan answers otherwise by intent, and what its verification says.
std::string judged_by_quality_text();

}  // namespace stormcell
