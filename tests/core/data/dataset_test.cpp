#include "core/data/dataset.h"

#include <filesystem>
#include <set>
#include <thread>

#include "core/formats/safetensors_writer.h"
#include "tests/core/data/letters.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Ids = std::vector<int32_t>;

class DatasetTest : public QObject {
  Q_OBJECT
 private slots:
  void lines_are_sequences_and_a_batch_pads_to_its_longest() {
    const Scratch scratch;
    const auto data = open_data(scratch.write("x.txt",
                                              "\xEF\xBB\xBF"
                                              "ab\r\n\n  \nabcd\na"),
                                letters(), {.batch = 2});
    QCOMPARE(data->items(), int64_t{3});
    QCOMPARE(data->batch_count(), int64_t{2});
    QCOMPARE(data->max_length(), int64_t{5});
    QCOMPARE(data->max_items(), int64_t{2});
    const Batch first = data->batch(0), last = data->batch(1);
    QCOMPARE(first.find_space("token")->per_item, 5);
    QCOMPARE(first.integers("input_ids"), (Ids{3, 4, 1, 0, 0, 3, 4, 5, 6, 1}));
    QCOMPARE(first.integers("attention_mask"), (Ids{1, 1, 1, 0, 0, 1, 1, 1, 1, 1}));
    QCOMPARE(first.texts, (std::vector<std::string>{"ab", "abcd"}));
    QVERIFY(first.integers("decoder_input_ids").empty() && first.targets.empty() && first.labels.empty());
    QCOMPARE(last.items, std::vector<int64_t>{2});
    QCOMPARE(last.size(), int64_t{1});
    QCOMPARE(last.integers("input_ids"), (Ids{3, 1}));
    QCOMPARE(data->find_space("token")->cells, int64_t{12});
    QCOMPARE(data->find_space("token")->real, int64_t{10});
    QVERIFY(!data->find_space("decoder_token"));
    QCOMPARE(data->cells().cells, int64_t{12});
  }

  void without_decoder_ids_the_decoder_gets_the_encoders() {
    const Scratch scratch;
    const auto data = open_data(scratch.write("x.txt", "ab\na"), letters(), {.length = 4, .inputs = decoder_inputs()});
    const Batch batch = data->batch(0);
    QCOMPARE(batch.find_space("decoder_token")->per_item, 4);
    QCOMPARE(batch.integers("decoder_input_ids"), batch.integers("input_ids"));
    QCOMPARE(batch.integers("decoder_attention_mask"), batch.integers("attention_mask"));
    QCOMPARE(data->find_space("decoder_token")->most_per_item, int64_t{4});
    QCOMPARE(data->find_space("decoder_token")->cells, int64_t{8});
    QCOMPARE(data->find_space("decoder_token")->real, int64_t{5});
  }

  void targets_teach_the_decoder_shifted_by_the_start_token() {
    const Scratch scratch;
    const std::string file = scratch.write(
        "x.jsonl", "{\"text\":\"ab\",\"out\":\"xyz\",\"lang\":\"de\"}\n{\"text\":\"a\",\"out\":\"x\",\"lang\":7}\n");
    const auto data =
        open_data(file, letters(),
                  {.target_field = "out", .label_field = "lang", .inputs = decoder_inputs(), .decoder_start_id = 2});
    const Batch batch = data->batch(0);
    QCOMPARE(batch.target_ids, (std::vector<Ids>{{26, 27, 28, 1}, {26, 1}}));
    QCOMPARE(batch.integers("decoder_input_ids"), (Ids{2, 26, 27, 28, 2, 26, 0, 0}));
    QCOMPARE(batch.integers("decoder_attention_mask"), (Ids{1, 1, 1, 1, 1, 1, 0, 0}));
    QCOMPARE(batch.targets, (std::vector<std::string>{"xyz", "x"}));
    QCOMPARE(batch.labels, (std::vector<std::string>{"de", "7"}));
    QVERIFY(data->has_labels());
    // A model without a decoder keeps the targets, for comparison, and gets no decoder ids.
    const Batch plain = open_data(file, letters(), {.target_field = "out"})->batch(0);
    QVERIFY(plain.integers("decoder_input_ids").empty() && plain.targets.size() == 2);
  }

