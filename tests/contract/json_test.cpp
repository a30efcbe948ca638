// The JSON of every verb: its schema, and the keys that users depend on.
#include <algorithm>

#include "core/summary/settings.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

/// Paths "a.b.c" and "a[].b" that are not there; "" when all are. A list must have a member.
std::string missing(const Json& j, const std::vector<std::string>& paths) {
  std::string gone;
  for (const std::string& path : paths) {
    const Json* at = &j;
    std::string rest = path;
    while (at && !rest.empty()) {
      std::string key = rest.substr(0, rest.find('.'));
      rest = rest.find('.') == std::string::npos ? "" : rest.substr(rest.find('.') + 1);
      const bool list = key.ends_with("[]");
      if (list) key.resize(key.size() - 2);
      at = at->is_object() && at->contains(key) ? &(*at)[key] : nullptr;
      if (at && list) at = at->is_array() && !at->empty() ? &(*at)[0] : nullptr;
    }
    if (!at) gone += path + " ";
  }
  return gone;
}

const std::vector<std::string> kModel = {"model.name",    "model.family",   "model.parameters", "model.weight_bytes",
                                         "model.routers", "model.branches", "model.weights",    "model.unread_tensors"};
const std::vector<std::string> kSurroundings = {"version",
                                                "dataset.name",
                                                "dataset.batches",
                                                "dataset.cells",
                                                "dataset.cells_without_padding",
                                                "device.name",
                                                "device.backend",
                                                "device.threads",
                                                "device.core_placement",
                                                "device.core_placements",
                                                "device.peak_gflops",
                                                "device.read_gbps",
                                                "dataset.by_length",
                                                "dataset.cells_as_given",
                                                "dataset.cells_by_length",
                                                "dataset.note",
                                                "dataset.masked"};
const std::vector<std::string> kRun = {"phase",
                                       "baseline",
                                       "optimized",
                                       "speedup",
                                       "speedup_ci95",
                                       "measurings",
                                       "between_spread",
                                       "measured_again_seconds",
                                       "measured_once",
                                       "verified.passed",
                                       "verified.tolerance",
                                       "verified.max_abs_diff",
                                       "verified.max_rel_diff",
                                       "verified.batches",
                                       "verified.flips",
                                       "verified.explained_flips",
                                       "verified.dropped",
                                       "verified.reasons",
                                       "verified.consequences",
                                       "verified.outputs[].name",
                                       "verified.outputs[].max_rel_diff",
                                       "verified.outputs[].free_max_rel_diff",
                                       "verified.routers[].router",
                                       "verified.routers[].score_error",
                                       "verified.format",
                                       "quality",
                                       "dense",
                                       "exits",
                                       "exit_target",
                                       "time_limit_seconds",
                                       "expected_seconds",
                                       "likely_seconds",
                                       "elapsed_seconds",
                                       "passes_tried_on",
                                       "left_out_for_time",
                                       "limit_overrun",
                                       "item_costs.item",
                                       "item_costs.items",
                                       "item_costs.operations",
                                       "item_costs.operations_of_all",
                                       "item_costs.share",
                                       "item_costs.share_ci95",
                                       "item_costs.quartiles[]",
                                       "item_costs.least.item",
                                       "item_costs.least.name",
                                       "item_costs.most.share",
                                       "item_costs.alike",
                                       "item_costs.served",
                                       "item_costs.parts",
                                       "item_costs.groups",
                                       "dense_baseline_latency_ms",
                                       "routing_speedup",
                                       "routing_speedup_ci95",
                                       "passes",
                                       "routing[].router",
                                       "routing[].branches",
                                       "routing[].cells",
                                       "routing[].load[]",
                                       "routing[].imbalance",
                                       "routing[].entropy",
                                       "routing[].dropped",
                                       "preload",
                                       "session",
                                       "config",
                                       "verified.tokens",
                                       "decode"};
