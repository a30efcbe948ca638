// The keys that config.json may have, or leave out, and what becomes of it.
#include <filesystem>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>

#include "core/formats/safetensors_writer.h"
#include "core/graph/operator.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
namespace fs = std::filesystem;

class ConfigurationTest : public QObject {
  Q_OBJECT

  fs::path folder_;

  void copy_model(const std::string& from) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "input.safetensors"})
      if (const fs::path file = fs::path(source_folder()) / "tests/reference" / from / name; fs::exists(file))
        fs::copy_file(file, folder_ / name);
  }
  template <class Change>
  void change(const char* name, Change edit) {
    nlohmann::json json = nlohmann::json::parse(std::ifstream(folder_ / name));
    edit(json);
    std::ofstream(folder_ / name) << json.dump(2);
  }
  std::shared_ptr<const Model> open() { return open_model(folder_.string()); }
  ModelInputs inputs() { return read_inputs((folder_ / "input.safetensors").string()); }

 private slots:
  void initTestCase() {
    folder_ =
        fs::temp_directory_path() / ("stormcell-configuration-" + std::to_string(QCoreApplication::applicationPid()));
  }
  void cleanupTestCase() { fs::remove_all(folder_); }

  void without_architectures_the_tensors_tell_what_parts_there_are() {
    copy_model("switch/encoder-only-16-experts-gelu");
    change("config.json", [](auto& c) { c.erase("architectures"); });
    QVERIFY(!open()->has_decoder);
    QVERIFY(!open()->generates);
    copy_model("switch/encoder-decoder-8-experts");
    change("config.json", [](auto& c) { c.erase("architectures"); });
    QVERIFY(open()->has_decoder);
    QVERIFY(open()->generates);
    change("config.json", [](auto& c) { c["architectures"] = {"SwitchTransformersModel"}; });
    QVERIFY(open()->has_decoder);
    QVERIFY(!open()->generates);
    copy_model("mixtral/top-1-of-4-right-padding-tied");
    change("config.json", [](auto& c) { c.erase("architectures"); });
    QVERIFY(open()->generates);
    QCOMPARE(open()->max_length, int64_t{131072});
  }

  void a_tied_table_may_have_any_of_its_names() {
    copy_model("switch/encoder-decoder-8-experts");
    const ModelInputs in = inputs();
    const auto before = run_oracle<float>(*open(), *open()->forward, in);
    const std::string path = (folder_ / "model.safetensors").string();
    for (const char* name : {"encoder.embed_tokens.weight", "lm_head.weight"}) {
      std::list<std::vector<std::byte>> bytes;
      std::vector<TensorToWrite> tensors;
      const auto file = SafetensorsFile::open(path);
      for (const StoredTensor& t : file->tensors()) {
        bytes.emplace_back(t.bytes.begin(), t.bytes.end());
        const bool table = t.shape == std::vector<int64_t>{50, 32};
        tensors.push_back({table ? name : t.name, t.dtype, t.shape, bytes.back().data()});
      }
      write_safetensors(path, tensors);
      const auto model = open();
      QVERIFY(model->warnings.empty());
      const auto after = run_oracle<float>(*model, *model->forward, in);
      QVERIFY(after.output(kLogits).reals == before.output(kLogits).reals);
    }
  }

  void dropped_tokens_give_what_the_attribute_says() {
    copy_model("switch/capacity-drops-tokens");
    const ModelInputs in = inputs();
    OracleOptions keep;
    keep.keep_values = true;
    const auto zero = run_oracle<float>(*open(), *open()->forward, in, 0, keep);
    change("config.json", [](auto& c) { c["stormcell_dropped"] = "scaled_input"; });
    const auto model = open();
    const auto scaled = run_oracle<float>(*model, *model->forward, in, 0, keep);
    // In the first router both see the same cells: a dropped one gives 0, or its probability times its normed state.
    const OracleDecision& d = scaled.decisions[0];
    const auto joined = [&](const OracleResult<float>& r) {
      return r.values.at(model->forward->find_value(d.router + ".joined")).reals;
    };
    const std::vector<float> a = joined(zero), b = joined(scaled),
                             normed = scaled.values.at(model->forward->find_value("encoder.block.0.layer.1.layer_norm"))
                                          .reals;
    const size_t width = a.size() / d.choice.size();
    size_t dropped = 0;
    for (size_t i = 0; i < d.choice.size(); ++i)
      for (size_t x = i * width; x < (i + 1) * width; ++x) {
        if (is_dropped(d.choice[i])) {
          ++dropped;
          QCOMPARE(a[x], 0.0f);
          QCOMPARE(b[x], d.weight[i] * normed[x]);
        } else {
          QCOMPARE(a[x], b[x]);
        }
      }
    QVERIFY(dropped > 0);
  }

  void any_of_several_end_tokens_ends_a_sequence() {
    copy_model("switch/encoder-decoder-8-experts");
    const ModelInputs in = inputs();
    const int64_t most = 12;
    const auto plain = open();
    const std::vector<int32_t> whole =
        run_oracle<float>(*plain, *plain->generate(), in, most).output(kGenerated).integers;
    // The third token of the first sequence becomes an end token, too.
    const int32_t also = whole[2];
    QVERIFY(also > 1);
    change("generation_config.json", [&](auto& c) { c["eos_token_id"] = {1, also}; });
    const auto model = open();
    QCOMPARE(model->tokens.end, 1);
    const std::vector<int32_t> cut =
        run_oracle<float>(*model, *model->generate(), in, most).output(kGenerated).integers;
    for (int64_t row = 0; row < in.sequences; ++row) {
      bool ended = false;
      for (int64_t t = 0; t < most; ++t) {
        const auto at = static_cast<size_t>(row * most + t);
        QCOMPARE(cut[at], ended ? -1 : whole[at]);
        ended = ended || whole[at] == also;
      }
    }
  }

  void what_decoding_does_not_do_is_said() {
    copy_model("switch/encoder-decoder-8-experts");
    QVERIFY(open()->unsupported.empty() && open()->warnings.empty());
    change("generation_config.json", [](auto& c) {
      c["num_beams"] = 4;
      c["do_sample"] = true;
      c["guidance_scale"] = 1.5;
      c["sequence_bias"] = {{{5}, -1.0}};
      c["my_own_rule"] = 1;
      // These keys have no effect.
      c["temperature"] = 0.6;
      c["length_penalty"] = 2.0;
      c["max_length"] = 512;
      c["repetition_penalty"] = 1;
      c["suppress_tokens"] = nullptr;
      c["bad_words_ids"] = std::vector<int>();
    });
    change("config.json", [](auto& c) { c["router_ignore_padding_tokens"] = true; });
    const auto model = open();
    QCOMPARE(model->unsupported.size(), size_t{1});
    QCOMPARE(model->warnings.size(), size_t{1});
    const std::string words =
        "generation_config.json: Stormcell generates greedily, so it does not follow \"do_sample\", "
        "\"guidance_scale\", "
        "\"my_own_rule\", \"num_beams\", \"sequence_bias\"";
    QVERIFY2(model->warnings[0].ends_with(words), model->warnings[0].c_str());
  }

  void the_fingerprint_tells_models_apart() {
    copy_model("switch/encoder-decoder-8-experts");
    const std::string first = open()->fingerprint;
    QCOMPARE(first.size(), size_t{64});
    QCOMPARE(open()->fingerprint, first);
    change("config.json", [](auto&) {});  // only its white space
    QCOMPARE(open()->fingerprint, first);
    change("config.json", [](auto& c) { c["expert_capacity"] = 63; });
    QVERIFY(open()->fingerprint != first);
    copy_model("switch/encoder-decoder-8-experts");
    {
      std::fstream file(folder_ / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('\1');
    }
    QVERIFY(open()->fingerprint != first);
  }

  void chains_of_branches_stand_in_one_piece() {
    for (const char* name : {"switch/encoder-decoder-8-experts", "mixtral/top-2-of-8-grouped-heads"}) {
      copy_model(name);
      const auto model = open();
      const auto generating = model->generate();
      for (const Graph* graph : {model->forward.get(), generating.get()}) {
        // In running order, a routed space that has been left is never entered again.
        std::set<SpaceId> left;
        SpaceId current = kNone;
        graph->for_each_node([&](NodeId id, int) {
          const Node& node = graph->node(id);
          if (node.op->name == "scatter" || node.outputs.empty()) return;
          const SpaceId space = graph->value(node.outputs[0]).type.space;
          const bool routed = space != kNone && graph->space(space).kind == SpaceKind::routed;
          if (routed) QVERIFY(!left.contains(space) || space == current);
          if (current != kNone && space != current) left.insert(current);
          current = routed ? space : kNone;
        });
        QVERIFY(left.size() >= 16);
      }
    }
  }
};
STORMCELL_TEST(ConfigurationTest)
#include "configuration_test.moc"
