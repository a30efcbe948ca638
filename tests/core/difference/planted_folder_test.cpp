// Faults in files: which verdicts are right, which folders are refused, and what the table says.
#include "tests/core/difference/planted_folder.h"

#include <QTemporaryDir>
#include <fstream>

#include "tests/core/difference/made_recordings.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace fs = std::filesystem;

namespace stormcell::testing {
namespace {

const MadeParts kOnlyIds{.weights = false, .margins = false};

void plant(const fs::path& folder, const MadeRecording& a, const MadeRecording& b, const std::string& expected,
           const MadeParts& parts = {}) {
  fs::create_directories(folder);
  a.write((folder / "a.safetensors").string(), parts), b.write((folder / "b.safetensors").string(), parts);
  std::ofstream(folder / "expect.json") << expected;
}
std::string expecting(const std::string& cause, bool cannot_be_told = false) {
  return "{\"cause\": \"" + cause + "\", \"cannot_be_told\": " + (cannot_be_told ? "true" : "false") +
         ", \"strength\": \"all layers\"}";
}

MadeRecording one_layer_further(MadeRecording r) {
  for (auto& cell : r.cells) std::copy(cell.layers.begin() + 1, cell.layers.end(), cell.layers.begin());
  return r;
}

}  // namespace

class PlantedFolderTest : public QObject {
  Q_OBJECT
  QTemporaryDir temporary_;
  const MadeModel model_{MadeSize{}};
  fs::path folder(const char* name) const { return fs::path(temporary_.path().toStdString()) / name; }

 private slots:
  void verdicts_of_a_folder_are_judged_by_what_was_stated() {
    const fs::path all = folder("all");
    const MadeRecording plain = record(model_), scaled = record(model_, MadeRule{.scale = 2.5});
    plant(all / "1 healthy", plain, plain, expecting("agree"));
    plant(all / "2 scale", plain, scaled, expecting("scale-lost"));
    plant(all / "3 scale of ids", plain, scaled, expecting("scale-lost", true), kOnlyIds);
    plant(all / "4 scale of ids, not stated", plain, scaled, expecting("scale-lost"), kOnlyIds);
    plant(all / "5 accused", plain, one_layer_further(plain), expecting("agree"), kOnlyIds);
    plant(all / "6 another cause", plain, scaled, expecting("bias-in-weights"));
    std::vector<FolderVerdict> verdicts;
    for (const FolderPair& pair : pairs_in(all.string())) verdicts.push_back(judge_pair(pair));
    QCOMPARE(verdicts.size(), size_t{6});
    const FolderResult expected[] = {FolderResult::named, FolderResult::named,   FolderResult::untold,
                                     FolderResult::wrong, FolderResult::accused, FolderResult::wrong};
    for (size_t i = 0; i < verdicts.size(); ++i)
      QVERIFY2(verdicts[i].result == expected[i],
               (verdicts[i].pair.name + ": " + verdicts[i].verdict + ": " + verdicts[i].evidence).c_str());
    const FolderShares shares = shares_of(verdicts);
    QVERIFY(shares.faults == 4 && shares.right == 2 && shares.untold == 1);
    QVERIFY(shares.healthy == 2 && shares.agree == 1 && shares.accused == 1 && !shares.hold());
    const std::string table = table_of_verdicts(verdicts);
    for (const char* line : {"2 of 4 (50.0 %; at least 95 %)", "of these untold: 1 (25.0 %; at most 25 %)",
                             "agree: 1 of 2, accused: 1", "scale-lost: 2 of 3", "THE LIMITS DO NOT HOLD.", "all layers"})
      QVERIFY2(table.find(line) != std::string::npos, table.c_str());
    verdicts.resize(3);
    verdicts.erase(verdicts.begin() + 2);
    QVERIFY(shares_of(verdicts).hold());
  }

  void a_refused_pair_is_wrong_and_says_why() {
    const fs::path pair = folder("refused") / "others";
    MadeRecording other = record(model_);
    for (auto& cell : other.cells) cell.request += 100;
    plant(pair, record(model_), other, expecting("unlike", true));
    const FolderVerdict judged = judge_pair(pairs_in(folder("refused").string())[0]);
    QVERIFY(judged.verdict == "refused" && judged.result == FolderResult::wrong);
    QVERIFY2(judged.evidence.find("shares no request with") != std::string::npos, judged.evidence.c_str());
  }

  void what_is_no_folder_of_pairs_is_refused() {
    const auto said = [&](const fs::path& of) { return complaint([&] { pairs_in(of.string()); }); };
    QVERIFY(said(folder("nowhere")).find("is not a folder") != std::string::npos);
    const fs::path bad = folder("bad");
    fs::create_directories(bad);
    QVERIFY(said(bad).find("has no folder of a pair") != std::string::npos);
    fs::create_directories(bad / "pair");
    QVERIFY(said(bad).find("has 0 files named a.* in place of one") != std::string::npos);
    plant(bad / "pair", record(model_), record(model_), expecting("no-such-cause"));
    QVERIFY(said(bad).find("expect.json: \"no-such-cause\" is not a cause") != std::string::npos);
    std::ofstream(bad / "pair" / "expect.json") << R"({"cause": "agree"})";
    QVERIFY(said(bad).find("does not state \"cause\"") != std::string::npos);
    std::ofstream(bad / "pair" / "expect.json") << expecting("agree");
    // A file that SQLite leaves beside a session is no second recording.
    for (const char* beside : {"a.storm-wal", "a.storm-shm"}) std::ofstream(bad / "pair" / beside) << "x";
    QCOMPARE(said(bad), std::string());
    std::ofstream(bad / "pair" / "a.csv") << "x";
    QVERIFY(said(bad).find("has 2 files named a.* in place of one") != std::string::npos);
  }
};

STORMCELL_TEST(PlantedFolderTest)

}  // namespace stormcell::testing

#include "planted_folder_test.moc"
