// The options of an experiment: the one place that knows them, as JSON in summaries and sessions and as a command line.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bounded_number.h"

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
  double probe_seconds = 0.1;       ///< for each peak figure of the machine; no setting of its own
  int64_t weight_budget = 0;        ///< bytes that weights of branches may take; 0: all that there are
  std::optional<double> tolerance;  ///< limit for the cost of another format than the stored one; empty: by format
  bool record_inputs = false, record_scores = false;
  /// optimize, profile, run: what is run on a batch; or "decode"; or "both", one after the other
  std::string phase = "forward";
  int64_t most_new_tokens = 64;  ///< for decoding
  /// generate: how tokens are drawn, by `seed`; all three at their defaults: the token of the largest logit
  std::optional<double> temperature, top_p;
  int64_t top_k = 0;
  std::vector<std::string> stop;     ///< generate: texts that end a sequence
  std::vector<std::string> prompts;  ///< texts in the place of `data`
  bool chat = false;                 ///< texts are messages of a user, written in the form of the model's chat template
  std::string system, date;          ///< of a chat; empty: none
  bool special_tokens = false;       ///< special tokens in prompts and messages of a chat are tokens
  std::string tokenizer;             ///< a file or folder in the place of the model's own; empty: the model's
  std::string profile_split = "strided";  ///< optimize; or "first": which batches are profiled; the others are measured
  /// run, profile, optimize: what the plan says of nodes, values and weights, NAME.KEY=WORD each
  std::vector<std::string> annotations;
  bool keep_all = false;  ///< optimize; also passes that lose
  bool dense = false;     ///< optimize, run; also measure every cell through every branch, masked
  /// optimize; find the cheapest thresholds of exits of this quality; empty: the model's own run
  std::string target_quality;
  std::string target_latency;  ///< optimize; the same: the best of at most this cost
  bool operator==(const ExperimentOptions&) const = default;
};

/// Throw Error(bad_input) that names the option: no number format to compute in, or none of this version; a phase other
/// than forward, decode and both; a rule other than strided and first.
void check_dtype(std::string_view dtype);
void check_phase(std::string_view phase);
void check_profile_split(std::string_view rule);
/// Throws the same: no date as 2026-08-05.
void check_date(std::string_view date);
/// Throw the same: no share of answers; neither milliseconds nor percent.
void check_target_quality(std::string_view word);
void check_target_latency(std::string_view word);

/// One option: all that JSON, command line and check know of it.
struct Setting {
  std::string_view key;     ///< key in JSON
  std::string_view option;  ///< name on the command line; empty: the argument without a name
  std::variant<std::string ExperimentOptions::*, int64_t ExperimentOptions::*, uint64_t ExperimentOptions::*,
               int ExperimentOptions::*, double ExperimentOptions::*, std::optional<double> ExperimentOptions::*,
               bool ExperimentOptions::*,
               std::vector<std::string> ExperimentOptions::*>
      field;               ///< a list: the option may be repeated
  std::string_view value;  ///< the value's name in --help; empty: a flag, or the argument without a name
  std::string_view help;
  Bounds bounds = {};                              ///< bounds of a number
  void (*check)(std::string_view word) = nullptr;  ///< check of a text
  std::string_view verbs = {};                     ///< those that have it, with a space between two; empty: all have
  bool is_of(std::string_view verb) const;
  std::string_view name() const { return option.empty() ? "MODEL" : option; }
};
inline constexpr std::string_view kByteValue =
    "BYTES";  ///< Setting::value of a number that may be given with a unit: 4GiB
