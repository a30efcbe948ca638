// Each verb says what a file of another kind is and what to do with it, and answers a misspelt word with the nearest
// one.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/contract/models.h"
#include "tests/contract/placements.h"
#include "tests/testing/file_heads.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class FileKindsTest : public QObject, protected Placements {
  Q_OBJECT

  std::string session_;

  const FileHead& head(const std::string& id) const {
    static const std::vector<FileHead> heads = file_heads();
    for (const FileHead& h : heads)
      if (h.id == id) return h;
    qFatal("no head %s", id.c_str());
  }

 private slots:
  void initTestCase() {
    session_ = scratch_.path("there.storm");
    imported(scratch_.write("good.csv", route_trace()), session_);
  }

  // Files ------------------------------------------------------------------------------------------------------------

  void a_file_of_another_kind_is_named_data() {
    QTest::addColumn<QString>("verb");
    QTest::addColumn<QString>("id");
    const auto rows = [](const char* verb, std::initializer_list<const char*> ids) {
      for (const char* id : ids) QTest::newRow((std::string(verb) + " " + id).c_str()) << verb << id;
    };
    rows("import", {"empty",     "git-lfs-pointer", "html",    "gguf",         "imatrix-dat", "torch",
                    "torch-old", "pickle",          "npz",     "zip",          "zstd",        "xz",
                    "tar",       "safetensors",     "sqlite",  "model-config", "spreadsheet", "utf-16",
                    "pdf",       "nccl-tests",      "answers", "trtllm-rank",  "profile",     "placement",
                    "config",    "server-error",    "table",   "json",         "text",        "zeros",
                    "download"});
    rows("run",
         {"git-lfs-pointer", "gguf", "torch", "route-trace", "model-config", "html", "onnx", "hdf5", "zip", "empty"});
    rows("inspect", {"git-lfs-pointer", "model-config", "html", "hdf5", "zip", "empty", "gguf-adapter", "keras"});
    rows("data",
         {"session", "parquet", "zip", "gguf", "pdf", "utf-16", "route-trace", "git-lfs-pointer", "pickle", "table"});
    rows("analyze", {"sqlite", "nsight", "route-trace", "model-config", "html", "safetensors", "git-lfs-pointer", "zip",
                     "text", "sqlite-log"});
    rows("-o", {"route-trace", "pdf", "text", "sqlite"});
    rows("place --from", {"model-config", "html", "zip", "config", "logical-count", "text", "cluster"});
    rows("calibrate", {"spreadsheet", "parquet", "html", "model-config", "cluster", "utf-16", "nccl-log", "zip"});
    rows("--calibration", {"html", "zip", "model-config", "git-lfs-pointer", "text", "json-lines"});
    rows("--cluster", {"calibration", "html", "zip", "model-config", "session", "git-lfs-pointer"});
    rows("--config", {"cluster", "model-config", "html", "figures", "zip", "session"});
    rows("--model-config", {"tokenizer", "generation-config", "html", "git-lfs-pointer", "index"});
    rows("compare", {"html", "route-trace", "model-config", "zip", "text", "git-lfs-pointer", "calls"});
    rows("batch", {"config", "html", "calibration", "zip"});
  }
  void a_file_of_another_kind_is_named() {
    QFETCH(QString, verb);
    QFETCH(QString, id);
    const FileHead& file = head(id.toStdString());
    const std::string path = scratch_.write(id.toStdString() + "-" + file.name, file.bytes),
                      good = scratch_.path("good.csv"), none = scratch_.path("none.storm"),
                      there = verb == "-o" ? file.bytes : Scratch::read(session_);
    const std::string of = verb.toStdString();
    const Arguments arguments =
        of == "import"           ? Arguments{"import", path, "-o", none}
        : of == "run"            ? short_run("run", path, "random:1x1x1")
        : of == "inspect"        ? Arguments{"inspect", path}
        : of == "data"           ? short_run("run", switch_model(), path)
        : of == "analyze"        ? Arguments{"analyze", path}
        : of == "-o"             ? Arguments{"import", good, "-o", path}
        : of == "place --from"   ? Arguments{"place", session_, "--cluster", four_gpus(), "--from", path}
        : of == "calibrate"      ? Arguments{"calibrate", path, "-o", scratch_.path("cal.json")}
        : of == "--calibration"  ? Arguments{"place", session_, "--cluster", four_gpus(),     "--hidden",
                                            "64",    "--ffn",  "64",        "--calibration", path}
        : of == "--cluster"      ? Arguments{"place", session_, "--cluster", path}
        : of == "--config"       ? short_run("run", switch_model(), "random:1x1x1", {"--config", path})
        : of == "--model-config" ? Arguments{"import", good, "-o", none, "--model-config", path}
        : of == "compare"        ? Arguments{"compare", path, session_}
                                 : Arguments{"batch", path};
    const Ended ended = run_program(arguments);
    QCOMPARE(ended.exit, 2);
    const std::string defect = defect_of_error_line(ended.err, path);
    QVERIFY2(defect.empty(), told(arguments, ended).c_str());
    const auto said = [&](const std::string& words) { return ended.err.find(words) != std::string::npos; };
    QVERIFY2(said("is " + file.words), ended.err.c_str());
    QVERIFY2(said(", not ") || file.id == "utf-16", ended.err.c_str());
    QVERIFY2(said(file.advice) || of == "-o", ended.err.c_str());
    if (of == "--calibration")
      QVERIFY2(said("not a calibration, which calibrate CALLS.csv -o CAL.json writes"), ended.err.c_str());
    QVERIFY(!std::filesystem::exists(none));
    QVERIFY(Scratch::read(of == "-o" ? path : session_) == there);
  }

  void weights_that_a_model_lacks_are_named() {
    for (const char* id : {"git-lfs-pointer", "html", "torch", "zeros", "gguf", "zip"}) {
      const ModelCopy model;
      std::filesystem::remove(model.weights());
      const std::string path = model.file("model.safetensors");
      std::ofstream(path, std::ios::binary) << head(id).bytes;
      VERIFY_REFUSED((Arguments{"inspect", model.folder()}), path, "is " + head(id).words);
    }
    for (const char* id : {"git-lfs-pointer", "html", "tokenizer"}) {
      const ModelCopy model;
      std::ofstream(model.file("config.json"), std::ios::binary | std::ios::trunc) << head(id).bytes;
      VERIFY_REFUSED((Arguments{"inspect", model.folder()}), model.file("config.json"), "is " + head(id).words);
    }
  }

  void a_tokenizer_that_was_not_fetched_is_named() {
    const std::string text = scratch_.write("words.txt", "some words\n");
    for (const auto& [name, id] : {std::pair{"tokenizer.model", "git-lfs-pointer"},
                                   {"tokenizer.model", "html"},
                                   {"tokenizer.json", "git-lfs-pointer"},
                                   {"spiece.model", "tiktoken"},
                                   {"tokenizer.json", "html"}}) {
      const ModelCopy model;
      for (const char* other : {"spiece.model", "tokenizer.json", "tokenizer.model"})
        std::filesystem::remove(model.file(other));
      std::ofstream(model.file(name), std::ios::binary) << head(id).bytes;
      VERIFY_REFUSED((Arguments{"run", model.folder(), "--data", text}), model.file(name), "is " + head(id).words);
    }
  }

  void a_folder_says_what_it_holds() {
    const std::string folder = scratch_.path("folder");
    scratch_.write("folder/a.html", head("html").bytes);
    scratch_.write("folder/b.bin", head("torch").bytes);
    VERIFY_REFUSED((Arguments{"import", folder, "-o", scratch_.path("n.storm")}), folder,
                   "without a routing trace: \"a.html\" is an HTML page, as a server sends it in place of a file, "
                   "\"b.bin\" is a PyTorch file");
    scratch_.write("folder/t.csv", route_trace());
    const std::string session = scratch_.path("folder.storm");
    const Arguments arguments = {"import", folder, "-o", session};
    const Ended ended = run_program(arguments);
    VERIFY_DONE(ended, arguments);
    QVERIFY2(
        ended.err.find("2 files that are not traces are left out: \"a.html\" is an HTML page") != std::string::npos,
        ended.err.c_str());
  }

  void the_users_word_on_a_format_does_not_hide_the_kind() {
    const std::string path = scratch_.write("w.json", head("git-lfs-pointer").bytes);
    VERIFY_REFUSED((Arguments{"import", path, "-o", scratch_.path("w.storm"), "--format", "megatron"}), path,
                   "is a Git LFS pointer");
  }

  // Words ------------------------------------------------------------------------------------------------------------

  void a_word_that_is_nearly_right_is_answered_with_the_nearest() {
    const std::string trace = scratch_.path("good.csv"), none = scratch_.path("none.storm");
    VERIFY_REFUSED((Arguments{"optimise", "x"}), "optimise", "no such verb (did you mean optimize?)");
    VERIFY_REFUSED((Arguments{"anlyze", "x"}), "anlyze", "(did you mean analyze?)");
    VERIFY_REFUSED((Arguments{"moon"}), "moon", "one of inspect, run");
    VERIFY_REFUSED((Arguments{"place", session_, "--cluster", "8x-h10"}), "--cluster", "(did you mean 8x-h100");
    VERIFY_REFUSED((Arguments{"place", session_, "--cluster", "preset:8xh100"}), "--cluster", "(did you mean 8x-h100");
    VERIFY_REFUSED((Arguments{"place", session_, "--cluster", "8x-h100", "--solver", "jiont"}), "--solver",
                   "(did you mean joint?)");
    VERIFY_REFUSED((Arguments{"inspect", "preset:swich-base-8"}), "preset:swich-base-8", "(did you mean switch-base-8");
    VERIFY_REFUSED((Arguments{"inspect", "switch-base-8"}), "switch-base-8", "(did you mean preset:switch-base-8");
    VERIFY_REFUSED((Arguments{"inspect", "swich-base-8"}), "swich-base-8", "(did you mean preset:switch-base-8");
    VERIFY_REFUSED((Arguments{"inspect", "moon"}), "moon", "name a folder with config.json");
    VERIFY_REFUSED((Arguments{"inspect", "demo:switch-name"}), "demo:switch-name", "(did you mean switch-names");
    VERIFY_REFUSED((Arguments{"import", trace, "-o", none, "--format", "routetrace"}), "--format",
                   "(did you mean route-trace");
    VERIFY_REFUSED((Arguments{"export", session_, "--format", "sglng"}), "--format", "(did you mean sglang");
    VERIFY_REFUSED((Arguments{"export", session_, "--format", "csv", "--what", "load"}), "--what",
                   "(did you mean loads");
    VERIFY_REFUSED(short_run("optimize", switch_model(), "random:1x1x1", {"--only", "dead-paths"}), "--only",
                   "(did you mean dead-path");
    VERIFY_REFUSED(short_run("run", switch_model(), "random:1x1x1", {"--phase", "forwards"}), "--phase",
                   "(did you mean forward?)");
    VERIFY_REFUSED(short_run("run", switch_model(), "random:1x1x1", {"--bacth", "3"}), "--bacth",
                   "no option of run (did you mean --batch");
    VERIFY_REFUSED((Arguments{"analyze", session_, "--cache", "lfru", "--budget", "1MiB"}), "--cache",
                   "(did you mean l");
    for (const char* policy : {" lru", " lfu"})
      VERIFY_REFUSED((Arguments{"analyze", session_, "--cache", "lfru", "--budget", "1MiB"}), "--cache", policy);
    VERIFY_REFUSED((Arguments{"analyze", session_, "--cache", "belad", "--budget", "1MiB"}), "--cache",
                   "(did you mean belady?)");
  }

  void a_preset_of_a_cluster_needs_no_prefix() {
    const std::string session = counted_session("clusters");
    const Json bare = placed(session, {"--cluster", "2x8-h100", "--redundant", "4"}),
               full = placed(session, {"--cluster", "preset:2x8-h100", "--redundant", "4"});
    QVERIFY(bare["cluster"] == full["cluster"]);
    const std::string mine = scratch_.write("mine.json", kTwoNodes);
    VERIFY_REFUSED((Arguments{"place", session, "--cluster", "preset:" + mine}), "--cluster",
                   "name the file without preset:");
  }

  // Runs and placements ----------------------------------------------------------------------------------------------

  void a_number_names_a_run_or_a_placement() {
    const std::string session = counted_session("numbers"), cluster = scratch_.write("two.json", kTwoNodes);
    const Json first = placed(session, {"--cluster", cluster, "--redundant", "4", "--solver", "eplb"}),
               second = placed(session, {"--cluster", cluster, "--redundant", "4", "--solver", "load"});
    const std::string a = session + "#" + first["placement"].dump(), b = session + "#" + second["placement"].dump();
    const Json compared = json_of({"compare", a, b, "--json", "-"});
    bool found = false;
    for (const Json& row : compared["rows"])
      if (row["figure"] == "layouts.result.fit.imbalance") {
        found = true;
        QCOMPARE(row["a"].get<double>(), layout_of(first, "result")["fit"]["imbalance"].get<double>());
        QCOMPARE(row["b"].get<double>(), layout_of(second, "result")["fit"]["imbalance"].get<double>());
        QCOMPARE(row["difference"].get<double>(), row["b"].get<double>() - row["a"].get<double>());
      }
    QVERIFY2(found, compared.dump().c_str());
    // A run and a placement cannot be compared.
    VERIFY_REFUSED((Arguments{"compare", session + "#1", a}), a,
                   "is a placement, and " + session + "#1 a run (compare two runs, or");
    // Verbs of runs take the run that a placement was made from. Exports of placements take the newest one of a run.
    QVERIFY(analyzed(a)["routers"] == analyzed(session + "#1")["routers"]);
    QCOMPARE(placed(a, {"--cluster", cluster, "--redundant", "4", "--groups", "4"})["run"].get<int64_t>(), int64_t{1});
    const Json of_run = json_of({"export", session + "#1", "--format", "sglang"}),
               of_placement = json_of({"export", b, "--format", "sglang"});
    // The newest one has the slots that the rule's authors publish.
    const Json published =
        Json::parse(R"([[5,6,5,7,8,4,3,4,10,9,10,2,0,1,11,1], [7,10,6,8,6,11,8,9,2,4,5,1,5,0,3,1]])");
    const Json &newest = of_run["physical_to_logical_map"], &other = of_placement["physical_to_logical_map"];
    QVERIFY2(newest.size() == 3 && newest[1] == published[0] && newest[2] == published[1], of_run.dump().c_str());
    QVERIFY2(other.size() == 3 && (other[1] != published[0] || other[2] != published[1]), of_placement.dump().c_str());
    for (const Json& row : other) {
      QCOMPARE(row.size(), size_t{16});
      for (int expert = 0; expert < 12; ++expert) QVERIFY(std::find(row.begin(), row.end(), expert) != row.end());
    }
    VERIFY_REFUSED((Arguments{"analyze", session + "#99"}), session, "there is no run \"99\"");
    VERIFY_REFUSED((Arguments{"export", session + "#99", "--format", "sglang"}), session,
                   "there is no placement \"99\"");
  }

  // Several models ---------------------------------------------------------------------------------------------------

  void traces_of_several_models_become_a_session_each() {
    const std::string folder = scratch_.path("models"), a = scratch_.write("models/a.csv", route_trace({}, "one.gguf")),
                      b = scratch_.write("models/b.csv", route_trace({.layers = 4, .experts = 6}, "two.gguf")),
                      c = scratch_.write("models/c.csv", route_trace({.turns = 3}, "one.gguf"));
    const std::string session = scratch_.path("several.storm"), second = scratch_.path("several-2.storm");
    const Json json = json_of({"import", a, b, c, "-o", session, "--json", "-"});
    QCOMPARE(json["session"].get<std::string>(), session);
    QVERIFY(json["runs"] == (Json{1, 2}));
    QCOMPARE(json["sessions"].size(), size_t{2});
    QCOMPARE(json["sessions"][0]["session"].get<std::string>(), session);
    QVERIFY(json["sessions"][0]["runs"] == (Json{1, 2}));
    QCOMPARE(json["sessions"][0]["model"]["branches"].get<int>(), 8);
    QCOMPARE(json["sessions"][1]["session"].get<std::string>(), second);
    QVERIFY(json["sessions"][1]["runs"] == (Json{1}));
    QCOMPARE(json["sessions"][1]["model"]["layers"].get<int>(), 4);
    QCOMPARE(json["model"]["branches"].get<int>(), 8);
    QCOMPARE(analyzed(session)["routers"].size(), size_t{3});
    QCOMPARE(analyzed(second)["routers"].size(), size_t{4});
    // The second import adds nothing. A new trace goes to its own model.
    const Json again = json_of({"import", folder, "-o", session, "--json", "-"});
    QCOMPARE(again["files_known"].get<int>(), 3);
    QCOMPARE(again["runs"].size(), size_t{0});
    const std::string d =
        scratch_.write("models/d.csv", route_trace({.layers = 4, .experts = 6, .turns = 1}, "two.gguf"));
    const Json more = json_of({"import", folder, "-o", session, "--json", "-"});
    for (const Json& s : more["sessions"]) QCOMPARE(s["runs"].size(), size_t{s["session"] == second ? 1u : 0u});
  }

  void where_one_trace_of_several_models_fails_nothing_is_touched() {
    const std::string a = scratch_.write("f/a.csv", route_trace({}, "one.gguf")),
                      b = scratch_.write("f/b.csv", route_trace({.layers = 4}, "two.gguf")),
                      bad = scratch_.write("f/bad.csv", "# route_trace v1\n");
    const std::string session = scratch_.path("kept.storm"), second = scratch_.path("kept-2.storm");
    imported(a, session);
    const std::string before = Scratch::read(session);
    VERIFY_REFUSED((Arguments{"import", b, a, bad, "-o", session}), bad, "the file ends within its preamble");
    QVERIFY(Scratch::read(session) == before);
    QVERIFY(!std::filesystem::exists(second) && !std::filesystem::exists(second + "-wal"));
    // An import of a single model does not take another name.
    VERIFY_REFUSED((Arguments{"import", b, "-o", session}), session, "): 3 layers and not 4 (");
    QVERIFY(Scratch::read(session) == before);
    QVERIFY(!std::filesystem::exists(second));
  }

 private:
  static Json layout_of(const Json& placed, const std::string& name) {
    for (const Json& line : placed["layouts"])
      if (line["name"] == name) return line;
    return {};
  }
};

STORMCELL_TEST(FileKindsTest)

}  // namespace stormcell::testing

#include "file_kinds_test.moc"
