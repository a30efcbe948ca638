// Bad input: exit 2 and one line that names the file.
#include <unistd.h>

#include <limits>

#include "tests/contract/models.h"
#include "tests/testing/damaged_files.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr const char* kRouter = "encoder.block.1.layer.1.mlp.router.classifier.weight";

}  // namespace

class BadInputTest : public QObject {
  Q_OBJECT

  static Arguments inspect(const ModelCopy& model) { return {"inspect", model.folder()}; }
  static Arguments run(const ModelCopy& model) { return short_run("run", model.folder(), switch_data()); }
  static Arguments run_on(const std::string& data, const Arguments& more = {}) {
    return short_run("run", switch_model(), data, more);
  }

 private slots:
  // Models -----------------------------------------------------------------------------------------------------------

  void a_model_that_is_not_there() {
    VERIFY_REFUSED((Arguments{"inspect", "no/such/model"}), "no/such/model", "no such model");
    VERIFY_REFUSED((Arguments{"inspect", "preset:nothing"}), "preset:nothing", "switch-base-8");
    VERIFY_REFUSED((Arguments{"inspect", "demo:nothing"}), "demo:nothing", "");
  }

  void a_folder_without_configuration() {
    const ModelCopy model;
    std::filesystem::remove(model.file("config.json"));
    VERIFY_REFUSED(inspect(model), model.file("config.json"), "");
  }

  void a_folder_without_weights() {
    const ModelCopy model;
    std::filesystem::remove(model.weights());
    VERIFY_REFUSED(inspect(model), model.folder(), "");
  }

  void a_configuration_of_another_model_is_refused() {
    const Scratch scratch;
    const std::string config = scratch.path("config.json");
    const Arguments found =
        short_run("optimize", switch_model(), "random:1x1x1", {"--only", "dead-path", "--config-out", config});
    VERIFY_DONE(run_program(found), found);
    VERIFY_REFUSED(short_run("run", switch_model("two-experts-left-padding"), "random:2x5", {"--config", config}),
                   config, "was found for another model, " + switch_model());
    // Parts that the model lacks are named, not passed over.
    nlohmann::json other = nlohmann::json::parse(Scratch::read(config));
    other["passes"]["dead-path"]["elsewhere"] = "0";
    const Arguments replay =
        short_run("run", switch_model(), "random:1x1x1", {"--config", scratch.write("other.json", other.dump())});
    const Ended ended = run_program(replay);
    VERIFY_DONE(ended, replay);
    QVERIFY2(ended.err.find("what the configuration says of elsewhere could not be taken over by pass dead-path: ") !=
                 std::string::npos,
             ended.err.c_str());
  }

  void what_a_configuration_says_otherwise_is_told() {
    const Scratch scratch;
    const std::string config = scratch.path("config.json");
    const Arguments found = short_run("optimize", switch_model(), "random:1x1x1",
                                      {"--only", "dead-path", "--keep-all", "--config-out", config});
    VERIFY_DONE(run_program(found), found);
    const nlohmann::json good = nlohmann::json::parse(Scratch::read(config));
    const auto replay = [&](const char* name, const std::function<void(nlohmann::json&)>& change) {
      nlohmann::json other = good;
      change(other);
      return short_run("run", switch_model(), "random:1x1x1", {"--config", scratch.write(name, other.dump())});
    };
    const auto warned = [&](const Arguments& arguments, const std::string& words) {
      const Ended ended = run_program(arguments);
      VERIFY_DONE(ended, arguments);
      QVERIFY2(ended.err.find("stormcell: warning: " + words) != std::string::npos, (words + "\n" + ended.err).c_str());
    };
    const Ended as_found = run_program(replay("as-found.json", [](nlohmann::json&) {}));
    QVERIFY2(as_found.exit == 0 && as_found.err.find("configuration") == std::string::npos, as_found.err.c_str());
    warned(replay("device.json", [](auto& c) { c["device"] = "cuda:0"; }),
           "the configuration was found on device cuda:0, here it is used on cpu");
    warned(replay("dtypes.json", [](auto& c) { c["dtypes"]["products"] = "bf16"; }),
           "the configuration was found with products in bf16, here they are computed in f32: --dtype bf16 asks for "
           "the same");
    warned(replay("stranger.json", [](auto& c) { c["model"].erase("fingerprint"); }),
           "the configuration does not say for which model it was found");
    warned(replay("older.json", [](auto& c) { c["version"] = "0.0.9"; }),
           "the configuration is of version 0.0.9 of Stormcell");
    warned(replay("old.json", [](auto& c) { c.erase("version"); }),
           "the configuration is of an unknown version of Stormcell");
    const auto refused = [&](const char* name, const std::function<void(nlohmann::json&)>& change, const char* words) {
      VERIFY_REFUSED(replay(name, change), scratch.path(name), words);
    };
    const std::string router = good["passes"]["dead-path"].begin().key();
    const auto branches = [&](const char* list) {
      return [&, list](nlohmann::json& c) { c["passes"]["dead-path"][router] = list; };
    };
    refused("beyond.json", branches("0,99"), "there is no branch 99, its branches are 0 to ");
    refused("words.json", branches("0,x"), "expected branches as \"1,4,5\"");
    refused(
        "format.json", [](auto& c) { c["dtypes"]["products"] = "f7"; }, "a number format");
    refused(
        "formats.json", [](auto& c) { c["dtypes"] = "f32"; }, "an object \"dtypes\"");
    refused(
        "schema.json", [](auto& c) { c["schema"] = "stormcell.config/0"; },
        "a configuration of schema \"stormcell.config/0\", this program reads stormcell.config/1");
  }

