// All verbs that compare refuse recordings of two models in the same way; and the output of compare stays short.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/comparison/like_models.h"
#include "tests/contract/imports.h"
#include "tests/contract/server_traces.h"
#include "tests/testing/complaint.h"

namespace stormcell::testing {
namespace {

int64_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// The message of check_like_models() as a program prints it; empty: there is none.
std::string refusal(const std::string& a, const std::string& b) {
  const std::string said = complaint([&] { check_like_models(a, 0, b, 0); });
  return said.empty() ? said : "stormcell: " + said + "\n";
}

}  // namespace

class ContractUnlikeModelsTest : public QObject, private Imports {
  Q_OBJECT
  std::string session_of(const std::string& name, const std::string& trace, const char* extension = ".csv") {
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + extension, trace), session);
    return session;
  }
  std::string recorded(const std::string& name, const std::string& model) {
    const std::string session = scratch_.path(name + ".storm");
    const Arguments run = short_run("run", model, switch_data(), {"-o", session});
    const Ended ended = run_program(run);
    if (ended.exit != 0) QTest::qFail(told(run, ended).c_str(), __FILE__, __LINE__);
    return session;
  }

 private slots:
  void all_refuse_with_one_line() {
    const ModelCopy copy;
    copy.poison("shared.weight", .25f);
    const std::string base = session_of("base", route_trace({.steps = 40})),
                      longer = session_of("longer", route_trace({.steps = 60})),
                      wider = session_of("wider", route_trace({.experts = 16})),
                      narrower = session_of("narrower", route_trace({.experts = 4})),
                      deeper = session_of("deeper", route_trace({.layers = 4})),
                      shallow = session_of("shallow", route_trace({.layers = 2})),
                      renamed = session_of("renamed", route_trace({.steps = 40}, "other.gguf")),
                      counts = session_of("counts", R"({"logical_count": [[8,1,1,8]]})", ".json"),
                      more_counts = session_of("more-counts", R"({"logical_count": [[8,1,1,8],[1,1,1,1]]})", ".json"),
                      ran = recorded("ran", switch_model()), again = recorded("again", switch_model()),
                      other_weights = recorded("other-weights", copy.folder());
    const std::string eight = "3 routers of 8 branches";
    struct Row {
      std::string a, b, why;  // empty: they are compared
    };
    const std::vector<Row> rows = {{base, longer, {}},
                                   {base, base, {}},
                                   {base, renamed, {}},  // not known: a doubt is shown
                                   {base, wider, "3 routers of 16 branches and not " + eight},
                                   {wider, base, eight + " and not 3 routers of 16 branches"},
                                   {base, narrower, "3 routers of 4 branches and not " + eight},
                                   {base, deeper, "4 routers of 8 branches and not " + eight},
                                   {base, shallow, "2 routers of 8 branches and not " + eight},
                                   {base, counts, "1 router of 4 branches and not " + eight},
                                   {counts, more_counts, "2 routers of 4 branches and not 1 router of 4 branches"},
                                   {ran, again, {}},
                                   {ran, other_weights, copy.folder() + " and not " + switch_model()},
                                   {other_weights, ran, switch_model() + " and not " + copy.folder()},
                                   {ran, wider, "3 routers of 16 branches and not " + eight},
                                   {deeper, ran, eight + " and not 4 routers of 8 branches"}};
    for (const Row& row : rows) {
      const Ended compared = run_program({"compare", row.a, row.b}),
                  analyzed = run_program({"analyze", row.a, "--against", row.b});
      if (row.why.empty()) {
        QVERIFY2(compared.exit == 0 && analyzed.exit == 0,
                 (row.a + " " + row.b + "\n" + compared.err + analyzed.err).c_str());
        QCOMPARE(refusal(row.a, row.b), std::string());
        continue;
      }
      const std::string line = "stormcell: " + row.b + ": is of another model than " + row.a + ": " + row.why +
                               " (compare recordings of one model)\n";
      QCOMPARE(compared.err, line);
      QCOMPARE(analyzed.err, line);
      QCOMPARE(refusal(row.a, row.b), line);  // as the window's heatmap says it
      QVERIFY(compared.exit == 2 && analyzed.exit == 2 && compared.out.empty() && analyzed.out.empty());
    }
  }

  void summaries_are_asked_too() {
    const auto written = [&](const std::string& name, const std::string& model) {
      const std::string file = scratch_.path(name);
      const Arguments run = short_run("run", model, switch_data(), {"--json", file});
      const Ended ended = run_program(run);
      if (ended.exit != 0) QTest::qFail(told(run, ended).c_str(), __FILE__, __LINE__);
      return file;
    };
    const ModelCopy copy;
    copy.poison("shared.weight", .25f);
    const std::string one = written("one.json", switch_model()), two = written("two.json", switch_model()),
                      other = written("other.json", copy.folder()),
                      wider = session_of("wider-too", route_trace({.experts = 16}));
    QCOMPARE(run_program({"compare", one, two}).exit, 0);
    for (const std::string& b : {other, wider})
      VERIFY_REFUSED((Arguments{"compare", one, b}), b, "is of another model than " + one);
  }

  void compare_says_what_is_worst_in_forty_lines() {
    // 60 routers with different routings: hundreds of figures differ.
    const TraceSize size{.layers = 60};
    const auto skewed = [](int64_t row, std::string& line) {
      if (row / 2 % 3 > 0) return;
      size_t begin = 0;  // of the sixth field, the expert: its slot's number instead
      for (int field = 0; field < 5; ++field) begin = line.find(',', begin) + 1;
      line.replace(begin, line.find(',', begin) - begin, std::to_string(row % 2));
    };
    const std::string a = session_of("sixty", route_trace(size)),
                      b = session_of("sixty-skewed", route_trace(size, "made-up.gguf", skewed));
    const Ended shortly = run_program({"compare", a, b, "--json", scratch_.path("sixty.json")}),
                verbose = run_program({"compare", a, b, "--verbose"}), all = run_program({"compare", a, b, "--all"});
    VERIFY_DONE(shortly, Arguments{"compare"});
    QVERIFY2(lines_of(shortly.out) <= 46 && lines_of(shortly.out) > 30, shortly.out.c_str());
    QVERIFY2(lines_of(verbose.out) <= 46, verbose.out.c_str());
    QVERIFY2(lines_of(all.out) > 400, all.out.c_str());
    QVERIFY2(shortly.out.find("--all shows them") != std::string::npos, shortly.out.c_str());
    // The imbalance is the only figure of imported traces with a worse direction.
    const Json j = Json::parse(Scratch::read(scratch_.path("sixty.json")));
    std::string worst, farthest;
    double most = 0, distance = 0;
    for (const Json& row : j["rows"]) {
      if (!row["figure"].get<std::string>().ends_with(".imbalance") || row["difference"].is_null()) continue;
      const double by = row["difference"].get<double>() / std::abs(row["a"].get<double>());
      if (by > most) most = by, worst = row["figure"];
    }
    for (const Json& r : j["routing"])
      if (r["total_variation"].get<double>() > distance) distance = r["total_variation"], farthest = r["router"];
    QVERIFY2(shortly.out.find("\n" + worst + " ") == shortly.out.find('\n', shortly.out.find("\nfigure ") + 1),
             shortly.out.c_str());
    const size_t routing = shortly.out.find("routing of");
    QVERIFY(!worst.empty() && !farthest.empty() && routing != std::string::npos &&
            shortly.out.find("\nfigure ") != std::string::npos);
    QVERIFY2(shortly.out.find('\n' + farthest + ' ', routing) == shortly.out.find('\n', routing), shortly.out.c_str());
  }
};

STORMCELL_TEST(ContractUnlikeModelsTest)

}  // namespace stormcell::testing

#include "unlike_models_test.moc"
