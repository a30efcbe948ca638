// Readers of headers of models: they read what their formats describe, in pieces, and refuse the rest in one line.
#include <algorithm>
#include <functional>

#include "core/formats/gguf.h"
#include "core/formats/header_bytes.h"
#include "core/formats/onnx_header.h"
#include "core/formats/open_file.h"
#include "core/formats/pickle.h"
#include "core/formats/pt2_header.h"
#include "core/formats/safetensors_outline.h"
#include "core/formats/torch_outline.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"
#include "tests/testing/zip_bytes.h"

namespace stormcell::testing {
namespace {

using Tensors = std::vector<DescribedTensor>;

std::span<const std::byte> bytes_in(std::string_view text) { return std::as_bytes(std::span(text)); }

SeeTensor into(Tensors& tensors) {
  return [&](const DescribedTensor& tensor) { tensors.push_back(tensor); };
}

/// The readers by name, each on bytes in memory.
struct HeaderReader {
  const char* name;
  std::string (*good)();
  void (*read)(HeaderBytes&);
};
const std::vector<HeaderReader>& readers() {
  static const SeeTensor ignore = [](const DescribedTensor&) {};
  static const std::vector<HeaderReader> all = {
      {"gguf", [] { return gguf_mixture(2).header(); },
       [](HeaderBytes& b) { read_gguf_header(b, [](GgufPlace&&) {}); }},
      {"onnx",
       [] {
         return onnx_bytes({{"If", "", {{"Relu"}}}, {"Add"}}, {{"w", {2, 3}, 1, "data"}});
       },
       [](HeaderBytes& b) { read_onnx_header(b, ignore); }},
      {"pt2", [] { return pt2_bytes({"torch.ops.aten.add.Tensor"}); },
       [](HeaderBytes& b) { read_pt2_header(b, ignore); }},
      {"safetensors",
       [] {
         return safetensors_head({{"w", "F32", {2}, 8}}) + std::string(8, 'x');
       },
       [](HeaderBytes& b) { outline_safetensors(b, ignore); }},
      {"pickle",
       [] {
         return state_dict_pickle({{"w", {2, 3}}, {"b", {3}}});
       },
       [](HeaderBytes& b) { outline_pickle(b.take_text(b.rest(), b.size()), "made", ignore); }},
  };
  return all;
}

}  // namespace

class ModelHeadersTest : public QObject {
  Q_OBJECT
 private slots:
  void bytes_of_a_file_come_in_any_pieces() {
    std::string content;
    for (int i = 0; i < 300000; ++i) content += static_cast<char>(i * 7 + i / 256);
    const Scratch scratch;
    const OpenFile file = OpenFile::open_regular(scratch.write("x", content));
    HeaderBytes bytes(file);
    QCOMPARE(bytes.take<uint8_t>(), static_cast<uint8_t>(content[0]));
    QVERIFY(bytes.take_text(200000, 200000) == content.substr(1, 200000));
    bytes.go_to(17);
    QVERIFY(bytes.take_text(5000, 5000) == content.substr(17, 5000));
    bytes.skip(250000);
    QVERIFY(bytes.take_text(100, 100) == content.substr(255017, 100));
    QCOMPARE(bytes.rest(), uint64_t{300000 - 255117});
    VERIFY_BAD_INPUT(bytes.skip(bytes.rest() + 1), file.path(), "ends in the middle of its header");
    VERIFY_BAD_INPUT(bytes.go_to(300001), file.path(), "ends in the middle of its header");
    VERIFY_BAD_INPUT(bytes.take_text(50, 49), file.path(), "has a text of 50 bytes");
    VERIFY_BAD_INPUT(bytes.take_text(UINT64_MAX, UINT64_MAX), file.path(), "ends in the middle");
    bytes.go_to(299999);
    VERIFY_BAD_INPUT(bytes.take<uint32_t>(), file.path(), "ends in the middle");
  }

