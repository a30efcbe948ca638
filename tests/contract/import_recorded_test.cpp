// Traces that the recorders of resources/recorders wrote (tests/reference/make_recorded.py): what the session holds of
// them.
#include <cmath>

#include "tests/contract/imports.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {
namespace {

std::string recorded(const std::string& name) { return reference_path("recorded/" + name); }

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
