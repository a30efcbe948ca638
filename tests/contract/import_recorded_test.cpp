// Traces that the recorders of resources/recorders wrote (tests/reference/make_recorded.py): what the session holds of
// them.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "tests/contract/imports.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {
namespace {

std::string recorded(const std::string& name) { return reference_path("recorded/" + name); }

/// The text of each token of a native trace.
std::map<int32_t, std::string> texts_of(const SafetensorsFile& file) {
  std::map<int32_t, std::string> texts;
  const auto &ids = *file.find("token.id"), &ends = *file.find("token.end"), &text = *file.find("token.text");
  int64_t begin = 0;
  for (int64_t i = 0; i < ids.shape[0]; ++i) {
    int32_t id = 0;
    int64_t end = 0;
    std::memcpy(&id, ids.bytes.data() + i * sizeof id, sizeof id);
    std::memcpy(&end, ends.bytes.data() + i * sizeof end, sizeof end);
    texts[id] = std::string(reinterpret_cast<const char*>(text.bytes.data()) + begin, end - begin);
    begin = end;
  }
  return texts;
}
std::vector<std::byte> bytes_of(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  return tensor ? std::vector<std::byte>(tensor->bytes.begin(), tensor->bytes.end()) : std::vector<std::byte>();
}

}  // namespace

class ContractImportRecordedTest : public QObject, private Imports {
  Q_OBJECT
  const Json expected_ = Json::parse(Scratch::read(recorded("expected.json")));

  std::string session_of(const std::string& name) { return scratch_.path(name + ".storm"); }