  void text_of_other_hands_is_the_same_text() {
    const Scratch scratch;
    const auto ids_of = [&](const char* name, const std::string& content, int64_t empty) {
      const auto data = open_data(scratch.write(name, content), letters(), {});
      const bool said =
          !data->warnings().empty() && data->warnings()[0].find(" left out; the first is line ") != std::string::npos;
      return said == (empty > 0) ? data->batch(0).integers("input_ids") : Ids{};
    };
    const Ids expected = {3, 4, 1, 5, 1, 0};
    QCOMPARE(ids_of("x.txt", "ab\nc\n", 0), expected);
    QCOMPARE(ids_of("x.txt",
                    "\xEF\xBB\xBF"
                    "ab\r\n\r\nc",
                    1),
             expected);
    QCOMPARE(ids_of("x.txt", "ab\rc\r", 0), expected);
    QCOMPARE(ids_of("x.txt.gz", gzip_of("ab\n\nc\n"), 1), expected);
    QCOMPARE(ids_of("x.jsonl", "\n{\"text\":\"ab\"}\r\n{\"text\":\"c\", \"score\": NaN}", 1), expected);
    QCOMPARE(ids_of("x.jsonl", "[{\"text\": \"ab\"},\n {\"text\":\n\"c\"}]", 0), expected);
    QCOMPARE(ids_of("x.jsonl.gz", gzip_of("{\"text\":\"ab\"}\n{\"text\":\"c\"}\n"), 0), expected);
    QCOMPARE(ids_of("x.npy.gz", gzip_of(npy_ids("(2, 2)", {3, 4, 5, 1})), 0), (Ids{3, 4, 5, 1}));
    const std::string wide = scratch.write("wide.txt", std::string("\xFF\xFE"
                                                                   "a\0\n\0",
                                                                   6));
    VERIFY_BAD_INPUT(open_data(wide, letters(), {}), wide, "is text in UTF-16");
    const std::string cut = scratch.write("cut.jsonl", "{\"text\":\"ab\"}\n{\"text\":\"");
    VERIFY_BAD_INPUT(open_data(cut, letters(), {}), cut, "line 2: the line ends in the middle of a text of its JSON");
  }

  void long_sequences_are_cut_only_when_asked_and_counted() {
    const Scratch scratch;
    const std::string file = scratch.write("x.txt", "abc\nabcdefgh\nabcdef");
    VERIFY_BAD_INPUT(open_data(file, letters(), {.max_length = 5}), file,
                     "line 2: the input has 9 tokens, the model takes at most 5");
    VERIFY_BAD_INPUT(open_data(file, letters(), {.length = 4}), file, "--length allows at most 4");
    const auto data = open_data(file, letters(), {.max_length = 5, .truncate = true});
    QCOMPARE(data->truncated(), int64_t{2});
    QCOMPARE(data->batch(0).truncated, int64_t{2});
    QCOMPARE(data->batch(0).integers("input_ids"),
             (Ids{3, 4, 5, 1, 0, 3, 4, 5, 6, 1, 3, 4, 5, 6, 1}));  // the end token stays
  }

  void a_length_pads_every_batch() {
    const Scratch scratch;
    const auto data = open_data(scratch.write("x.txt", "a\nb"), letters(), {.batch = 1, .length = 4});
    QCOMPARE(data->batch(1).integers("input_ids"), (Ids{4, 1, 0, 0}));
    QCOMPARE(data->max_length(), int64_t{4});
    VERIFY_BAD_INPUT(open_data("random:2x2", nullptr, {.length = 9, .max_length = 8, .vocabulary = 10}), "--length",
                     "at most 8");
  }

  void only_the_batches_asked_for_are_read() {
    const Scratch scratch;
    const auto data = open_data(scratch.write("x.txt", "a\nb\nc\n\xff\n"), letters(), {.batch = 1, .batches = 2});
    QCOMPARE(data->items(), int64_t{2});
    QCOMPARE(
        open_data(scratch.write("y.txt", "a\nb\n"), letters(), {.batch = 1, .batches = 1'000'000'000'000})->items(),
        int64_t{2});
  }

