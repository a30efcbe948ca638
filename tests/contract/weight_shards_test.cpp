// Weights in shards: complete ones run, with a warning about files that are not used. If a part is missing, one line
// names the shard or the index.
#include <filesystem>
#include <map>

#include "tests/contract/weight_cases.h"

namespace stormcell::testing {
namespace fs = std::filesystem;
using nlohmann::json;

class WeightShardsTest : public QObject, protected WeightCases {
  Q_OBJECT

  /// Splits the one file of the copy into two shards: the first half of the tensors by name, and the others.
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
      model.write(file, file_of_tensors(names[static_cast<size_t>(p)], header, data));
      for (const std::string& name : names[static_cast<size_t>(p)]) shard_of[name] = file;
    }
    write_index(model, shard_of);
    fs::remove(model.weights());
    return shard_of;
  }
  static std::string name_of(int part, int parts) {
    return QString::asprintf("model-%05d-of-%05d.safetensors", part, parts).toStdString();
  }
  static void write_index(const ModelCopy& model, const std::map<std::string, std::string>& shard_of) {
    model.write("model.safetensors.index.json",
                json{{"metadata", {{"total_size", 1}}}, {"weight_map", shard_of}}.dump());
  }
  static std::string index_of(const ModelCopy& model) { return model.file("model.safetensors.index.json"); }
 private slots:
  void initTestCase() { run_as_it_is(); }

  void shards_that_are_whole_run_data() {
    QTest::addColumn<QByteArray>("warned");  // of what; empty: nothing
    QTest::newRow("two shards") << QByteArray();
    QTest::newRow("links to the shards") << QByteArray();
    QTest::newRow("consolidated.safetensors beside them") << QByteArray();
    QTest::newRow("pytorch_model.bin beside them") << QByteArray();
    QTest::newRow("model.safetensors beside them") << QByteArray("model.safetensors beside it is not");
    QTest::newRow("a third shard beside them") << QByteArray("1 file of weights is not used");
    QTest::newRow("five others beside them") << QByteArray(
        "5 files of weights are not used, which the index does not name: "
        "\"model-0.safetensors\", \"model-1.safetensors\", \"model-2.safetensors\" and 2 more");
    QTest::newRow("an index of one file") << QByteArray();
  }
  void shards_that_are_whole_run() {
    QFETCH(const QByteArray, warned);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), whole = Scratch::read(model.weights());
    // as large, with other values
    const std::string other = whole.substr(0, whole.size() - 4000) + std::string(4000, '\0');
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
      for (int i = 0; i < 5; ++i)
        model.write("model-" + std::to_string(i) + ".safetensors", "no weights"),
            model.write(std::to_string(i) + ".safetensors", "data");
    const ForwardRun run = forward_run(scratch_, model.folder(), ids_);
    QVERIFY(run.logits == right_);
    QCOMPARE(run.warnings.size(), warned.isEmpty() ? size_t{0} : size_t{1});
    if (!warned.isEmpty())
      QVERIFY2(run.warnings[0].find(warned.toStdString()) != std::string::npos, run.warnings[0].c_str());
  }

  void shards_of_which_something_is_missing_are_refused_data() {
    QTest::addColumn<QByteArray>("where");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* kind, const char* where, const char* words) {
      QTest::newRow(kind) << QByteArray(where) << QByteArray(words);
    };
    const char *index = "model.safetensors.index.json", *second = "model-00002-of-00002.safetensors";
    row("one missing", index,
        "names 2 shards, of which 1 cannot be read: \"model-00002-of-00002.safetensors\" (not there)");
    row("four of six missing", index,
        "names 6 shards, of which 4 cannot be read: \"model-00001-of-00006.safetensors\" (not there), "
        "\"model-00002-of-00006.safetensors\" (not there), \"model-00003-of-00006.safetensors\" (not there) and 1 "
        "more");
    row("one empty", index, "\"model-00002-of-00002.safetensors\" (empty)");
    row("a link that leads nowhere", index, "\"model-00002-of-00002.safetensors\" (a link that leads nowhere)");
    row("an unfinished download", index, "it left \"model-00002-of-00002.safetensors.incomplete\"");
    row("an unfinished download in the cache", index, "it left \"abc.incomplete\"");
    row("one cut", second, "truncated");
    row("one a pointer of Git LFS", second, "git lfs pull");
    row("one a page", second, "HTML");
    row("one with a list of parts beside it", second, "is a download that did not end");
    row("an index of another sharding", index, "names 3 shards, of which 3 cannot be read");
    row("an index of another sharding, named", index,
        "; it is of another sharding: the folder holds all of \"model-*-of-00002.safetensors\"");
    row("an index of another sharding and a part of one", index, "(not there) (download them again)");
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
    const std::string first = model.file(name_of(1, 2)), second = model.file(name_of(2, 2)),
                      content = Scratch::read(second);
    if (kind == "one missing" || kind.starts_with("an unfinished")) fs::remove(second);
    if (kind == "an unfinished download") model.write(name_of(2, 2) + ".incomplete", content.substr(0, 1000));
    if (kind == "an unfinished download in the cache") model.write(".cache/huggingface/download/abc.incomplete", "x");
    if (kind == "four of six missing")
      for (const int part : {1, 2, 3, 5}) fs::remove(model.file(name_of(part, 6)));
    if (kind == "one empty") model.write(name_of(2, 2), "");
    if (kind == "a link that leads nowhere") fs::remove(second), fs::create_symlink("../../blobs/0123", second);
    if (kind == "one cut") model.write(name_of(2, 2), content.substr(0, content.size() - 64));
    if (kind == "one a pointer of Git LFS") model.write(name_of(2, 2), kLfsPointer);
    if (kind == "one with a list of parts beside it") model.write(name_of(2, 2) + ".aria2", "x");
    if (kind == "one a page") model.write(name_of(2, 2), kNotFoundPage);
    if (kind.starts_with("an index of another sharding")) {
      int i = 0;
      for (auto& [tensor, shard] : shard_of) shard = name_of(1 + i++ % 3, 3);
      write_index(model, shard_of);
    }
    if (kind.ends_with("and a part of one")) fs::remove(second);
    if (kind.ends_with("beside the whole model")) model.write("model.safetensors", whole);
    if (kind == "a tensor in another shard") shard_of.begin()->second = name_of(2, 2), write_index(model, shard_of);
    if (kind == "a tensor in no shard") shard_of["model.surplus"] = name_of(2, 2), write_index(model, shard_of);
    if (kind == "the shards changed places")
      model.write(name_of(2, 2), Scratch::read(first)), model.write(name_of(1, 2), content);
    if (kind == "a cut index")
      model.write("model.safetensors.index.json", Scratch::read(index_of(model)).substr(0, 200));
    if (kind == "an index that is a pointer of Git LFS") model.write("model.safetensors.index.json", kLfsPointer);
    if (kind == "an index that leads nowhere")
      fs::remove(index_of(model)), fs::create_symlink("nowhere", index_of(model));
    if (kind == "an index without a map") model.write("model.safetensors.index.json", R"({"metadata":{}})");
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.file(where.toStdString()), words.toStdString());
  }

  void a_folder_with_a_download_that_did_not_end_says_so() {
    const ModelCopy model;
    fs::remove(model.weights());
    for (const std::string name : {"model.safetensors.opdownload", "model.safetensors.tmp", "model.safetensors.part"}) {
      model.write(name, "x");
      VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.folder(),
                     "a download that did not end: \"" + name + "\"");
      if (!name.ends_with(".part")) fs::remove(model.file(name));
    }
    fs::remove(model.file("config.json"));
    fs::create_symlink("nowhere.json", model.file("config.json"));
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.file("config.json"),
                   "is a link to nowhere.json, which does not exist");
  }
};

STORMCELL_TEST(WeightShardsTest)

}  // namespace stormcell::testing

#include "weight_shards_test.moc"
