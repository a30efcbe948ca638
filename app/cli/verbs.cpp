#include "app/cli/verbs.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/nearest_words.h"

namespace stormcell::cli {
namespace {

constexpr std::array kVerbs = {
    VerbRow{"inspect",
            "MODEL",
            "shows the parts and routers of a model, or the runs of a session",
            make_inspect,
            {"demo:switch-names", "S.storm --check", "demo:msdnet-digits --text graph.txt"}},
    VerbRow{"run",
            "MODEL --data DATA",
            "runs one forward pass on each batch, measures and verifies it",
            make_run,
            {"demo:switch-names --data demo:switch-names-sample",
             "demo:switch-names --data demo:switch-names-sample --config plan.json",
             "model/ --data texts.jsonl --batch 4 --json run.json"}},
    VerbRow{
        "generate",
        "MODEL --data DATA",
        "writes text behind prompts, token by token, and verifies it",
        make_generate,
        {"demo:switch-names --data demo:switch-names-sample", "model/ --prompt 'Once upon a time' --temperature 0.8",
         "model/ --chat --prompt 'What is a router?' --stop 'User:' -o S.storm"}},
    VerbRow{"profile",
            "MODEL --data DATA",
            "runs, and records every routing decision",
            make_profile,
            {"demo:switch-names --data demo:switch-names-sample -o S.storm",
             "demo:livesr-street --data demo:livesr-street-sample -o street.storm",
             "model/ --data texts.txt --record-inputs --record-scores -o S.storm"}},
    VerbRow{"optimize",
            "MODEL --data DATA",
            "makes the model faster, and proves that the result is the same",
            make_optimize,
            {"demo:switch-names --data demo:switch-names-sample --report report.html",
             "demo:switch-names --data demo:switch-names-sample --disable reorder --config-out plan.json",
             "demo:msdnet-digits --data demo:msdnet-digits-sample --target-quality 98%"}},
    VerbRow{"what-if",
            "MODEL --data DATA",
            "runs with branches off, another k, another capacity or forced choices, and says what that changes",
            make_what_if,
            {"demo:switch-names --data demo:switch-names-sample --off encoder.block.1.mlp/3",
             "model/ --data texts.txt --phase decode --capacity 1.25x",
             "S.storm --off model.layers.0.mlp/3 --format megatron -o choices.safetensors"}},
    VerbRow{"import",
            "TRACE... -o S.storm",
            "brings routing traces of other systems into a session",
            make_import,
            {"trace.safetensors -o S.storm", "traces/ -o S.storm --model-config config.json",
             "trace.csv -o S.storm --format route-trace"}},
    VerbRow{"recorder",
            "[NAME]",
            "prints a Python file that records the routing of a model elsewhere, for import",
            make_recorder,
            {"", "transformers-5", "vllm"}},
    VerbRow{"merge",
            "SESSION... -o S.storm",
            "joins the parts of one trace, from several ranks or days, into one run",
            make_merge,
            {"rank0.storm rank1.storm -o S.storm", "monday.storm tuesday.storm -o S.storm --by days",
             "S.storm#1 S.storm#2 -o S.storm --name both"}},
    VerbRow{"analyze",
            "SESSION",
            "says how even a recorded or imported routing is, and whether it suffices for a placement",
            make_analyze,
            {"S.storm", "S.storm#3 --against other.storm", "S.storm --all --json analysis.json"}},
    VerbRow{"place",
            "SESSION --cluster C",
            "searches which GPU should hold which expert, and judges it on loads that it was not fitted to",
            make_place,
            {"S.storm --cluster preset:8x-h100", "S.storm --cluster preset:2x8-h100 --redundant 32 --solver joint",
             "S.storm#3 --cluster my-cluster.json --phase each --report place.html"}},
    VerbRow{"calibrate",
            "CALLS.csv... -o CAL.json",
            "learns times from measured calls, and says how far its predictions are off",
            make_calibrate,
            {"calls.csv -o CAL.json", "nccl.log --nic-gbit 400 -o CAL.json", "calls.csv --check others.csv"}},
    VerbRow{
        "simulate",
        "SESSION --cluster C",
        "predicts what a recorded routing would take on GPUs that you do not have",
        make_simulate,
        {"S.storm --cluster preset:8x-h100", "S.storm --cluster preset:8x-h200 --placement '#2' --overlap two-batch",
         "S.storm --cluster preset:2x8-h100 --calibration CAL.json --rest-ms 4"}},
    VerbRow{"export",
            "SESSION --format FORMAT",
            "writes a session's content for other programs",
            make_export,
            {"S.storm --format csv --what loads -o loads.csv", "S.storm#2 --format sglang -o placement.json",
             "S.storm --format chrome-trace -o trace.json"}},
    VerbRow{"report",
            "SESSION -o FILE.html",
            "writes one self-contained HTML page about a run",
            make_report,
            {"S.storm -o report.html", "S.storm#3 -o report.html", "S.storm#name -o -"}},
    VerbRow{"compare",
            "A B...",
            "prints every figure of two runs, or of up to 16, with its difference from the first",
            make_compare,
            {"S.storm#1 S.storm#2", "before.json after.json --all",
             "S.storm#1 S.storm#2 S.storm#3 --fail-if 'speedup<0.95'"}},
    VerbRow{"diff",
            "A B",
            "says where two recordings of the same tokens choose otherwise, and why",
            make_diff,
            {"trainer.storm server.storm", "S.storm#1 S.storm#2 --report diff.html",
             "before.npz after.csv --json diff.json"}},
    VerbRow{"drift",
            "A B",
            "says whether a recording goes elsewhere than another one of the same model",
            make_drift,
            {"today.storm yesterday.storm", "S.storm#2 S.storm#1", "S.storm#2 S.storm#1 --json drift.json"}},
    VerbRow{"cache",
            "SESSION",
            "says what a cache of experts hits and reads, by policy and size of its memory",
            make_cache,
            {"S.storm", "S.storm --memory 24GB --disk 7GB/s", "S.storm#3 --expert-bytes 4MiB --json cache.json"}},
    VerbRow{"patterns",
            "RECORDING...",
            "counts the routing figures that papers publish: by layer, label, token, margin and pair",
            make_patterns,
            {"S.storm --report page.html", "trace.safetensors --layers 0-7,7-15 --tables figures",
             "code=github.safetensors books=books.safetensors --first 1"}},
    VerbRow{"saturation",
            "RECORDING...",
            "says which share of the last checkpoint's choices earlier checkpoints make",
            make_saturation,
            {"S.storm#1 S.storm#2 S.storm#3", "1%=step5000.safetensors 10%=step120000.safetensors last.safetensors",
             "early.storm late.storm --table saturation.csv"}},
    VerbRow{"batch",
            "JOBS.json",
            "runs several jobs, one after another",
            make_batch,
            {"jobs.json", "jobs.json --json results.json", "jobs.json --all --log-file log.txt"}},
    VerbRow{
        "doctor", "", "prints what this machine has and which parts are used", make_doctor, {"", "--all", "--json -"}},
};

// An internal verb: optimize and run call it to measure again in a fresh process. No help names it.
constexpr VerbRow kMeasureAgain{"measure-again", "REQUEST FIGURES", "measures a run once more, for the run",
                                make_measure_again};

constexpr std::array kWords = {
    ProgramWord{"MODEL", "a folder with config.json and *.safetensors, a .safetensors file, preset:NAME or demo:NAME"},
    ProgramWord{"DATA",
                ".txt .jsonl .npy .safetensors, pictures: a folder, a file, a video; random:NxT[xU], of pictures "
                "random:N[xHxW],\n"
                "         demo:NAME, or - for lines on standard input"},
    ProgramWord{"SESSION", "S.storm, S.storm#3 or S.storm#name"},
};
constexpr std::array kOptions = {
    ProgramWord{"-h,--help", "this text; stormcell VERB --help has the options of a verb"},
    ProgramWord{"--version", "the version"},
    ProgramWord{"--manual [VERB]", "a manual page: stormcell --manual run | man -l -"},
    ProgramWord{"--completion", "completion for bash: source <(stormcell --completion)"},
};

// The contracts name these for later versions.
constexpr std::array kPlanned = {"tune"};

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 2), ' ');
  return text;
}

}  // namespace