  void batches_of_like_length_hold_the_same_items_with_less_padding() {
    const Scratch scratch;
    const std::string file = scratch.write("x.txt", "abcdefg\na\nabcdef\nb\nabcdefgh\nab\nc");
    const auto given = open_data(file, letters(), {.batch = 2}),
               like = open_data(file, letters(), {.batch = 2, .bucket_by_length = true});
    QCOMPARE(given->cells().cells, int64_t{8 * 2 + 7 * 2 + 9 * 2 + 2});
    QCOMPARE(given->cells().as_given, given->cells().cells);
    QCOMPARE(like->cells().cells, int64_t{2 * 2 + 3 * 2 + 8 * 2 + 9});
    for (const auto& data : {given, like}) {
      QCOMPARE(data->cells().as_given, given->cells().cells);
      QCOMPARE(data->cells().by_length, like->cells().cells);
      QCOMPARE(data->cells().real, int64_t{8 + 2 + 7 + 2 + 9 + 3 + 2});
      QCOMPARE(data->max_length(), int64_t{9});
    }
    QVERIFY(like->fingerprint() != given->fingerprint());

    std::set<std::vector<int64_t>> parts;
    std::vector<std::string> texts(7);
    int64_t cells = 0, real = 0;
    for (int64_t b = 0; b < like->batch_count(); ++b) {
      const Batch batch = like->batch(b);
      parts.insert(batch.items);
      cells += batch.size() * batch.find_space("token")->per_item;
      real += batch.real_cells();
      for (size_t i = 0; i < batch.items.size(); ++i) {
        texts[static_cast<size_t>(batch.items[i])] = batch.texts[i];
        const auto per_item = static_cast<size_t>(batch.find_space("token")->per_item);
        const Ids row(batch.integers("input_ids").begin() + static_cast<int64_t>(i * per_item),
                      batch.integers("input_ids").begin() + static_cast<int64_t>((i + 1) * per_item));
        Ids expected = letters()->encode(batch.texts[i], true);
        expected.resize(per_item);
        QCOMPARE(row, expected);
      }
    }
    // Those alike stay in the order of the data.
    QCOMPARE(parts, (std::set<std::vector<int64_t>>{{1, 3}, {6, 5}, {2, 0}, {4}}));
    QCOMPARE(texts, (std::vector<std::string>{"abcdefg", "a", "abcdef", "b", "abcdefgh", "ab", "c"}));
    QCOMPARE(cells, like->cells().cells);
    QCOMPARE(real, like->cells().real);
  }

