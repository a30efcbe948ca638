// Weights that are all there run, whatever quirks their files have; weights of which a part is missing are refused in one line that names
// the shard or the index.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "core/formats/safetensors.h"
#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The bytes of a tensor by a header as json has it.
std::string bytes_of(const json& entry, const std::string& data) {
  const auto begin = entry["data_offsets"][0].get<size_t>(), end = entry["data_offsets"][1].get<size_t>();
  return data.substr(begin, end - begin);
}

/// A file of tensors, one behind the other in the order of `names`.
std::string file_of(const std::vector<std::string>& names, const json& header, const std::string& data) {
  json chosen = json::object();
  std::string bytes;
  for (const std::string& name : names) {
    json entry = header[name];
    const std::string part = bytes_of(entry, data);
    entry["data_offsets"] = {bytes.size(), bytes.size() + part.size()};
    bytes += part;
    chosen[name] = entry;
  }
  return safetensors_bytes(chosen.dump(), 0) + bytes;
}

const std::string kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 30272\n";
const std::string kPage = "<!DOCTYPE html>\n<html><head><title>404</title></head><body>Entry not found</body></html>\n";

}  // namespace

class WholeWeightsTest : public QObject {
  Q_OBJECT
  Scratch scratch_;
  std::string ids_, right_;  // of the model as it is
  int unread_ = 0;