  void a_gguf_header_is_read_without_its_vocabulary() {
    const std::string head = gguf_mixture(3).header();
    HeaderBytes bytes(bytes_in(head), "made");
    std::vector<GgufPlace> places;
    const GgufHeader header = read_gguf_header(bytes, [&](GgufPlace&& p) { places.push_back(std::move(p)); });
    QCOMPARE(header.version, 3u);
    QCOMPARE(header.keys.text("general.architecture"), std::string_view("qwen3moe"));
    QCOMPARE(header.keys.number("qwen3moe.expert_count").value_or(0), int64_t{128});
    QVERIFY(!header.keys.number("qwen3moe.nothing"));
    const GgufList& tokens = header.keys.lists.at("tokenizer.ggml.tokens");
    QVERIFY(tokens.count == 1000 && tokens.first == "token" && tokens.numbers.empty());
    QCOMPARE(places.size(), size_t{2 + 3 * 9});
    QCOMPARE(header.data_begin, uint64_t{head.size()});
    const GgufPlace& down = places.at(10);  // the first of layer 0 that is stored in Q3_K
    QCOMPARE(down.name, std::string("blk.0.ffn_down_exps.weight"));
    QCOMPARE(ggml_type(down.type)->name, std::string_view("Q3_K"));
    QCOMPARE(down.bytes().value_or(0), uint64_t{256} * 512 * 128 / 256 * 110);
    QVERIFY(!ggml_type(4) && !ggml_type(99999));         // 4 was a format that llama.cpp took back
    QVERIFY(!(GgufPlace{"odd", {100}, 12, 0}).bytes());  // 100 numbers are no whole blocks of 256
  }