  void batches_of_like_length_leave_out_what_the_data_pad_themselves() {
    // Four rows of six cells, of which 1, 6, 2 and 5 are real.
    const Scratch scratch;
    const std::vector<int32_t> real = {1, 6, 2, 5};
    std::vector<int32_t> ids, mask;
    for (const int32_t n : real)
      for (int32_t i = 0; i < 6; ++i) ids.push_back(i < n ? 10 + n : 0), mask.push_back(i < n);
    const std::string path = scratch.path("x.safetensors");
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i32, {4, 6}, ids.data()},
                                                {"attention_mask", DType::i32, {4, 6}, mask.data()}};
    write_safetensors(path, tensors);
    const auto given = open_data(path, nullptr, {.batch = 2, .vocabulary = 20}),
               like = open_data(path, nullptr, {.batch = 2, .bucket_by_length = true, .vocabulary = 20});
    QCOMPARE(given->cells().cells, int64_t{24});
    QCOMPARE(given->batch(0).find_space("token")->per_item, 6);
    for (const auto& data : {given, like}) {
      QCOMPARE(data->cells().as_given, int64_t{24});
      QCOMPARE(data->cells().by_length, int64_t{2 * 2 + 2 * 6});
      QCOMPARE(data->cells().real, int64_t{14});
    }
    QCOMPARE(like->cells().cells, int64_t{16});
    for (int64_t b = 0; b < 2; ++b) {
      const Batch batch = like->batch(b);
      const auto cells = static_cast<size_t>(batch.find_space("token")->per_item);
      QCOMPARE(cells, size_t(batch.items[0] == 0 ? 2 : 6));
      for (size_t i = 0; i < 2; ++i)
        for (size_t c = 0; c < cells; ++c) {
          const int32_t n = real[static_cast<size_t>(batch.items[i])];
          QCOMPARE(batch.integers("input_ids")[i * cells + c], static_cast<int32_t>(c) < n ? 10 + n : 0);
          QCOMPARE(batch.find_space("token")->real[i * cells + c], static_cast<int32_t>(static_cast<int32_t>(c) < n));
        }
    }
  }

  void items_of_one_length_stay_as_they_are() {
    const auto given = open_data("random:10x7", nullptr, {.batch = 4, .vocabulary = 20}),
               like = open_data("random:10x7", nullptr, {.batch = 4, .bucket_by_length = true, .vocabulary = 20});
    QCOMPARE(like->fingerprint(), given->fingerprint());
    for (int64_t b = 0; b < 3; ++b) QCOMPARE(like->batch(b).items, given->batch(b).items);
  }

  void arrays_are_sequences_of_one_length() {
    const Scratch scratch;
    const auto data = open_data(scratch.write("x.npy", npy_ids("(3, 2)", {1, 2, 3, 4, 5, 0})), nullptr,
                                {.batch = 2, .vocabulary = 6});
    QCOMPARE(data->batch(0).integers("input_ids"), (Ids{1, 2, 3, 4}));
    QCOMPARE(data->batch(1).integers("input_ids"), (Ids{5, 0}));
    QCOMPARE(data->batch(1).integers("attention_mask"),
             (Ids{1, 1}));  // an id that looks like padding is data: there is no mask
    QVERIFY(data->batch(0).texts.empty());
  }

  void tensors_bring_masks_and_decoder_ids() {
    const Scratch scratch;
    const std::vector<int64_t> ids = {3, 4, 0, 5, 6, 7}, decoder = {0, 9, 0, 8};
    const std::vector<uint8_t> mask = {1, 1, 0, 1, 1, 1};
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {2, 3}, ids.data()},
                                                {"attention_mask", DType::boolean, {2, 3}, mask.data()},
                                                {"decoder_input_ids", DType::i64, {2, 2}, decoder.data()},
                                                {"labels", DType::i64, {2, 2}, decoder.data()}};
    const std::string file = scratch.path("x.safetensors");
    write_safetensors(file, tensors);
    const Batch batch = open_data(file, nullptr, {.vocabulary = 10, .inputs = decoder_inputs()})->batch(0);
    QCOMPARE(batch.integers("input_ids"), (Ids{3, 4, 0, 5, 6, 7}));
    QCOMPARE(batch.integers("attention_mask"), (Ids{1, 1, 0, 1, 1, 1}));
    QCOMPARE(batch.integers("decoder_input_ids"), (Ids{0, 9, 0, 8}));
    QCOMPARE(batch.integers("decoder_attention_mask"), (Ids{1, 1, 1, 1}));
    QVERIFY(open_data(file, nullptr, {})->batch(0).integers("decoder_input_ids").empty());
    const Batch cut = open_data(file, nullptr, {.length = 2, .truncate = true})->batch(0);
    QCOMPARE(cut.integers("input_ids"), (Ids{3, 4, 5, 6}));
    QCOMPARE(cut.integers("attention_mask"), (Ids{1, 1, 1, 1}));
    QCOMPARE(cut.truncated, int64_t{2});
  }

  void a_tensor_that_is_called_almost_as_a_known_one_is_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("known");
    for (const auto& [name, known] :
         {std::pair{"atention_mask", "attention_mask"}, std::pair{"attention_masks", "attention_mask"},
          std::pair{"lables", "labels"}, std::pair{"label", "labels"}, std::pair{"AttentionMask", "attention_mask"},
          std::pair{"decoder_input_id", "decoder_input_ids"}})
      QTest::newRow(name) << name << known;
  }
  void a_tensor_that_is_called_almost_as_a_known_one_is_refused() {
    QFETCH(const QString, name);
    QFETCH(const QString, known);
    const Scratch scratch;
    const std::vector<int64_t> ids = {3, 4, 5, 6}, other = {1, 1, 0, 1};
    const std::string file = scratch.path("x.safetensors");
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {2, 2}, ids.data()},
                                                {name.toStdString(), DType::i64, {2, 2}, other.data()}};
    write_safetensors(file, tensors);
    const std::string message = bad_input_of([&] { open_data(file, nullptr, {.vocabulary = 10}); }, file);
    QVERIFY2(message.find("has a tensor " + name.toStdString() + " and no " + known.toStdString() + " ") !=
                 std::string::npos,
             message.c_str());
  }
  void tensors_that_nobody_reads_are_told() {
    const Scratch scratch;
    const std::vector<int64_t> ids = {3, 4, 5, 6};
    const std::string file = scratch.path("x.safetensors");
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {2, 2}, ids.data()},
                                                {"token_type_ids", DType::i64, {2, 2}, ids.data()},
                                                {"labels", DType::i64, {2}, ids.data()}};
    write_safetensors(file, tensors);
    QCOMPARE(open_data(file, nullptr, {.vocabulary = 10})->warnings(),
             (std::vector<std::string>{
                 file + ": nothing reads token_type_ids; data may have input_ids, attention_mask, decoder_input_ids, "
                        "decoder_attention_mask, labels"}));
    const std::vector<TensorToWrite> plain = {{"input_ids", DType::i64, {2, 2}, ids.data()}};
    write_safetensors(file, plain);
    QVERIFY(open_data(file, nullptr, {.vocabulary = 10})->warnings().empty());
  }

  void one_label_a_sequence_is_its_label() {
    const Scratch scratch;
    const std::vector<int64_t> ids = {3, 4, 5, 6}, labels = {7, 2, 1};
    const auto file = [&](const char* name, std::vector<int64_t> shape) {
      const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {2, 2}, ids.data()},
                                                  {"labels", DType::i64, std::move(shape), labels.data()}};
      write_safetensors(scratch.path(name), tensors);
      return scratch.path(name);
    };
    const auto data = open_data(file("two.safetensors", {2}), nullptr, {.vocabulary = 10});
    QVERIFY(data->has_labels());
    QCOMPARE(data->batch(0).labels, (std::vector<std::string>{"7", "2"}));
  }

  void positions_count_real_cells() {
    const Scratch scratch;
    const std::vector<int64_t> ids = {0, 0, 3, 4, 5, 6, 7, 0};
    const std::vector<uint8_t> mask = {0, 0, 1, 1, 1, 1, 1, 0};
    const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i64, {2, 4}, ids.data()},
                                                {"attention_mask", DType::boolean, {2, 4}, mask.data()}};
    const std::string file = scratch.path("left.safetensors");
    write_safetensors(file, tensors);
    std::vector<InputSpec> inputs = encoder_inputs();
    inputs.push_back({"place", DType::i32, InputRole::positions, "token", "sequence", 0, {}});
    QCOMPARE(open_data(file, nullptr, {.vocabulary = 10, .inputs = inputs})->batch(0).integers("place"),
             (Ids{1, 1, 0, 1, 0, 1, 2, 1}));
  }

  void random_ids_are_seeded_and_within_the_vocabulary() {
    const DataOptions options{.batch = 4, .seed = 5, .vocabulary = 8, .inputs = decoder_inputs()};
    const auto data = open_data("random:10x50x7", nullptr, options);
    QCOMPARE(data->items(), int64_t{10});
    QCOMPARE(data->batch(2).size(), int64_t{2});
    QCOMPARE(data->batch(0).find_space("token")->per_item, 50);
    QCOMPARE(data->batch(0).find_space("decoder_token")->per_item, 7);
    std::set<int32_t> seen;
    for (int64_t i = 0; i < data->batch_count(); ++i) {
      const Batch batch = data->batch(i);
      for (const int32_t id : batch.integers("input_ids")) seen.insert(id);
    }
    QCOMPARE(seen, (std::set<int32_t>{3, 4, 5, 6, 7}));
    QCOMPARE(open_data("random:10x50x7", nullptr, options)->batch(1).integers("input_ids"),
             data->batch(1).integers("input_ids"));
    QCOMPARE(open_data("random:10x50x7", nullptr, options)->fingerprint(), data->fingerprint());
    DataOptions other = options;
    other.seed = 6;
    QVERIFY(open_data("random:10x50x7", nullptr, other)->batch(1).integers("input_ids") !=
            data->batch(1).integers("input_ids"));
    QVERIFY(open_data("random:10x50x7", nullptr, other)->fingerprint() != data->fingerprint());
    // Pinned: other machines and later versions make the same.
    QCOMPARE(open_data("random:1x6", nullptr, {.vocabulary = 32128})->batch(0).integers("input_ids"),
             (Ids{20962, 5348, 16382, 31343, 11896, 1565}));
  }

  void batches_may_be_made_by_several_threads() {
    const auto data = open_data("random:64x32", nullptr, {.batch = 4, .vocabulary = 100});
    std::vector<Batch> batches(16);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (size_t i = t; i < batches.size(); i += 4) batches[i] = data->batch(static_cast<int64_t>(i));
      });
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < batches.size(); ++i)
      QCOMPARE(batches[i].integers("input_ids"), data->batch(static_cast<int64_t>(i)).integers("input_ids"));
  }

  // Nothing is mapped: a file that became shorter, or another, is an error of who reads it, whatever it holds.
  void data_that_change_while_they_are_open_are_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("pictures");
    for (const char* name : {"ids.npy", "ids.safetensors"}) QTest::newRow(name) << QString(name) << false;
    for (const char* name : {"pixels.npy", "pixels.safetensors"}) QTest::newRow(name) << QString(name) << true;
  }
  void data_that_change_while_they_are_open_are_refused() {
    QFETCH(const QString, name);
    QFETCH(const bool, pictures);
    const Scratch scratch;
    const std::string path = scratch.path(name.toStdString());
    const std::vector<int64_t> shape = pictures ? std::vector<int64_t>{6, 2, 2, 1} : std::vector<int64_t>{6, 4};
    const Ids ids(24, 7);
    const std::vector<float> pixels(24, 0.5F);
    if (name.endsWith(".npy")) {
      scratch.write(name.toStdString(), pictures ? npy_of("(6, 2, 2, 1)", "<f4", pixels) : npy_ids("(6, 4)", ids));
    } else {
      const TensorToWrite tensor{pictures ? "pixels" : "input_ids", pictures ? DType::f32 : DType::i32, shape,
                                 pictures ? static_cast<const void*>(pixels.data()) : ids.data()};
      write_safetensors(path, {&tensor, 1});
    }
    DataOptions options{.batch = 2};
    if (pictures) options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {2, 2, 1}, 0}};
    const auto data = open_data(path, letters(), options);
    QCOMPARE(data->batch(2).size(), int64_t{2});
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
    std::filesystem::resize_file(path, static_cast<uintmax_t>(size - 3));
    for (const int64_t batch : {int64_t{0}, int64_t{2}}) {
      std::string said;
      try {
        (void)data->batch(batch);
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::failed);
        said = e.what();
      }
      // Item by item: the first one of either batch can still be read whole.
      QVERIFY2(said.starts_with(path + ": was written to while it was used: it had " + std::to_string(size) +
                                " bytes and has " + std::to_string(size - 3) + " now ("),
               said.c_str());
    }
  }

  void data_whose_name_is_gone_stay_readable() {
    const Scratch scratch;
    const std::string path = scratch.write("x.npy", npy_ids("(2, 3)", {3, 4, 5, 6, 7, 8}));
    const auto data = open_data(path, letters(), {});
    std::filesystem::remove(path);
    QCOMPARE(data->batch(0).integers("input_ids"), (Ids{3, 4, 5, 6, 7, 8}));
  }

  // A line that begins in one piece of the file and ends in another, also where the pieces meet between \r and \n.
  void lines_are_whole_wherever_the_pieces_of_a_file_end() {
    const Scratch scratch;
    constexpr size_t kPiece = size_t{1} << 20;
    for (const size_t first : {kPiece - 2, kPiece - 1, kPiece, kPiece + 1, 2 * kPiece + 7}) {
      const std::string content = std::string(first, 'a') + "\r\n" + std::string(3 * kPiece / 2, 'b') + "\nc";
      const auto data = open_data(scratch.write("x.txt", content), letters(), {.batch = 1});
      QCOMPARE(data->items(), int64_t{3});
      QVERIFY(data->batch(0).texts[0] == std::string(first, 'a'));
      QVERIFY(data->batch(1).texts[0] == std::string(3 * kPiece / 2, 'b'));
      QVERIFY(data->batch(2).texts[0] == "c");
    }
  }

  void demo_data_is_found_where_the_environment_says() {
    const Scratch scratch;
    scratch.write("switch-names/test.jsonl", R"({"text":"ab","target":"b","language":"xx","script":"Latn"})");
    qputenv("STORMCELL_DATA", QByteArray::fromStdString(scratch.folder()));
    const auto data = open_data("demo:switch-names", letters(), {});
    qunsetenv("STORMCELL_DATA");
    QCOMPARE(data->name(), std::string("demo:switch-names"));
    QCOMPARE(data->batch(0).labels, (std::vector<std::string>{"xx"}));
    QCOMPARE(data->batch(0).targets, (std::vector<std::string>{"b"}));
    VERIFY_BAD_INPUT(open_data("demo:nothing", letters(), {}), "demo:nothing", "no such demo");
  }
};

STORMCELL_TEST(DatasetTest)
#include "dataset_test.moc"
