// Requests of run, optimize and what-if beside the settings that all verbs have.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/cell/intervention.h"
#include "core/cell/router_threshold.h"
#include "core/passes/pass_selection.h"
#include "core/summary/results.h"
#include "core/summary/what_if.h"

namespace stormcell {

/// Called with --phase both after the first half.
using HalfDone = std::function<void(const RunSummaryFigures& first)>;

/// The answers of a run, item by item (answer_changes.h, behind the wall).
struct RunAnswers;
/// Called with the answers when a run of one phase has ended.
using AnswersKept = std::function<void(const std::shared_ptr<const RunAnswers>& answers)>;

struct RunOptions {
  std::string session;                   ///< file to append to; empty: none
  bool decisions = false;                ///< record every decision
  std::string config;                    ///< JSON text of a stormcell.config/1 to replay; empty: the baseline
  std::string config_name = "--config";  ///< its name in errors: the file
  /// config and its name for decoding, with --phase both; empty: `config` is for one phase
  std::string decode_config, decode_config_name;
  std::string outputs;  ///< safetensors file for hidden states, logits and decisions
  /// Measures as many batches as fit, drawn at random, or under a budget of weights in the data's order. At least 7
  /// rounds (mirrored.h).
  double measure_seconds = 3;
  std::string measuring_program;  ///< as OptimizeOptions has it
  HalfDone half_done = {};
  /// Intervention of a run of one phase, which overrides `config`'s; empty: `config` decides.
  Intervention intervention = {};
  RouterThresholds exits = {};
  AnswersKept answered = {};  ///< empty: answers are not kept
  /// Answers of an earlier run of the same phase over the same data, to compare these with; null: none.
  std::shared_ptr<const RunAnswers> beside = {};
  int64_t beside_run = 0;  ///< its number in the session
};

struct OptimizeOptions {
  PassSelection passes;
  std::string session;
  /// measuring of all plans together, mirrored; half as long again where a pass is left out
  double measure_seconds = 8;
  bool alone = true;      ///< also measure each pass on its own
  double time_limit = 0;  ///< limit for the whole command, in seconds from `begun` on; 0: none
  double begun = 0;       ///< when the command began, by seconds_now(); 0: when optimize() is called
  /// Path of the program `stormcell`, which measures again in fresh processes; empty: this process opens the model
  /// again instead.
  std::string measuring_program;
  HalfDone half_done = {};
};

struct WhatIfOptions {
  Intervention intervention;
  std::string session;            ///< file to append both runs to; empty: none
  double measure_seconds = 0;     ///< for each run, as in RunOptions; 0: as short as possible
  std::string measuring_program;  ///< as OptimizeOptions has it
};

}  // namespace stormcell
