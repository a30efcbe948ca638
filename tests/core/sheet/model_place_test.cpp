// Finds the model that a name belongs to: folders, parts, downloads that have not ended; and what is read of its files.
#include "core/sheet/model_place.h"

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/sheet/sheets.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Bytes that this process has read from files, cached or not; -1: not known.
int64_t bytes_read_so_far() {
  std::ifstream io("/proc/self/io");
  std::string key;
  for (int64_t value = 0; io >> key >> value;)
    if (key == "rchar:") return value;
  return -1;
}

}  // namespace

class ModelPlaceTest : public QObject {
  Q_OBJECT
 private slots:
  void parts_of_a_gguf_model_are_one_model_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("whole") << ""
                           << "";
    QTest::newRow("one is missing") << "missing"
                                    << "1 is not beside it: \"m-00002-of-00003.gguf\" (download them again)";
    QTest::newRow("one is downloading") << "downloading"
                                        << "(wait until the download is finished: \"m-00002-of-00003.gguf.part\"";
    QTest::newRow("another count") << "count"
                                   << "says that it is one of 4 parts, its name says 3";
    QTest::newRow("another number") << "number"
                                    << "says that it is part 1, its name says 2";
    QTest::newRow("another model") << "model"
                                   << "is a part of another model: its architecture is \"llama\"";
    QTest::newRow("too few tensors") << "tensors"
                                     << "says that its parts have 9 tensors, and they have 3";
  }
  void parts_of_a_gguf_model_are_one_model() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    const Scratch scratch;
    for (uint32_t part = 0; part < 3; ++part) {
      const bool second = part == 1;
      if (second && what == "downloading") scratch.write("m-00002-of-00003.gguf.part", "GGUF");
      if (second && (what == "missing" || what == "downloading")) continue;
      GgufBytes file;
      if (part == 0) file.text("general.architecture", "qwen3moe").number("qwen3moe.block_count", 3);
      if (second && what == "model") file.text("general.architecture", "llama");
      file.number("split.count", second && what == "count" ? 4 : 3)
          .number("split.no", second && what == "number" ? 0 : part);
      file.number("split.tensors.count", what == "tensors" ? 9 : 3);
      file.tensor("blk." + std::to_string(part) + ".ffn_up_exps.weight", {32, 8, 4}, 8, 34 * 32);
      write_sparse(scratch.path("m-0000" + std::to_string(part + 1) + "-of-00003.gguf"), file.header(),
                   file.data_bytes());
    }
    const std::string last = scratch.path("m-00003-of-00003.gguf");
    if (words.isEmpty()) {
      const ModelSheet sheet = sheet_at(last);
      QVERIFY(sheet.files == 3 && sheet.layers == 3 && sheet.layers_with_experts == 3 && sheet.experts == 4);
      QCOMPARE(sheet_at(scratch.folder()).files, int64_t{3});  // the folder holds this model alone
      return;
    }
    std::string said;
    try {
      sheet_at(last);
    } catch (const Error& error) {
      said = error.what();
    }
    QVERIFY2(said.find(words.toStdString()) != std::string::npos, said.c_str());
  }

  void a_folder_with_two_models_is_refused() {
    const Scratch scratch;
    const GgufBytes made = gguf_mixture(1);
    for (const char* name : {"a.gguf", "b.gguf", "mmproj-a.gguf"})
      write_sparse(scratch.path(name), made.header(), made.data_bytes());
    VERIFY_BAD_INPUT(model_place(scratch.folder()), scratch.folder(),
                     "holds 2 models: \"a.gguf\", \"b.gguf\" (name one of them)");
  }

  void a_file_that_is_still_downloading_is_named_so() {
    const Scratch scratch;
    const GgufBytes made = gguf_mixture(1);
    const std::string gguf = scratch.path("m.gguf"), tensors = scratch.path("w.safetensors");
    write_sparse(gguf, made.header(), made.data_bytes() / 2);
    VERIFY_BAD_INPUT(sheet_at(gguf), gguf, "is shorter than its header says: \"blk.0.ffn_down_exps.weight\"");
    write_sparse(tensors, safetensors_head({{"w", "F32", {100}, 400}}), 399);
    VERIFY_BAD_INPUT(sheet_at(tensors), tensors, "it may still be downloading");
    // A program that reserves all of the space first leaves a file of its own beside it until it is finished.
    write_sparse(gguf, made.header(), made.data_bytes());
    QVERIFY(sheet_at(gguf).warnings.empty());
    scratch.write("m.gguf.aria2", "x");
    QCOMPARE(sheet_at(gguf).warnings,
             (std::vector<std::string>{gguf + ": its download did not end, it left \"m.gguf.aria2\""}));
  }

  void a_part_of_a_gguf_model_is_no_model() {
    const Scratch scratch;
    for (const char* type : {"adapter", "mmproj"}) {
      GgufBytes file;
      file.text("general.type", type).tensor("a", {32}, 0, 128);
      const std::string path = scratch.path(std::string(type) + ".bin");
      write_sparse(path, file.header(), file.data_bytes());
      QVERIFY(model_place(path).form == SheetForm::none);  // another kind: the recogniser names it
    }
  }

  void a_hugging_face_folder_is_found_by_any_of_its_files() {
    const Scratch scratch;
    const std::string folder = scratch.path("Made-30B");
    const int64_t bytes = write_qwen_folder(folder, 6, 16, 64, 32, 3);
    scratch.write("Made-30B/README.md", "# Made\n");
    scratch.write("Made-30B/chat_template.jinja", "{{ '<|im_start|>' }}\n");
    scratch.write("Made-30B/special_tokens_map.json", R"({"eos_token":"x"})");
    scratch.write("Made-30B/modeling_made.py", "import torch\n");
    for (const char* file : {"", "/config.json", "/tokenizer.json", "/tokenizer_config.json", "/README.md",
                             "/chat_template.jinja", "/special_tokens_map.json", "/modeling_made.py",
                             "/model.safetensors.index.json", "/model-2-of-3.safetensors"}) {
      const ModelPlace place = model_place(folder + file);
      QVERIFY2(place.form == SheetForm::folder && place.path == folder && place.kind == "model-folder", file);
    }
    ModelPlace place = model_place(folder);
    place.opens = false;  // whether or not this version has the family
    const ModelSheet sheet = sheet_of(place);
    QVERIFY(sheet.name == "Made-30B" && sheet.family == "qwen3_vl_moe_text");
    QVERIFY(sheet.layers == 6 && sheet.layers_with_experts == 6 && sheet.experts == 16 && sheet.k == 8 &&
            sheet.files == 3);
    QCOMPARE(sheet.bytes, bytes);
    QCOMPARE(sheet.parameters, bytes / 2);
    QCOMPARE(sheet.formats.at("experts").at("BF16").tensors, int64_t{6 * 16 * 3});
    QVERIFY(sheet.routing.find(
                "the 8 of 16 experts with the largest softmax over all of them; their weights are made to sum to 1") !=
            std::string::npos);
    QVERIFY(sheet.tokenizer == "BPE (tokenizer.json)" && sheet.chat_template == "ChatML" &&
            sheet.recorder == "transformers-5");
    // A file of weights is missing: the rest is shown, and the lack is counted.
    std::filesystem::remove(folder + "/model-2-of-3.safetensors");
    const ModelSheet less = sheet_of(place);
    QVERIFY(lacks(less, "files of weights are not there 1 of 3") && less.files == 2 && less.layers == 6);
  }

  void a_file_of_another_version_is_not_counted_with_the_rest() {
    const Scratch scratch;
    const std::string folder = scratch.path("m"), other = scratch.path("o"), file = "/model-2-of-2.safetensors";
    write_qwen_folder(folder, 4, 4, 64, 32, 2);
    ModelPlace place = model_place(folder);
    place.opens = false;
    QCOMPARE(sheet_of(place).files, int64_t{2});
    // Fewer tensors, then as many of other names.
    write_qwen_folder(other, 4, 3, 64, 32, 2);
    const auto put = [&](const std::string& from) {
      std::filesystem::copy_file(from, folder + file, std::filesystem::copy_options::overwrite_existing);
    };
    put(other + file);
    VERIFY_BAD_INPUT(sheet_of(place), folder + file, "holds other tensors than \"model.safetensors.index.json\" names");
    std::filesystem::remove_all(other);
    write_qwen_folder(other, 6, 4, 64, 32, 3);
    put(other + "/model-3-of-3.safetensors");
    VERIFY_BAD_INPUT(sheet_of(place), folder + file, "holds other tensors than");
  }

  void weights_that_are_none_are_named_by_their_kind() {
    const Scratch scratch;
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
                      page = "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", folder = scratch.path("s");
    write_qwen_folder(folder, 2, 4, 64, 32, 2);
    ModelPlace place = model_place(folder);
    place.opens = false;
    const std::string shard = scratch.write("s/model-2-of-2.safetensors", pointer);
    VERIFY_BAD_INPUT(sheet_of(place), shard, "is a Git LFS pointer, not weights of the model (fetch the file itself");
    scratch.write("b/config.json", R"({"model_type":"new_moe"})");
    const std::string old = scratch.write("b/pytorch_model.bin", page);
    VERIFY_BAD_INPUT(sheet_at(scratch.path("b")), old, "is an HTML page");
    GgufBytes first;
    first.text("general.architecture", "qwen3moe").tensor("a", {32}, 8, 34);
    const std::string one = scratch.path("m-00001-of-00002.gguf");
    write_sparse(one, first.header(), first.data_bytes());
    const std::string two = scratch.write("m-00002-of-00002.gguf", pointer);
    VERIFY_BAD_INPUT(sheet_at(one), two, "is a Git LFS pointer, not weights of the model");
  }

  void parts_without_an_index_are_counted_by_their_names() {
    const Scratch scratch;
    const std::string folder = scratch.path("m");
    const auto part = [&](const std::string& name, int layer) {
      const std::string tensor = "model.layers." + std::to_string(layer) + ".self_attn.q_proj.weight";
      write_sparse(folder + "/" + name, safetensors_head({{tensor, "F32", {4}, 16}}), 16);
    };
    part("made-00001-of-00003.safetensors", 0), part("made-00003-of-00003.safetensors", 2);
    // Alone they are a model without a configuration, and every part is needed.
    VERIFY_BAD_INPUT(model_place(folder), folder + "/made-00001-of-00003.safetensors",
                     "1 is not beside it: \"made-00002-of-00003.safetensors\"");
    part("made-00002-of-00003.safetensors", 1);
    const ModelSheet alone = sheet_at(folder);
    QVERIFY(alone.kind == "safetensors" && alone.files == 3 && alone.layers == 3);
    scratch.write("m/config.json", R"({"model_type":"new_moe","num_hidden_layers":3})");
    std::filesystem::remove(folder + "/made-00002-of-00003.safetensors");
    const ModelSheet less = sheet_at(folder);
    QVERIFY2(less.kind == "model-folder" && lacks(less, "files of weights are not there 1 of 3"),
             lines_of(less).front().c_str());
    part("other-00001-of-00002.safetensors", 0);
    VERIFY_BAD_INPUT(sheet_at(folder), folder, "holds parts of 2 models: \"made-00001-of-00003.safetensors\"");
  }

  void a_folder_of_one_model_is_that_model() {
    const Scratch scratch;
    const GgufBytes made = gguf_mixture(1);
    // A repository of GGUF files has the configuration of the model that they were made from.
    const std::string gguf = scratch.path("g/m-Q4_K_M.gguf");
    write_sparse(gguf, made.header(), made.data_bytes());
    scratch.write("g/config.json", R"({"model_type":"qwen3_moe"})");
    scratch.write("g/README.md", "# Made\n");
    for (const char* file : {"g", "g/config.json", "g/README.md"}) QCOMPARE(model_place(scratch.path(file)).path, gguf);
    // A folder of Hugging Face without its configuration is none of these: opening it says what is missing.
    write_sparse(scratch.path("h/model.safetensors"), safetensors_head({{"w", "F32", {2}, 8}}), 8);
    QVERIFY(model_place(scratch.path("h")).form == SheetForm::none);
    // A state dict beside what its training left.
    scratch.write("t/optimizer.pt", state_dict_bytes({{"step", {1}}}, false));
    const std::string weights = scratch.write("t/best.pth", state_dict_bytes({{"a.weight", {2, 3}}}, false));
    QCOMPARE(sheet_at(scratch.path("t")).parameters, int64_t{6});
    QCOMPARE(model_place(scratch.path("t")).path, weights);
    // The cache has a repository without config.json.
    write_sparse(scratch.path("models--a--b-GGUF/snapshots/0a/m.gguf"), made.header(), made.data_bytes());
    QCOMPARE(model_place(scratch.path("models--a--b-GGUF")).kind, std::string("gguf"));
  }

  void weights_of_a_program_may_be_in_other_files() {
    const Scratch scratch;
    const std::string path = scratch.write("m.onnx", onnx_bytes({{"Add"}}, {{"w", {2}, 1, "", "weights.bin"}}));
    QVERIFY(lacks(sheet_at(path), "files of weights are not there: \"weights.bin\" 1 of 1"));
    scratch.write("weights.bin", std::string(8, 'x'));
    const ModelSheet whole = sheet_at(path);
    QVERIFY(whole.files == 2 && whole.bytes == 8 && !lacks(whole, "not there"));
  }

  void a_folder_of_the_cache_is_the_revision_that_it_names() {
    const Scratch scratch;
    const std::string cached = scratch.path("models--made--Small-1B");
    for (const char* revision : {"0a", "0b"}) write_qwen_folder(cached + "/snapshots/" + revision, 1, 2, 64, 32, 1);
    QVERIFY(model_place(cached).form == SheetForm::none);  // two revisions, and none is named
    scratch.write("models--made--Small-1B/refs/main", "0b\n");
    QCOMPARE(model_place(cached).path, cached + "/snapshots/0b");
    QCOMPARE(sheet_at(cached).name, std::string("made/Small-1B"));
  }

  void headers_alone_are_read_data() {
    QTest::addColumn<QString>("what");
    for (const char* what : {"folder", "gguf", "parts", "onnx", "pth"}) QTest::newRow(what) << what;
  }
  void headers_alone_are_read() {
    QFETCH(QString, what);
    const Scratch scratch;
    std::string path = scratch.path("m");
    int64_t headers = 0, files = 1;
    if (what == "folder") {
      files = 4;
      write_qwen_folder(path, 24, 64, 512, 256, files);
      for (const char* small : {"/config.json", "/model.safetensors.index.json", "/tokenizer.json"})
        headers += static_cast<int64_t>(std::filesystem::file_size(path + small));
      for (int64_t f = 1; f <= files; ++f) {
        uint64_t size = 0;
        std::ifstream shard(path + "/model-" + std::to_string(f) + "-of-4.safetensors", std::ios::binary);
        shard.read(reinterpret_cast<char*>(&size), sizeof size);
        headers += static_cast<int64_t>(size);
      }
    }
    if (what == "gguf") {
      const GgufBytes made = gguf_mixture(48);
      headers = std::ssize(made.header());
      write_sparse(path, made.header(), made.data_bytes());
    }
    if (what == "parts") {
      files = 60;
      for (int64_t p = 0; p < files; ++p) {
        GgufBytes part;
        part.text("general.architecture", "qwen3moe").number("split.count", 60);
        part.number("split.no", static_cast<uint32_t>(p));
        part.tensor("blk." + std::to_string(p) + ".ffn_up_exps.weight", {512, 512, 64}, 8, 512 * 512 * 64 / 32 * 34);
        headers += std::ssize(part.header());
        const std::string number = std::to_string(p + 1);
        const std::string name = "m-" + std::string(5 - number.size(), '0') + number + "-of-00060.gguf";
        write_sparse(path = scratch.path(name), part.header(), part.data_bytes());
      }
    }
    if (what == "onnx") {
      const std::string model = onnx_bytes({{"Add"}}, {{"w", {1 << 20}, 1, std::string(4 << 20, 'x')}});
      path = scratch.write("m.onnx", model);
    }
    if (what == "pth") path = scratch.write("m.pth", state_dict_bytes({{"a.weight", {1024, 1024}}}, false, 4 << 20));
    const int64_t before = bytes_read_so_far();
    if (before < 0) QSKIP("this machine does not count the bytes that a process reads");
    ModelPlace place = model_place(path);
    place.opens = false;
    const ModelSheet sheet = sheet_of(place);
    const int64_t read = bytes_read_so_far() - before;
    QVERIFY(sheet.bytes >= (4 << 20));
    // The recogniser looks at both ends of a file, a reader takes pieces of 4 KiB or doubles them; the directory of an
    // archive is sought in its last 64 KiB.
    constexpr int64_t kEnds = 512 * 1024, kOfFile = 8 * 1024;
    QVERIFY2(read <= kEnds + files * kOfFile + 2 * headers, std::to_string(read).c_str());
    QVERIFY2(read >= headers / 2, "the counter counts nothing");
  }
};

STORMCELL_TEST(ModelPlaceTest)

}  // namespace stormcell::testing

#include "model_place_test.moc"
