// One file of weights: harmless quirks run, defects are refused in one line that names the file.
#include <filesystem>
#include <map>

#include "tests/contract/weight_cases.h"

namespace stormcell::testing {
namespace fs = std::filesystem;
using nlohmann::json;

class WeightFileTest : public QObject, protected WeightCases {
  Q_OBJECT

  /// Adds one entry, as text, to the copy's header, and its data after the others.
  static void add_tensor(const ModelCopy& model, const std::string& name, const std::string& dtype,
                         const std::vector<int64_t>& shape, const std::string& bytes) {
    json header = model.header();
    const std::string data = model.data();
    header[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    model.write("model.safetensors", safetensors_bytes(header.dump(), 0) + data + bytes);
  }

 private slots:
  void initTestCase() { run_as_it_is(); }

  void quirks_change_nothing_data() {
    QTest::addColumn<int>("unread");  // tensors that a warning must count
    for (const char* name : {"empty metadata", "metadata null", "metadata with texts", "a header of odd length",
                             "a header with much room", "tables of rotary positions", "another order of the data"})
      QTest::newRow(name) << 0;
    for (const char* name : {"a tensor of no elements", "a scalar"}) QTest::newRow(name) << 1;
    QTest::newRow("four tensors that nobody reads") << 4;
  }
  void quirks_change_nothing() {
    QFETCH(const int, unread);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), data = model.data();
    json header = model.header();
    const auto write = [&](const std::string& text) {
      model.write("model.safetensors", safetensors_bytes(text, 0) + data);
    };
    const std::string floats(16, '\x40');
    if (kind == "empty metadata") header["__metadata__"] = json::object(), write(header.dump());
    if (kind == "metadata null") header["__metadata__"] = nullptr, write(header.dump());
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
      model.write("model.safetensors", file_of_tensors(names, header, data));
    }
    if (kind == "a tensor of no elements") add_tensor(model, "model.empty", "F32", {3, 0}, "");
    if (kind == "a scalar") add_tensor(model, "model.steps", "I64", {}, std::string(8, '\1'));
    if (kind == "four tensors that nobody reads")
      for (const char* name : {"z.d", "z.c", "z.b", "z.a"}) add_tensor(model, name, "BF16", {1}, "\x01\x02");
    const ForwardRun run = forward_run(scratch_, model.folder(), ids_);
    QVERIFY(run.logits == right_);
    QCOMPARE(static_cast<int>(run.warnings.size()), unread > 0);
    QCOMPARE(run.unread_tensors, int64_t{unread});
    if (unread == 0) return;
    QVERIFY2(run.warnings[0].starts_with(std::to_string(unread) + " tensor"), run.warnings[0].c_str());
    if (unread == 4) QVERIFY2(run.warnings[0].ends_with("\"z.a\", \"z.b\", \"z.c\", ..."), run.warnings[0].c_str());
  }

  void damaged_files_are_refused_data() {
    QTest::addColumn<QByteArray>("words");
    for (const auto& [kind, words] :
         std::map<const char*, const char*>{{"a pointer of Git LFS", "git lfs pull"},
                                            {"a page", "HTML"},
                                            {"nothing", "empty"},
                                            {"four bytes", ""},
                                            {"a cut header", "truncated"},
                                            {"cut data", "truncated"},
                                            {"a byte too much", "no tensor"},
                                            {"a header longer than any", "header"},
                                            {"a header that is not JSON", "not valid JSON"},
                                            {"twice the same key", "occurs twice"},
                                            {"overlapping tensors", "overlaps"},
                                            {"a hole", "hole"},
                                            {"a number in the metadata", "not a text"},
                                            {"metadata alone", "is missing"},
                                            {"an end before its begin", "ends before it begins"},
                                            {"a tensor less", "\"model.norm.weight\" is missing"},
                                            {"a link that leads nowhere", "download"},
                                            {"a folder of that name", "folder"},
                                            {"a list of parts beside it", "model.safetensors.aria2"}})
      QTest::newRow(kind) << QByteArray(words);
  }
  void damaged_files_are_refused() {
    QFETCH(const QByteArray, words);
    const ModelCopy model(mixtral_model("top-2-of-4-left-padding"));
    const std::string kind = QTest::currentDataTag(), data = model.data(), whole = Scratch::read(model.weights());
    json header = model.header();
    const auto put = [&](const std::string& bytes) { model.write("model.safetensors", bytes); };
    const auto write = [&](const std::string& text, const std::string& bytes) {
      put(safetensors_bytes(text, 0) + bytes);
    };
    const auto shift = [&](int64_t by) {  // of the last tensor
      json* last = nullptr;
      for (auto& [name, entry] : header.items())
        if (name != "__metadata__" && (!last || entry["data_offsets"][1] > (*last)["data_offsets"][1])) last = &entry;
      for (json& offset : (*last)["data_offsets"]) offset = offset.get<int64_t>() + by;
    };
    if (kind == "a pointer of Git LFS") put(kLfsPointer);
    if (kind == "a page") put(kNotFoundPage);
    if (kind == "nothing") put("");
    if (kind == "four bytes") put("\x10\x01\x02\x03");
    if (kind == "a cut header") put(whole.substr(0, 500));
    if (kind == "cut data") put(whole.substr(0, whole.size() - 100));
    if (kind == "a byte too much") put(whole + "x");
    if (kind == "a header longer than any") put(std::string(8, '\x7f') + "{}");
    if (kind == "a header that is not JSON") write("{\"a\": }", data);
    if (kind == "twice the same key")
      write(header.dump().insert(1, "\"model.norm.weight\":" + header["model.norm.weight"].dump() + ","), data);
    if (kind == "overlapping tensors") shift(-4), write(header.dump(), data.substr(0, data.size() - 4));
    if (kind == "a hole") shift(8), write(header.dump(), data + std::string(8, '\0'));
    if (kind == "a number in the metadata") header["__metadata__"]["steps"] = 3, write(header.dump(), data);
    if (kind == "metadata alone") write(R"({"__metadata__":{"format":"pt"}})", "");
    if (kind == "an end before its begin")
      header["model.norm.weight"]["data_offsets"] = {8, 4}, write(header.dump(), data);
    if (kind == "a tensor less") {
      std::vector<std::string> names;
      for (const auto& [name, entry] : header.items())
        if (name != "__metadata__" && name != "model.norm.weight") names.push_back(name);
      put(file_of_tensors(names, header, data));
    }
    if (kind == "a link that leads nowhere")
      fs::remove(model.weights()), fs::create_symlink("../../blobs/0123", model.weights());
    if (kind == "a list of parts beside it") model.write("model.safetensors.aria2", "x");
    if (kind == "a folder of that name") fs::remove(model.weights()), fs::create_directory(model.weights());
    VERIFY_REFUSED(short_run("run", model.folder(), ids_), model.weights(), words.toStdString());
  }
};

STORMCELL_TEST(WeightFileTest)

}  // namespace stormcell::testing

#include "weight_file_test.moc"
