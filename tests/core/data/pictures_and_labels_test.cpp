// Inputs that are no token ids: pictures, labels, positions, and what is wrong with data that do not fit them.
#include <limits>
#include <set>

#include "core/data/dataset.h"
#include "core/formats/safetensors_writer.h"
#include "tests/core/data/letters.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Ids = std::vector<int32_t>;

class PicturesAndLabelsTest : public QObject {
  Q_OBJECT

  /// Pictures of 2 x 3 with one channel, cut into three patches that are routed by label.
  static std::vector<InputSpec> patch_inputs() {
    return {{"pixels_of_model", DType::f32, InputRole::pixels, "image", "", 1, {2, 3, 1}, 0},
            {"which", DType::i32, InputRole::label, "patch", "image", 3, {}, 4},
            {"place", DType::i32, InputRole::positions, "patch", "image", 3, {}, 0},
            {"seen", DType::i32, InputRole::mask, "patch", "image", 3, {}, 0}};
  }
  static std::vector<InputSpec> labelled_inputs(int64_t classes) {
    std::vector<InputSpec> inputs = encoder_inputs();
    inputs.push_back({"language", DType::i32, InputRole::label, "sequence", "", 1, {}, classes});
    return inputs;
  }
  const std::vector<float> pixels_{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25};

  std::string tensors(const Scratch& scratch, const std::vector<int64_t>& labels, std::vector<int64_t> shape) const {
    std::vector<TensorToWrite> list{{"pixels", DType::f32, {3, 2, 3, 1}, pixels_.data()}};
    if (!labels.empty()) list.push_back({"labels", DType::i64, std::move(shape), labels.data()});
    write_safetensors(scratch.path("x.safetensors"), list);
    return scratch.path("x.safetensors");
  }

 private slots:
  void a_batch_brings_what_the_model_asks_for_by_role() {
    const Scratch scratch;
    const std::string file = tensors(scratch, {0, 1, 2, 3, 2, 1, 1, 1, 1}, {3, 3});
    const auto data = Dataset::open(file, nullptr, {.batch = 2, .inputs = patch_inputs()});
    QCOMPARE(data->batch_count(), int64_t{2});
    const Batch batch = data->batch(0);
    QCOMPARE(batch.find_input("pixels_of_model")->shape, (std::vector<int64_t>{2, 2, 3, 1}));
    QCOMPARE(batch.find_input("pixels_of_model")->reals, std::vector<float>(pixels_.begin(), pixels_.begin() + 12));
    QCOMPARE(batch.integers("which"), (Ids{0, 1, 2, 3, 2, 1}));
    QCOMPARE(batch.integers("place"), (Ids{0, 1, 2, 0, 1, 2}));
    QCOMPARE(batch.integers("seen"), (Ids{1, 1, 1, 1, 1, 1}));
    QCOMPARE(batch.find_space("image")->per_item, 1);
    QCOMPARE(batch.find_space("patch")->per_item, 3);
    QCOMPARE(batch.find_space("patch")->parent, std::string("image"));
    QCOMPARE(batch.real_cells(), int64_t{2});
    QCOMPARE(data->find_space("patch")->cells, int64_t{9});
    QCOMPARE(data->cells().cells, int64_t{3});
    QCOMPARE(data->batch(1).items, std::vector<int64_t>{2});
    // Other labels or pixels are other data.
    const Scratch other;
    const auto relabelled = Dataset::open(tensors(other, {0, 1, 2, 3, 2, 1, 1, 1, 0}, {3, 3}), nullptr,
                                          {.batch = 2, .inputs = patch_inputs()});
    QVERIFY(relabelled->fingerprint() != data->fingerprint());
  }

  void one_label_an_item_is_that_of_all_its_cells() {
    const Scratch scratch;
    const auto data = Dataset::open(tensors(scratch, {2, 0, 3}, {3}), nullptr, {.inputs = patch_inputs()});
    QCOMPARE(data->batch(0).integers("which"), (Ids{2, 2, 2, 0, 0, 0, 3, 3, 3}));
  }

