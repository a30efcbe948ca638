// inspect on models that this version cannot open: what it says, in which form, how long it takes and how much memory.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/formats/file_kind.h"
#include "tests/contract/models.h"
#include "tests/testing/file_heads.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Json = nlohmann::json;

/// The lines of `lacks`, joined as inspect prints them.
std::string lacks_of(const Json& sheet) {
  std::string lines;
  for (const Json& lack : sheet["lacks"])
    lines += lack["what"].get<std::string>() + (lack["where"].is_null() ? "" : " " + lack["where"].get<std::string>()) +
             "\n";
  return lines;
}

/// Every key of stormcell.sheet/1.
const std::set<std::string> kKeys = {"schema",       "version",
                                     "kind",         "name",
                                     "family",       "routing",
                                     "runnable",     "lacks",
                                     "parameters",   "active_parameters",
                                     "layers",       "layers_with_experts",
                                     "experts",      "k",
                                     "files",        "bytes",
                                     "formats",      "tokenizer",
                                     "template",     "memory",
                                     "tokens_per_s", "recorder",
                                     "warnings"};

/// Runs inspect by itself: its exit code, and the most memory that it held in KiB.
struct Inspected {
  int exit = -1;
  long most_kib = 0;
};
Inspected inspect_alone(const std::string& path, const std::string& json) {
  const std::string program = program_path();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::execl(program.c_str(), "stormcell", "inspect", path.c_str(), "--json", json.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, usage.ru_maxrss};
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

}  // namespace

class SheetContractTest : public QObject {
  Q_OBJECT

  Scratch scratch_;

  std::string gguf(const std::string& name, uint32_t layers) const {
    const GgufBytes made = gguf_mixture(layers);
    write_sparse(scratch_.path(name), made.header(), made.data_bytes());
    return scratch_.path(name);
  }