  void a_gguf_header_that_is_wrong_is_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& bytes, const char* words) {
      QTest::newRow(name) << QByteArray(bytes.data(), static_cast<int>(bytes.size())) << words;
    };
    const auto number = [](uint64_t value, int size) {
      std::string text;
      for (int i = 0; i < size; ++i) text += static_cast<char>(value >> 8 * i);
      return text;
    };
    const std::string magic = "GGUF" + number(3, 4), none = number(0, 8), one = number(1, 8), key = number(1, 8) + "k";
    row("another magic", "GGML" + number(3, 4) + none + none, "does not begin as GGUF does");
    row("version 1", "GGUF" + number(1, 4) + none + none, "is of version 1, 2 and 3 are known");
    row("big-endian", "GGUF" + number(uint64_t{3} << 24, 4) + none + none, "is big-endian");
    row("too many keys", magic + none + number(1 << 20, 8), "would have 1048576 keys");
    row("too many tensors", magic + number(uint64_t{1} << 60, 8) + none, "tensors");
    row("a long key", magic + none + one + number(uint64_t{1} << 62, 8), "ends in the middle of its header");
    row("a type", magic + none + one + key + number(77, 4), "\"k\" is of a type that is not known");
    row("a list of lists", magic + none + one + key + number(9, 4) + number(9, 4) + one,
        "is a list of an unknown type");
    row("a long list", magic + none + one + key + number(9, 4) + number(10, 4) + number(uint64_t{1} << 61, 8),
        "is longer than the file");
    row("a list of texts", magic + none + one + key + number(9, 4) + number(8, 4) + number(uint64_t{1} << 61, 8),
        "would have 2305843009213693952 texts");
    row("five dimensions", magic + one + none + key + number(5, 4), "has 5 dimensions");
    row("an extent of 0", magic + one + none + key + number(1, 4) + none + number(0, 4) + none,
        "has an impossible size");
    row("a size that overflows",
        magic + one + none + key + number(2, 4) + number(uint64_t{1} << 40, 8) + number(uint64_t{1} << 40, 8),
        "has an impossible size");
    row("an alignment of 0", GgufBytes().number("general.alignment", 0).header(), "its alignment is 0");
  }
  void a_gguf_header_that_is_wrong_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string text = bytes.toStdString();
    HeaderBytes header(bytes_in(text), "made");
    VERIFY_BAD_INPUT(read_gguf_header(header, [](GgufPlace&&) {}), "made", words.toStdString());
  }

  void an_onnx_model_says_its_operators_and_weights() {
    const std::string model = onnx_bytes(
        {{"MatMul"}, {"If", "", {{"Relu"}, {"If", "", {{"Add"}}}}}, {"MoE", "com.microsoft"}, {"MatMul", "ai.onnx"}},
        {{"w", {2, 3}, 1, std::string(24, 'x')}, {"h", {4}, 10, std::string(8, 'x')}, {"odd", {1}, 77, ""}});
    HeaderBytes bytes(bytes_in(model), "made");
    Tensors tensors;
    const OnnxHeader header = read_onnx_header(bytes, into(tensors));
    QVERIFY(header.producer == "pytorch" && header.opset == 17 && header.graph == "made" && header.ir_version == 8);
    QCOMPARE(header.nodes, int64_t{7});
    QCOMPARE(header.graphs, int64_t{3});
    QVERIFY((header.operators == std::map<std::string, int64_t>{
                                     {"Add", 1}, {"If", 2}, {"MatMul", 2}, {"Relu", 1}, {"com.microsoft.MoE", 1}}));
    QCOMPARE(tensors.size(), size_t{3});
    QVERIFY(tensors[0].name == "w" && tensors[0].format == "F32" && tensors[0].bytes == 24 &&
            tensors[0].shape == (std::vector<int64_t>{2, 3}));
    QVERIFY(tensors[1].format == "F16" && tensors[2].format == "type 77");
  }

  void graphs_in_each_other_end() {
    std::vector<OnnxNode> nodes = {{"Relu"}};
    for (int i = 0; i < 40; ++i) nodes = {{"If", "", nodes}};
    const std::string model = onnx_bytes(nodes, {});
    HeaderBytes bytes(bytes_in(model), "made");
    VERIFY_BAD_INPUT(read_onnx_header(bytes, [](const DescribedTensor&) {}), "made", "graphs are nested too deeply");
  }

  void an_exported_program_says_its_operators_and_weights() {
    const std::string archive = pt2_bytes({"torch.ops.aten.linear.default", "torch.ops.aten.add.Tensor",
                                           "torch.ops.aten.linear.default", "torch.ops.higher_order.cond"});
    HeaderBytes bytes(bytes_in(archive), "made");
    Tensors tensors;
    const Pt2Header header = read_pt2_header(bytes, into(tensors));
    QCOMPARE(header.nodes, int64_t{4});  // "target" in an argument is no node
    QCOMPARE(header.operators.at("torch.ops.aten.linear.default"), int64_t{2});
    QVERIFY(header.torch_version == "2.8.0" && header.schema == 8 && header.weight_bytes == 128);
    QVERIFY(tensors.size() == 1 && tensors[0].name == "layers.0.mlp.gate.weight" && tensors[0].format == "F32" &&
            tensors[0].shape == (std::vector<int64_t>{4, 8}));
    const std::string other = zip_bytes({{"made/data.pkl", "x"}});
    HeaderBytes none(bytes_in(other), "made");
    VERIFY_BAD_INPUT(read_pt2_header(none, into(tensors)), "made", "holds no program of torch.export");
    const std::string broken = zip_bytes({{"made/models/model.json", "{\"graph_module\": nothing}"}});
    HeaderBytes damaged(bytes_in(broken), "made");
    VERIFY_BAD_INPUT(read_pt2_header(damaged, into(tensors)), "made", "is not JSON at byte");
  }

  void tensors_of_safetensors_are_described_in_any_format() {
    const std::string file =
        safetensors_head({{"a", "F4", {4, 6}, 12}, {"b", "F8_E8M0", {3}, 3}, {"c", "BF16", {}, 2}}) +
        std::string(17, 'x');
    HeaderBytes bytes(bytes_in(file), "made");
    Tensors tensors;
    const SafetensorsOutline outline = outline_safetensors(bytes, into(tensors));
    QVERIFY(outline.tensors == 3 && outline.metadata.at("format") == "pt");
    QVERIFY(tensors[0].format == "F4" && tensors[0].bytes == 12 && tensors[2].shape.empty());
    const std::string cut = file.substr(0, file.size() - 1);
    HeaderBytes shorter(bytes_in(cut), "made");
    VERIFY_BAD_INPUT(outline_safetensors(shorter, into(tensors)), "made",
                     "is shorter than its header says: \"c\" ends at byte 17");
  }

  void a_state_dict_is_read_whatever_is_beside_it() {
    const std::vector<std::pair<std::string, std::vector<int64_t>>> weights = {
        {"blocks.0.weight", {4, 3, 2, 2}}, {"blocks.0.bias", {4}}, {"head.weight", {10, 4}}};
    const Scratch scratch;
    for (const auto& [name, bytes] : {std::pair{"flat.pth", state_dict_bytes(weights, false)},
                                      {"nested.tar", state_dict_bytes(weights, true)},
                                      {"old.pth", old_state_dict_bytes(weights)}}) {
      const OpenFile file = OpenFile::open_regular(scratch.write(name, bytes));
      Tensors tensors;
      const TorchOutline outline = outline_torch(file, into(tensors));
      QVERIFY2(outline.tensors == 3 && !outline.whole_module, name);
      QVERIFY2(tensors.size() == 3 && tensors[0].name == "blocks.0.weight" && tensors[0].format == "F32" &&
                   tensors[0].bytes == 192,
               name);
      QCOMPARE(outline.part, std::string(name == std::string("nested.tar") ? "state_dict" : ""));
    }
  }

  void nothing_of_a_pickle_is_run() {
    // os.system("touch x") as a value of the dictionary.
    const std::string bytes("\x80\x02}(X\1\0\0\0acos\nsystem\n(X\7\0\0\0touch xtRu.", 38);
    Tensors tensors;
    const TorchOutline outline = outline_pickle(bytes, "made", into(tensors));
    QVERIFY(tensors.empty());
    QVERIFY(outline.classes == std::vector<std::string>{"os.system"});
    QVERIFY(!std::filesystem::exists("x"));
    const std::string_view whole(bytes);
    VERIFY_BAD_INPUT(Pickle(bytes_in(whole), "made"), "made",
                     "it names \"os.system\"");  // as ever where it is not asked for
  }

  void a_pickle_in_itself_ends() {
    // A list that holds itself, 40 times over: the number of paths is without end.
    std::string bytes = "\x80\x02}q";
    bytes += '\0';
    bytes += "(";
    for (int i = 0; i < 40; ++i)
      bytes += "X" + std::string("\2\0\0\0", 4) + std::to_string(i + 10) + "h" + std::string(1, '\0');
    bytes += "u.";
    Tensors tensors;
    QCOMPARE(outline_pickle(bytes, "made", into(tensors)).tensors, int64_t{0});
  }

  void no_beginning_of_a_header_crashes_data() {
    QTest::addColumn<int>("reader");
    for (size_t i = 0; i < readers().size(); ++i) QTest::newRow(readers()[i].name) << static_cast<int>(i);
  }
  void no_beginning_of_a_header_crashes() {
    QFETCH(int, reader);
    const HeaderReader& row = readers()[static_cast<size_t>(reader)];
    const std::string good = row.good();
    HeaderBytes whole(bytes_in(good), "made");
    row.read(whole);
    const size_t step = std::max<size_t>(1, good.size() / 400);
    for (size_t size = 0; size < good.size(); size += step) {
      const std::string part = good.substr(0, size);
      HeaderBytes bytes(bytes_in(part), "made");
      try {
        row.read(bytes);
      } catch (const Error& error) {
        QVERIFY(error.kind() == ErrorKind::bad_input);
        QVERIFY(std::string_view(error.what()).find('\n') == std::string_view::npos);
      }
    }
  }

  void tensors_of_an_importance_matrix_keep_their_bytes() {
    GgufBytes made;
    made.text("general.type", "imatrix").texts("imatrix.datasets", {"first", "second"});
    made.tensor("a", {2, 2}, 0, 16).tensor("b", {32}, 8, 34);
    std::string file = made.header();
    file += std::string("abcdefghijklmnop") + std::string(made.data_bytes() - 16, '\0');
    const GgufFile read(bytes_in(file), "made");
    QCOMPARE(read.texts().at("imatrix.datasets"), std::string("first"));
    QCOMPARE(read.tensors().at("a").bytes.size(), size_t{16});
    QVERIFY(read.tensors().at("a").bytes[0] == std::byte{'a'} && read.tensors().at("b").bytes.empty());
    const std::string cut = made.header() + "abc";
    VERIFY_BAD_INPUT(GgufFile(bytes_in(cut), "made"), "made", "a tensor is beyond the end of the file");
    GgufBytes twice;
    twice.tensor("a", {1}, 0, 4).tensor("a", {1}, 0, 4);
    const std::string same = twice.header() + std::string(64, '\0');
    VERIFY_BAD_INPUT(GgufFile(bytes_in(same), "made"), "made", "\"a\" occurs twice");
  }
};

STORMCELL_TEST(ModelHeadersTest)

}  // namespace stormcell::testing

#include "model_headers_test.moc"
