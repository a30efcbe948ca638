// Trees of keys: made of fields(), and looked up by the paths of compare.
#include "core/figures/describe.h"
#include "core/summary/field_of.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct TreeLeaf {
  std::string name;
  double time = 0;
  std::vector<int64_t> load;
};
void fields(auto& v, Of<TreeLeaf> auto& l) {
  v("name", l.name);
  v("time", l.time, Figure::timed("time", "Time of a leaf.", Unit::milliseconds, Better::less));
  v("load", l.load);
}

struct TreeBranch {
  std::vector<TreeLeaf> leaves;
  std::vector<TreeBranch> branches;
  std::map<std::string, int64_t> sizes;
  std::optional<std::array<double, 2>> ends;
  bool is_alive = false;
};
void fields(auto& v, Of<TreeBranch> auto& b) {
  v("leaves", b.leaves);
  v("branches", b.branches);
  v("sizes", b.sizes);
  v("ends", b.ends, Figure::measured("", "Two readings."));
  v("is_alive", b.is_alive);
  v.derived("height", 2.5, Figure::predicted("", "The height."));
}

}  // namespace

class FigureTreeTest : public QObject {
  Q_OBJECT
  const FigureNode tree_ = describe<TreeBranch>();

 private slots:
  void a_key_has_the_figure_of_its_row() {
    const FigureNode* time = find_node(tree_, "leaves.a.time");
    QVERIFY(time && time->key == "time" && time->kind == KeyKind::number);
    QVERIFY(time->figure.unit == Unit::milliseconds && time->figure.origin == Origin::measured &&
            time->figure.scope == Scope::time && time->figure.better == Better::less);
    QVERIFY(find_node(tree_, "height")->figure.origin == Origin::predicted);
  }

  void flags_and_whole_numbers_are_counted() {
    QVERIFY(find_node(tree_, "is_alive")->figure.origin == Origin::counted);
    QVERIFY(find_node(tree_, "sizes.a.b")->figure.origin == Origin::counted);
    QVERIFY(find_node(tree_, "leaves.0.load.3")->figure.origin == Origin::counted);
    QVERIFY(find_node(tree_, "leaves.a.name")->figure.origin == Origin::unknown);
  }

  void names_of_elements_have_dots_and_words_of_keys() {
    for (const char* path : {"leaves.a.b.c.time", "leaves.load.time", "leaves.a.load.1.time", "leaves.time.time"})
      QVERIFY2(find_node(tree_, path) && find_node(tree_, path)->key == "time", path);
    QCOMPARE(find_node(tree_, "leaves.a.time.load.2")->key, std::string("load"));
  }

  void a_struct_within_itself_has_the_same_keys_at_every_depth() {
    for (const char* path : {"branches.0.leaves.a.time", "branches.0.branches.1.branches.2.leaves.a.time"})
      QVERIFY2(find_node(tree_, path) && find_node(tree_, path)->key == "time", path);
  }

  void ends_of_an_interval_are_numbered() {
    QVERIFY(find_node(tree_, "ends.1")->kind == KeyKind::interval);
    QVERIFY(find_node(tree_, "ends.1")->figure.origin == Origin::measured);
  }

  void a_path_that_no_row_describes_has_no_node() {
    for (const char* path : {"", ".", "leaves..time.", "nonsense", "time", "leaves.a.time.more", "ends.low",
                             "leaves.a.load.first", "is_alive.0", "branches.0.nonsense"})
      QVERIFY2(!find_node(tree_, path), path);
  }
};

STORMCELL_TEST(FigureTreeTest)

}  // namespace stormcell::testing

#include "figure_tree_test.moc"
