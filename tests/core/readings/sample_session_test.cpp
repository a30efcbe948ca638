// The session that comes with the program: of this version's schema, verified, telling nothing of the machine's
// folders, and kept as it is.
#include <nlohmann/json.hpp>

#include "core/readings/session_contents.h"
#include "core/session/session_reader.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class SampleSessionTest : public QObject {
  Q_OBJECT
 private slots:
  void it_shows_a_verified_run_with_its_inputs() {
    const SessionReader sample(sample_session());
    const std::vector<RunSummary> runs = sample.runs();
    QVERIFY(!runs.empty());
    for (const RunSummary& run : runs) {
      QVERIFY(run.status == RunStatus::finished && run.batches > 0);
      QVERIFY(!sample.inputs(run.id, {0, 1}).at(0).text.empty());
    }
    const auto summary = nlohmann::json::parse(runs.back().summary);
    QCOMPARE(summary["schema"].get<std::string>(), std::string("stormcell.optimize/1"));
    QVERIFY(summary["verified"]["passed"].get<bool>() && summary["speedup"].is_number());
  }

  void it_names_its_machine_but_no_folder_of_it() {
    const SessionReader sample(sample_session());
    for (const RunSummary& run : sample.runs()) {
      QVERIFY(!nlohmann::json::parse(run.machine)["name"].get<std::string>().empty());
      for (const std::string* text : {&run.config, &run.dataset, &run.summary})
        for (const char* folder : {"\"/", "/home/", "/tmp/"})
          QVERIFY2(text->find(folder) == std::string::npos, text->c_str());
    }
  }

  void it_stays_as_it_was_recorded() { QVERIFY(!session_is_writable(sample_session())); }
};
STORMCELL_TEST(SampleSessionTest)
#include "sample_session_test.moc"