  void labels_name_the_pictures_of_a_model_that_takes_none() {
    const Scratch scratch;
    const std::vector<InputSpec> inputs{patch_inputs()[0]};
    const auto plain = Dataset::open(tensors(scratch, {}, {}), nullptr, {.batch = 2, .inputs = inputs});
    QVERIFY(!plain->has_labels());
    const auto numbered = Dataset::open(tensors(scratch, {2, 0, 3}, {3}), nullptr, {.batch = 2, .inputs = inputs});
    QVERIFY(numbered->has_labels() && numbered->warnings() == plain->warnings());
    QCOMPARE(numbered->batch(0).labels, (std::vector<std::string>{"2", "0"}));
    QCOMPARE(numbered->batch(1).labels, std::vector<std::string>{"3"});
    QCOMPARE(numbered->fingerprint(), plain->fingerprint());
    const auto named =
        Dataset::open(tensors(scratch, {1, 0, 3}, {3}), nullptr, {.classes = {"cat", "dog"}, .inputs = inputs});
    QCOMPARE(named->batch(0).labels, (std::vector<std::string>{"dog", "cat", "3"}));
    const std::string wrong = tensors(scratch, {0, 1}, {2});
    VERIFY_BAD_INPUT(Dataset::open(wrong, nullptr, {.inputs = inputs}), wrong,
                     "labels has the shape [2], the items are 3");
    // Labels of parts of a picture have no use then, which is said.
    const auto of_patches =
        Dataset::open(tensors(scratch, {0, 1, 2, 3, 2, 1, 1, 1, 1}, {3, 3}), nullptr, {.inputs = inputs});
    QVERIFY(!of_patches->has_labels());
    QCOMPARE(of_patches->warnings().size(), plain->warnings().size() + 1);
    const std::string said = of_patches->warnings().front();
    QVERIFY2(said.find("nothing reads labels [3, 3]") != std::string::npos, said.c_str());
    const std::vector<float> reals{0, 1, 2};
    const std::vector<TensorToWrite> list{{"pixels", DType::f32, {3, 2, 3, 1}, pixels_.data()},
                                          {"labels", DType::f32, {3}, reals.data()}};
    write_safetensors(scratch.path("reals.safetensors"), list);
    VERIFY_BAD_INPUT(Dataset::open(scratch.path("reals.safetensors"), nullptr, {.inputs = inputs}),
                     scratch.path("reals.safetensors"),
                     "labels holds f32, expected integers (save labels as int32 or int64)");
  }

