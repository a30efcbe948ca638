// The content of data, in words.
#include "core/summary/items_text.h"

#include "tests/testing/testing.h"

using namespace stormcell;

namespace {
RunSummaryFigures of(const DatasetFigures& data) {
  RunSummaryFigures figures;
  figures.dataset = data;
  return figures;
}
}  // namespace

class ItemsTextTest : public QObject {
  Q_OBJECT
 private slots:
  void pictures_are_called_pictures_with_their_sizes_and_counts() {
    DatasetFigures d;
    d.sequences = d.cells = d.cells_without_padding = 24;
    d.sizes = {{64, 48, 24, 3}};
    QVERIFY(are_pictures(d));
    QCOMPARE(items_text(d), std::string("24 pictures of 64x48"));
    QCOMPARE(items_text(d, 3), std::string("24 pictures of 64x48 in 3 batches"));
    QCOMPARE(rate_name(of(d)), std::string("pictures a second"));
    d.sizes = {{16, 40, 1, 1}, {20, 20, 1200, 3}};
    QCOMPARE(items_text(d), std::string("1,201 pictures: 1 of 16x40, 1,200 of 20x20"));
    QCOMPARE(items_text(d, 4), std::string("1,201 pictures in 4 batches: 1 of 16x40, 1,200 of 20x20"));
    d.sizes = {{1, 1, 1, 1}};
    QCOMPARE(items_text(d), std::string("1 picture of 1x1"));
    d.sizes.clear();
    for (int64_t side = 10; side < 17; ++side) d.sizes.push_back({side, side, side == 12 ? 5 : 2, 1});
    QCOMPARE(items_text(d), std::string("17 pictures of 7 sizes from 10x10 to 16x16, most often 12x12 (5)"));
    QCOMPARE(items_text(d, 7),
             std::string("17 pictures of 7 sizes from 10x10 to 16x16 in 7 batches, most often 12x12 (5)"));
  }

  void sequences_are_counted_with_their_cells() {
    DatasetFigures d;
    d.sequences = 3, d.cells = 60, d.cells_without_padding = 41;
    QVERIFY(!are_pictures(d));
    QCOMPARE(item_noun(d), std::string("sequence"));  // of a run that does not say it, too
    d.unit = "token";
    QCOMPARE(item_noun(d), std::string("sequence"));
    QCOMPARE(items_text(d), std::string("3 sequences, 60 cells (41 without padding)"));
    QCOMPARE(items_text(d, 1), std::string("3 sequences in 1 batch, 60 cells (41 without padding)"));
    QCOMPARE(rate_name(of(d)), std::string("real cells a second"));
    RunSummaryFigures decoding = of(d);
    decoding.phase = "decode";
    QCOMPARE(rate_name(decoding), std::string("tokens written a second"));
  }

  void what_is_neither_is_called_an_item() {
    DatasetFigures d;
    d.sequences = d.cells = d.cells_without_padding = 5, d.unit = "item";
    QCOMPARE(item_noun(d), std::string("item"));
    QCOMPARE(items_text(d), std::string("5 items"));
    QCOMPARE(items_text(d, 2), std::string("5 items in 2 batches"));
  }
};

STORMCELL_TEST(ItemsTextTest)
#include "items_text_test.moc"