 private slots:
  void a_model_that_cannot_be_opened_has_a_sheet_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("lack");
    QTest::addColumn<QString>("recorder");  // empty: null
    QTest::newRow("gguf") << "gguf"
                          << "Q3_K in 2 tensors"
                          << "llama-cpp";
    QTest::newRow("folder") << "model-folder"
                            << "this version has no family `qwen3_vl_moe_text`"
                            << "transformers-5";
    QTest::newRow("safetensors") << "safetensors"
                                 << "no config.json is beside the weights"
                                 << "";
    QTest::newRow("onnx") << "onnx"
                          << "a traced program keeps one path: 2 nodes, no router"
                          << "pytorch";
    QTest::newRow("pt2") << "pt2"
                         << "a traced program keeps one path: 1 node, no router"
                         << "pytorch";
    QTest::newRow("torch") << "torch"
                           << "a state dict holds weights and no program"
                           << "";
    QTest::newRow("torch-old") << "torch-old"
                               << "a state dict holds weights and no program"
                               << "";
    QTest::newRow("torchscript") << "torchscript"
                                 << "the routing of a TorchScript program is in its code"
                                 << "pytorch";
    QTest::newRow("trace") << "route-trace"
                           << "a recording holds where cells went, and no model"
                           << "";
  }
  void a_model_that_cannot_be_opened_has_a_sheet() {
    QFETCH(QString, kind);
    QFETCH(QString, lack);
    QFETCH(QString, recorder);
    const std::string tag = QTest::currentDataTag();
    const auto head_of = [](const std::string& id) {
      for (const FileHead& head : file_heads())
        if (head.id == id) return head.bytes;
      return std::string();
    };
    std::string path = scratch_.path("of-" + tag);
    if (tag == "gguf") path = gguf("of-gguf", 4);
    if (tag == "folder") write_qwen_folder(path, 4, 8, 64, 32, 2);
    if (tag == "safetensors") write_sparse(path, safetensors_head({{"layers.0.w", "F32", {2}, 8}}), 8);
    if (tag == "onnx") scratch_.write("of-onnx", onnx_bytes({{"MatMul"}, {"Add"}}, {}));
    if (tag == "pt2") scratch_.write("of-pt2", pt2_bytes({"torch.ops.aten.add.Tensor"}));
    if (tag == "torch") scratch_.write("of-torch", state_dict_bytes({{"a.weight", {2, 3}}}, true));
    if (tag == "torch-old") scratch_.write("of-torch-old", old_state_dict_bytes({{"a.weight", {2, 3}}}));
    if (tag == "torchscript") scratch_.write("of-torchscript", head_of("torchscript"));
    if (tag == "trace") scratch_.write("of-trace", head_of("route-trace"));
    const Json sheet = json_of({"inspect", path});
    QCOMPARE(sheet["schema"].get<std::string>(), std::string("stormcell.sheet/1"));
    QVERIFY2(keys_of(sheet) == kKeys, sheet.dump().c_str());
    QCOMPARE(sheet["kind"].get<std::string>(), kind.toStdString());
    QVERIFY(!sheet["runnable"].get<bool>());
    QVERIFY2(lacks_of(sheet).find(lack.toStdString()) != std::string::npos, lacks_of(sheet).c_str());
    QVERIFY2(sheet["recorder"] == (recorder.isEmpty() ? Json() : Json(recorder.toStdString())), sheet.dump().c_str());
    // For people the same, on standard output.
    const Ended ended = run_program({"inspect", path});
    QVERIFY2(ended.exit == 0 && ended.out.find(lack.toStdString()) != std::string::npos,
             told({"inspect", path}, ended).c_str());
    const std::string first = ended.out.substr(0, ended.out.find('\n'));
    QVERIFY2(first.find(" is a") != std::string::npos && first.find("model-folder") == std::string::npos,
             first.c_str());
    VERIFY_REFUSED((Arguments{"inspect", path, "--text", "-"}), "--text", "cannot be opened, so it has no graph");
  }

  void a_model_that_can_be_opened_has_the_same_object() {
    for (const std::string& model : {switch_model(), mixtral_model()}) {
      const Json inspected = json_of({"inspect", model});
      QCOMPARE(inspected["schema"].get<std::string>(), std::string("stormcell.inspect/1"));
      const Json& sheet = inspected["sheet"];
      QVERIFY2(keys_of(sheet) == kKeys, sheet.dump().c_str());
      QVERIFY(sheet["runnable"].get<bool>() && sheet["lacks"].empty() && sheet["recorder"].is_null());
      int64_t elements = 0;
      const Json header = ModelCopy(model).header();
      for (const auto& [name, tensor] : header.items()) {
        if (name == "__metadata__") continue;
        int64_t all = 1;
        for (const Json& extent : tensor["shape"]) all *= extent.get<int64_t>();
        elements += all;
      }
      QCOMPARE(sheet["parameters"].get<int64_t>(), elements);
      QVERIFY2(sheet["experts"] == inspected["routers"][0]["branches"], sheet.dump().c_str());
      const Ended text = run_program({"inspect", model});
      for (const char* words : {"\nrouting", "each token takes the", "\nmemory", "are free: they fit"})
        QVERIFY2(text.out.find(words) != std::string::npos, text.out.c_str());
      // By any of its files.
      QVERIFY(json_of({"inspect", model + "/config.json"})["parameters"] == inspected["parameters"]);
    }
    QVERIFY(json_of({"inspect", "preset:patch-mixture"})["sheet"].is_null());
  }

  /// Each file is shown by a sheet that has its kind, or refused by its name.
  void forty_kinds_of_files_of_models_are_named() {
    const std::set<std::string> shown = {"gguf",        "safetensors", "torch",  "pt2",
                                         "torchscript", "sglang",      "native", "imatrix"};
    const std::set<std::string> others = {"pickle",
                                          "torch-checkpoint",
                                          "keras",
                                          "npz",
                                          "trtllm-rank",
                                          "gguf-adapter",
                                          "gguf-projector",
                                          "ggml",
                                          "imatrix-dat",
                                          "hdf5",
                                          "tflite",
                                          "tensorflow",
                                          "tfrecord",
                                          "tensorrt",
                                          "executorch",
                                          "rknn",
                                          "ncnn",
                                          "coreml",
                                          "paddle",
                                          "msgpack",
                                          "sentencepiece",
                                          "tiktoken",
                                          "index",
                                          "adapter",
                                          "ollama-manifest",
                                          "quantize-config",
                                          "tokenizer-config",
                                          "preprocessor-config",
                                          "diffusers",
                                          "model-config",
                                          "generation-config",
                                          "tokenizer",
                                          "vocabulary",
                                          "params",
                                          "merges",
                                          "openvino",
                                          "modelfile",
                                          "download",
                                          "git-lfs-pointer",
                                          "zeros",
                                          "onnx",
                                          "npy"};
    std::set<std::string> seen;
    for (const FileHead& head : file_heads()) {
      const bool has_sheet = shown.contains(head.id);
      if (!has_sheet && !others.contains(head.id)) continue;
      const std::string path = scratch_.write("kinds/x-" + head.name, head.bytes);
      const Arguments arguments = {"inspect", path, "--json", "-"};
      const Ended ended = run_program(arguments);
      // An ONNX model without its graph is refused by its reader.
      const bool is_onnx = head.id == "onnx";
      const std::string name = is_onnx ? "as an ONNX model it is damaged" : "is " + head.words;
      if (has_sheet || (is_onnx && ended.exit == 0))
        QVERIFY2(ended.exit == 0 && ended.json()["kind"] == head.id, told(arguments, ended).c_str());
      else
        QVERIFY2(ended.exit == 2 && ended.err.find(name) != std::string::npos, told(arguments, ended).c_str());
      seen.insert(head.id);
    }
    QVERIFY2(seen.size() >= 40 && seen.size() == shown.size() + others.size(), std::to_string(seen.size()).c_str());
  }

  void what_is_wrong_with_a_file_is_one_line_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("short") << "short"
                           << "is shorter than its header says";
    QTest::newRow("part") << "part"
                          << "1 is not beside it: \"m-00002-of-00002.gguf\"";
    QTest::newRow("two") << "two"
                         << "holds 2 models";
    QTest::newRow("huge") << "huge"
                          << "ends in the middle of its header";
    QTest::newRow("index") << "index"
                           << "is not the name of a file beside it";
    QTest::newRow("versions") << "versions"
                              << "holds other tensors than \"model.safetensors.index.json\" names of it";
    QTest::newRow("archive") << "archive"
                             << "as a ZIP archive it is damaged";
    QTest::newRow("onnx") << "onnx"
                          << "ends in the middle of its header";
    QTest::newRow("fetching") << "fetching"
                              << "wait until the download is finished: \"m-00002-of-00002.gguf.part\"";
  }
  void what_is_wrong_with_a_file_is_one_line() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    std::string path = scratch_.path("wrong-" + what.toStdString() + "/m.gguf"), where = path;
    const std::string folder = std::filesystem::path(path).parent_path();
    const GgufBytes made = gguf_mixture(1);
    if (what == "short") write_sparse(path, made.header(), 100);
    if (what == "part")
      write_sparse(path = where = folder + "/m-00001-of-00002.gguf", made.header(), made.data_bytes());
    if (what == "two") {
      for (const char* name : {"/a.gguf", "/b.gguf"}) write_sparse(folder + name, made.header(), made.data_bytes());
      path = where = folder;
    }
    if (what == "huge")
      write_sparse(path,
                   "GGUF" + std::string("\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", 28),
                   0);
    if (what == "index") {
      write_qwen_folder(folder, 2, 4, 64, 32, 1);
      std::ofstream(folder + "/model.safetensors.index.json") << "{\"weight_map\":{\"a\":\"../b.safetensors\"}}";
      path = folder, where = folder + "/model.safetensors.index.json";
    }
    if (what == "versions") {
      write_qwen_folder(folder, 2, 4, 64, 32, 1);
      write_sparse(where = folder + "/model-1-of-1.safetensors", safetensors_head({{"w", "F32", {2}, 8}}), 8);
      path = folder;
    }
    if (what == "archive") {
      const std::string whole = state_dict_bytes({{"a.weight", {2, 3}}}, false);
      path = where = scratch_.write("wrong-archive/m.pth", whole.substr(0, whole.size() / 2));
    }
    if (what == "onnx") {
      const std::string whole = onnx_bytes({{"Add"}}, {{"w", {64}, 1, std::string(256, 'x')}});
      path = where = scratch_.write("wrong-onnx/m.onnx", whole.substr(0, whole.size() / 2));
    }
    if (what == "fetching") {
      write_sparse(path = where = folder + "/m-00001-of-00002.gguf", made.header(), made.data_bytes());
      scratch_.write("wrong-fetching/m-00002-of-00002.gguf.part", "GGUF");
    }
    VERIFY_REFUSED((Arguments{"inspect", path}), where, words.toStdString());
  }

  /// Sparse files: a folder of 70 GB, a GGUF of 20 GB, one of 1,000 parts.
  void sheets_of_large_models_take_a_second_and_little_memory_data() {
    QTest::addColumn<QString>("what");
    for (const char* what : {"folder", "gguf", "parts"}) QTest::newRow(what) << what;
  }
  void sheets_of_large_models_take_a_second_and_little_memory() {
    QFETCH(QString, what);
    std::string path = scratch_.path("large-" + what.toStdString());
    int64_t least = 0;
    if (what == "folder") least = 70'000'000'000, write_qwen_folder(path, 48, 128, 2560, 768, 16);
    if (what == "gguf") least = 20'000'000'000, path = gguf("large.gguf", 720);
    if (what == "parts") {
      path = scratch_.path("large/m-00001-of-01000.gguf");
      for (uint32_t part = 0; part < 1000; ++part) {
        GgufBytes file;
        if (part == 0) file.text("general.architecture", "qwen3moe").number("qwen3moe.expert_used_count", 2);
        file.number("split.count", 1000).number("split.no", part).number("split.tensors.count", 1000);
        file.tensor("blk." + std::to_string(part) + ".ffn_up_exps.weight", {512, 512, 64}, 8, 512 * 512 * 64 / 32 * 34);
        const std::string number = std::to_string(part + 1);
        write_sparse(scratch_.path("large/m-" + std::string(5 - number.size(), '0') + number + "-of-01000.gguf"),
                     file.header(), file.data_bytes());
      }
    }
    const std::string json = scratch_.path(what.toStdString() + ".json");
    QCOMPARE(inspect_alone(path, json).exit, 0);
    const auto begin = std::chrono::steady_clock::now();
    const Inspected warm = inspect_alone(path, json);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    QCOMPARE(warm.exit, 0);
    const Json sheet = Json::parse(Scratch::read(json));
    QVERIFY2(sheet["bytes"].get<int64_t>() >= least, sheet.dump().c_str());
    qInfo("%s: %.1f GB of weights, %.2f s, %ld KiB", what.toUtf8().constData(), sheet["bytes"].get<double>() / 1e9,
          seconds, warm.most_kib);
    if (!kSanitized) QVERIFY2(warm.most_kib < 200 * 1024, std::to_string(warm.most_kib).c_str());
    // A machine that is busy is no reason to fail: ten times the second that an idle one takes.
    QVERIFY2(seconds < 10, std::to_string(seconds).c_str());
  }
};

STORMCELL_TEST(SheetContractTest)

}  // namespace stormcell::testing

#include "sheet_test.moc"
