// Pictures of several sizes in one data set: folders, batches of one size each, and what does not fit.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "core/data/dataset.h"
#include "core/data/picture_form.h"
#include "core/formats/safetensors_writer.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class PictureSizesTest : public QObject {
  Q_OBJECT

  static std::vector<InputSpec> inputs(std::optional<PictureSizes> sizes = PictureSizes{3, 20}) {
    return {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {4, 4, 2}, 0, sizes}};
  }
  /// Every pixel is `value`.
  static void write(const Scratch& scratch, const std::string& name, PictureSize size, float value,
                    int64_t channels = 2) {
    const std::vector<float> pixels(static_cast<size_t>(size.pixels() * channels), value);
    scratch.write(name, npy_of("(" + std::to_string(size.height) + ", " + std::to_string(size.width) + ", " +
                                   std::to_string(channels) + ")",
                               "<f4", pixels));
  }
  /// Pictures of three sizes in turns: 0, 1, 2, 0, 1, ...; each pixel a hundredth of the picture's number.
  static std::string mixed_folder(const Scratch& scratch, int count) {
    constexpr std::array<PictureSize, 3> kSizes{PictureSize{3, 7}, PictureSize{7, 3}, PictureSize{5, 5}};
    for (int i = 0; i < count; ++i) {
      char name[16];
      std::snprintf(name, sizeof name, "%03d.npy", i);
      write(scratch, std::string("pictures/") + name, kSizes[static_cast<size_t>(i % 3)], static_cast<float>(i) / 100);
    }
    return scratch.path("pictures");
  }

 private slots:
  void the_size_of_an_array_is_the_data_s() {
    const Scratch scratch;
    const std::vector<float> pixels(2 * 6 * 9 * 2, 0.5F);
    const std::string array = scratch.write("x.npy", npy_of("(2, 6, 9, 2)", "<f4", pixels));
    const auto data = Dataset::open(array, nullptr, {.inputs = inputs()});
    QCOMPARE(data->batch_count(), int64_t{1});
    const Batch batch = data->batch(0);
    QCOMPARE(to_text(batch.picture), std::string("6x9"));
    QCOMPARE(batch.find_input("pixels")->shape, (std::vector<int64_t>{2, 6, 9, 2}));
    QCOMPARE(data->sizes().size(), size_t{1});
    QCOMPARE(data->sizes()[0].items, int64_t{2});
    const std::vector<TensorToWrite> list{{"pixels", DType::f32, {2, 9, 6, 2}, pixels.data()}};
    write_safetensors(scratch.path("x.safetensors"), list);
    const auto turned = Dataset::open(scratch.path("x.safetensors"), nullptr, {.inputs = inputs()});
    QCOMPARE(to_text(turned->batch(0).picture), std::string("9x6"));
    // The same numbers in another shape are other data.
    QVERIFY(turned->fingerprint() != data->fingerprint());
    VERIFY_BAD_INPUT(Dataset::open(array, nullptr, {.inputs = inputs(PictureSizes{3, 8})}), array,
                     "the array holds pictures of [6, 9, 2], the model takes [height, width, 2], heights and widths of "
                     "3 to 8 pixels");
    VERIFY_BAD_INPUT(Dataset::open(array, nullptr, {.inputs = inputs({})}), array, "the model takes [4, 4, 2]");
    std::vector<InputSpec> grey = inputs();
    grey[0].content[2] = 1;
    VERIFY_BAD_INPUT(Dataset::open(array, nullptr, {.inputs = grey}), array,
                     "give pictures with 1 channel in the last place");
  }

  void random_pictures_have_the_size_that_is_asked_for() {
    const auto stated = Dataset::open("random:3", nullptr, {.inputs = inputs()}),
               asked = Dataset::open("random:3x7x5", nullptr, {.inputs = inputs()}),
               with_channels = Dataset::open("random:3x7x5x2", nullptr, {.inputs = inputs()});
    QCOMPARE(to_text(stated->batch(0).picture), std::string("4x4"));
    QCOMPARE(to_text(asked->batch(0).picture), std::string("7x5"));
    QCOMPARE(asked->fingerprint(), with_channels->fingerprint());
    QCOMPARE(asked->batch(0).find_input("pixels")->reals.size(), size_t{3 * 7 * 5 * 2});
    VERIFY_BAD_INPUT(Dataset::open("random:3x2x5", nullptr, {.inputs = inputs()}), "random:3x2x5",
                     "heights and widths of 3 to 20 pixels");
    VERIFY_BAD_INPUT(Dataset::open("random:3x7x5x3", nullptr, {.inputs = inputs()}), "random:3x7x5x3",
                     "another size than the model takes");
    VERIFY_BAD_INPUT(Dataset::open("random:3x5", nullptr, {.inputs = inputs()}), "random:3x5",
                     "random:N or random:NxHxW[xC]");
  }

  void batches_hold_pictures_of_one_size_each() {
    const Scratch scratch;
    const auto data = Dataset::open(mixed_folder(scratch, 20), nullptr, {.batch = 3, .inputs = inputs()});
    // 7, 7 and 6 pictures: three, three and two batches.
    QCOMPARE(data->items(), int64_t{20});
    QCOMPARE(data->batch_count(), int64_t{8});
    std::vector<int64_t> all;
    for (int64_t b = 0; b < data->batch_count(); ++b) {
      const Batch batch = data->batch(b);
      const auto* pixels = batch.find_input("pixels");
      QCOMPARE(pixels->shape, (std::vector<int64_t>{batch.size(), batch.picture.height, batch.picture.width, 2}));
      QVERIFY(std::is_sorted(batch.items.begin(), batch.items.end()));
      for (size_t i = 0; i < batch.items.size(); ++i) {
        QCOMPARE(batch.items[i] % 3, batch.items[0] % 3);
        QCOMPARE(pixels->reals[i * static_cast<size_t>(batch.picture.pixels()) * 2],
                 static_cast<float>(batch.items[i]) / 100);
      }
      all.insert(all.end(), batch.items.begin(), batch.items.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<int64_t> expected(20);
    std::iota(expected.begin(), expected.end(), 0);
    QCOMPARE(all, expected);
    std::vector<std::string> sizes;
    for (const SizeCount& s : data->sizes())
      sizes.push_back(to_text(s.size) + " " + std::to_string(s.items) + " " + std::to_string(s.batches));
    QCOMPARE(sizes, (std::vector<std::string>{"3x7 7 3", "7x3 7 3", "5x5 6 2"}));
    QCOMPARE(data->cells().cells, int64_t{20});
    // Fewer batches than there are, though the data suffice for so many.
    const auto five = Dataset::open(scratch.path("pictures"), nullptr, {.batch = 3, .batches = 5, .inputs = inputs()});
    QCOMPARE(five->batch_count(), int64_t{5});
    int64_t items = 0;
    for (int64_t b = 0; b < 5; ++b) items += five->batch(b).size();
    QCOMPARE(five->items(), items);
    QVERIFY(five->fingerprint() != data->fingerprint());
    // Some of the first 15 pictures are in no batch then, and the others keep their numbers.
    QVERIFY(items < 15);
    QCOMPARE(five->end_item(), int64_t{15});
    const std::string said = "--batches 5 leaves out " + std::to_string(15 - items) +
                             " of the first 15 pictures: a batch holds pictures of one size";
    QVERIFY2(five->warnings().size() == 1 && five->warnings()[0].find(said) == 0, said.c_str());
    QVERIFY(data->warnings().empty());
  }

  void what_a_batch_holds_is_known_without_reading_it() {
    const Scratch scratch;
    const auto data = Dataset::open(mixed_folder(scratch, 11), nullptr, {.batch = 2, .inputs = inputs()});
    std::vector<Batch> batches;
    for (int64_t b = 0; b < data->batch_count(); ++b) batches.push_back(data->batch(b));
    std::filesystem::remove_all(scratch.path("pictures"));
    for (const Batch& batch : batches) {
      const Batch outline = data->outline(batch.index);
      QCOMPARE(outline.items, batch.items);
      QVERIFY(outline.picture == batch.picture && outline.inputs.empty());
      QCOMPARE(outline.spaces.size(), batch.spaces.size());
      for (size_t s = 0; s < outline.spaces.size(); ++s) {
        QCOMPARE(outline.spaces[s].name, batch.spaces[s].name);
        QCOMPARE(outline.spaces[s].per_item, batch.spaces[s].per_item);
      }
      QCOMPARE(data->real_cells(batch.index), batch.real_cells());
    }
    const int64_t first = batches[0].items[0];
    VERIFY_BAD_INPUT(data->batch(0),
                     scratch.path("pictures/0" + std::string(first < 10 ? "0" : "") + std::to_string(first) + ".npy"),
                     "");
  }

  void opening_looks_at_some_pixels_of_a_picture() {
    const Scratch scratch;
    const auto opened = [&](size_t changed) {
      std::vector<uint8_t> pixels(20 * 20 * 2, 100);
      pixels[changed] = 101;
      return Dataset::open(scratch.write("x.npy", npy_of("(1, 20, 20, 2)", "|u1", pixels)), nullptr,
                           {.inputs = inputs()});
    };
    // Runs of 32 at 0, 109, ..., 768.
    QVERIFY(opened(0)->fingerprint() != opened(31)->fingerprint());
    QVERIFY(opened(0)->fingerprint() != opened(799)->fingerprint());
    QCOMPARE(opened(32)->fingerprint(), opened(108)->fingerprint());
    QCOMPARE(opened(32)->batch(0).find_input("pixels")->reals[32], 101 / 255.0F);
    // The same pixels as reals are the same data.
    std::vector<float> reals(20 * 20 * 2, 100 / 255.0F);
    reals[0] = 101 / 255.0F;
    const std::string file = scratch.write("y.npy", npy_of("(1, 20, 20, 2)", "<f4", reals));
    QCOMPARE(Dataset::open(file, nullptr, {.inputs = inputs()})->fingerprint(), opened(0)->fingerprint());
    // Reals are read for what is not finite, wherever it stands.
    reals[108] = std::numeric_limits<float>::infinity();
    scratch.write("y.npy", npy_of("(1, 20, 20, 2)", "<f4", reals));
    VERIFY_BAD_INPUT(Dataset::open(file, nullptr, {.inputs = inputs()}), file,
                     "picture 0 holds pixels that are not finite");
  }

  void random_pictures_are_sampled_as_they_are_made() {
    const auto data = Dataset::open("random:2x19x17", nullptr, {.seed = 5, .inputs = inputs()});
    const Scratch scratch;
    const std::vector<float> reals = data->batch(0).find_input("pixels")->reals;
    const std::string file = scratch.write("x.npy", npy_of("(2, 19, 17, 2)", "<f4", reals));
    QCOMPARE(Dataset::open(file, nullptr, {.inputs = inputs()})->fingerprint(), data->fingerprint());
  }

  void pixels_far_from_0_to_1_are_warned_of() {
    const Scratch scratch;
    const auto warnings = [&](std::initializer_list<float> values) {
      std::vector<float> pixels;
      for (const float v : values)
        pixels.insert(pixels.end(), {0.5F, 0.25F, 0.5F, 0.25F, 0.5F, v, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F,
                                     0.5F, 0.5F, 0.5F, 0.5F});
      const std::string shape = "(" + std::to_string(values.size()) + ", 3, 3, 2)";
      return Dataset::open(scratch.write("x.npy", npy_of(shape, "<f4", pixels)), nullptr, {.inputs = inputs()})
          ->warnings();
    };
    QCOMPARE(warnings({0.5F, 1, 0, 1.1F, -0.1F}), std::vector<std::string>());
    QCOMPARE(warnings({0.5F, 255, 0, -2}),
             (std::vector<std::string>{scratch.path("x.npy") +
                                       ": 2 of 4 pictures hold pixels far from 0 to 1, which models of pictures take; "
                                       "the first is picture 1, from 0.25 to 255; give f32 divided by 255, or u8"}));
    scratch.write("q/x.npy", npy_of("(3, 3, 2)", "|u1", std::vector<uint8_t>(18, 255)));
    QCOMPARE(Dataset::open(scratch.path("q"), nullptr, {.inputs = inputs()})->warnings(), std::vector<std::string>());
    write(scratch, "q/y.npy", {4, 4}, 17);
    QVERIFY(Dataset::open(scratch.path("q"), nullptr, {.inputs = inputs()})
                ->warnings()
                .at(0)
                .find("the first is y.npy, from 17 to 17") != std::string::npos);
  }

  void profiled_batches_are_of_all_sizes() {
    // A tenth of the pictures is large, all at the end; every fourth batch, and the first quarter, see their share.
    const Scratch scratch;
    for (int i = 0; i < 240; ++i) {
      char name[24];
      std::snprintf(name, sizeof name, "p/%03d.npy", i);
      write(scratch, name, i < 216 ? PictureSize{3, 3} : PictureSize{9, 9}, 1);
    }
    const auto data = Dataset::open(scratch.path("p"), nullptr, {.batch = 3, .inputs = inputs()});
    QCOMPARE(data->batch_count(), int64_t{80});
    int64_t every_fourth = 0, first = 0;
    for (int64_t b = 0; b < 80; ++b) {
      const bool large = data->batch(b).picture.height == 9;
      every_fourth += large && b % 4 == 0;
      first += large && b < 20;
    }
    QVERIFY2(every_fourth >= 1 && every_fourth <= 3, std::to_string(every_fourth).c_str());
    QVERIFY2(first >= 1 && first <= 3, std::to_string(first).c_str());
  }

  void files_are_taken_in_the_order_of_their_names() {
    const Scratch scratch;
    write(scratch, "p/b.npy", {4, 4}, 2);
    write(scratch, "p/a.npy", {4, 4}, 1);
    write(scratch, "p/c.npy", {4, 4}, 3);
    scratch.write("p/.hidden", "no picture");
    const auto data = Dataset::open(scratch.path("p"), nullptr, {.batch = 2, .inputs = inputs()});
    // One size, in the order of the data.
    QCOMPARE(data->batch(0).items, (std::vector<int64_t>{0, 1}));
    QCOMPARE(data->batch(1).items, (std::vector<int64_t>{2}));
    QCOMPARE(data->batch(0).find_input("pixels")->reals[0], 1.0F);
    QCOMPARE(data->batch(1).find_input("pixels")->reals[0], 3.0F);
    scratch.write("r/x.ppm", "P6\n3 4\n255\n" + std::string(36, 51));
    scratch.write("r/y.ppm", "P6\n4 3\n255\n" + std::string(36, 102));
    auto colours = inputs();
    colours[0].content = {4, 4, 3};
    const auto pictures = Dataset::open(scratch.path("r"), nullptr, {.inputs = colours});
    QCOMPARE(pictures->batch_count(), int64_t{2});
    QCOMPARE(pictures->batch(0).find_input("pixels")->reals[7] + pictures->batch(1).find_input("pixels")->reals[7],
             0.6F);
    // Bytes become 0 to 1.
    scratch.write("q/x.npy", npy_of("(3, 3, 2)", "|u1", std::vector<uint8_t>(18, 51)));
    QCOMPARE(Dataset::open(scratch.path("q"), nullptr, {.inputs = inputs()})->batch(0).find_input("pixels")->reals[7],
             0.2F);
  }

  void options_of_sequences_are_refused() {
    const auto refused = [](const std::function<void(DataOptions&)>& set, const char* option) {
      DataOptions options{.inputs = inputs()};
      set(options);
      VERIFY_BAD_INPUT(Dataset::open("random:3", nullptr, options), option,
                       "has no meaning for pictures, which the model takes");
    };
    refused([](DataOptions& o) { o.length = 7; }, "--length");
    refused([](DataOptions& o) { o.truncate = true; }, "--truncate");
    refused([](DataOptions& o) { o.bucket_by_length = true; }, "--bucket-by-length");
    refused([](DataOptions& o) { o.field = "x"; }, "--field");
    refused([](DataOptions& o) { o.target_field = "x"; }, "--target-field");
    refused([](DataOptions& o) { o.label_field = "x"; }, "--label-field");
  }

  void tensors_of_other_names_are_named() {
    const Scratch scratch;
    const std::vector<float> pixels(2 * 6 * 9 * 2, 0.5F);
    const std::string file = scratch.path("x.safetensors");
    const auto refused = [&](const char* name, const char* words) {
      write_safetensors(file, std::vector<TensorToWrite>{{name, DType::f32, {2, 6, 9, 2}, pixels.data()}});
      VERIFY_BAD_INPUT(Dataset::open(file, nullptr, {.inputs = inputs()}), file, words);
    };
    refused("pixel", "has a tensor pixel and no pixels (rename it or remove it");
    refused("images",
            "has no tensor pixels; it holds images (call the pictures pixels: u8 from 0 to 255, or f32 from 0 to 1");
  }

  void batches_that_could_not_be_run_are_refused() {
    const Scratch scratch;
    write(scratch, "p/a.npy", {16, 16}, 1);
    // As many as there are: one picture makes no large batch, whatever --batch allows.
    QCOMPARE(Dataset::open(scratch.path("p"), nullptr, {.batch = 1 << 23, .inputs = inputs()})->max_items(),
             int64_t{1});
    check_batch_of_pictures(1 << 22, {16, 16}, 2);
    VERIFY_BAD_INPUT(check_batch_of_pictures(1 << 23, {16, 16}, 2), "--batch",
                     "8,388,608 pictures of [16, 16, 2] is too large");
    std::vector<InputSpec> labelled = inputs();
    labelled.push_back({"which", DType::i32, InputRole::label, "patch", "picture", 4, {}, 4});
    VERIFY_BAD_INPUT(Dataset::open("random:4", nullptr, {.inputs = labelled}), "space patch",
                     "the model takes pictures of any size");
  }
};

STORMCELL_TEST(PictureSizesTest)
#include "picture_sizes_test.moc"
