// Why there is no GPU, in one line: no module, another module, no driver, an old one, no card, an old one, no memory.
#include "gpu/device/module.h"

#include <QTemporaryDir>
#include <fstream>

#include "core/runtime/device.h"
#include "gpu/device/card_kernels.h"
#include "gpu/device/examine.h"
#include "tests/gpu/fake_card.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class CudaModuleTest : public QObject {
  Q_OBJECT
 private slots:
  void each_reason_is_told_in_one_line_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* name, const char* reason) { QTest::newRow(name) << name << reason; };
    row("nothing", "");
    row("no driver", "no driver: NVIDIA's driver (libcuda.so.1) is not installed");
    row("old driver", "driver too old: it has CUDA 12.4, 13.0 is needed");
    row("old driver at the first call", "driver too old: CUDA 13.0 is needed");
    row("no card", "no card: the driver finds no GPU");
    row("no card counted", "no card: the driver finds no GPU");
    row("old card",
        "card too old: a card of the tests has compute capability 8.0, the module's kernels are for sm_90a");
    row("new card",
        "card not known: a card of the tests has compute capability 10.0, the module's kernels are for sm_90a");
    row("no memory", "no memory: other programs use all memory of a card of the tests");
    row("no memory to begin", "no memory: other programs use all memory of a card of the tests");
    row("no memory for kernels", "no memory: other programs use all memory of a card of the tests");
    row("something else", "cudaMemGetInfo: as asked for (cudaErrorOfTheTests)");
  }
  void each_reason_is_told_in_one_line() {
    QFETCH(QString, change);
    QFETCH(QString, reason);
    FakeCard fake;
    if (change == "no driver") fake.driver = 0;
    if (change == "old driver") fake.driver = 12040;
    if (change == "old driver at the first call") fake.fails["count_cards"] = card::kOldDriver;
    if (change == "no card") fake.fails["count_cards"] = card::kNoCard;
    if (change == "no card counted") fake.cards = 0;
    if (change == "old card") fake.facts.major = 8, fake.fails["prepare"] = card::kNoImage;
    if (change == "new card") fake.facts.major = 10, fake.fails["prepare"] = card::kNoImage;
    if (change == "no memory") fake.memory = 0;
    if (change == "no memory to begin") fake.fails["count_memory"] = card::kOutOfMemory;
    if (change == "no memory for kernels") fake.fails["prepare"] = card::kOutOfMemory;
    if (change == "something else") fake.fails["count_memory"] = 999;
    QCOMPARE(QString::fromStdString(card::why_no_card(fake.calls(), 0)), reason);
  }

  void each_card_is_told_with_its_memory_and_its_reason() {
    FakeCard fake;
    fake.cards = 2;
    const card::ExaminedCards found = card::examine_cards(fake.calls());
    QCOMPARE(found.reason, std::string());
    QCOMPARE(found.architectures, std::string("sm_90a"));
    QCOMPARE(found.cards.size(), size_t{2});
    QCOMPARE(found.cards[0].name, std::string("a card of the tests"));
    QCOMPARE(found.cards[0].bytes, fake.memory);
    QCOMPARE(found.cards[0].reason, std::string());
    QVERIFY(!found.cards[1].reason.empty());
    fake.fails["prepare"] = card::kNoImage;
    const card::ExaminedCards old = card::examine_cards(fake.calls());
    QVERIFY(old.reason.starts_with("card not known: ") && old.cards[0].reason == old.reason);
    fake.driver = 0, fake.fails["count_cards"] = card::kOldDriver;
    QVERIFY(card::examine_cards(fake.calls()).cards.empty());
  }

  void a_device_without_a_module_is_refused_with_the_reason() {
    const std::vector<std::string> nowhere = {"/nowhere"};
    const std::string reason = card::examine_cards(nowhere).reason;
    QCOMPARE(bad_input_complaint([&] { card::open_first_card(nowhere, 1); }),
             "--device: \"cuda\": " + reason + " (use --device cpu)");
  }

  void a_card_beyond_the_last_one_is_not_there() {
    FakeCard fake;
    QCOMPARE(card::why_no_card(fake.calls(), 1), std::string("no card 1: the driver finds 1"));
  }

  void a_module_that_is_not_there_is_told_with_the_folders() {
    const card::FoundModule found = card::find_module({"/nowhere", "/nowhere/else"});
    QVERIFY(!found.calls);
    QCOMPARE(found.reason, std::string("no module: stormcell_cuda.so is not in /nowhere or /nowhere/else"));
  }

  void a_file_that_is_no_module_is_told_with_its_path() {
    QTemporaryDir folder;
    const std::string path = folder.path().toStdString() + "/stormcell_cuda.so";
    std::ofstream(path) << "no library";
    const card::FoundModule found = card::find_module({"/nowhere", folder.path().toStdString()});
    QVERIFY(!found.calls);
    QVERIFY2(found.reason.starts_with("module " + path + " cannot be opened: "), found.reason.c_str());
  }

  void a_module_of_another_program_is_refused() {
    FakeCard fake;
    const card::ModuleFacts same{card::kCardInterface, STORMCELL_VERSION, card::build_id(), &fake.calls()};
    QCOMPARE(card::refusal_of(same), std::string());
    card::ModuleFacts other = same;
    other.build ^= 1;
    QVERIFY(card::refusal_of(other).starts_with("is of another build"));
    other = same, other.version = "0.0.1";
    QVERIFY(card::refusal_of(other).starts_with("is of version 0.0.1, this program of "));
    other = same, other.interface += 1;
    QVERIFY(card::refusal_of(other).starts_with("has interface "));
  }

  void modules_are_beside_the_program_or_in_its_library_folder() {
    const std::vector<std::string> folders = card::module_folders();
    QCOMPARE(folders.size(), size_t{2});
    QVERIFY(folders[1].ends_with("/lib/stormcell"));
  }

  /// The module and the program name kernels by the same places.
  void kernels_have_places_of_their_own() {
    for (int32_t place = 0; place < card::kCardKernels; ++place) {
      int found = 0;
      card::with_kernel(place, [&]<class Kernel>() { ++found; });
      QCOMPARE(found, 1);
    }
  }
};

STORMCELL_TEST(CudaModuleTest)

}  // namespace stormcell::testing
#include "cuda_module_test.moc"