  void a_folder_with_pytorch_weights_alone_is_told_how_to_convert_them() {
    const ModelCopy model;
    std::filesystem::rename(model.weights(), model.file("pytorch_model.bin"));
    const Ended ended = run_program(inspect(model));
    QCOMPARE(ended.exit, 2);
    QVERIFY2(ended.err.find("save_file") != std::string::npos || ended.err.find("save_pretrained") != std::string::npos,
             ended.err.c_str());
    QVERIFY2(ended.err.starts_with("stormcell: "), ended.err.c_str());
  }

  void configurations_that_are_no_json_data() { add_rows(damaged_json()); }
  void configurations_that_are_no_json() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const ModelCopy model;
    model.write("config.json", bytes.toStdString());
    VERIFY_REFUSED(inspect(model), model.file("config.json"), bytes.isEmpty() ? "is empty" : words.toStdString());
  }

  void configurations_of_no_family_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::newRow("not an object") << QByteArray("[1, 2]");
    QTest::newRow("no family") << QByteArray("{}");
    QTest::newRow("family of another type") << QByteArray("{\"model_type\": 3}");
  }
  void configurations_of_no_family() {
    QFETCH(QByteArray, config);
    const ModelCopy model;
    model.write("config.json", config.toStdString());
    VERIFY_REFUSED(inspect(model), model.file("config.json"), "");
  }

  void a_family_that_is_not_there_is_refused_by_a_run_and_shown_by_inspect() {
    const ModelCopy model;
    model.write("config.json", "{\"model_type\": \"perceptron\"}");
    VERIFY_REFUSED(run(model), model.file("config.json"), "\"perceptron\" is not in this version");
    const nlohmann::json sheet = json_of(inspect(model));
    QCOMPARE(sheet["family"].get<std::string>(), std::string("perceptron"));
    QVERIFY(!sheet["runnable"].get<bool>());
  }

  void sizes_that_are_absurd_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<double>("value");
    for (const char* key : {"d_model", "d_ff", "num_heads", "d_kv", "num_layers", "num_experts", "vocab_size"})
      for (const double value : {0.0, -5.0, 1e6, 1e18}) {
        if (value == 1e6 && QString(key) != "num_layers") continue;  // a size that only its tensors contradict
        QTest::addRow("%s %g", key, value) << key << value;
      }
  }
  void sizes_that_are_absurd() {
    QFETCH(QString, key);
    QFETCH(double, value);
    const ModelCopy model;
    model.change_config([&](nlohmann::json& c) { c[key.toStdString()] = static_cast<int64_t>(value); });
    const Ended ended = run_program(inspect(model));
    QVERIFY2(ended.exit == 2, told(inspect(model), ended).c_str());
    QVERIFY2(ended.err.starts_with("stormcell: " + model.folder()) && ended.err.find('\n') == ended.err.size() - 1,
             ended.err.c_str());
  }

  // Weights ----------------------------------------------------------------------------------------------------------

  void weights_that_are_no_safetensors_data() { add_rows(damaged_safetensors()); }
  void weights_that_are_no_safetensors() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const ModelCopy model;
    model.write("model.safetensors", bytes.toStdString());
    VERIFY_REFUSED(inspect(model), model.weights(), words.toStdString());
  }

  void truncated_weights() {
    const ModelCopy model;
    const std::string whole = Scratch::read(model.weights());
    model.write("model.safetensors", whole.substr(0, whole.size() - 1));
    VERIFY_REFUSED(inspect(model), model.weights(), "");
  }

  void a_tensor_that_is_missing_is_named() {
    const ModelCopy model;
    model.change_header([](nlohmann::json& h) {
      h["something.else"] = h[kRouter];
      h.erase(kRouter);
    });
    VERIFY_REFUSED(inspect(model), model.weights(), kRouter);
  }

  void a_tensor_of_another_shape_is_named() {
    const ModelCopy model;
    model.change_header([](nlohmann::json& h) {
      auto& shape = h[kRouter]["shape"];
      shape = {shape[1], shape[0]};
    });
    VERIFY_REFUSED(inspect(model), model.weights(), kRouter);
  }

  void weights_that_hold_more_layers_than_the_configuration_says() {
    const ModelCopy model(mixtral_model());
    model.change_config([](nlohmann::json& config) { config["num_hidden_layers"] = 2; });
    VERIFY_REFUSED(inspect(model), model.file("config.json"), "model.layers.2");
  }

  void weights_that_are_not_finite_are_named_and_refused_unless_allowed() {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const ModelCopy model;
      model.poison("shared.weight", value);
      VERIFY_REFUSED(run(model), model.folder(), "shared.weight");
      VERIFY_REFUSED(run(model), model.folder(), "--allow-nonfinite");
      Arguments allowed = run(model);
      allowed.push_back("--allow-nonfinite");
      const Ended ended = run_program(allowed);
      QVERIFY2(ended.exit != 2 && ended.err.find("stormcell: warning: ") != std::string::npos,
               told(allowed, ended).c_str());
    }
  }

  void more_memory_than_there_is_is_refused_before_it_is_taken() {
    // It needs 1.3 TiB; where there is so much, running it would take hours.
    if (static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) > int64_t{100} << 30)
      QSKIP("this machine has the memory");
    const Arguments huge = short_run("run", "preset:switch-base-8", "random:20000x512", {"--batch", "20000"});
    VERIFY_REFUSED(huge, "preset:switch-base-8", "of memory");
  }

  // Data -------------------------------------------------------------------------------------------------------------

  void more_new_tokens_than_the_model_has_positions() {
    const ModelCopy model(mixtral_model());
    model.change_config([](nlohmann::json& config) { config["max_position_embeddings"] = 8; });
    VERIFY_REFUSED(short_run("generate", model.folder(), "random:1x5", {"--max-new-tokens", "4"}), "--max-new-tokens",
                   "8 positions");
    VERIFY_DONE(run_program(short_run("generate", model.folder(), "random:1x5", {"--max-new-tokens", "3"})),
                Arguments{"generate"});
  }

  void decoder_inputs_for_a_model_that_takes_none() {
    VERIFY_REFUSED(short_run("run", mixtral_model(), "random:4x5x6"), "random:4x5x6", "random:NxT");
  }

  void data_that_are_a_folder() {
    const Scratch scratch;
    VERIFY_REFUSED(run_on(scratch.folder()), scratch.folder(), "folder");
  }

  void data_that_is_not_there() {
    VERIFY_REFUSED(run_on("no/such/file.npy"), "no/such/file.npy", "");
    VERIFY_REFUSED(run_on("demo:nothing"), "demo:nothing", "");
    VERIFY_REFUSED(run_on("random:3"), "random:3", "");
    VERIFY_REFUSED(run_on("random:0x5"), "random:0x5", "");
    VERIFY_REFUSED(run_on("random:-3x5"), "random:-3x5", "");
  }

  void data_that_are_no_npy_data() { add_rows(damaged_npy()); }
  void data_that_are_no_npy() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    const Scratch scratch;
    const std::string file = scratch.write("broken.npy", bytes.toStdString());
    VERIFY_REFUSED(run_on(file), file, words.toStdString());
  }

  void data_without_a_sequence() {
    const Scratch scratch;
    VERIFY_REFUSED(run_on(scratch.write("empty.npy", "")), scratch.path("empty.npy"), "");
    VERIFY_REFUSED(run_on(scratch.write("none.npy", npy_ids("(0, 4)", {}))), scratch.path("none.npy"), "");
    const std::string reader = model_with_tokenizer(scratch);
    VERIFY_REFUSED(short_run("run", reader, scratch.write("empty.txt", "")), scratch.path("empty.txt"), "");
  }

  void token_ids_outside_the_vocabulary() {
    const Scratch scratch;
    VERIFY_REFUSED(run_on(scratch.write("high.npy", npy_ids("(1, 2)", {3, 50}))), scratch.path("high.npy"), "50");
    VERIFY_REFUSED(run_on(scratch.write("low.npy", npy_ids("(1, 2)", {3, -1}))), scratch.path("low.npy"), "-1");
  }

  void text_that_is_not_utf8() {
    const Scratch scratch;
    const std::string reader = model_with_tokenizer(scratch);
    VERIFY_REFUSED(short_run("run", reader, scratch.write("bad.txt", "fine\nnot \xff fine\n")), scratch.path("bad.txt"),
                   "UTF-8");
    VERIFY_REFUSED(short_run("run", reader, scratch.write("bad.jsonl", "{\"text\": \"\xff\"}\n")),
                   scratch.path("bad.jsonl"), "UTF-8");
  }

  void lines_that_are_no_json() {
    const Scratch scratch;
    const std::string reader = model_with_tokenizer(scratch);
    VERIFY_REFUSED(short_run("run", reader, scratch.write("bad.jsonl", "{\"text\": \"a\"}\n{\"text\"\n")),
                   scratch.path("bad.jsonl"), "line 2");
    VERIFY_REFUSED(short_run("run", reader, scratch.write("other.jsonl", "{\"words\": \"a\"}\n")),
                   scratch.path("other.jsonl"), "text");
  }

  void text_for_a_model_without_tokenizer() {
    const Scratch scratch;
    VERIFY_REFUSED(run_on(scratch.write("words.txt", "some words\n")), scratch.path("words.txt"), "tokenizer");
  }

  void a_sequence_longer_than_the_model_takes() {
    const Scratch scratch;
    const ModelCopy model(mixtral_model());
    model.change_config([](nlohmann::json& c) { c["max_position_embeddings"] = 6; });
    const Arguments refused = short_run("run", model.folder(), "random:2x9");
    VERIFY_REFUSED(refused, "random:2x9", "--truncate");
    const Arguments cut = short_run("run", model.folder(), "random:2x9", {"--truncate", "--json", "-"});
    const Ended done = run_program(cut);
    VERIFY_DONE(done, cut);
    QCOMPARE(done.json()["dataset"]["truncated"].get<int>(), 2);
  }

  // Configurations and jobs ------------------------------------------------------------------------------------------

  void configurations_to_replay_that_are_none() {
    const Scratch scratch;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& words) {
      const std::string file = scratch.write(name, text);
      VERIFY_REFUSED(run_on(switch_data(), {"--config", file}), file, words);
    };
    refused("empty.json", "", "");
    refused("other.json", "{\"schema\": \"stormcell.jobs/1\"}",
            "is a list of jobs, not a configuration that optimize wrote");
    refused("types.json", "{\"schema\": \"stormcell.config/1\", \"passes\": 3}", "");
    refused("keys.json", "{\"schema\": 5, \"device\": 7, \"passes\": []}", "");
    refused("device.json", "{\"schema\": \"stormcell.config/1\", \"device\": 7, \"passes\": {}}", "");
    refused("unknown.json", "{\"schema\": \"stormcell.config/1\", \"passes\": {\"magic\": {}}}", "magic");
    refused("planned.json", "{\"schema\": \"stormcell.config/1\", \"passes\": {\"capacity\": {}}}",
            "not in this version");
    VERIFY_REFUSED(run_on(switch_data(), {"--config", "no/such.json"}), "no/such.json", "");
  }

  void jobs_that_are_none() {
    const Scratch scratch;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& words) {
      const std::string file = scratch.write(name, text);
      VERIFY_REFUSED((Arguments{"batch", file}), file, words);
    };
    refused("empty.json", "", "");
    refused("array.json", "[]", "");
    refused("schema.json", "{\"schema\": \"stormcell.jobs/2\", \"jobs\": []}", "stormcell.jobs/1");
    refused("none.json", "{\"schema\": \"stormcell.jobs/1\"}", "jobs");
    refused("args.json", "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"name\": \"a\"}]}", "args");
    refused("types.json", "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"args\": [1]}]}", "");
    refused("itself.json", "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"args\": [\"batch\", \"itself.json\"]}]}",
            "");
    refused("twice.json",
            "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"name\": \"a\", \"args\": [\"doctor\"]}, {\"name\": "
            "\"a\", \"args\": "
            "[\"doctor\"]}]}",
            "twice");
    VERIFY_REFUSED((Arguments{"batch", "no/such.json"}), "no/such.json", "");
  }
};

STORMCELL_TEST(BadInputTest)

}  // namespace stormcell::testing

#include "bad_input_test.moc"
