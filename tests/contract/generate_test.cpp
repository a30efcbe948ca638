// Decoding: where it ends, which models can, what is recorded of its labels, and other number formats than the stored
// one.
#include <map>
#include <numeric>

#include "core/base/dtype.h"
#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

/// A copy of a model folder in which every f32 matrix is stored as bf16; vectors stay as they are.
std::string stored_as_bf16(const std::string& model, const Scratch& scratch) {
  const auto file = SafetensorsFile::open(model + "/model.safetensors");
  std::vector<TensorToWrite> tensors;
  std::vector<std::vector<uint16_t>> rounded;
  rounded.reserve(file->tensors().size());
  for (const StoredTensor& t : file->tensors()) {
    tensors.push_back({t.name, t.dtype, t.shape, t.bytes.data()});
    if (t.dtype != DType::f32 || t.shape.size() < 2) continue;
    rounded.emplace_back(static_cast<size_t>(t.elements()));
    const auto* values = reinterpret_cast<const float*>(t.bytes.data());
    for (size_t i = 0; i < rounded.back().size(); ++i) rounded.back()[i] = f32_to_bf16(values[i]);
    tensors.back().dtype = DType::bf16;
    tensors.back().data = rounded.back().data();
  }
  scratch.write("bf16/config.json", Scratch::read(model + "/config.json"));
  write_safetensors(scratch.path("bf16/model.safetensors"), tensors);
  return scratch.path("bf16");
}

}  // namespace

class GenerateTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// A file of four prompts, of 5, 30, 1 and 17 cells.
  std::string unlike_prompts() const {
    const std::vector<int64_t> lengths = {5, 30, 1, 17};
    constexpr int64_t kLength = 30;
    std::vector<int32_t> ids, mask;
    for (size_t s = 0; s < lengths.size(); ++s)
      for (int64_t i = 0; i < kLength; ++i) {
        // The last sequence begins with its padding.
        const bool real = s == 3 ? i >= kLength - lengths[s] : i < lengths[s];
        mask.push_back(real);
        ids.push_back(real ? static_cast<int32_t>(3 + (i * 7 + static_cast<int64_t>(s) * 5) % 45) : 0);
      }
    const std::vector<int64_t> shape = {static_cast<int64_t>(lengths.size()), kLength};
    std::string data = scratch_.path("unlike.safetensors");
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i32, shape, ids.data()},
                                                {"attention_mask", DType::i32, shape, mask.data()}};
    write_safetensors(data, tensors);
    return data;
  }

 private slots:
  void labels_are_recorded_with_every_turn_data() {
    QTest::addColumn<bool>("by_length");
    QTest::newRow("as given") << false;
    QTest::newRow("batches of like length") << true;
  }
  void labels_are_recorded_with_every_turn() {
    QFETCH(const bool, by_length);
    const std::vector<std::pair<std::string, std::string>> names = {
        {"Москва", "ru"}, {"Афіни", "uk"}, {"Αθήνα", "el"}, {"Волга", "ru"}, {"Κρήτη", "el"}};
    std::string lines;
    // cells that the encoder reads of a label: its letters, the mark before them, the end
    std::map<std::string, int64_t> read;
    for (const auto& [text, label] : names) {
      lines += Json{{"text", text}, {"language", label}}.dump() + "\n";
      read[label] +=
          static_cast<int64_t>(QString::fromStdString(text).normalized(QString::NormalizationForm_KD).size()) + 2;
    }
    const std::string data = scratch_.write("names.jsonl", lines),
                      session = scratch_.path(by_length ? "like.storm" : "labels.storm");
    Arguments arguments = {"generate",
                           "demo:switch-names",
                           "--data",
                           data,
                           "--label-field",
                           "language",
                           "--batch",
                           "2",
                           "--max-new-tokens",
                           "12",
                           "--record-inputs",
                           "-o",
                           session};
    if (by_length) arguments.emplace_back("--bucket-by-length");
    const Json figures = json_of(arguments);
    std::map<std::string, int64_t> written;  // tokens that were decoded
    for (size_t i = 0; i < names.size(); ++i)
      written[names[i].second] += static_cast<int64_t>(figures["outputs"][i]["ids"].size());

    const SessionReader reader(session);
    const int64_t run = reader.find_run("").id;
    const std::vector<SequenceInput> inputs = reader.inputs(run, {0, 10});
    QCOMPARE(inputs.size(), names.size());
    for (const SequenceInput& input : inputs) {
      QCOMPARE(input.label, names[static_cast<size_t>(input.sequence)].second);
      QCOMPARE(input.text, names[static_cast<size_t>(input.sequence)].first);
    }
    const RunLayout layout = reader.layout(run);
    QCOMPARE(layout.routers.size(), size_t{3});
    for (size_t r = 0; r < layout.routers.size(); ++r) {
      const auto& expected = layout.routers[r].name.starts_with("decoder") ? written : read;
      const std::vector<LabelLoads> labels = reader.label_loads(run, static_cast<int32_t>(r));
      QCOMPARE(labels.size(), expected.size());
      for (const LabelLoads& l : labels) {
        QCOMPARE(l.cells, expected.at(l.label));
        QCOMPARE(std::accumulate(l.load.begin(), l.load.end(), int64_t{0}), l.cells);  // nothing is dropped
      }
      QVERIFY(figures["routing"][r]["label_information"].is_number());
    }
    // Five names in twos: however many turns are recorded.
    QCOMPARE(json_of({"inspect", session})["runs"][0]["batches"].get<int64_t>(), int64_t{3});
    const std::string page = scratch_.path("decoded.html");
    const Arguments report = {"report", session, "-o", page};
    VERIFY_DONE(run_program(report), report);
    QVERIFY(Scratch::read(page).find(": 3 batches") != std::string::npos);
    const Arguments table = {"export", session, "--format", "csv", "--what", "labels"};
    const Ended exported = run_program(table);
    VERIFY_DONE(exported, table);
    QCOMPARE(std::count(exported.out.begin(), exported.out.end(), '\n'), std::ptrdiff_t{2 + 3 * 3 * 8});
  }

  void batches_of_like_length_answer_in_the_order_that_was_given() {
    const std::vector<std::string> names = {"Москва",          "Афины на море", "Αθήνα",          "Волга",
                                            "Ρόδος και Κρήτη", "Кио",           "Санкт-Петербург"};
    std::string lines;
    for (const std::string& name : names) lines += name + "\n";
    const std::string data = scratch_.write("lengths.txt", lines);
    const Arguments plain = {"generate", "demo:switch-names", "--data", data, "--batch", "2", "--max-new-tokens", "12"};
    Arguments by_length = plain;
    by_length.emplace_back("--bucket-by-length");
    const Json given = json_of(plain), like = json_of(by_length);
    QVERIFY(like["dataset"]["cells"].get<int64_t>() < given["dataset"]["cells"].get<int64_t>());
    QCOMPARE(like["outputs"].size(), names.size());
    QCOMPARE(like["outputs"].dump(), given["outputs"].dump());
  }

  /// Padding in a batch is nobody's: it is not computed, kept or attended to, wherever it stands.
  void sequences_of_unlike_length_answer_as_if_alone() {
    const std::string data = unlike_prompts();
    const auto generate = [&](const std::string& batch) {
      return json_of({"generate", mixtral_model(), "--data", data, "--batch", batch, "--max-new-tokens", "8"});
    };
    const Json alone = generate("1"), together = generate("4");
    QCOMPARE(alone["outputs"].size(), size_t{4});
    QCOMPARE(together["outputs"].dump(), alone["outputs"].dump());
    QVERIFY2(together["verified"]["passed"].get<bool>(), together["verified"].dump(1).c_str());
  }

  /// Each turn's cells stand behind their own prompts, in the session, in what is exported, and in what comes back from
  /// that.
  void turns_behind_prompts_of_unlike_length_are_recorded_where_they_stand() {
    const std::string data = unlike_prompts(), session = scratch_.path("unlike.storm"),
                      back = scratch_.path("unlike-back.storm"), trace = scratch_.path("unlike-trace.safetensors");
    json_of({"generate", mixtral_model(), "--data", data, "--batch", "4", "--max-new-tokens", "8", "-o", session});
    // Behind the last real cell: of the last prompt, whose padding stands first, that is the end of the row.
    const std::vector<int32_t> behind = {5, 30, 1, 30};
    VERIFY_DONE(run_program({"export", session, "--format", "native", "-o", trace}), Arguments{"export"});
    VERIFY_DONE(run_program({"import", trace, "-o", back}), Arguments{"import"});
    for (const std::string& file : {session, back}) {
      const SessionReader reader(file);
      const RunSummary run = reader.find_run("");
      int32_t turns = 0;
      for (int64_t b = 0; b < run.batches; ++b)
        for (const BatchSpace& space : reader.spaces(run.id, b)) {
          if (space.cells.phase != Phase::decode) {
            QCOMPARE(space.cells.cells(), int64_t{4 * 30});
            continue;
          }
          for (int64_t s = 0; s < 4; ++s) QCOMPARE(space.cells.position(s), behind[static_cast<size_t>(s)] + turns);
          ++turns;
        }
      QCOMPARE(turns, 7);
      reader.check();
    }
    const Arguments table = {"export", session, "--format", "csv", "--what", "decisions"};
    const std::string rows = run_program(table).out, phase_cells = ",2,3,3,";  // sequence 2, position 3, step 3
    QVERIFY2(rows.find(phase_cells) != std::string::npos && rows.find(",2,33,33,") == std::string::npos,
             rows.substr(0, 400).c_str());
  }

  void weights_converted_at_load_decode_as_weights_that_are_stored_so_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("encoder-decoder") << QString::fromStdString(switch_model());
    QTest::newRow("decoder-only") << QString::fromStdString(mixtral_model());
  }
  void weights_converted_at_load_decode_as_weights_that_are_stored_so() {
    QFETCH(const QString, model);
    const Scratch scratch;
    const auto generate = [&](const std::string& from, const Arguments& more) {
      Arguments arguments = {"generate", from, "--data", "random:6x9", "--batch", "4", "--max-new-tokens", "8"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      return json_of(arguments);
    };
    const std::string session = scratch.path("bf16.storm");
    const Json converted = generate(model.toStdString(), {"--dtype", "bf16", "-o", session}),
               stored = generate(stored_as_bf16(model.toStdString(), scratch), {});
    QCOMPARE(converted["outputs"].dump(), stored["outputs"].dump());
    QCOMPARE(converted["routing"].dump(), stored["routing"].dump());
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("");
    QCOMPARE(static_cast<int>(run.status), static_cast<int>(RunStatus::finished));
    QCOMPARE(reader.total_loads(run.id, 0).load, converted["routing"][0]["load"].get<std::vector<int64_t>>());
  }

  void generate_counts_every_end_token() {
    const Arguments plain = short_run("generate", switch_model(), "random:4x6", {"--max-new-tokens", "5"});
    const Json before = json_of(plain);
    const int end = before["outputs"][0]["ids"][1].get<int>();
    int64_t stopped = 0;
    for (const Json& output : before["outputs"]) {
      const auto ids = output["ids"].get<std::vector<int>>();
      stopped += std::find(ids.begin(), ids.end(), end) != ids.end() || ids.back() == 1;
    }
    const ModelCopy model;
    model.write("generation_config.json",
                Json{{"eos_token_id", {1, end}}, {"pad_token_id", 0}, {"decoder_start_token_id", 0}}.dump());
    const Json after = json_of(short_run("generate", model.folder(), "random:4x6", {"--max-new-tokens", "5"}));
    QVERIFY(stopped > before["stopped"]["eos"].get<int64_t>());
    QCOMPARE(after["stopped"]["eos"].get<int64_t>(), stopped);
    QCOMPARE(after["outputs"][0]["ids"].back().get<int>(), end);
  }

  void generate_of_a_decoder_only_model() {
    const Json j = json_of(short_run("generate", mixtral_model(), "random:2x5", {"--max-new-tokens", "3"}));
    QCOMPARE(j["sequences"].get<int>(), 2);
  }

  void generate_of_a_model_without_decoder_is_refused() {
    const Arguments arguments = short_run("generate", switch_model("encoder-only-dense"), "random:2x5");
    VERIFY_REFUSED(arguments, switch_model("encoder-only-dense"), "generate");
  }

  void a_number_format_that_is_none_is_refused() {
    VERIFY_REFUSED((Arguments{"generate", switch_model(), "--data", "random:2x3", "--dtype", "f64"}), "--dtype",
                   "f32 or bf16");
  }
};

STORMCELL_TEST(GenerateTest)

}  // namespace stormcell::testing

#include "generate_test.moc"
