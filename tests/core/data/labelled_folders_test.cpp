// Folders of pictures with labels: a folder for each class, or labels.csv beside them; and what is wrong with either.
#include <algorithm>

#include "core/data/dataset.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Texts = std::vector<std::string>;

class LabelledFoldersTest : public QObject {
  Q_OBJECT

  static void picture(const Scratch& scratch, const std::string& name, float pixel = 0.5F) {
    scratch.write(name, npy_of("(1, 1, 1)", "<f4", std::vector<float>{pixel}));
  }
  static std::shared_ptr<const Dataset> opened(const std::string& folder, const Texts& classes = {}) {
    DataOptions options;
    options.batch = 8;
    options.classes = classes;
    options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {1, 1, 1}, 0}};
    return Dataset::open(folder, nullptr, options);
  }

 private slots:
  void a_folder_for_each_class_labels_its_pictures() {
    const Scratch scratch;
    picture(scratch, "d/owl/b.npy", 0.25F), picture(scratch, "d/cat/z.npy"), picture(scratch, "d/owl/a.npy", 0.75F);
    scratch.write("d/.hidden", "x");
    scratch.write("d/README.md", "about the classes");
    const auto data = opened(scratch.path("d"));
    QVERIFY(data->has_labels());
    QCOMPARE(data->classes(), (Texts{"cat", "owl"}));
    QVERIFY(!data->classes_of_model());
    QCOMPARE(data->skipped().size(), size_t{1});
    const Batch batch = data->batch(0);
    QCOMPARE(batch.labels, (Texts{"owl", "cat", "owl"}));
    QCOMPARE(batch.find_input("pixels")->reals, (std::vector<float>{0.75F, 0.5F, 0.25F}));
    QCOMPARE(opened(scratch.path("d"), {"owl", "cat", "dog"})->classes(), (Texts{"owl", "cat", "dog"}));
  }

  void classes_come_by_turns_in_proportion() {
    const Scratch scratch;
    for (const char* name : {"0", "1", "2", "3", "4", "5"}) picture(scratch, std::string("d/cat/") + name + ".npy");
    for (const char* name : {"0", "1", "2"}) picture(scratch, std::string("d/owl/") + name + ".npy");
    // Whatever part of the data is looked at, about two thirds of it are cats.
    QCOMPARE(opened(scratch.path("d"))->batch(0).labels,
             (Texts{"cat", "owl", "cat", "cat", "owl", "cat", "cat", "owl"}));
  }

  void folders_that_are_called_by_numbers_are_those_classes() {
    const Scratch scratch;
    picture(scratch, "d/7/a.npy"), picture(scratch, "d/10/a.npy");
    QCOMPARE(opened(scratch.path("d"))->batch(0).labels, (Texts{"10", "7"}));
    QVERIFY(opened(scratch.path("d"))->classes().empty());
  }

  void an_empty_class_is_said() {
    const Scratch scratch;
    picture(scratch, "d/cat/a.npy");
    std::filesystem::create_directories(scratch.path("d/dog"));
    const auto data = opened(scratch.path("d"));
    QCOMPARE(data->classes(), (Texts{"cat", "dog"}));
    QVERIFY2(data->warnings().at(0).find("d/dog: holds no picture, so the data has none of the class \"dog\"") !=
                 std::string::npos,
             data->warnings()[0].c_str());
  }

  /// A stray file is no class and no reason to refuse the others.
  void an_empty_folder_is_ignored_and_named() {
    const Scratch scratch;
    const auto warned = [](const Dataset& data, const char* words) {
      const Texts all = data.warnings();
      return std::any_of(all.begin(), all.end(),
                         [&](const std::string& w) { return w.find(words) != std::string::npos; });
    };
    picture(scratch, "d/3/a.npy"), picture(scratch, "d/7/a.npy");
    std::filesystem::create_directories(scratch.path("d/3/tmp"));
    std::filesystem::create_directories(scratch.path("d/old"));
    const auto numbers = opened(scratch.path("d"));
    QCOMPARE(numbers->batch(0).labels, (Texts{"3", "7"}));
    QVERIFY(numbers->classes().empty());  // the others are numbers
    QCOMPARE(numbers->empty_classes(), Texts{"old"});
    QVERIFY(warned(*numbers, "d/3/tmp: an empty folder, ignored") && warned(*numbers, "d/old: holds no picture"));
    picture(scratch, "flat/a.npy");
    std::filesystem::create_directories(scratch.path("flat/empty/"));
    scratch.write("flat/empty/.hidden", "");
    const auto flat = opened(scratch.path("flat"));
    QVERIFY(flat->items() == 1 && !flat->has_labels() && warned(*flat, "flat/empty: an empty folder, ignored"));
    // One in which something lies may be missed.
    picture(scratch, "flat/full/a.npy");
    VERIFY_BAD_INPUT(opened(scratch.path("flat")), scratch.path("flat"), "holds \"full\", which is not a picture");
  }

  void a_line_without_a_label_leaves_its_picture_without_one() {
    const Scratch scratch;
    picture(scratch, "a.npy"), picture(scratch, "b.npy"), picture(scratch, "c.npy");
    scratch.write("labels.csv", "a.npy,1\nb.npy,\n\"c.npy\",\"\"\n");
    const auto data = opened(scratch.path(""));
    QCOMPARE(data->batch(0).labels, (Texts{"1", "", ""}));
    QCOMPARE(data->warnings().size(), size_t{1});
    QVERIFY2(data->warnings()[0].find("2 lines have no label; the first is line 2, \"b.npy\"") != std::string::npos,
             data->warnings()[0].c_str());
  }

  void a_file_of_labels_labels_pictures_by_name() {
    const Scratch scratch;
    picture(scratch, "a.npy"), picture(scratch, "b, c.npy"), picture(scratch, "d.npy");
    scratch.write("labels.csv", "file,label\r\nd.npy,\"a \"\"big\"\" owl\"\r\n\"b, c.npy\",3\r\n\r\n");
    const auto data = opened(scratch.path(""));
    QVERIFY(data->has_labels());
    QCOMPARE(data->batch(0).labels, (Texts{"", "3", "a \"big\" owl"}));
    QCOMPARE(data->warnings().size(), size_t{2});
    QVERIFY2(data->warnings()[1].find("labels.csv: 1 empty line is left out; the first is line 4") != std::string::npos,
             data->warnings()[1].c_str());
    QVERIFY2(
        data->warnings()[0].find("1 picture has no line, and so no label; the first is \"a.npy\"") != std::string::npos,
        data->warnings()[0].c_str());
  }

  void labels_of_spreadsheets_are_the_same_labels() {
    const Scratch scratch;
    picture(scratch, "a.npy"), picture(scratch, "b.npy");
    const std::string plain = "file,label\na.npy,1\nb.npy,2\n";
    for (const std::string& text :
         {plain, "\xEF\xBB\xBF" + plain, std::string("file;label\r\na.npy;1\r\nb.npy;2"),
          std::string("a.npy\t1\nb.npy\t2\n"), std::string("a.npy, 1\n b.npy ,2 \n"),
          std::string("file,label,,\na.npy,1,,\nb.npy,2,,\n"), std::string("a.npy,1.0\nb.npy,2.00\n"),
          std::string("\"a.npy\",1e0\n\"b.npy\",\"2\"\n"), gzip_of(plain)}) {
      scratch.write("labels.csv", text);
      const auto data = opened(scratch.path(""));
      QCOMPARE(data->batch(0).labels, (Texts{"1", "2"}));
      QVERIFY2(data->warnings().empty(), text.c_str());
    }
    // The rows show the separator, whatever the first of them looks like.
    scratch.write("labels.csv", "a.npy;1;;\nb.npy;2;;\n");
    QCOMPARE(opened(scratch.path(""))->batch(0).labels, (Texts{"1", "2"}));
    scratch.write("labels.csv", "x, y;0\na.npy;1\nb.npy;2\n");
    QCOMPARE(opened(scratch.path(""))->batch(0).labels, (Texts{"1", "2"}));
    // Names of classes stay as they are written.
    scratch.write("labels.csv", "a.npy,1.0\nb.npy,v2.0\n");
    QCOMPARE(opened(scratch.path(""))->batch(0).labels, (Texts{"1.0", "v2.0"}));
    std::filesystem::remove(scratch.path("labels.csv"));
    scratch.write("labels.csv.gz", gzip_of(plain));
    QCOMPARE(opened(scratch.path(""))->batch(0).labels, (Texts{"1", "2"}));
    scratch.write("labels.csv", plain);
    VERIFY_BAD_INPUT(opened(scratch.path("")), scratch.path(""), "holds \"labels.csv\" and \"labels.csv.gz\"");
    std::filesystem::remove(scratch.path("labels.csv"));
    scratch.write("labels.csv.gz", gzip_of(plain).substr(0, 20));
    VERIFY_BAD_INPUT(opened(scratch.path("")), scratch.path("labels.csv.gz"),
                     "is packed with gzip and ends in the middle");
  }

  void a_heading_is_no_line_without_a_picture() {
    const Scratch scratch;
    picture(scratch, "a.npy");
    for (const char* heading : {"file,label", "filename,class", "image,\"Label\""}) {
      scratch.write("labels.csv", std::string(heading) + "\na.npy,1\n");
      const auto data = opened(scratch.path(""));
      QCOMPARE(data->batch(0).labels, Texts{"1"});
      QVERIFY2(data->warnings().empty(), heading);
    }
    scratch.write("labels.csv", "a.npy,class\n");
    QCOMPARE(opened(scratch.path(""))->batch(0).labels, Texts{"class"});
  }

  void one_of_inputs_and_targets_alone_is_a_class_and_that_is_said() {
    const Scratch scratch;
    picture(scratch, "d/inputs/a.npy"), picture(scratch, "e/targets/a.npy");
    const Texts inputs = opened(scratch.path("d"))->warnings(), targets = opened(scratch.path("e"))->warnings();
    QVERIFY2(
        inputs.at(0).find("d: there is no folder targets beside inputs, which is taken for a class, so the pictures") !=
            std::string::npos,
        inputs[0].c_str());
    QVERIFY2(targets.at(0).find("e: there is no folder inputs beside targets") != std::string::npos,
             targets[0].c_str());
  }

  void lines_without_pictures_are_said() {
    const Scratch scratch;
    picture(scratch, "a.npy");
    scratch.write("labels.csv", "a.npy,1\nx.npy,1\ny.npy,1");
    const Texts warnings = opened(scratch.path(""))->warnings();
    QVERIFY2(warnings.at(0).find("2 lines have no picture; the first is line 2, \"x.npy\"") != std::string::npos,
             warnings[0].c_str());
  }

  void what_does_not_fit_is_one_line() {
    const Scratch scratch;
    picture(scratch, "d/a.npy");
    const std::string folder = scratch.path("d"), labels = scratch.path("d/labels.csv");
    const auto refused = [&](const std::string& text, const char* words) {
      scratch.write("d/labels.csv", text);
      VERIFY_BAD_INPUT(opened(folder), labels, words);
    };
    refused("a.npy\n", "line 1: has 1 field, 2 are expected (write NAME,LABEL on each line)");
    refused("\na.npy,1,2\n", "line 2: has 3 fields, 2 are expected");
    refused(",1\n", "line 1: has a label and no name");
    refused("a.npy,1\na.npy,1\n", "line 2: names \"a.npy\" a second time");
    refused("a.npy,\na.npy,1\n", "line 2: names \"a.npy\" a second time");
    refused("a.npy;1\nb.npy,1\n", "line 2: has 1 field, 2 are expected");
    refused("\"a.npy,\n", "line 1: a quote is not closed");
    refused("a.npy,1\nb.npy,\xff\n",
            ("line 2: is not UTF-8 (save it as UTF-8: iconv -f WINDOWS-1252 -t UTF-8 " + labels + " > NEW)").c_str());
    refused("a.npy;1,5\n", "line 1, column 2: the label is \"1,5\", with a comma in a number (write a point");
    refused("x.npy;1,5\na.npy;2\n", "line 1, column 2: the label is \"1,5\", with a comma in a number");
    refused("file,label\na.npy,\"1,084\"\n", "line 2, column 2: the label is \"1,084\"");
    refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "is a Git LFS pointer, not a table of labels (fetch the file");
    refused("<!DOCTYPE html>\n<html></html>\n",
            "is an HTML page, as a server sends it in place of a file, not a table of labels");
    scratch.write("d/labels.csv", "a.npy,1\n");
    picture(scratch, "d/cat/b.npy");
    VERIFY_BAD_INPUT(opened(folder), folder, "holds \"cat\", which is not a picture");
    std::filesystem::remove(scratch.path("d/a.npy"));
    VERIFY_BAD_INPUT(opened(folder), folder, "\"labels.csv\" and folders, and both would give labels");
    std::filesystem::remove(labels);
    QCOMPARE(opened(folder)->batch(0).labels, Texts{"cat"});
    picture(scratch, "d/cat/deep/b.npy");
    VERIFY_BAD_INPUT(opened(folder), scratch.path("d/cat"), "holds \"deep\", which is not a picture");
    std::filesystem::create_directories(scratch.path("e/cat"));
    VERIFY_BAD_INPUT(opened(scratch.path("e")), scratch.path("e"), "holds no picture");
  }
};

STORMCELL_TEST(LabelledFoldersTest)
#include "labelled_folders_test.moc"