  /// What the model computes for the ids, bit for bit; empty where it does not run.
  std::string logits_of(const std::string& model, std::vector<std::string>& warnings) {
    const std::string outputs = scratch_.path("outputs.safetensors");
    const Arguments arguments = short_run("run", model, ids_, {"--outputs", outputs, "--json", "-"});
    const Ended ended = run_program(arguments);
    if (ended.exit != 0) {
      QTest::qFail(told(arguments, ended).c_str(), __FILE__, __LINE__);
      return {};
    }
    warnings = ended.json()["warnings"].get<std::vector<std::string>>();
    unread_ = ended.json()["model"]["unread_tensors"].get<int>();
    const auto file = SafetensorsFile::open(outputs);
    const std::span<const std::byte> bytes = file->find("b0.logits")->bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Two shards of the copy in place of its one file: of its tensors by name, the first half and the others.
  static std::map<std::string, std::string> shard(const ModelCopy& model, int parts = 2) {
    const json header = model.header();
    const std::string data = model.data();
    std::vector<std::vector<std::string>> names(static_cast<size_t>(parts));
    size_t i = 0;
    for (const auto& [name, entry] : header.items())
      if (name != "__metadata__") names[i++ * static_cast<size_t>(parts) / header.size()].push_back(name);
    std::map<std::string, std::string> shard_of;
    for (int p = 0; p < parts; ++p) {
      const std::string file = name_of(p + 1, parts);
      model.write(file, file_of(names[static_cast<size_t>(p)], header, data));
      for (const std::string& name : names[static_cast<size_t>(p)]) shard_of[name] = file;
    }
    write_index(model, shard_of);
    fs::remove(model.weights());
    return shard_of;
  }
  static std::string name_of(int part, int parts) { return QString::asprintf("model-%05d-of-%05d.safetensors", part, parts).toStdString(); }
  static void write_index(const ModelCopy& model, const std::map<std::string, std::string>& shard_of) {
    model.write("model.safetensors.index.json", json{{"metadata", {{"total_size", 1}}}, {"weight_map", shard_of}}.dump());
  }
  static std::string index_of(const ModelCopy& model) { return model.file("model.safetensors.index.json"); }
  /// The copy's header with one more entry, as text, and data behind those that there are.
  static void add_tensor(const ModelCopy& model, const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
                         const std::string& bytes) {
    json header = model.header();
    const std::string data = model.data();
    header[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    model.write("model.safetensors", safetensors_bytes(header.dump(), 0) + data + bytes);
  }

 private slots:
  void initTestCase() {
    ids_ = scratch_.write("ids.npy", npy_ids("(2, 5)", {3, 14, 15, 9, 2, 6, 5, 35, 8, 1}));
    std::vector<std::string> warnings;
    right_ = logits_of(mixtral_model("top-2-of-4-left-padding"), warnings);
    QCOMPARE(right_.size(), size_t{2 * 5 * 40 * 4});
    QVERIFY(warnings.empty());
  }

  void quirks_change_nothing_data() {
    QTest::addColumn<int>("unread");  // tensors that a warning must count
    for (const char* name : {"empty metadata", "metadata with texts", "a header of odd length", "a header with much room",
                             "tables of rotary positions", "another order of the data"})
      QTest::newRow(name) << 0;
    for (const char* name : {"a tensor of no elements", "a scalar"}) QTest::newRow(name) << 1;
    QTest::newRow("four tensors that nobody reads") << 4;
  }
  void quirks_change_nothing() {
    QFETCH(const int, unread);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), data = model.data();
    json header = model.header();
    const auto write = [&](const std::string& text) { model.write("model.safetensors", safetensors_bytes(text, 0) + data); };
    const std::string floats(16, '\x40');
    if (kind == "empty metadata") header["__metadata__"] = json::object(), write(header.dump());
    if (kind == "metadata with texts") header["__metadata__"] = {{"format", "pt"}, {"ß", "\n"}}, write(header.dump());
    if (kind == "a header of odd length") write(header.dump() + (header.dump().size() % 2 == 0 ? " " : ""));
    if (kind == "a header with much room") write(header.dump() + std::string(1000, ' '));
    if (kind == "tables of rotary positions") {
      add_tensor(model, "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {4}, floats);
      add_tensor(model, "model.rotary_emb.cos_cached", "F32", {2, 2}, floats);
    }
    if (kind == "another order of the data") {
      std::vector<std::string> names;
      for (const auto& [name, entry] : header.items()) names.insert(names.begin(), name);
      std::erase(names, "__metadata__");
      model.write("model.safetensors", file_of(names, header, data));
    }
    if (kind == "a tensor of no elements") add_tensor(model, "model.empty", "F32", {3, 0}, "");
    if (kind == "a scalar") add_tensor(model, "model.steps", "I64", {}, std::string(8, '\1'));
    if (kind == "four tensors that nobody reads")
      for (const char* name : {"z.d", "z.c", "z.b", "z.a"}) add_tensor(model, name, "BF16", {1}, "\x01\x02");
    std::vector<std::string> warnings;
    QVERIFY(logits_of(model.folder(), warnings) == right_);
    QCOMPARE(static_cast<int>(warnings.size()), unread > 0);
    QCOMPARE(unread_, unread);
    if (unread == 0) return;
    QVERIFY2(warnings[0].starts_with(std::to_string(unread) + " tensor"), warnings[0].c_str());
    if (unread == 4) QVERIFY2(warnings[0].ends_with("\"z.a\", \"z.b\", \"z.c\", ..."), warnings[0].c_str());
  }

  void damaged_files_are_refused_data() {
    QTest::addColumn<QByteArray>("words");
    for (const auto& [kind, words] : std::map<const char*, const char*>{{"a pointer of Git LFS", "git lfs pull"},
                                                                        {"a page", "HTML"},
                                                                        {"nothing", "empty"},
                                                                        {"four bytes", ""},
                                                                        {"a cut header", "truncated"},
                                                                        {"cut data", "truncated"},
                                                                        {"a byte too much", "no tensor"},
                                                                        {"a header longer than any", "header"},
                                                                        {"a header that is no JSON", "not valid JSON"},
                                                                        {"twice the same key", "occurs twice"},
                                                                        {"overlapping tensors", "overlaps"},
                                                                        {"a hole", "hole"},
                                                                        {"a number in the metadata", "not a text"},
                                                                        {"metadata alone", "is missing"},
                                                                        {"an end before its begin", "ends before it begins"},
                                                                        {"a tensor less", "\"model.norm.weight\" is missing"},
                                                                        {"a link that leads nowhere", "download"},
                                                                        {"a folder of that name", "folder"}})
      QTest::newRow(kind) << QByteArray(words);
  }
  void damaged_files_are_refused() {
    QFETCH(const QByteArray, words);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), data = model.data(), whole = Scratch::read(model.weights());
    json header = model.header();
    const auto put = [&](const std::string& bytes) { model.write("model.safetensors", bytes); };
    const auto write = [&](const std::string& text, const std::string& bytes) { put(safetensors_bytes(text, 0) + bytes); };
    const auto shift = [&](int64_t by) {  // of the last tensor
      json* last = nullptr;
      for (auto& [name, entry] : header.items())
        if (name != "__metadata__" && (!last || entry["data_offsets"][1] > (*last)["data_offsets"][1])) last = &entry;
      for (json& offset : (*last)["data_offsets"]) offset = offset.get<int64_t>() + by;
    };
    if (kind == "a pointer of Git LFS") put(kPointer);
    if (kind == "a page") put(kPage);
    if (kind == "nothing") put("");
    if (kind == "four bytes") put("\x10\x01\x02\x03");
    if (kind == "a cut header") put(whole.substr(0, 500));
    if (kind == "cut data") put(whole.substr(0, whole.size() - 100));
    if (kind == "a byte too much") put(whole + "x");
    if (kind == "a header longer than any") put(std::string(8, '\x7f') + "{}");
    if (kind == "a header that is no JSON") write("{\"a\": }", data);
    if (kind == "twice the same key")
      write(header.dump().insert(1, "\"model.norm.weight\":" + header["model.norm.weight"].dump() + ","), data);
    if (kind == "overlapping tensors") shift(-4), write(header.dump(), data.substr(0, data.size() - 4));
    if (kind == "a hole") shift(8), write(header.dump(), data + std::string(8, '\0'));
    if (kind == "a number in the metadata") header["__metadata__"]["steps"] = 3, write(header.dump(), data);
    if (kind == "metadata alone") write(R"({"__metadata__":{"format":"pt"}})", "");
    if (kind == "an end before its begin") header["model.norm.weight"]["data_offsets"] = {8, 4}, write(header.dump(), data);
    if (kind == "a tensor less") {
      std::vector<std::string> names;
      for (const auto& [name, entry] : header.items())
        if (name != "__metadata__" && name != "model.norm.weight") names.push_back(name);
      put(file_of(names, header, data));
    }
    if (kind == "a link that leads nowhere") fs::remove(model.weights()), fs::create_symlink("../../blobs/0123", model.weights());
    if (kind == "a folder of that name") fs::remove(model.weights()), fs::create_directory(model.weights());
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.weights(), words.toStdString());
  }

