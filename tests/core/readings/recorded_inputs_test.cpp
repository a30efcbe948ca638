// Whatever asks what a run keeps of its inputs, the answer is one.
#include "core/readings/contents_view.h"
#include "core/readings/run_facts.h"
#include "core/readings/session_contents.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class RecordedInputsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string recorded(const char* name, bool tokens, const std::vector<const char*>& labels, const char* text) {
    const std::string path = folder_.filePath(name).toStdString();
    RunStart start = some_run();
    start.inputs = true;
    start.layout.spaces = {"tokens"};
    start.layout.routers = {{"r", 2, 1, "top-k", 0, "tokens"}};
    start.layout.edges.clear(), start.layout.steps.clear();
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(start);
    BatchRecord batch;
    const std::vector<int32_t> ids(labels.size(), 7), choice(labels.size(), 1);
    batch.add_space(0, {0, static_cast<int32_t>(labels.size()), 1}, {},
                    tokens ? std::span(ids) : std::span<const int32_t>());
    DecisionRecord decision;
    decision.choice = choice;
    batch.add_decision(decision);
    for (const char* label : labels) batch.add_sequence(label, text);
    run->batch(batch);
    run->finish(RunStatus::finished);
    run.reset();
    writer.close();
    return path;
  }

 private slots:
  void every_reading_says_the_same_data() {
    QTest::addColumn<bool>("tokens");
    QTest::addColumn<bool>("labels");
    QTest::addColumn<QString>("text");
    QTest::newRow("nothing") << false << false << "";
    QTest::newRow("tokens") << true << false << "";
    QTest::newRow("texts") << false << false << "a text";
    QTest::newRow("labels, not of the first item") << false << true << "";
    QTest::newRow("everything") << true << true << "a text";
  }
  void every_reading_says_the_same() {
    QFETCH(bool, tokens);
    QFETCH(bool, labels);
    QFETCH(QString, text);
    const std::vector<const char*> names =
        labels ? std::vector<const char*>{"", "", "de"} : std::vector<const char*>{"", "", ""};
    const std::string path = recorded(QTest::currentDataTag(), tokens, names, text.toUtf8().constData());
    const bool texts = !text.isEmpty();
    const auto facts = read_run_facts(path, 1);
    QCOMPARE(facts->inputs, tokens || texts);
    QCOMPARE(facts->labels, labels);
    const auto data = read_session_data(path, 1);
    const RunContents& run = data->runs.at(0);
    QVERIFY(run.has(Kept::tokens) == tokens && run.has(Kept::texts) == texts && run.has(Kept::labels) == labels);
    const SessionContents contents = session_contents(path);
    QCOMPARE(contents.private_texts, tokens || texts);
    const auto said = [&](const char* words) {
      return std::any_of(contents.holds.begin(), contents.holds.end(),
                         [&](const std::string& s) { return s.starts_with(words); });
    };
    QVERIFY(said("The labels of the data") == labels && said("The texts of the data") == texts &&
            said("The token ids") == tokens);
  }
};
STORMCELL_TEST(RecordedInputsTest)
#include "recorded_inputs_test.moc"
