// Small pictures in a session: kept where inputs are, found by item, bounded, checked, copied.
#include "core/session/kept_pictures.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;

Thumbnail thumbnail(int64_t number, int64_t side = 3, int64_t channels = 3) {
  return {{side, side},
          channels,
          std::vector<uint8_t>(static_cast<size_t>(side * side * channels), static_cast<uint8_t>(number))};
}

/// Batches of four items that are listed, of each a picture of `side`.
void record(SessionWriter& writer, bool inputs, int64_t batches, int64_t side = 3,
            int64_t picture_bytes = kMostThumbnailBytes) {
  RunStart start = some_run();
  start.inputs = inputs;
  start.picture_bytes = picture_bytes;
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (int64_t i = 0; i < batches; ++i) {
    BatchRecord& batch = recorder.begin_batch();
    fill(start.layout, i, {}, batch);
    batch.set_items(std::vector<int64_t>{4 * i + 3, 4 * i, 4 * i + 2, 4 * i + 1});
    for (size_t s = 0; s < 4; ++s) batch.add_thumbnail(s, thumbnail(batch.items()[s], side));
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished);
}

}  // namespace

class SessionPicturesTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void they_are_kept_where_inputs_are_and_found_by_item() {
    const std::string file = path("kept.storm");
    {
      SessionWriter writer(file, some_model());
      record(writer, true, 5);
      record(writer, false, 5);
    }
    const SessionReader reader(file);
    QCOMPARE(reader.thumbnail_count(1), int64_t{20});
    QCOMPARE(reader.thumbnail_count(2), int64_t{0});
    QVERIFY(reader.thumbnails(2).empty());
    const std::map<int64_t, Thumbnail> some = reader.thumbnails(1, {6, 9});
    QCOMPARE(some.size(), size_t{3});
    for (const auto& [item, kept] : some) QVERIFY(kept == thumbnail(item));
    reader.check();
    copy_session(file, path("copy.storm"));
    QVERIFY(SessionReader(path("copy.storm")).thumbnails(1) == reader.thumbnails(1));
  }

  void a_copy_without_them_holds_no_byte_of_them() {
    const std::string file = path("shared.storm"), copy = path("bare.storm"), marks(300, '\xC5');
    {
      SessionWriter writer(file, some_model());
      RunStart start = some_run();
      start.inputs = true;
      auto run = writer.begin_run(start);
      BatchRecord batch;
      fill(start.layout, 0, {}, batch);
      batch.add_thumbnail(0, {{10, 10}, 3, std::vector<uint8_t>(300, 0xC5)});
      run->batch(batch);
      run->finish(RunStatus::finished);
    }
    copy_session(file, copy, {}, CopyPictures::no);
    QVERIFY(read_all(file).find(marks) != std::string::npos && read_all(copy).find(marks) == std::string::npos);
    const SessionReader reader(copy);
    QCOMPARE(reader.thumbnail_count(1), int64_t{0});
    QCOMPARE(reader.run(1).batches, int64_t{1});
    reader.check();
  }

  void a_run_keeps_no_more_than_its_bounds() {
    const std::string large = path("large.storm");
    {
      SessionWriter writer(large, some_model());
      record(writer, true, 40, 96, int64_t{4} << 20);
    }
    const SessionReader reader(large);
    QCOMPARE(reader.thumbnail_count(1), (int64_t{4} << 20) / (96 * 96 * 3));
    reader.check();
  }

  void of_every_group_some_are_kept_evenly_spread() {
    // 1,000 items that are alike, and five of another group at the very end.
    KeptPictures kept(40, 40'000);
    for (int64_t item = 0; item < 1005; ++item) kept.add(item, item < 1000 ? 1 : 2, 1000);
    int64_t many = 0, rare = 0, widest = 0, last = 0;
    for (int64_t item = 0; item < 1005; ++item) {
      if (!kept.has(item)) continue;
      (item < 1000 ? many : rare) += 1;
      if (item < 1000) widest = std::max(widest, item - last), last = item;
    }
    QCOMPARE(many, int64_t{35});
    QCOMPARE(rare, int64_t{5});
    QVERIFY2(widest < 80 && 1000 - last < 80, qPrintable(QString::number(widest)));
    // Bytes bound as well as numbers do; one that is larger than all of them is not kept.
    KeptPictures few(40, 3000);
    for (int64_t item = 0; item < 10; ++item) few.add(item, static_cast<uint64_t>(item), 1000);
    int64_t count = 0;
    for (int64_t item = 0; item < 10; ++item) count += few.has(item);
    QCOMPARE(count, int64_t{3});
    KeptPictures none(40, 100);
    QCOMPARE(none.add(7, 0, 101), std::vector<int64_t>{7});
    QVERIFY(!none.has(7));
  }

  /// Also where a large one pushes out several at once.
  void only_those_that_change_what_is_kept_have_to_be_made() {
    constexpr int64_t kMost = 30, kMostBytes = 20'000, kBatches = 500, kEach = 4;
    RunLayout layout;
    layout.spaces = {"picture"};
    layout.routers = {{"exit", 2, 1, "exit-threshold", 0}};
    KeptPictures all(kMost, kMostBytes), chosen(kMost, kMostBytes), again(kMost, kMostBytes);
    int64_t made = 0;
    for (int64_t number = 0; number < kBatches; ++number) {
      BatchRecord batch;
      batch.add_space(0, {kEach * number, kEach, 1});
      DecisionRecord exit{.router = 0};
      const std::vector<int32_t> choices = {0, number % 7 == 0, 0, 0};
      exit.choice = choices;
      batch.add_decision(exit);
      std::vector<int64_t> items;
      for (int64_t i = 0; i < kEach; ++i) items.push_back(kEach * number + i), batch.add_sequence(i % 2 ? "a" : "b");
      const std::vector<uint64_t> groups = picture_groups(batch, layout);
      const int64_t bytes = number % 50 == 49 ? 5000 : 300;
      for (size_t i = 0; i < items.size(); ++i) all.add(items[i], groups[i], bytes);
      const std::vector<size_t> changing = take_in(chosen, batch, layout, items, bytes);
      for (const size_t i : changing) again.add(items[i], groups[i], bytes);
      made += static_cast<int64_t>(changing.size());
    }
    int64_t kept = 0;
    for (int64_t item = 0; item < kBatches * kEach; ++item) {
      QVERIFY(all.has(item) == chosen.has(item) && all.has(item) == again.has(item));
      kept += all.has(item);
    }
    QVERIFY2(kept > 0 && made >= kept && made < kBatches * kEach / 4, qPrintable(QString::number(made)));
  }

  void a_group_is_a_label_and_the_branches_of_all_cells() {
    RunLayout layout;
    layout.spaces = {"patch", "picture"};
    layout.routers = {{"first", 3, 1, "top-k", 0}, {"exit", 2, 1, "exit-threshold", 1}};
    const auto groups = [&](std::vector<int32_t> patches, std::vector<int32_t> rows, std::vector<int32_t> exits,
                            const char* label) {
      BatchRecord batch;
      batch.add_space(0, {0, 3, 2});
      batch.add_space(1, {0, 3, 1});
      DecisionRecord first{.router = 0}, exit{.router = 1};
      first.choice = patches, exit.choice = exits, exit.ancestor = rows;
      batch.add_decision(first);
      batch.add_decision(exit);
      for (const char* l : {"a", "a", label}) batch.add_sequence(l);
      return picture_groups(batch, layout);
    };
    // The first two got branches 0 and 1, whatever patch got which; the third got both too.
    const auto same = groups({0, 1, 1, 0, 0, 1}, {}, {1, 1, 1}, "a");
    QVERIFY(same.size() == 3 && same[0] == same[1] && same[1] == same[2]);
    const auto label = groups({0, 1, 1, 0, 0, 1}, {}, {1, 1, 1}, "b");
    QVERIFY(label[0] == label[1] && label[1] != label[2]);
    const auto branch = groups({0, 1, 2, 0, 0, 1}, {}, {1, 1, 1}, "a");
    QVERIFY(branch[0] != branch[1] && branch[0] == branch[2]);
    // The second router saw the first and the last alone.
    const auto rows = groups({0, 1, 1, 0, 0, 1}, {0, 2}, {1, 1}, "a");
    QVERIFY(rows[0] == rows[2] && rows[0] != rows[1]);
  }

  void what_is_damaged_is_said_data() {
    QTest::addColumn<QString>("sql");
    QTest::addColumn<QString>("words");
    QTest::newRow("another size") << "UPDATE picture SET height = 2 WHERE item = 3"
                                  << "item 3";
    QTest::newRow("no size") << "UPDATE picture SET width = -1 WHERE item = 3"
                             << "item 3";
    QTest::newRow("four channels") << "UPDATE picture SET channels = 4 WHERE item = 3"
                                   << "item 3";
    QTest::newRow("no run") << "UPDATE picture SET run = 9 WHERE item = 3"
                            << "table picture";
    QTest::newRow("no item") << "UPDATE picture SET item = 900 WHERE item = 3"
                             << "item 900";
  }
  void what_is_damaged_is_said() {
    QFETCH(QString, sql);
    QFETCH(QString, words);
    const std::string file = folder_.filePath(QString(QTest::currentDataTag()) + ".storm").toStdString();
    {
      SessionWriter writer(file, some_model());
      record(writer, true, 5);
    }
    execute(file, sql.toUtf8().constData());
    const Outcome checked = outcome([&] { SessionReader(file).check(); });
    QVERIFY2(checked.kind == ErrorKind::bad_input && checked.message.find(words.toStdString()) != std::string::npos,
             checked.message.c_str());
    if (words == "item 3") QVERIFY(outcome([&] { SessionReader(file).thumbnails(1); }).kind == ErrorKind::bad_input);
  }
};
STORMCELL_TEST(SessionPicturesTest)

}  // namespace stormcell
#include "session_pictures_test.moc"