std::vector<std::string> plan(const std::string& name) {
  std::vector<std::string> paths;
  for (const char* key : {"latency_ms.median", "latency_ms.p95", "latency_ms.min", "latency_ms.mean",
                          "latency_ms.mean_ci95", "latency_ms.runs", "cells_per_s", "tokens_per_s", "limit_share",
                          "peak_weight_bytes", "peak_activation_bytes", "states", "weights_read"})
    paths.push_back(name + "." + key);
  return paths;
}
std::vector<std::string> all(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> whole = {"schema"};
  for (const auto& list : lists) whole.insert(whole.end(), list.begin(), list.end());
  return whole;
}

}  // namespace

#define VERIFY_KEYS(json, schema_name, paths)                                     \
  do {                                                                            \
    QVERIFY2((json).is_object(), "no JSON object");                               \
    QCOMPARE((json)["schema"].get<std::string>(), std::string(schema_name));      \
    const std::string gone = missing(json, paths);                                \
    QVERIFY2(gone.empty(), ("missing: " + gone + "\n" + (json).dump(1)).c_str()); \
  } while (false)

class JsonTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

 private slots:
  void inspect() {
    const Json j = json_of({"inspect", switch_model()});
    const std::vector<std::string> keys = {"family",
                                           "weights",
                                           "weights_stated",
                                           "parameters",
                                           "weight_bytes",
                                           "flops_per_cell",
                                           "item_flops",
                                           "routers[].name",
                                           "routers[].branches",
                                           "routers[].cell_space",
                                           "routers[].protocol",
                                           "routers[].depends[]",
                                           "routers[].hoistable.bytes",
                                           "routers[].hoistable.flops",
                                           "routers[].mixes[]",
                                           "routers[].exit_cost",
                                           "operators.linear",
                                           "plan",
                                           "unsupported"};
    VERIFY_KEYS(j, "stormcell.inspect/1", keys);
    QCOMPARE(j["family"].get<std::string>(), std::string("switch_transformers"));
    QCOMPARE(j["routers"].size(), size_t{3});
    QCOMPARE(j["routers"][0]["name"].get<std::string>(), std::string("encoder.block.1.layer.1.mlp"));
    QCOMPARE(j["routers"][0]["branches"].get<int>(), 8);
    QVERIFY(j["parameters"].get<int64_t>() > 0 && j["flops_per_cell"].get<double>() > 0);
    QVERIFY(j["plan"].is_null());  // --segments asks for it
  }

  void inspect_of_a_preset_generates_no_weights() {
    const Json j = json_of({"inspect", "preset:switch-base-256"});
    QVERIFY(j["parameters"].get<int64_t>() > int64_t{14000000000});
    QVERIFY(j["weights"] == "calibrated" || j["weights"] == "seeded");
    QVERIFY(j["routers"][0]["exit_cost"].is_null() && j["item_flops"].is_null());
    QCOMPARE(j["routers"].size(), size_t{12});
  }

  void run_fills_the_baseline_alone() {
    const Json j = json_of(short_run("run", switch_model(), switch_data()));
    VERIFY_KEYS(j, "stormcell.run/1", all({kModel, kSurroundings, kRun, plan("baseline")}));
    QVERIFY(j["optimized"].is_null() && j["speedup"].is_null() && j["speedup_ci95"].is_null() &&
            j["preload"].is_null() && j["session"].is_null());
    QVERIFY(j["verified"]["passed"].get<bool>());
    QCOMPARE(j["phase"].get<std::string>(), std::string("forward"));
    QCOMPARE(j["dataset"]["cells"].get<int>(), 3 * 13 + 3 * 11);
    QCOMPARE(j["model"]["routers"].get<int>(), 3);
    QCOMPARE(j["model"]["branches"].get<int>(), 24);
    QCOMPARE(j["model"]["weights"].get<std::string>(), std::string("trained"));
    for (const Json& r : j["routing"]) {
      int64_t load = 0;
      for (const Json& l : r["load"]) load += l.get<int64_t>();
      QCOMPARE(load + r["dropped"].get<int64_t>(), r["cells"].get<int64_t>());
    }
  }

  void optimize_fills_both_and_its_configuration_is_replayed_by_run() {
    const std::string config = scratch_.path("config.json"), session = scratch_.path("optimize.storm");
    const Json j = json_of(
        short_run("optimize", switch_model(), switch_data(), {"--config-out", config, "-o", session, "--batch", "1"}));
    const std::vector<std::string> passes = {"passes[].name",
                                             "passes[].applied",
                                             "passes[].reason",
                                             "passes[].predicted_speedup",
                                             "passes[].speedup_alone",
                                             "passes[].speedup_cumulative",
                                             "passes[].guard_hits",
                                             "passes[].fallbacks",
                                             "passes[].held_out",
                                             "passes[].speedup_own",
                                             "passes[].speedup_own_ci95",
                                             "passes[].left_out",
                                             "split.rule",
                                             "split.profiled",
                                             "split.measured",
                                             "split.same",
                                             "split.held_out"};
    VERIFY_KEYS(j, "stormcell.optimize/1",
                all({kModel, kSurroundings, kRun, plan("baseline"), plan("optimized"), passes}));
    // Three batches: the first is profiled, the others are measured.
    QVERIFY2(
        j["split"] == (Json{{"rule", "strided"}, {"profiled", 1}, {"measured", 2}, {"same", false}, {"held_out", 2}}),
        j["split"].dump().c_str());
    QVERIFY(j["baseline"]["measured_batches"].get<int>() <= 2);
    QVERIFY(j["settings"]["keep_all"] == true && j["routing_of"] == "baseline");
    for (const Json& pass : j["passes"]) QVERIFY2(pass["predicted_speedup"].is_null(), pass.dump().c_str());
    QVERIFY2(states_or_withholds(j), j.dump().c_str());
    QCOMPARE(j["speedup_ci95"].size(), j["speedup"].is_number() ? size_t{2} : size_t{0});
    if (j["speedup"].is_number()) QVERIFY(j["speedup_ci95"][0] <= j["speedup_ci95"][1]);
    QVERIFY(j["speedup_basis"] == "pairs" || j["speedup_basis"] == "batches" || j["speedup_basis"] == "totals");
    QCOMPARE(j["session"].get<std::string>(), session);

    const Json written = Json::parse(Scratch::read(config), nullptr, false);
    const std::vector<std::string> keys = {"model.name",  "model.fingerprint", "device",     "passes",
                                           "dtypes",      "annotations",       "capacities", "kernels",
                                           "speculation", "preload",           "placement"};
    VERIFY_KEYS(written, "stormcell.config/1", keys);
    QVERIFY(written["kernels"].is_null() && written["speculation"].is_null() && written["placement"].is_null());
    QVERIFY(j["config"] == written);

    const Json replayed =
        json_of(short_run("run", switch_model(), switch_data(), {"--config", config, "--batch", "1"}));
    VERIFY_KEYS(replayed, "stormcell.run/1", all({kModel, kSurroundings, kRun, plan("optimized")}));
    QVERIFY(replayed["baseline"].is_null());
    for (const Json& pass : replayed["passes"])
      QVERIFY2(pass["applied"].get<bool>() && pass["predicted_speedup"].is_null(), pass.dump().c_str());
    QCOMPARE(replayed["passes"].size(), written["passes"].size());
  }

  void every_setting_is_an_option_that_comes_back() {
    // The command line that the settings of a run give does the run again, with the same settings.
    for (const char* verb : {"run", "generate", "optimize"}) {
      ExperimentOptions asked;
      asked.model = switch_model();
      asked.data = "random:6x7x5";
      asked.batch = 2, asked.batches = 2, asked.length = 6,
      asked.bucket_by_length = asked.truncate = asked.allow_nonfinite = true;
      asked.field = "words", asked.target_field = "target", asked.label_field = "label";
      asked.seed = (uint64_t{1} << 62) + 1, asked.threads = 1, asked.dtype = "bf16", asked.verify_seconds = 0.125;
      asked.weight_budget = int64_t{1} << 33;
      asked.record_inputs = asked.record_scores = true;
      asked.most_new_tokens = 3;
      if (std::string_view(verb) == "optimize") asked.profile_split = "first", asked.keep_all = true;
      if (std::string_view(verb) == "generate")
        asked.phase = "decode";  // it has no other, and needs no option to say so
      Arguments arguments = {verb};
      for (std::string& word : command_words(asked, verb)) arguments.push_back(std::move(word));
      arguments.insert(arguments.end(), {"--json", "-"});
      if (std::string_view(verb) != "generate") arguments.insert(arguments.end(), {"--measure-seconds", "0"});
      const Ended ended = run_program(arguments);
      const Json settings = ended.json().value("settings", Json());
      const auto kept = parse_settings(settings.dump());
      QVERIFY2(kept.has_value(), told(arguments, ended).c_str());
      QVERIFY2(*kept == asked, settings.dump().c_str());
    }
    for (const Setting& s : kSettings) {
      const Arguments help = {s.is_of("optimize") ? "optimize" : std::string(s.verbs.substr(0, s.verbs.find(' '))),
                              "--help"};
      QVERIFY2(run_program(help).out.find(std::string(s.option)) != std::string::npos, std::string(s.key).c_str());
    }
  }

  void batches_of_like_length_are_told_beside_the_others() {
    // Lengths 1 to 11, the end token included, long and short by turns.
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += std::string(i % 2 ? 10 : 1 + static_cast<size_t>(i) / 10, 'a') + "\n";
    const Arguments data = {"--batch", "5", "--batches", "4"};
    const std::string model = model_with_tokenizer(scratch_), text = scratch_.write("lengths.txt", lines),
                      config = scratch_.path("like.json");
    Arguments by_length = data;
    by_length.emplace_back("--bucket-by-length");
    const Json given = json_of(short_run("run", model, text, data)),
               like = json_of(short_run("run", model, text, by_length));
    QVERIFY(!given["dataset"]["by_length"].get<bool>() && like["dataset"]["by_length"].get<bool>());
    QVERIFY(given["dataset"]["cells"] == given["dataset"]["cells_as_given"]);
    QVERIFY(like["dataset"]["cells"] == like["dataset"]["cells_by_length"]);
    for (const char* key : {"cells_as_given", "cells_by_length", "cells_without_padding", "sequences"})
      QVERIFY(given["dataset"][key] == like["dataset"][key]);
    QVERIFY(like["dataset"]["cells"].get<int64_t>() < given["dataset"]["cells"].get<int64_t>());
    QVERIFY(like["dataset"]["cells"].get<int64_t>() >= like["dataset"]["cells_without_padding"].get<int64_t>());
    QVERIFY(like["verified"]["passed"].get<bool>());

    // Findings on these batches are replayed on them.
    by_length.insert(by_length.end(), {"--config-out", config});
    const Json found = json_of(short_run("optimize", model, text, by_length));
    QVERIFY(found["verified"]["passed"].get<bool>() && found["config"]["bucket_by_length"].get<bool>());
    Arguments replay = data;
    replay.insert(replay.end(), {"--config", config});
    const Json replayed = json_of(short_run("run", model, text, replay));
    QVERIFY(replayed["dataset"]["by_length"].get<bool>() && replayed["settings"]["bucket_by_length"].get<bool>());
    QVERIFY(replayed["dataset"]["cells"] == like["dataset"]["cells"]);
  }

  void routing_is_counted_with_and_without_padding() {
    const Json j =
        json_of(short_run("run", switch_model("two-experts-left-padding"), switch_data("two-experts-left-padding")));
    for (const Json& r : j["routing"]) {
      int64_t load = 0;
      for (const Json& l : r["load_real"]) load += l.get<int64_t>();
      QVERIFY(load <= r["cells_real"].get<int64_t>() && r["cells_real"] < r["cells"]);
      QVERIFY(r["cells_real"] <= j["dataset"]["cells_without_padding"]);
      QVERIFY(r["entropy_real"].is_number() && r["imbalance_real"].is_number());
    }
  }

  void at_least_one_batch_is_verified() {
    const Json j = json_of(short_run("run", switch_model(), switch_data(), {"--verify-seconds", "0", "--batch", "1"}));
    QCOMPARE(j["verified"]["batches"].get<int>(), 1);
  }

  void inspect_of_a_session_lists_its_runs() {
    const std::string session = scratch_.path("runs.storm");
    VERIFY_DONE(run_program(short_run("optimize", switch_model(), switch_data(), {"-o", session})),
                Arguments{"optimize"});
    const Json j = json_of({"inspect", session});
    VERIFY_KEYS(j, "stormcell.inspect/1",
                (std::vector<std::string>{"family", "runs[].run", "runs[].kind", "runs[].started", "runs[].speedup"}));
    QCOMPARE(j["runs"].size(), size_t{2});
    QVERIFY(states_or_withholds(j["runs"][1]) && !j["runs"][1]["passes"].empty() &&
            !j["runs"][0]["figures"].get<bool>());
    // The content of a session, its model, and the machine.
    QVERIFY2(j["parameters"].get<int64_t>() > 0 && j["fingerprint"].is_string() && j["bytes"].get<int64_t>() > 0 &&
                 j["checked"] == false,
             j.dump(1).c_str());
    for (const Json& run : j["runs"]) {
      const Json& keeps = run["keeps"];
      QVERIFY2(run["sequences"] == 3 && run["data"].is_string() && run["machine"].is_string() &&
                   run["threads"].get<int>() > 0 && std::count(keeps.begin(), keeps.end(), "decisions") == 1,
               run.dump(1).c_str());
    }
    QVERIFY(j["runs"][1]["verified"] == true && j["runs"][1]["latency_ms"]["baseline"].is_number() &&
            j["runs"][1]["latency_ms"]["optimized"].is_number());
    const Ended told_in_words = run_program({"inspect", session});
    for (const char* words :
         {"KiB", "parameters", "fingerprint", "verified", "keeps loads", "decisions", "3 sequences", "thread"})
      QVERIFY2(told_in_words.out.find(words) != std::string::npos, (words + ("\n" + told_in_words.out)).c_str());
    QVERIFY(json_of({"inspect", session, "--check"})["checked"] == true);
    const std::string bytes = Scratch::read(session), damaged = scratch_.path("damaged.storm");
    std::string other = bytes;
    std::fill(other.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 8192 / 2 * 8192),
              other.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 8192 / 2 * 8192 + 8192), 'x');
    scratch_.write("damaged.storm", other);
    VERIFY_REFUSED((Arguments{"inspect", damaged, "--check"}), damaged, "the file is damaged");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--check"}), "--check", "is for sessions");
    VERIFY_REFUSED((Arguments{"inspect", session + "#2"}), session + "#2", "name " + session);
    // The recording has no figures; the error says which run has.
    VERIFY_REFUSED((Arguments{"compare", session + "#1", session + "#2"}), session + "#1", "#2 (optimize)");
  }

  void profile() {
    const Json j = json_of(
        short_run("profile", switch_model(), switch_data(), {"--batch", "1", "-o", scratch_.path("profile.storm")}));
    const std::vector<std::string> keys = {"decisions",  "windows", "labels", "record_overhead", "record_overhead_ci95",
                                           "record_work"};
    VERIFY_KEYS(j, "stormcell.profile/1", all({kModel, kSurroundings, kRun, plan("baseline"), keys}));
    QCOMPARE(j["decisions"].get<int>(), 9);
  }

  void generate() {
    const Json j = json_of(short_run("generate", switch_model(), "random:4x6", {"--max-new-tokens", "5"}));
    const std::vector<std::string> keys = {"phase",           "batches",           "sequences",      "tokens",
                                           "tokens_per_s",    "latency_ms.median", "latency_ms.p95", "latency_ms.min",
                                           "latency_ms.runs", "stopped.eos",       "stopped.length", "accuracy"};
    VERIFY_KEYS(j, "stormcell.generate/1", all({keys}));
    QCOMPARE(j["phase"].get<std::string>(), std::string("decode"));
    QCOMPARE(j["settings"]["phase"].get<std::string>(), std::string("decode"));
    QVERIFY(j["outputs"].size() == 4 && j["outputs"][0]["ids"].is_array() && j["outputs"][0].contains("text"));
    QVERIFY(j["weight_budget"].is_null() && j["weights_read"].is_null());
    QCOMPARE(j["sequences"].get<int>(), 4);
    QCOMPARE(j["stopped"]["eos"].get<int>() + j["stopped"]["length"].get<int>(), 4);
    QVERIFY(j["accuracy"].is_null());
    QVERIFY(j["verified"]["passed"].get<bool>());
    QCOMPARE(j["verified"]["tokens"].get<int>(), 5);
    // Logits and routing are judged, not tokens alone.
    const Json& v = j["verified"];
    QVERIFY2(v["compared"].get<int64_t>() >= j["tokens"].get<int64_t>() && v["tolerance"] == 1e-4 &&
                 v["max_rel_diff"].get<double>() > 0 && v["flips"] == v["explained_flips"] && v["reasons"].empty() &&
                 v["near_ties"] == 0 && v["follows"] == 0,
             v.dump(1).c_str());
  }

  void compare() {
    const std::string a = scratch_.path("a.json");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"--json", a})), Arguments{"run"});
    const Json j = json_of({"compare", a, a});
    const std::vector<std::string> keys = {"a",
                                           "b",
                                           "rows[].figure",
                                           "rows[].a",
                                           "rows[].b",
                                           "rows[].difference",
                                           "rows[].ci95",
                                           "rows[].significant",
                                           "rows[].between_runs"};
    VERIFY_KEYS(j, "stormcell.compare/1", all({keys}));
    for (const Json& row : j["rows"])
      QVERIFY2(row["difference"].is_null() || row["difference"] == 0.0, row.dump().c_str());
  }

  void batch() {
    const std::string jobs =
        scratch_.write("jobs.json", R"({"schema": "stormcell.jobs/1", "jobs": [{"name": "one", "args": ["doctor"]}]})");
    const Json j = json_of({"batch", jobs});
    const std::vector<std::string> keys = {"jobs[].name",          "jobs[].args[]", "jobs[].exit", "jobs[].seconds",
                                           "jobs[].json.cpu.name", "jobs[].error",  "failed"};
    VERIFY_KEYS(j, "stormcell.batch/1", all({keys}));
  }

  void doctor() {
    const Json j = json_of({"doctor"});
    const std::vector<std::string> keys = {"version",     "cpu.name",           "cpu.features", "cpu.cores",
                                           "cuda.module", "cuda.architectures", "cuda.devices", "cuda.reason"};
    VERIFY_KEYS(j, "stormcell.doctor/1", all({keys}));
    // --device cuda is refused for the reason that is told here, in one line; where a GPU is used there is none.
    if (j["cuda"]["reason"].is_null()) {
      QVERIFY(j["cuda"]["module"].is_string() && !j["cuda"]["devices"].empty());
      return;
    }
    const auto reason = j["cuda"]["reason"].get<std::string>();
    QVERIFY(!reason.empty() && reason.find('\n') == std::string::npos);
    VERIFY_REFUSED(short_run("run", switch_model(), switch_data(), {"--device", "cuda"}), "--device", reason);
  }

  void outputs_hold_hidden_states_logits_and_decisions_of_every_batch() {
    const std::string file = scratch_.path("outputs.safetensors");
    VERIFY_DONE(run_program(short_run("run", switch_model(), switch_data(), {"--batch", "2", "--outputs", file})),
                Arguments{"run"});
    const std::string bytes = Scratch::read(file);
    const Json header = Json::parse(bytes.substr(8, *reinterpret_cast<const uint64_t*>(bytes.data())), nullptr, false);
    for (const char* batch : {"b0.", "b1."})
      for (const char* name : {"encoder_hidden", "decoder_hidden", "logits", "encoder.block.1.layer.1.mlp.branch",
                               "encoder.block.1.layer.1.mlp.weight"})
        QVERIFY2(header.contains(std::string(batch) + name), (std::string(batch) + name).c_str());
    QCOMPARE(header["b0.encoder.block.1.layer.1.mlp.branch"]["dtype"].get<std::string>(), std::string("I32"));
    QVERIFY(header["b0.encoder.block.1.layer.1.mlp.branch"]["shape"] == (Json{2 * 13, 1}));
    QCOMPARE(header["b0.logits"]["dtype"].get<std::string>(), std::string("F32"));
  }
};

STORMCELL_TEST(JsonTest)

}  // namespace stormcell::testing

#include "json_test.moc"
