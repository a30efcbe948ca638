// Parts of one trace become one run: ranks step by step, days one behind the other; a growing folder adds only what is
// new.
#include "tests/contract/imports.h"

namespace stormcell::testing {
namespace {

std::string counts(int64_t first) {
  return R"({"logical_count": [[[0,0,0],[)" + std::to_string(first) + R"(,2,3]],[[0,0,0],[4,5,6]]]})";
}

}  // namespace

class ContractMergeTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void days_stand_one_behind_the_other() {
    const std::string session = scratch_.path("days.storm"), merged = scratch_.path("merged.storm");
    imported(scratch_.write("monday.csv", route_trace()), session);
    imported(scratch_.write("tuesday.csv", route_trace({3, 8, 2, 3, 9, 1})), session);
    const Json j = json_of({"merge", session, "-o", merged, "--json", "-"});
    QCOMPARE(j["schema"].get<std::string>(), std::string("stormcell.merge/1"));
    QCOMPARE(j["by"].get<std::string>(), std::string("days"));
    QCOMPARE(j["parts"].size(), size_t{2});
    const SessionReader parts(session), one(merged);
    QCOMPARE(one.find_run("merged").batches, parts.find_run("monday").batches + parts.find_run("tuesday").batches);
    for (int32_t r = 0; r < 3; ++r) {
      RouterLoads sum = parts.total_loads(1, r);
      sum.add(parts.total_loads(2, r));
      QCOMPARE(one.total_loads(1, r).load, sum.load);
    }
    // The requests of the second day are not those of the first.
    const int64_t first = j["parts"][1]["first_request"].get<int64_t>();
    QCOMPARE(first, parts.sequences(1));
    QCOMPARE(one.sequences(1), parts.sequences(1) + parts.sequences(2));
    QCOMPARE(one.spaces(1, parts.find_run("monday").batches)[0].cells.first_sequence,
             first + parts.spaces(2, 0)[0].cells.first_sequence);
    VERIFY_DONE(run_program({"inspect", merged, "--check"}), Arguments{"inspect"});
    QVERIFY(analyzed(merged)["predictability"]["temporal_lag1"].is_number());
  }

  void counts_are_merged_into_the_session_of_their_parts() {
    const std::string session = scratch_.path("counts.storm");
    imported(scratch_.write("counts-a.json", counts(1)), session);
    imported(scratch_.write("counts-b.json", counts(7)), session);
    const Json j = json_of({"merge", session, "-o", session, "--name", "both", "--json", "-"});
    QCOMPARE(j["run"].get<int64_t>(), int64_t{3});
    QVERIFY((loads_of(analyzed(session + "#both"), 0) == std::vector<int64_t>{16, 14, 18}));
    QCOMPARE(SessionReader(session).find_run("both").batches, int64_t{4});
    // A merged run is no part of the next one.
    QCOMPARE(json_of({"merge", session, "-o", scratch_.path("again.storm"), "--json", "-"})["parts"].size(), size_t{2});
    VERIFY_DONE(run_program({"inspect", session, "--check"}), Arguments{"inspect"});
  }

  void what_cannot_be_merged_is_refused() {
    const std::string choices = scratch_.path("choices.storm"), counted = scratch_.path("counted.storm"),
                      out = scratch_.path("out.storm");
    imported(scratch_.write("choices.csv", route_trace()), choices);
    imported(scratch_.write("counted.json", counts(1)), counted);
    VERIFY_REFUSED((Arguments{"merge", choices}), "-o", "is missing");
    VERIFY_REFUSED((Arguments{"merge", choices, "-o", out}), choices, "is only one part");
    VERIFY_REFUSED((Arguments{"merge", choices, counted, "-o", out}), counted + "#1", "is of another model");
    VERIFY_REFUSED((Arguments{"merge", choices, choices + "#1", "-o", out}), choices + "#1", "is named twice");
    imported(scratch_.write("choices-2.csv", route_trace({3, 8, 2, 3, 9, 1})), choices);
    VERIFY_REFUSED((Arguments{"merge", choices, "-o", out, "--by", "ranks"}), choices + "#1",
                   "does not say of which rank it is");
    VERIFY_REFUSED((Arguments{"merge", choices, "-o", out, "--by", "weeks"}), "--by", "neither ranks nor days");
    QVERIFY(!std::filesystem::exists(out));
  }

  void a_growing_folder_adds_only_what_is_new() {
    const std::string folder = scratch_.path("recorded"), session = scratch_.path("growing.storm");
    scratch_.write("recorded/1.json", counts(1));
    scratch_.write("recorded/2.json", counts(2));
    scratch_.write("recorded/notes.txt", "what was recorded when");
    const Json first = imported(folder, session);
    QVERIFY((first["runs"] == Json::array({1, 2}) && first["files_known"] == 0));
    const std::string before = Scratch::read(session);
    QVERIFY((imported(folder, session)["runs"] == Json::array()));
    QVERIFY(Scratch::read(session) == before);
    scratch_.write("recorded/3.json", counts(3));
    std::filesystem::rename(scratch_.path("recorded/1.json"), scratch_.path("recorded/one.json"));
    const Json third = imported(folder, session);
    QVERIFY((third["runs"] == Json::array({3}) && third["files_known"] == 2));
    QCOMPARE(SessionReader(session).run(3).name, std::string("3"));
  }

  void what_is_lacking_is_told_with_what_gives_it() {
    const std::string session = scratch_.path("lacking.storm");
    const Json import = imported(scratch_.write("lacking.json", counts(1)), session);
    for (const Json& j : {import, analyzed(session)})
      QVERIFY2(j["lacks_how"]["decisions"].get<std::string>().find("--expert-distribution-recorder-mode per_token") !=
                   std::string::npos,
               j.dump().c_str());
    VERIFY_REFUSED(
        (Arguments{"place", session, "--cluster", "preset:8x-h100", "--redundant", "5", "--solver", "joint"}),
        "--solver", "--expert-distribution-recorder-mode per_token");
    VERIFY_REFUSED((Arguments{"analyze", session, "--cache", "lru", "--budget", "1MiB"}), session,
                   "--expert-distribution-recorder-mode per_token");
  }
};

STORMCELL_TEST(ContractMergeTest)

}  // namespace stormcell::testing

#include "merge_test.moc"
