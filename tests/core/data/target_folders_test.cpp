// A folder of pictures with a folder of what they should become: equal names, targets of their own sizes, and what does
// not match.
#include <limits>

#include "core/data/dataset.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Texts = std::vector<std::string>;
using Shape = std::array<int64_t, 3>;

class TargetFoldersTest : public QObject {
  Q_OBJECT

  static void picture(const Scratch& scratch, const std::string& name, int side, float value) {
    const std::string text = std::to_string(side);
    scratch.write(name, npy_of("(" + text + ", " + text + ", 1)", "<f4",
                               std::vector<float>(static_cast<size_t>(side * side), value)));
  }
  static std::shared_ptr<const Dataset> opened(const std::string& folder, int64_t channels = 1) {
    DataOptions options;
    options.batch = 8;
    options.inputs = {
        {"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {2, 2, channels}, 0, PictureSizes{2, 64}}};
    return Dataset::open(folder, nullptr, options);
  }

 private slots:
  void targets_are_found_by_their_names() {
    const Scratch scratch;
    picture(scratch, "d/inputs/b.npy", 2, 0.25F), picture(scratch, "d/inputs/a.npy", 2, 0.5F);
    picture(scratch, "d/targets/a.npy", 4, 0.75F), picture(scratch, "d/targets/b.npy", 6, 1);
    scratch.write("d/README.md", "where they are from"), scratch.write("d/targets/.hidden", "x");
    const auto data = opened(scratch.path("d"));
    QCOMPARE(data->items(), int64_t{2});
    QVERIFY(data->has_target_pictures() && !data->has_labels() && data->classes().empty());
    QCOMPARE(data->batch(0).find_input("pixels")->reals,
             (std::vector<float>{0.5F, 0.5F, 0.5F, 0.5F, 0.25F, 0.25F, 0.25F, 0.25F}));
    QVERIFY(data->target_shape(0) == (Shape{4, 4, 1}) && data->target_shape(1) == (Shape{6, 6, 1}));
    const TargetPicture target = data->target_picture(1);
    QVERIFY(target.shape == (Shape{6, 6, 1}) && target.values == std::vector<float>(36, 1) && target.judged.empty());
    QCOMPARE(data->place(1), std::string("inputs/b.npy"));
    QCOMPARE(data->skipped().size(), size_t{1});  // README.md
    picture(scratch, "d/targets/b.npy", 5, 1);
    VERIFY_BAD_INPUT(data->target_picture(1), scratch.path("d/targets/b.npy"), "has changed while it was in use");
  }

  void what_has_no_match_is_skipped_and_said() {
    const Scratch scratch;
    for (const char* name : {"a", "b", "c", "d"}) picture(scratch, std::string("d/inputs/") + name, 2, 0.5F);
    for (const char* name : {"a", "d", "x", "y"}) picture(scratch, std::string("d/targets/") + name, 4, 0.5F);
    scratch.write("d/targets/c", "no picture");
    const auto data = opened(scratch.path("d"));
    QCOMPARE(data->items(), int64_t{2});
    QCOMPARE(data->place(1), std::string("inputs/d"));
    QCOMPARE(data->target_shape(1), (Shape{4, 4, 1}));
    const Texts said = data->warnings();
    QCOMPARE(said.size(), size_t{2});
    QVERIFY2(said[0] == scratch.path("d/targets") + ": 2 targets have no picture in inputs; the first is \"x\"",
             said[0].c_str());
    QVERIFY2(
        said[1].find(": 2 of 4 files are skipped: \"inputs/b\" has a target that is not there") != std::string::npos,
        said[1].c_str());
    QVERIFY2(
        said[1].find("; \"inputs/c\" has a target that is not a picture that this version reads") != std::string::npos,
        said[1].c_str());
  }

  void what_is_no_such_pair_of_folders_is_one_line() {
    const Scratch scratch;
    picture(scratch, "d/inputs/a.npy", 2, 0.5F);
    std::filesystem::create_directories(scratch.path("d/targets"));
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"),
                     "of 1 file; the first, \"inputs/a.npy\", has a target that is not there");
    scratch.write("d/targets/a.npy",
                  npy_of("(1, 1, 1)", "<f4", std::vector<float>{std::numeric_limits<float>::infinity()}));
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"),
                     "has a target that holds pixels that are not finite");
    scratch.write("d/targets/a.npy", npy_of("(0, 1, 1)", "<f4", std::vector<float>{}));
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"), "has a target that ");
    picture(scratch, "d/targets/a.npy", 4, 0.5F);
    QCOMPARE(opened(scratch.path("d"))->items(), int64_t{1});
    scratch.write("d/labels.csv", "a.npy,1\n");
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"), "holds \"labels.csv\" and targets");
    std::filesystem::remove(scratch.path("d/labels.csv"));
    picture(scratch, "d/b.npy", 2, 0.5F);
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"), "holds \"inputs\", which is not a picture");
    std::filesystem::remove(scratch.path("d/b.npy"));
    picture(scratch, "d/targets/deep/a.npy", 2, 0.5F);
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d/targets"), "holds \"deep\", which is not a picture");
    // Pictures and what they should become are no classes, whatever stands beside them.
    std::filesystem::remove_all(scratch.path("d/targets/deep"));
    picture(scratch, "d/owl/a.npy", 2, 0.5F);
    VERIFY_BAD_INPUT(opened(scratch.path("d")), scratch.path("d"), "holds inputs and targets beside other folders");
  }

  void a_grey_target_of_colours_is_grey_in_all() {
    const Scratch scratch;
    scratch.write("d/inputs/a", "P6 2 2 255 " + std::string(12, '\x33'));
    scratch.write("d/targets/a", "P5 4 4 255 " + std::string(16, '\x66'));
    const auto data = opened(scratch.path("d"), 3);
    QCOMPARE(data->target_shape(0), (Shape{4, 4, 3}));
    QCOMPARE(data->target_picture(0).values, std::vector<float>(48, 0.4F));
  }

  void data_that_differ_in_targets_alone_have_other_fingerprints() {
    const Scratch scratch;
    picture(scratch, "d/inputs/a.npy", 2, 0.5F), picture(scratch, "d/targets/a.npy", 4, 0.5F);
    const std::string before = opened(scratch.path("d"))->fingerprint();
    QCOMPARE(opened(scratch.path("d"))->fingerprint(), before);
    picture(scratch, "d/targets/a.npy", 4, 0.25F);
    QVERIFY(opened(scratch.path("d"))->fingerprint() != before);
    picture(scratch, "d/targets/a.npy", 5, 0.5F);
    QVERIFY(opened(scratch.path("d"))->fingerprint() != before);
    // Without targets the fingerprint is that of the pictures alone, wherever they lie.
    picture(scratch, "e/a.npy", 2, 0.5F), picture(scratch, "f/owl/a.npy", 2, 0.5F);
    QCOMPARE(opened(scratch.path("e"))->fingerprint(), opened(scratch.path("f"))->fingerprint());
    QVERIFY(opened(scratch.path("e"))->fingerprint() != before);
  }
};

STORMCELL_TEST(TargetFoldersTest)
#include "target_folders_test.moc"