inline constexpr std::array kSettings = {
    Setting{"model", "", &ExperimentOptions::model, "",
            "Names the model: a folder, a .safetensors file, preset:NAME or demo:NAME."},
    Setting{"data", "--data", &ExperimentOptions::data, "DATA",
            "Names the data: .txt .jsonl .npy .safetensors, a folder of pictures, random:NxT[xU], of pictures "
            "random:N[xHxW], demo:NAME, or - for lines on standard input (default: the texts of --prompt)."},
    Setting{"batch",
            "--batch",
            &ExperimentOptions::batch,
            "N",
            "Puts N sequences or pictures into each batch (default: 8 sequences or 1 picture).",
            {.least = 1}},
    Setting{"batches",
            "--batches",
            &ExperimentOptions::batches,
            "N",
            "Takes at most N batches of the data (default: all).",
            {.least = 1}},
    Setting{"bucket_by_length", "--bucket-by-length", &ExperimentOptions::bucket_by_length, "",
            "Puts sequences of like length into one batch, which pads less and changes their order."},
    Setting{
        "length",
        "--length",
        &ExperimentOptions::length,
        "N",
        "Pads every sequence to N tokens, and refuses longer ones unless --truncate cuts them (default: as the data).",
        {.least = 1}},
    Setting{"truncate", "--truncate", &ExperimentOptions::truncate, "",
            "Cuts sequences that are longer than the model takes, instead of refusing them."},
    Setting{"field", "--field", &ExperimentOptions::field, "KEY",
            "Names the key of the text in .jsonl data (default: text)."},
    Setting{"target_field", "--target-field", &ExperimentOptions::target_field, "KEY",
            "Names the key of the expected text in .jsonl data (default: none)."},
    Setting{"label_field", "--label-field", &ExperimentOptions::label_field, "KEY",
            "Names the key of the label in .jsonl data, for loads by label (default: none)."},
    Setting{"seed", "--seed", &ExperimentOptions::seed, "N",
            "Sets the seed of random data, seeded weights and drawn tokens (default: 0)."},
    Setting{"threads",
            "--threads",
            &ExperimentOptions::threads,
            "N",
            "Computes with N threads (default: the cores that this process may use).",
            {.least = 1, .most = 1024}},
    Setting{"device", "--device", &ExperimentOptions::device, "DEVICE", "Names the device that computes"},
    Setting{"dtype",
            "--dtype",
            &ExperimentOptions::dtype,
            "DTYPE",
            "Converts the weights to f32 or bf16 while loading (default: as stored).",
            {},
            check_dtype},
    Setting{"weight_budget",
            "--weight-budget",
            &ExperimentOptions::weight_budget,
            kByteValue,
            "Limits the memory for weights of branches, and reads those that do not fit while a batch runs (default: "
            "all are loaded).",
            {.least = 1}},
    Setting{"verify_seconds", "--verify-seconds", &ExperimentOptions::verify_seconds, "SECONDS",
            "Compares with the oracle for about this long, and at least one batch (default: 10)."},
    Setting{"tolerance", "--tolerance", &ExperimentOptions::tolerance, "SHARE",
            "Lets --dtype change each output by this share of its largest value, and fails beyond it (default: 0.05 "
            "for bf16)."},
    Setting{"allow_nonfinite", "--allow-nonfinite", &ExperimentOptions::allow_nonfinite, "",
            "Warns instead of stopping where weights are NaN or infinite."},
    Setting{"record_inputs", "--record-inputs", &ExperimentOptions::record_inputs, "",
            "Keeps texts, token ids and small pictures in the session."},
    Setting{"record_scores", "--record-scores", &ExperimentOptions::record_scores, "",
            "Keeps the routers' scores in the session."},
    Setting{"phase",
            "--phase",
            &ExperimentOptions::phase,
            "forward|decode|both",
            "Runs one pass through the model on each batch, decodes new tokens, or does one after the other (default: "
            "forward).",
            {},
            check_phase,
            "optimize profile run what-if"},
    Setting{
        "annotations",
        "--annotate",
        &ExperimentOptions::annotations,
        "NAME.KEY=WORD",
        "Chooses the kernel of a node (kernel=NAME), how a value is stored (storage=bf16), how products hold a weight "
        "(format=f32) or that a branch's weight stays in memory (residency=pinned); * in NAME stands for any "
        "characters, and the option may be repeated (default: none).",
        {},
        nullptr,
        "run profile optimize"},
    Setting{"most_new_tokens",
            "--max-new-tokens",
            &ExperimentOptions::most_new_tokens,
            "N",
            "Decodes at most N tokens for each sequence (default: 64).",
            {.least = 1},
            nullptr,
            "generate optimize profile run what-if"},
    Setting{"temperature",
            "--temperature",
            &ExperimentOptions::temperature,
            "T",
            "Draws each token by its probability, with the logits divided by T (default: the token of the largest "
            "logit).",
            {},
            nullptr,
            "generate"},
    Setting{"top_k",
            "--top-k",
            &ExperimentOptions::top_k,
            "K",
            "Draws among the K tokens of the largest logits (default: all).",
            {.least = 1},
            nullptr,
            "generate"},
    Setting{"top_p",
            "--top-p",
            &ExperimentOptions::top_p,
            "SHARE",
            "Draws among the most probable tokens that have this share of the probability together, such as 0.9 "
            "(default: 1).",
            {.least = 0, .most = 1},
            nullptr,
            "generate"},
    Setting{"stop",
            "--stop",
            &ExperimentOptions::stop,
            "TEXT",
            "Ends a sequence before this text, which is not written; may be repeated (default: none).",
            {},
            nullptr,
            "generate"},
    Setting{"prompts", "--prompt", &ExperimentOptions::prompts, "TEXT",
            "Takes this text in the place of --data; may be repeated (default: none)."},
    Setting{"chat", "--chat", &ExperimentOptions::chat, "",
            "Takes each text as a user's message, and writes it as the model's chat template says."},
    Setting{"system", "--system", &ExperimentOptions::system, "TEXT",
            "Begins each chat with this system message (default: the template's own)."},
    Setting{"date",
            "--date",
            &ExperimentOptions::date,
            "YYYY-MM-DD",
            "Names the date for chat templates that state it (default: none).",
            {},
            check_date},
    Setting{"special_tokens", "--special-tokens", &ExperimentOptions::special_tokens, "",
            "Reads special tokens in prompts and chats as tokens, instead of as text."},
    Setting{
        "tokenizer", "--tokenizer", &ExperimentOptions::tokenizer, "FILE",
        "Reads the tokenizer from this tokenizer.json, tokenizer.model, GGUF file or folder (default: the model's)."},
    Setting{"profile_split",
            "--profile-split",
            &ExperimentOptions::profile_split,
            "strided|first",
            "Profiles every fourth batch or the first quarter, and measures the others (default: strided).",
            {},
            check_profile_split,
            "optimize"},
    Setting{
        "keep_all",
        "--keep-all",
        &ExperimentOptions::keep_all,
        "",
        "Keeps passes that make the plan slower and save no memory, and those that take a hundredth more memory for "
        "no measured gain.",
        {},
        nullptr,
        "optimize"},
    Setting{"dense",
            "--dense",
            &ExperimentOptions::dense,
            "",
            "Measures the dense plan too, which sends every cell through every branch, to show what routing itself "
            "saves.",
            {},
            nullptr,
            "optimize run"},
    Setting{"target_quality",
            "--target-quality",
            &ExperimentOptions::target_quality,
            "SHARE",
            "Finds the exit thresholds of the fewest operations at which this share of answers is right, such as 98%, "
            "and optimizes with them (default: the model's own thresholds).",
            {},
            check_target_quality,
            "optimize"},
    Setting{"target_latency",
            "--target-latency",
            &ExperimentOptions::target_latency,
            "MS|SHARE%",
            "Finds the exit thresholds of the best answers within these milliseconds of a batch, such as 2.5, or this "
            "share of the operations, such as 60% (default: the model's own thresholds).",
            {},
            check_target_latency,
            "optimize"},
};

/// Reads the word behind an option; adds one to a list. Throws Error(bad_input) that names the option if the word does
/// not fit.
void read_word(const Setting& setting, const std::string& word, ExperimentOptions& options);
/// Throws Error(bad_input) that names the first option that is neither at its default nor fits its row.
void check(const ExperimentOptions& options);

/// A JSON object of all settings, and the program's version.
std::string settings_json(const ExperimentOptions& options);
/// Reads one; what is missing, or of another type, has its default. Nothing where there is no object that names a
/// model.
std::optional<ExperimentOptions> parse_settings(const std::string& json);
/// The words of a command line behind `stormcell VERB`: the model, and every option that differs from its default.
std::vector<std::string> command_words(const ExperimentOptions& options, std::string_view verb);

}  // namespace stormcell
