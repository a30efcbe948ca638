// Keys of a config.json as users meet them: they give the same outputs, one warning, or one line of refusal.
#include <algorithm>
#include <cstring>

#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class ContractConfigKeysTest : public QObject {
  Q_OBJECT
  using Json = nlohmann::json;
  Scratch scratch_;

  /// A model whose rope_theta is 500.
  static std::string model_with_base_500() { return mixtral_model("top-3-of-8-sliding-window"); }
  std::string outputs(const std::string& model, const char* name) const {
    const std::string file = scratch_.path(name);
    const Arguments arguments = short_run("run", model, model_with_base_500() + "/input.safetensors",
                                          {"--verify-seconds", "0", "--outputs", file});
    const Ended ended = run_program(arguments);
    if (ended.exit != 0 || ended.err.find("nothing reads") != std::string::npos)
      QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
    // The header names the model's folder.
    const std::string bytes = Scratch::read(file);
    uint64_t header = 0;
    if (bytes.size() > sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
    return bytes.size() > sizeof header + header ? bytes.substr(sizeof header + header) : std::string();
  }

 private slots:
  void a_checkpoint_of_transformers_5_gives_what_the_old_form_gives() {
    const ModelCopy copy(model_with_base_500());
    const std::string old = outputs(model_with_base_500(), "old.safetensors");
    copy.change_config([](Json& c) {
      c.erase("rope_theta");
      c["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 500.0}};
      c["transformers_version"] = "5.0.0";
    });
    QVERIFY(!old.empty() && outputs(copy.folder(), "new.safetensors") == old);
    copy.change_config([](Json& c) { c.erase("rope_parameters"); });
    QVERIFY(outputs(copy.folder(), "default.safetensors") != old);
  }

  void other_positions_are_refused_in_one_line_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("yarn")
        << QByteArray("rope_parameters")
        << QByteArray(
               R"({"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 64})")
        << QByteArray("\"rope_parameters.rope_type\": expected \"default\"");
    QTest::newRow("partial") << QByteArray("rope_parameters")
                             << QByteArray(
                                    R"({"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5})")
                             << QByteArray("\"rope_parameters.partial_rotary_factor\": expected 1.0");
    QTest::newRow("linear") << QByteArray("rope_scaling") << QByteArray(R"({"type": "linear", "factor": 2.0})")
                            << QByteArray("\"rope_scaling.type\"");
    QTest::newRow("biases") << QByteArray("attention_bias") << QByteArray("true")
                            << QByteArray("\"attention_bias\": expected false");
  }
  void other_positions_are_refused_in_one_line() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, words);
    const ModelCopy copy(model_with_base_500());
    copy.change_config([&](Json& c) { c[key.toStdString()] = Json::parse(value.toStdString()); });
    VERIFY_REFUSED((Arguments{"inspect", copy.folder()}), copy.file("config.json"), words.toStdString());
  }

  void two_bases_that_differ_are_both_named() {
    const ModelCopy copy(model_with_base_500());
    copy.change_config([](Json& c) { c["rope_theta"] = 10000, c["rope_parameters"] = {{"rope_theta", 500.0}}; });
    VERIFY_REFUSED(
        (Arguments{"inspect", copy.folder()}), copy.file("config.json"),
        "\"rope_parameters.rope_theta\": expected 10000.0, the value of \"rope_theta\" in this file, got 500.0");
    const ModelCopy twice(model_with_base_500());
    twice.change_config([](Json& c) { c["num_experts"] = 64; });
    VERIFY_REFUSED((Arguments{"inspect", twice.folder()}), twice.file("config.json"),
                   "the value of \"num_local_experts\" in this file, another name of the same, got 64");
  }

  void a_misspelt_key_is_named_with_the_right_one() {
    const ModelCopy copy(model_with_base_500());
    copy.change_config([](Json& c) { c.erase("rope_theta"), c["rope_tehta"] = 500.0; });
    const Ended ended = run_program({"inspect", copy.folder()});
    QCOMPARE(ended.exit, 0);
    const std::string words = "nothing reads \"rope_tehta\" (did you mean rope_theta? Its default is used); ";
    QVERIFY2(ended.err.find(words) != std::string::npos, ended.err.c_str());
    // The base is given in its group: no default is used.
    const ModelCopy given(model_with_base_500());
    given.change_config([](Json& c) {
      c.erase("rope_theta"), c["rope_tehta"] = 7.0, c["rope_parameters"] = {{"rope_theta", 500.0}};
    });
    const Ended other = run_program({"inspect", given.folder()});
    QVERIFY2(other.err.find("nothing reads \"rope_tehta\"; ") != std::string::npos, other.err.c_str());
  }

  void keys_that_nothing_reads_are_one_warning() {
    const ModelCopy copy(model_with_base_500());
    copy.change_config(
        [](Json& c) { c["residual_gate"] = 0.5, c["temperature"] = 0.7, c["unknown_and_null"] = nullptr; });
    const Ended ended = run_program({"inspect", copy.folder()});
    QCOMPARE(ended.exit, 0);
    QVERIFY2(ended.err.starts_with("stormcell: warning: " + copy.file("config.json") +
                                   ": nothing reads \"residual_gate\", \"temperature\"; "),
             ended.err.c_str());
    QCOMPARE(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  }
};

STORMCELL_TEST(ContractConfigKeysTest)

}  // namespace stormcell::testing

#include "config_keys_test.moc"
