// What an experiment was asked for: the one place that knows its options, as JSON in summaries and sessions and as a command line.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stormcell {

/// A field more here is a row more in kSettings below.
struct ExperimentOptions {
  std::string model, data;
  int64_t batch = 0;  ///< 0: 8 sequences, or one picture
  int64_t batches = -1, length = 0;
  bool bucket_by_length = false, truncate = false, allow_nonfinite = false;
  std::string field = "text", target_field, label_field;
  uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores this process may use
  std::string device = "cpu";
  std::string dtype;  ///< empty: as stored
  double verify_seconds = 10;
  int64_t weight_budget = 0;        ///< bytes that weights of branches may take; 0: all that there are
  std::optional<double> tolerance;  ///< of what another format than the stored one may cost; empty: by format
  bool record_inputs = false, record_scores = false;
  std::string phase = "forward";          ///< optimize, profile, run: what is run on a batch; or "decode"; or "both", one after the other
  int64_t most_new_tokens = 64;           ///< of decoding
  std::string profile_split = "strided";  ///< optimize; or "first": which batches are profiled; the others are measured
  std::vector<std::string> annotations;   ///< run, profile, optimize: what the plan says of nodes, values and weights, NAME.KEY=WORD each
  bool keep_all = false;                  ///< optimize; also passes that make the plan slower and save no memory
  bool operator==(const ExperimentOptions&) const = default;
};

/// One option: its key in JSON, its name on the command line (empty: the argument without a name), its field.
struct Setting {
  std::string_view key, option;
  std::variant<std::string ExperimentOptions::*, int64_t ExperimentOptions::*, uint64_t ExperimentOptions::*, int ExperimentOptions::*,
               double ExperimentOptions::*, std::optional<double> ExperimentOptions::*, bool ExperimentOptions::*,
               std::vector<std::string> ExperimentOptions::*>
      field;                    ///< a list: the option may be repeated
  std::string_view verbs = {};  ///< those that have it, with a space between two; empty: all have
  bool is_of(std::string_view verb) const;
};
inline constexpr std::array kSettings = {
    Setting{"model", "", &ExperimentOptions::model},
    Setting{"data", "--data", &ExperimentOptions::data},
    Setting{"batch", "--batch", &ExperimentOptions::batch},
    Setting{"batches", "--batches", &ExperimentOptions::batches},
    Setting{"bucket_by_length", "--bucket-by-length", &ExperimentOptions::bucket_by_length},
    Setting{"length", "--length", &ExperimentOptions::length},
    Setting{"truncate", "--truncate", &ExperimentOptions::truncate},
    Setting{"field", "--field", &ExperimentOptions::field},
    Setting{"target_field", "--target-field", &ExperimentOptions::target_field},
    Setting{"label_field", "--label-field", &ExperimentOptions::label_field},
    Setting{"seed", "--seed", &ExperimentOptions::seed},
    Setting{"threads", "--threads", &ExperimentOptions::threads},
    Setting{"device", "--device", &ExperimentOptions::device},
    Setting{"dtype", "--dtype", &ExperimentOptions::dtype},
    Setting{"weight_budget", "--weight-budget", &ExperimentOptions::weight_budget},
    Setting{"verify_seconds", "--verify-seconds", &ExperimentOptions::verify_seconds},
    Setting{"tolerance", "--tolerance", &ExperimentOptions::tolerance},
    Setting{"allow_nonfinite", "--allow-nonfinite", &ExperimentOptions::allow_nonfinite},
    Setting{"record_inputs", "--record-inputs", &ExperimentOptions::record_inputs},
    Setting{"record_scores", "--record-scores", &ExperimentOptions::record_scores},
    Setting{"phase", "--phase", &ExperimentOptions::phase, "optimize profile run"},
    Setting{"annotations", "--annotate", &ExperimentOptions::annotations, "run profile optimize"},
    Setting{"most_new_tokens", "--max-new-tokens", &ExperimentOptions::most_new_tokens, "generate optimize profile run"},
    Setting{"profile_split", "--profile-split", &ExperimentOptions::profile_split, "optimize"},
    Setting{"keep_all", "--keep-all", &ExperimentOptions::keep_all, "optimize"},
};

inline constexpr int kMostThreads = 1024;
/// Throws Error(bad_input) that names the option: no number format to compute in, or none of this version.
void check_dtype(std::string_view dtype);
/// The same of a phase: forward, decode or both.
void check_phase(std::string_view phase);

/// A JSON object of all settings, and the program's version.
std::string settings_json(const ExperimentOptions& options);
/// Reads one; what is missing, or of another type, has its default. Nothing where there is no object that names a model.
std::optional<ExperimentOptions> parse_settings(const std::string& json);
/// The words of a command line behind `stormcell VERB`: the model, and every option that differs from its default.
std::vector<std::string> command_words(const ExperimentOptions& options, std::string_view verb);

}  // namespace stormcell