std::span<const VerbRow> verbs() { return kVerbs; }

const VerbRow& find_verb(std::string_view name) {
  for (const VerbRow& verb : kVerbs)
    if (verb.name == name) return verb;
  if (name == kMeasureAgain.name) return kMeasureAgain;
  const bool planned = std::find(kPlanned.begin(), kPlanned.end(), name) != kPlanned.end();
  bad_input(name,
            planned                 ? "not in this version"
            : name.starts_with("-") ? "no option of the program"
                                    : "no such verb",
            name.starts_with("-") ? "options come after the verb; stormcell --help"
                                  : advice_on_word(name, kVerbs, [](const VerbRow& v) { return v.name; }));
}

std::string examples_text(const VerbRow& verb) {
  if (verb.name == kMeasureAgain.name) return {};
  std::string text = "examples:";
  for (const std::string_view words : verb.examples)
    text += "\n  stormcell " + std::string(verb.name) + (words.empty() ? "" : " ") + std::string(words);
  return text;
}

std::span<const ProgramWord> program_words() { return kWords; }
std::span<const ProgramWord> program_options() { return kOptions; }

std::string program_help() {
  std::string text = "stormcell " STORMCELL_VERSION
                     ": runs models that choose at run time which of their parts to run, records\n"
                     "where the data goes, makes them faster, and proves that the result is the same.\n\n"
                     "usage: stormcell VERB [...]\n\nverbs:\n";
  for (const VerbRow& verb : kVerbs)
    text += "  " + padded(std::string(verb.name) + " " + std::string(verb.usage), 32) + std::string(verb.description) +
            "\n";
  text += "\n";
  for (const ProgramWord& word : kWords) text += padded(std::string(word.name), 9) + std::string(word.text) + "\n";
  text += "\noptions:\n";
  for (const ProgramWord& option : kOptions)
    text += "  " + padded(std::string(option.name), 32) + std::string(option.text) + "\n";
  text +=
      "\n"
      "exit codes: 0 done, 1 a run failed or could not be verified, 2 bad usage or bad input, 130 and 143 "
      "interrupted\n";
  return text;
}

}  // namespace stormcell::cli