  void shards_that_are_whole_run_data() {
    QTest::addColumn<QByteArray>("warned");  // of what; empty: nothing
    QTest::newRow("two shards") << QByteArray();
    QTest::newRow("links to the shards") << QByteArray();
    QTest::newRow("consolidated.safetensors beside them") << QByteArray();
    QTest::newRow("pytorch_model.bin beside them") << QByteArray();
    QTest::newRow("model.safetensors beside them") << QByteArray("model.safetensors beside it is not");
    QTest::newRow("a third shard beside them") << QByteArray("1 .safetensors file is not used");
    QTest::newRow("five others beside them") << QByteArray(
        "5 .safetensors files are not used, which the index does not name: "
        "\"0.safetensors\", \"1.safetensors\", \"2.safetensors\" and 2 more");
    QTest::newRow("an index of one file") << QByteArray();
  }
  void shards_that_are_whole_run() {
    QFETCH(const QByteArray, warned);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), whole = Scratch::read(model.weights());
    const std::string other = whole.substr(0, whole.size() - 4000) + std::string(4000, '\0');  // as large, with other values
    if (kind == "an index of one file") {
      std::map<std::string, std::string> shard_of;
      const json header = model.header();
      for (const auto& [name, entry] : header.items())
        if (name != "__metadata__") shard_of[name] = "model.safetensors";
      write_index(model, shard_of);
    } else {
      shard(model);
    }
    if (kind == "links to the shards")
      for (const int part : {1, 2}) {
        const std::string file = model.file(name_of(part, 2));
        fs::rename(file, model.scratch().path(name_of(part, 2)));
        fs::create_symlink("../" + name_of(part, 2), file);
      }
    if (kind == "consolidated.safetensors beside them") model.write("consolidated.safetensors", other);
    if (kind == "pytorch_model.bin beside them") model.write("pytorch_model.bin", "PK");
    if (kind == "model.safetensors beside them") model.write("model.safetensors", other);
    if (kind == "a third shard beside them") model.write("model-00003-of-00002.safetensors", other);
    if (kind == "five others beside them")
      for (int i = 0; i < 5; ++i) model.write(std::to_string(i) + ".safetensors", "no weights");
    std::vector<std::string> warnings;
    QVERIFY(logits_of(model.folder(), warnings) == right_);
    QCOMPARE(warnings.size(), warned.isEmpty() ? size_t{0} : size_t{1});
    if (!warned.isEmpty()) QVERIFY2(warnings[0].find(warned.toStdString()) != std::string::npos, warnings[0].c_str());
  }

  void shards_of_which_something_is_missing_are_refused_data() {
    QTest::addColumn<QByteArray>("where");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* kind, const char* where, const char* words) {
      QTest::newRow(kind) << QByteArray(where) << QByteArray(words);
    };
    const char *index = "model.safetensors.index.json", *second = "model-00002-of-00002.safetensors";
    row("one missing", index, "names 2 shards, of which 1 cannot be read: \"model-00002-of-00002.safetensors\" (not there)");
    row("four of six missing", index,
        "names 6 shards, of which 4 cannot be read: \"model-00001-of-00006.safetensors\" (not there), "
        "\"model-00002-of-00006.safetensors\" (not there), \"model-00003-of-00006.safetensors\" (not there) and 1 more");
    row("one empty", index, "\"model-00002-of-00002.safetensors\" (empty)");
    row("a link that leads nowhere", index, "\"model-00002-of-00002.safetensors\" (a link that leads nowhere)");
    row("an unfinished download", index, "it left \"model-00002-of-00002.safetensors.incomplete\"");
    row("an unfinished download in the cache", index, "it left \"abc.incomplete\"");
    row("one cut", second, "truncated");
    row("one a pointer of Git LFS", second, "git lfs pull");
    row("one a page", second, "HTML");
    row("an index of another sharding", index, "names 3 shards, of which 3 cannot be read");
    row("an index of another sharding beside the whole model", index, "remove the index");
    row("a tensor in another shard", index, "the index says");
    row("a tensor in no shard", index, "\"model.surplus\" is not in");
    row("the shards changed places", index, "the index says");
    row("a cut index", index, "not valid JSON");
    row("an index that is a pointer of Git LFS", index, "git lfs pull");
    row("an index that leads nowhere", index, "download");
    row("an index without a map", index, "weight_map");
  }
  void shards_of_which_something_is_missing_are_refused() {
    QFETCH(const QByteArray, where);
    QFETCH(const QByteArray, words);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), whole = Scratch::read(model.weights());
    std::map<std::string, std::string> shard_of = shard(model, kind == "four of six missing" ? 6 : 2);
    const std::string first = model.file(name_of(1, 2)), second = model.file(name_of(2, 2)), content = Scratch::read(second);
    if (kind == "one missing" || kind.starts_with("an unfinished")) fs::remove(second);
    if (kind == "an unfinished download") model.write(name_of(2, 2) + ".incomplete", content.substr(0, 1000));
    if (kind == "an unfinished download in the cache") model.write(".cache/huggingface/download/abc.incomplete", "x");
    if (kind == "four of six missing")
      for (const int part : {1, 2, 3, 5}) fs::remove(model.file(name_of(part, 6)));
    if (kind == "one empty") model.write(name_of(2, 2), "");
    if (kind == "a link that leads nowhere") fs::remove(second), fs::create_symlink("../../blobs/0123", second);
    if (kind == "one cut") model.write(name_of(2, 2), content.substr(0, content.size() - 64));
    if (kind == "one a pointer of Git LFS") model.write(name_of(2, 2), kPointer);
    if (kind == "one a page") model.write(name_of(2, 2), kPage);
    if (kind.starts_with("an index of another sharding")) {
      int i = 0;
      for (auto& [tensor, shard] : shard_of) shard = name_of(1 + i++ % 3, 3);
      write_index(model, shard_of);
    }
    if (kind.ends_with("beside the whole model")) model.write("model.safetensors", whole);
    if (kind == "a tensor in another shard") shard_of.begin()->second = name_of(2, 2), write_index(model, shard_of);
    if (kind == "a tensor in no shard") shard_of["model.surplus"] = name_of(2, 2), write_index(model, shard_of);
    if (kind == "the shards changed places") model.write(name_of(2, 2), Scratch::read(first)), model.write(name_of(1, 2), content);
    if (kind == "a cut index") model.write("model.safetensors.index.json", Scratch::read(index_of(model)).substr(0, 200));
    if (kind == "an index that is a pointer of Git LFS") model.write("model.safetensors.index.json", kPointer);
    if (kind == "an index that leads nowhere") fs::remove(index_of(model)), fs::create_symlink("nowhere", index_of(model));
    if (kind == "an index without a map") model.write("model.safetensors.index.json", R"({"metadata":{}})");
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.file(where.toStdString()), words.toStdString());
  }

  void a_folder_with_a_download_that_did_not_end_says_so() {
    const ModelCopy model;
    fs::remove(model.weights());
    model.write("model.safetensors.part", "x");
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.folder(), "a download that did not end: \"model.safetensors.part\"");
    fs::remove(model.file("config.json"));
    fs::create_symlink("nowhere.json", model.file("config.json"));
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.file("config.json"), "is a link to nowhere.json, which is not there");
  }
};

STORMCELL_TEST(WholeWeightsTest)

}  // namespace stormcell::testing

#include "whole_weights_test.moc"
