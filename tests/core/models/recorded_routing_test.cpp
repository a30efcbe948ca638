// Every decision of a trace that others recorded on the trained google/switch-base-8 is met. Needs the checkpoint: set
// STORMCELL_SWITCH_BASE_8 to its folder.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/thread_team.h"
#include "core/formats/tokenizer.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class RecordedRoutingTest : public QObject {
  Q_OBJECT
 private slots:
  void every_recorded_decision_is_met() {
    const char* folder = std::getenv("STORMCELL_SWITCH_BASE_8");
    if (!folder || !*folder) QSKIP("set STORMCELL_SWITCH_BASE_8 to the folder of google/switch-base-8");
    if (shared_folder().empty()) QSKIP("../shared is absent: no recorded trace");
    const std::string traces = shared_folder() + "/data/traces/";
    const auto trace = nlohmann::json::parse(std::ifstream(traces + "switch-base-8.router-trace.v2.json"));
    const auto prompts = nlohmann::json::parse(std::ifstream(traces + "switch-base-8.prompts.json"));
    const auto model = open_model(folder);
    QVERIFY(model->tokenizer);

    // One sentence a batch: nothing is padded, as in the trace.
    size_t token = 0, flips = 0;
    const auto& selections = trace.at("selections");
    for (const auto& prompt : prompts.at("prompts")) {
      ModelInputs in;
      in.values["input_ids"] = model->tokenizer->encode(prompt.at("text").get<std::string>(), true);
      in.sequences = 1;
      in.length = static_cast<int64_t>(in.values["input_ids"].size());
      in.decoder_length = 1;
      in.values["decoder_input_ids"] = {model->tokens.decoder_start};
      in.values["attention_mask"].assign(in.values["input_ids"].size(), 1);
      in.values["decoder_attention_mask"] = {1};
      OracleOptions options;
      options.threads = available_cores();
      const auto result = run_oracle<float>(*model, *model->forward, in, 0, options);
      std::vector<const OracleDecision*> encoder;
      for (const OracleDecision& d : result.decisions)
        if (d.router.starts_with("encoder.")) encoder.push_back(&d);
      QCOMPARE(encoder.size(), trace.at("layers").get<size_t>());
      for (int64_t t = 0; t < in.length; ++t, ++token) {
        QVERIFY(token < selections.size());
        for (size_t layer = 0; layer < encoder.size(); ++layer) {
          const int32_t came = encoder[layer]->choice[static_cast<size_t>(t)],
                        recorded = selections[token][layer][0].get<int32_t>();
          if (came == recorded) continue;
          ++flips;
          qInfo("token %zu, layer %zu: %d, recorded %d, margin %g", token, layer, came, recorded,
                static_cast<double>(encoder[layer]->margin[static_cast<size_t>(t)]));
        }
      }
    }
    QCOMPARE(token, selections.size());
    QCOMPARE(flips, size_t{0});
  }
};
STORMCELL_TEST(RecordedRoutingTest)
#include "recorded_routing_test.moc"