  void bytes_are_pixels_from_0_to_1() {
    const Scratch scratch;
    const std::vector<InputSpec> inputs{patch_inputs()[0]};
    const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3, 1), }";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += '\0';
    const std::string bytes{"\x00\x33\x66\x99\xcc\xff", 6};
    const auto data = Dataset::open(scratch.write("x.npy", file + header + bytes), nullptr, {.inputs = inputs});
    QCOMPARE(data->batch(0).inputs[0].reals, (std::vector<float>{0, 0.2F, 0.4F, 0.6F, 0.8F, 1}));
  }

  void random_pictures_are_seeded() {
    const std::vector<InputSpec> inputs{patch_inputs()[0]};
    const auto data = Dataset::open("random:5", nullptr, {.batch = 2, .seed = 3, .inputs = inputs});
    QCOMPARE(data->items(), int64_t{5});
    std::set<float> values;
    for (int64_t b = 0; b < 3; ++b) {
      const Batch batch = data->batch(b);
      for (const float p : batch.inputs[0].reals) {
        QVERIFY(p >= 0 && p < 1);
        values.insert(p);
      }
    }
    QCOMPARE(values.size(), size_t{30});
    QCOMPARE(Dataset::open("random:5x2x3x1", nullptr, {.batch = 2, .seed = 3, .inputs = inputs})->fingerprint(),
             data->fingerprint());
    VERIFY_BAD_INPUT(Dataset::open("random:5x2x2x1", nullptr, {.inputs = inputs}), "random:5x2x2x1",
                     "another size than the model takes");
    VERIFY_BAD_INPUT(Dataset::open("random:5x2", nullptr, {.inputs = inputs}), "random:5x2",
                     "random:N or random:NxHxW[xC]");
  }

  void labels_of_text_are_numbers_or_classes_of_the_model() {
    const Scratch scratch;
    const std::string named = scratch.write("x.jsonl",
                                            "{\"text\":\"ab\",\"lang\":\"en\"}\n{\"text\":\"a\",\"lang\":\"de\"}\n"),
                      numbered =
                          scratch.write("y.jsonl", "{\"text\":\"ab\",\"lang\":1}\n{\"text\":\"a\",\"lang\":\"0\"}\n");
    DataOptions options{.label_field = "lang", .classes = {"de", "en"}, .inputs = labelled_inputs(2)};
    QCOMPARE(Dataset::open(named, letters(), options)->batch(0).integers("language"), (Ids{1, 0}));
    QCOMPARE(Dataset::open(named, letters(), options)->batch(0).labels, (std::vector<std::string>{"en", "de"}));
    QCOMPARE(Dataset::open(numbered, letters(), options)->batch(0).integers("language"), (Ids{1, 0}));
    options.classes = {};
    VERIFY_BAD_INPUT(Dataset::open(named, letters(), options), named, "line 1: the label \"en\" is not a whole number");
    options.classes = {"de", "fr"};
    VERIFY_BAD_INPUT(Dataset::open(named, letters(), options), named,
                     "not a class of the model (the first class is \"de\")");
    options.inputs = labelled_inputs(1);
    VERIFY_BAD_INPUT(Dataset::open(numbered, letters(), options), numbered,
                     "line 1: there is no branch 1 for this label");
  }

  void random_sequences_have_labels_where_the_model_takes_them() {
    for (const int64_t classes : {2, 0}) {
      DataOptions options{.batch = 64, .seed = 5, .vocabulary = 9, .inputs = labelled_inputs(classes)};
      const auto data = Dataset::open("random:64x3", nullptr, options);
      const Ids labels = data->batch(0).integers("language");
      QCOMPARE(labels.size(), size_t{64});
      const std::set<int32_t> different(labels.begin(), labels.end());
      QVERIFY(*different.begin() >= 0 && (classes == 0 ? different.size() > 50 : different == std::set<int32_t>{0, 1}));
      QVERIFY(Dataset::open("random:64x3", nullptr, options)->batch(0).integers("language") == labels);
    }
  }

  void what_is_missing_or_does_not_fit_is_one_line() {
    const Scratch scratch;
    const std::string text = scratch.write("x.txt", "ab\na\n");
    VERIFY_BAD_INPUT(Dataset::open(text, letters(), {.inputs = labelled_inputs(0)}), text,
                     "has no labels, and the model's input \"language\" takes them");
    const std::string unlabelled = tensors(scratch, {}, {});
    VERIFY_BAD_INPUT(Dataset::open(unlabelled, nullptr, {.inputs = patch_inputs()}), unlabelled, "has no labels");
    VERIFY_BAD_INPUT(Dataset::open(tensors(scratch, {0, 1}, {2}), nullptr, {.inputs = patch_inputs()}), unlabelled,
                     "labels has the shape [2], the items are 3");
    VERIFY_BAD_INPUT(Dataset::open(tensors(scratch, {0, 1, 0, 1, 0, 1}, {3, 2}), nullptr, {.inputs = patch_inputs()}),
                     unlabelled, "picture 0 has 2 labels, the model takes 1 or 3");
    VERIFY_BAD_INPUT(Dataset::open(tensors(scratch, {0, 4, 0}, {3}), nullptr, {.inputs = patch_inputs()}), unlabelled,
                     "picture 1: there is no branch 4 for this label (labels are numbers from 0 to 3)");
    std::vector<InputSpec> larger = patch_inputs();
    larger[0].content = {4, 3, 1};
    VERIFY_BAD_INPUT(Dataset::open(tensors(scratch, {0, 1, 0}, {3}), nullptr, {.inputs = larger}), unlabelled,
                     "holds pictures of [2, 3, 1], the model takes [4, 3, 1]");
    VERIFY_BAD_INPUT(Dataset::open(text, letters(), {.inputs = patch_inputs()}), text, "the model takes pictures");
    std::vector<InputSpec> both = encoder_inputs();
    both.push_back(patch_inputs()[0]);
    VERIFY_BAD_INPUT(Dataset::open(tensors(scratch, {0, 1, 0}, {3}), nullptr, {.inputs = both}), unlabelled,
                     "has no token ids");
  }

  void pixels_are_finite() {
    const Scratch scratch;
    std::vector<float> pixels(6, 0.5F);
    pixels[4] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<TensorToWrite> list{{"pixels", DType::f32, {1, 2, 3, 1}, pixels.data()}};
    const std::string file = scratch.path("x.safetensors");
    write_safetensors(file, list);
    VERIFY_BAD_INPUT(Dataset::open(file, nullptr, {.inputs = {patch_inputs()[0]}}), file,
                     "picture 0 holds pixels that are not finite");
  }

  void inputs_that_no_data_can_fill_are_refused() {
    const auto refuse = [](std::vector<InputSpec> inputs, const char* where, const char* words) {
      VERIFY_BAD_INPUT(Dataset::open("random:2x3", nullptr, {.vocabulary = 9, .inputs = inputs}), where, words);
    };
    refuse({{"x", DType::f32, InputRole::none, "token", "sequence", 0, {}, 0}}, "input x",
           "of the role none cannot be filled from data");
    refuse({{"x", DType::f32, InputRole::ids, "token", "sequence", 0, {}, 0}}, "input x",
           "of the role ids is not one number a cell");
    refuse({{"x", DType::i32, InputRole::positions, "token", "sequence", 0, {}, 0}}, "space token",
           "has a number of cells that no input gives");
    refuse({{"x", DType::i32, InputRole::ids, "token", "sequence", 5, {}, 0}}, "space token", "has 5 cells an item");
    refuse({{"x", DType::f32, InputRole::pixels, "image", "", 1, {2, 2}, 0}}, "input x",
           "of the role pixels is not one picture");
  }
};

STORMCELL_TEST(PicturesAndLabelsTest)
#include "pictures_and_labels_test.moc"
