// RouterTrace JSON.
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractImportJsonTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_router_trace_is_imported() {
    const TraceSize size;
    const std::string session = scratch_.path("json.storm");
    const Json import = imported(scratch_.write("trace.json", router_trace(size)), session);
    QCOMPARE(import["format"].get<std::string>(), std::string("router-trace"));
    QCOMPARE(import["model"]["name"].get<std::string>(), std::string("made/up"));
    QCOMPARE(import["rows_read"].get<int64_t>(), size.prompt * size.layers * size.k);
    const SessionReader reader(session);
    const Json about = Json::parse(reader.runs()[0].dataset);
    QCOMPARE(about["format"].get<std::string>(), std::string("router-trace"));
    QVERIFY2(about["origin"] == (Json{{"format", "RouterTrace v2"},
                                      {"scenario", "made [up] \"{"},
                                      {"source", R"({"kind":"synthetic","model":{"id":"made/up","revision":"1"}})"}}),
             about["origin"].dump().c_str());
    const auto decision = reader.decision(1, 1, 0);
    QVERIFY(decision && decision->cells == size.prompt);
    for (int64_t t = 0; t < size.prompt; ++t)
      for (int64_t j = 0; j < size.k; ++j)
        QCOMPARE(int64_t{decision->choice[static_cast<size_t>(t * size.k + j)]}, traced_expert(size, 0, t, 1, j));
  }

  void router_traces_that_are_wrong_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("words");
    QTest::newRow("expert too large") << "[[0,1]"
                                      << "[[0,8]"
                                      << "line 5: an expert is 8, 0 to 7 are allowed";
    QTest::newRow("expert negative") << "[[0,1]"
                                     << "[[0,-1]"
                                     << "line 5: an expert is -1";
    QTest::newRow("expert that is none") << "[[0,1]"
                                         << "[[0,1.5]"
                                         << "line 5: an expert is not a whole number";
    QTest::newRow("expert twice") << "[[0,1]"
                                  << "[[1,1]"
                                  << "line 5: token 0, layer 0 has expert 1 twice";
    QTest::newRow("a choice too few") << "[[0,1]"
                                      << "[[0]"
                                      << "line 5: token 0, layer 0 has 1 selection,";
    QTest::newRow("a choice too many") << "[[0,1]"
                                       << "[[0,1,2]"
                                       << "line 5: token 0, layer 0 has more selections";
    QTest::newRow("a layer too few") << "[[0,1],"
                                     << "["
                                     << "line 5: token 0 has 2 layers";
    QTest::newRow("fewer tokens") << "\"tokens\": 5"
                                  << "\"tokens\": 6"
                                  << "selections has 5 tokens, \"tokens\" says 6";
    QTest::newRow("more tokens") << "\"tokens\": 5"
                                 << "\"tokens\": 4"
                                 << "more than the 4 tokens";
    QTest::newRow("another version") << "\"version\": 2"
                                     << "\"version\": 3"
                                     << "version 3";
    QTest::newRow("no layers") << "\"layers\": 3"
                               << "\"layer\": 3"
                               << "layers is missing";
    QTest::newRow("no JSON") << "\"layers\": 3"
                             << "\"layers\": three"
                             << "line 2";
  }
  void router_traces_that_are_wrong() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, words);
    std::string text = router_trace();
    const size_t at = text.find(from.toStdString());
    QVERIFY(at != std::string::npos);
    text.replace(at, from.toStdString().size(), to.toStdString());
    verify_refused(scratch_.write("wrong.json", text), words.toStdString(), {},
                   scratch_.write("good.json", router_trace()));
  }
};

STORMCELL_TEST(ContractImportJsonTest)

}  // namespace stormcell::testing

#include "import_json_test.moc"