 private slots:
  void a_recording_comes_in_whole_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"olmoe", "every-second", "switch", "exits"}) QTest::newRow(name) << name;
  }
  void a_recording_comes_in_whole() {
    QFETCH(QString, name);
    const std::string trace = name.toStdString(), session = session_of(trace);
    const Json& expected = expected_[trace];
    const Json import = imported(recorded(trace + ".safetensors"), session);
    const std::string cut = expected["cut"];
    QCOMPARE(import["recorded"].get<std::string>(), cut.empty() ? std::string("complete") : cut);
    QCOMPARE(import["rows_read"].get<int64_t>() >= expected["choices"].get<int64_t>(), true);
    const Json analysis = analyzed(session);
    QCOMPARE(analysis["routers"].size(), expected["loads"].size());
    for (size_t r = 0; r < expected["loads"].size(); ++r)
      QVERIFY2((loads_of(analysis, r) == expected["loads"][r].get<std::vector<int64_t>>()),
               expected["loads"][r].dump().c_str());
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  void tokens_texts_and_margins_are_those_of_the_recording() {
    const std::string session = session_of("tokens");
    imported(recorded("olmoe.safetensors"), session);
    const Json& expected = expected_["olmoe"];
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("");
    std::vector<int32_t> tokens;
    std::vector<float> margins;
    for (int64_t b = 0; b < run.batches; ++b) {
      for (const BatchSpace& space : reader.spaces(run.id, b))
        tokens.insert(tokens.end(), space.tokens.begin(), space.tokens.end());
      const auto decision = reader.decision(run.id, 0, b);
      margins.insert(margins.end(), decision->margin.begin(), decision->margin.end());
    }
    QVERIFY((tokens == expected["tokens"].get<std::vector<int32_t>>()));
    QCOMPARE(margins.size(), expected["margins"].size());
    for (size_t i = 0; i < margins.size(); ++i)
      QVERIFY(std::fabs(margins[i] - expected["margins"][i].get<float>()) < 1e-5f);
    const std::map<int32_t, std::string> pieces = reader.pieces(tokens);
    QCOMPARE(pieces.size(), expected["ids"].size());
    for (size_t i = 0; i < pieces.size(); ++i)
      QCOMPARE(pieces.at(expected["ids"][i].get<int32_t>()), expected["texts"][i].get<std::string>());
  }

  void the_text_names_only_what_the_question_needs() {
    const std::string session = session_of("text");
    const Ended import = run_program({"import", recorded("olmoe.safetensors"), "-o", session});
    QVERIFY2(import.out.find("recorded") != std::string::npos && import.out.find("lacks") == std::string::npos,
             import.out.c_str());
    QVERIFY2(run_program({"analyze", session}).out.find("lacks") == std::string::npos, "analyze");
    const Json lacks = analyzed(session)["lacks"];
    QVERIFY(std::find(lacks.begin(), lacks.end(), Json("branch_bytes")) != lacks.end());
    VERIFY_REFUSED((Arguments{"analyze", session, "--cache", "lru", "--budget", "1GiB"}), "--cache",
                   "the data lacks branch_bytes");
  }

  void an_export_holds_all_that_was_recorded() {
    const std::string session = session_of("exported"), trace = scratch_.path("exported.safetensors");
    imported(recorded("olmoe.safetensors"), session);
    const Arguments arguments = {"export", session, "--format", "native", "-o", trace};
    VERIFY_DONE(run_program(arguments), arguments);
    const auto before = SafetensorsFile::open(recorded("olmoe.safetensors")), after = SafetensorsFile::open(trace);
    for (const char* name : {"cell.token", "cell.request", "cell.position", "cell.phase", "layer.0.indices",
                             "layer.0.weights", "layer.0.margins", "layer.1.margins"})
      QVERIFY2(!bytes_of(*before, name).empty() && bytes_of(*before, name) == bytes_of(*after, name), name);
    QVERIFY(!texts_of(*before).empty() && texts_of(*before) == texts_of(*after));
    for (const char* key : {"recorder", "cut"}) QCOMPARE(after->metadata().at(key), before->metadata().at(key));
    QCOMPARE(imported(trace, session_of("exported-again"))["recorded"].get<std::string>(), std::string("complete"));
  }

  void recordings_that_are_merged_keep_their_tokens() {
    const auto first = SafetensorsFile::open(recorded("olmoe.safetensors"));
    std::vector<TensorToWrite> tensors;
    for (const StoredTensor& tensor : first->tensors())
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
    SafetensorsMetadata about(first->metadata().begin(), first->metadata().end());
    about["cut"] = "a pass was left out";
    const std::string other = scratch_.path("other.safetensors"), a = session_of("part-a"), b = session_of("part-b"),
                      merged = session_of("merged"), trace = scratch_.path("merged.safetensors");
    write_safetensors(other, tensors, about);
    imported(first->path(), a), imported(other, b);
    for (const Arguments& arguments :
         {Arguments{"merge", a, b, "-o", merged}, Arguments{"export", merged, "--format", "native", "-o", trace}})
      VERIFY_DONE(run_program(arguments), arguments);
    const auto both = SafetensorsFile::open(trace);
    std::vector<std::byte> twice = bytes_of(*first, "cell.token");
    const std::vector<std::byte> once = twice;
    twice.insert(twice.end(), once.begin(), once.end());
    QVERIFY(!twice.empty() && bytes_of(*both, "cell.token") == twice);
    QVERIFY(texts_of(*both) == texts_of(*first));
    QCOMPARE(both->metadata().at("cut"), about["cut"]);  // the whole is as complete as its parts
    VERIFY_DONE(run_program({"inspect", merged, "--check"}), Arguments{"inspect"});
  }

  void exits_come_with_confidences_labels_and_times() {
    const std::string session = session_of("of-exits");
    const auto file = SafetensorsFile::open(recorded("exits.safetensors"));
    const Json import = imported(file->path(), session);
    QCOMPARE(import["exits"].size(), size_t{1});
    const Json& traced = import["exits"][0];
    QVERIFY2(traced["items"] == 40 && traced["labelled"] == 40 && traced["exits"].size() == 3, traced.dump().c_str());
    const auto number = [&](const char* name, auto value, int64_t i) {
      std::memcpy(&value, file->find(name)->bytes.data() + i * sizeof value, sizeof value);
      return value;
    };
    for (int64_t e = 0; e < 3; ++e) {
      double sum = 0, right = 0;
      for (int64_t c = 0; c < 40; ++c) {
        sum += static_cast<double>(number("exit.confidence", 0.0f, 3 * c + e));
        right += number("exit.prediction", 0, 3 * c + e) == number("exit.label", 0, c);
      }
      const Json& exit = traced["exits"][e];
      QVERIFY2(std::fabs(exit["confidence"].get<double>() - sum / 40) < 1e-9, exit.dump().c_str());
      QVERIFY2(std::fabs(exit["right"].get<double>() - right / 40) < 1e-9, exit.dump().c_str());
      // exits=None: the network returns its logits, so nobody knows when each was there.
      QVERIFY(exit["ms"].is_null() == std::isnan(number("exit.seconds", 0.0, e)));
    }
    const SessionReader reader(session);
    const auto decision = reader.decision(1, 0, 0);
    QVERIFY(decision && decision->score_columns == 1 && std::ssize(decision->scores) == decision->cells);
    for (int64_t c = 0; c < decision->cells; ++c) QCOMPARE(decision->scores[c], number("exit.confidence", 0.0f, 3 * c));
    QCOMPARE(std::ssize(decision->margin), decision->cells);
    for (int64_t c = 0; c < decision->cells; ++c)  // from the threshold of 0.6
      QVERIFY(std::fabs(decision->margin[c] - std::fabs(decision->scores[c] - 0.6f)) < 1e-6f);
    const std::vector<SequenceInput> items = reader.inputs(1);
    QCOMPARE(items.size(), size_t{40});
    for (const SequenceInput& item : items)
      QCOMPARE(item.label, std::to_string(number("exit.label", 0, item.sequence)));
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
    const Ended text = run_program({"import", file->path(), "-o", session_of("of-exits-text")});
    QVERIFY2(text.out.find("at exit 1") != std::string::npos && text.out.find("% right") != std::string::npos,
             text.out.c_str());
  }

  /// A broken score must not lower the mean as if it were 0.
  void a_confidence_that_is_no_number_is_left_out_of_the_mean() {
    const auto file = SafetensorsFile::open(recorded("exits.safetensors"));
    std::vector<float> confidences(120);
    std::memcpy(confidences.data(), file->find("exit.confidence")->bytes.data(), 120 * sizeof(float));
    double sum = 0;
    for (size_t c = 0; c < 40; ++c)
      if (c < 10)
        confidences[3 * c] = std::numeric_limits<float>::quiet_NaN();
      else
        sum += static_cast<double>(confidences[3 * c]);
    std::vector<TensorToWrite> tensors;
    for (const StoredTensor& tensor : file->tensors())
      tensors.push_back(
          {tensor.name, tensor.dtype, tensor.shape,
           tensor.name == "exit.confidence" ? static_cast<const void*>(confidences.data()) : tensor.bytes.data()});
    const std::string path = scratch_.path("broken-scores.safetensors");
    write_safetensors(path, tensors, SafetensorsMetadata(file->metadata().begin(), file->metadata().end()));
    const Json exit = imported(path, session_of("broken-scores"))["exits"][0]["exits"][0];
    QVERIFY2(std::fabs(exit["confidence"].get<double>() - sum / 30) < 1e-9, exit.dump().c_str());
  }

  void items_of_merged_recordings_keep_their_labels() {
    const std::string a = session_of("exits-a"), b = session_of("exits-b"), merged = session_of("exits-merged");
    for (const std::string& session : {a, b}) imported(recorded("exits.safetensors"), session);
    const Arguments arguments = {"merge", a, b, "-o", merged};
    VERIFY_DONE(run_program(arguments), arguments);
    const std::vector<SequenceInput> one = SessionReader(a).inputs(1), both = SessionReader(merged).inputs(1);
    QVERIFY(one.size() == 40 && both.size() == 80);
    for (size_t i = 0; i < both.size(); ++i) QCOMPARE(both[i].label, one[i % 40].label);
    VERIFY_DONE(run_program({"inspect", merged, "--check"}), Arguments{"inspect"});
  }

  void exits_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("words");
    QTest::newRow("shape") << "exit.confidence"
                           << "exit.confidence is not a table of a confidence an exit";
    QTest::newRow("type") << "exit.prediction"
                          << "exit.prediction is f32 [40, 3], expected i32 [40, 3]";
    QTest::newRow("label") << "exit.label"
                           << "of exit.label is -2";
  }
  void exits_that_are_wrong_are_refused() {
    QFETCH(QString, name);
    QFETCH(QString, words);
    const auto file = SafetensorsFile::open(recorded("exits.safetensors"));
    std::vector<TensorToWrite> tensors;
    const std::vector<int32_t> labels(40, -2);
    for (const StoredTensor& tensor : file->tensors()) {
      tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
      if (tensor.name != name.toStdString()) continue;
      if (tensor.name == "exit.confidence") tensors.back().shape = {120};
      if (tensor.name == "exit.prediction") tensors.back().dtype = DType::f32;
      if (tensor.name == "exit.label") tensors.back().data = labels.data();
    }
    const std::string path = scratch_.path("wrong-" + name.toStdString() + ".safetensors");
    write_safetensors(path, tensors, SafetensorsMetadata(file->metadata().begin(), file->metadata().end()));
    VERIFY_REFUSED((Arguments{"import", path, "-o", session_of("wrong")}), path, words.toStdString());
  }

  void a_dropped_token_of_switch_is_a_dropped_one_here() {
    const std::string session = session_of("dropped");
    imported(recorded("switch.safetensors"), session);
    const SessionReader reader(session);
    int64_t dropped = 0;
    for (int32_t r = 0; r < 4; ++r)
      for (const int64_t n : reader.total_loads(1, r).dropped) dropped += n;
    QVERIFY(dropped > 0);
  }
};

STORMCELL_TEST(ContractImportRecordedTest)

}  // namespace stormcell::testing

#include "import_recorded_test.moc"
