#include "app/cli/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/experiment/device_list.h"

namespace stormcell::cli {
namespace {

template <class T>
T parsed(const std::string& text, const std::string& option, const std::string& expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) bad_input(option, "\"" + text + "\" does not fit", "give " + expected);
  return value;
}

std::string shown(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

std::string long_name(const std::string& name) { return name.substr(name.rfind(',') == std::string::npos ? 0 : name.rfind(',') + 1); }

}  // namespace

void add_whole_number(CLI::App& app, const std::string& name, int64_t& value, int64_t least, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&value, least, name](const std::string& text) {
           const std::string expected = "a whole number from " + std::to_string(least) + " on";
           value = parsed<int64_t>(text, long_name(name), expected);
           if (value < least) bad_input(long_name(name), "\"" + text + "\" does not fit", "give " + expected);
         },
         help)
      ->type_name("N");
}

void add_number(CLI::App& app, const std::string& name, double& value, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           value = parsed<double>(text, long_name(name), "a number");
           if (!std::isfinite(value) || value < 0) bad_input(long_name(name), "\"" + text + "\" does not fit", "give a number from 0 on");
         },
         help)
      ->type_name("SECONDS")
      ->default_str(shown(value));
}

void add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& help, const std::string& type) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           if (text.empty()) bad_input(long_name(name), "is empty");
           value = text;
         },
         help)
      ->type_name(type);
}

void add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           if (text.empty()) bad_input(name, "is empty");
           value = text;
         },
         help)
      ->type_name("")
      ->required();
}

void add_console_options(CLI::App& app, ConsoleOptions& options) {
  app.add_flag("--quiet", options.quiet, "print errors and what other options ask for, nothing else");
  app.add_flag("--verbose", options.verbose, "print each stage with its time, and details");
  add_text(app, "--log-file", options.log_file, "append what happens, with times, to this file");
}

void add_json_option(CLI::App& app, std::string& json) {
  add_text(app, "--json", json, "the figures as JSON; - is standard output", "FILE|-");
}

void add_phase_options(CLI::App& app, ExperimentOptions& o) {
  app.add_option_function<std::string>(
         "--phase",
         [&o](const std::string& text) {
           check_phase(text);
           o.phase = text;
         },
         "what is run on a batch: one pass through the model, decoding of new tokens, or one after the other (forward)")
      ->type_name("forward|decode|both");
  add_whole_number(app, "--max-new-tokens", o.most_new_tokens, 1, "where it decodes: at most this many tokens for each sequence (64)");
}

void add_measure_option(CLI::App& app, double& seconds) {
  add_number(app, "--measure-seconds", seconds,
             "time for measuring; if the data take longer, batches are drawn at random, each measured at least a few times");
}

void add_annotate_option(CLI::App& app, std::vector<std::string>& annotations) {
  app.add_option("--annotate", annotations,
                 "says of a node which kernel runs it (kernel=NAME), of a value how it lies in memory (storage=bf16), of a weight how "
                 "products hold it (format=f32); * in NAME stands for any characters; may be repeated")
      ->type_name("NAME.KEY=WORD")
      ->allow_extra_args(false);
}

void add_experiment_options(CLI::App& app, ExperimentOptions& o) {
  add_argument(app, "MODEL", o.model, "a folder, a .safetensors file, preset:NAME or demo:NAME");
  add_text(app, "--data", o.data,
           ".txt .jsonl .npy .safetensors, a folder of pictures, random:NxT[xU], of pictures random:N[xHxW], demo:NAME, or - for lines on "
           "standard input",
           "DATA");
  app.get_option("--data")->required();
  add_whole_number(app, "--batch", o.batch, 1, "sequences in a batch (8), or pictures (1)");
  add_whole_number(app, "--batches", o.batches, 1, "at most this many batches (all)");
  app.add_flag("--bucket-by-length", o.bucket_by_length, "puts sequences of like length into one batch: less padding, another order");
  add_whole_number(app, "--length", o.length, 1,
                   "pad every sequence to this many tokens (as the data); longer ones are refused, or cut with --truncate");
  app.add_flag("--truncate", o.truncate, "cut sequences that are longer than the model takes, instead of an error");
  add_text(app, "--field", o.field, ".jsonl: key of the text (text)", "KEY");
  add_text(app, "--target-field", o.target_field, ".jsonl: key of the expected text", "KEY");
  add_text(app, "--label-field", o.label_field, ".jsonl: key of the label, for loads by label", "KEY");
  app.add_option_function<std::string>(
         "--seed", [&o](const std::string& text) { o.seed = parsed<uint64_t>(text, "--seed", "a whole number from 0 on"); },
         "seed of random data and seeded weights (0)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--threads",
         [&o](const std::string& text) {
           o.threads = parsed<int>(text, "--threads", "a whole number from 1 to 1024");
           if (o.threads < 1 || o.threads > kMostThreads)
             bad_input("--threads", "\"" + text + "\" does not fit", "give a whole number from 1 to 1024");
         },
         "threads that compute (the cores this process may use)")
      ->type_name("N");
  std::string devices;
  for (const std::string& name : list_devices()) devices += (devices.empty() ? "" : ", ") + name;
  app.add_option_function<std::string>(
         "--device",
         [&o](const std::string& text) {
           check_device(text);
           o.device = text;
         },
         devices)
      ->type_name("DEVICE");
  app.add_option_function<std::string>(
         "--dtype",
         [&o](const std::string& text) {
           check_dtype(text);
           o.dtype = text;
         },
         "f32 or bf16: convert the weights while loading (as stored)")
      ->type_name("DTYPE");
  app.add_option_function<std::string>(
         "--weight-budget",
         [&o](const std::string& text) {
           const std::optional<Bytes> bytes = parse_bytes(text);
           if (!bytes || bytes->value < 1)
             bad_input("--weight-budget", "\"" + text + "\" does not fit",
                       "give bytes, or a number with kB, MB, GB, KiB, MiB or GiB: 4GiB");
           o.weight_budget = bytes->value;
         },
         "memory for the weights of branches; those that do not fit are read while a batch runs (all are loaded)")
      ->type_name("BYTES");
  app.add_flag("--allow-nonfinite", o.allow_nonfinite, "warn instead of stopping where weights are NaN or infinite");
  app.add_flag("--record-inputs", o.record_inputs, "keep texts and token ids in the session");
  app.add_flag("--record-scores", o.record_scores, "keep the routers' scores in the session");
  add_number(app, "--verify-seconds", o.verify_seconds,
             "time for the comparison with the oracle; at least one batch, of pictures one of each size, is compared");
  app.add_option_function<std::string>(
         "--tolerance",
         [&o](const std::string& text) {
           o.tolerance = parsed<double>(text, "--tolerance", "a number from 0 on");
           if (!std::isfinite(*o.tolerance) || *o.tolerance < 0)
             bad_input("--tolerance", "\"" + text + "\" does not fit", "give a number from 0 on");
         },
         "how much --dtype may change each output, as a share of its largest value (0.05 for bf16); beyond it exit 1")
      ->type_name("SHARE");
}

}  // namespace stormcell::cli
