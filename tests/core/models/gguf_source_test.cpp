// Weights of a GGUF file under a graph: experts by recipe, read as they are stored into the memory that kernels read.
#include <cmath>

#include "core/base/number_format.h"
#include "core/cpu/cpu_device.h"
#include "core/formats/weight_files.h"
#include "core/graph/text.h"
#include "core/models/weight_catalog.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/blocks.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kWide = 256, kNarrow = 70, kExperts = 3;

void append_padded(std::string& bytes, const std::vector<std::byte>& data) {
  bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
  bytes.resize((bytes.size() + 31) / 32 * 32);
}

/// A table in q8_0, three experts in q4_k and in q6_k, one in a format that nothing is computed with.
std::string small_gguf() {
  Random random(9);
  GgufBytes made;
  made.text("general.architecture", "olmoe");
  std::string data;
  const auto add = [&](const char* name, std::vector<uint64_t> dims, uint32_t type, DType format) {
    int64_t n = 1;
    for (const uint64_t d : dims) n *= static_cast<int64_t>(d);
    const std::vector<std::byte> blocks = drawn_blocks([&] { return random.next(); }, format, n, Scales::alike);
    made.tensor(name, dims, type, blocks.size());
    append_padded(data, blocks);
  };
  add("token_embd.weight", {kWide, 9}, 8, DType::q8_0);
  add("ffn_up_exps.weight", {kWide, kNarrow, kExperts}, 12, DType::q4_k);
  add("ffn_down_exps.weight", {kWide, kNarrow, kExperts}, 14, DType::q6_k);
  made.tensor("ffn_gate_exps.weight", {kWide, kNarrow, kExperts}, 23, kWide / 256 * kNarrow * kExperts * 136);
  data.resize(data.size() + (kNarrow * kExperts * 136 + 31) / 32 * 32);
  return made.header() + data;
}

}  // namespace

class GgufSourceTest : public QObject {
  Q_OBJECT
 private slots:
  void a_graph_reads_experts_of_a_file() {
    const Scratch scratch;
    const auto files = WeightFiles::open(scratch.write("m.gguf", small_gguf()));
    RandomCase c;
    c.weights = make_stored_weights(files);
    std::string text =
        "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %ids : i32 tokens\n"
        "weight %t : q8_0 [9,256] = \"token_embd.weight\"\n"
        "weight %a : q4_k [70,256] = index(\"ffn_up_exps.weight\", 2)\n"
        "weight %b : q6_k [70,256] = index(\"ffn_down_exps.weight\", 1)\n"
        "%x : f32 tokens [256] = embedding(%ids, %t)\n%g : f32 tokens [70] = linear(%x, %a) activation=\"silu\"\n"
        "%y : f32 tokens [70] = linear(%x, %b, %g) extras=\"multiply\"\noutput y = %y\n";
    c.graph = parse_graph(text, "graph");
    c.bindings = {11};
    c.inputs = {{"ids", std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 8}}};
    const std::vector<double> expected =
        Oracle<double>(c.graph, *c.weights).run(oracle_inputs<double>(c.inputs), c.bindings).output("y").reals;
    cpu::CpuDevice device(2);
    const std::vector<float> came = execute_once(device, c).outputs.at(0).reals;
    double largest = 0;
    for (const double v : expected) largest = std::max(largest, std::fabs(v));
    QVERIFY(largest > 0);
    for (size_t i = 0; i < came.size(); ++i)
      QVERIFY2(std::fabs(double{came[i]} - expected[i]) <= 1e-4 * largest, QByteArray::number(i).constData());
  }

  void a_catalog_takes_blocks_and_refuses_other_formats_by_name() {
    const Scratch scratch;
    const std::string path = scratch.write("m.gguf", small_gguf());
    StoredCatalog catalog(WeightFiles::open(path));
    QVERIFY(catalog.need("ffn_up_exps.weight", {kExperts, kNarrow, kWide}).dtype == DType::q4_k);
    const Recipe expert = index_recipe(tensor_recipe("ffn_down_exps.weight"), 2);
    QCOMPARE(catalog.make(expert, {kNarrow, kWide}).bytes(), kNarrow * 210);
    QVERIFY(catalog.has("ffn_gate_exps.weight") && !catalog.has("none"));
    const std::vector<int64_t> all = {kExperts, kNarrow, kWide}, one = {kNarrow, kWide},
                               turned = {kExperts, kWide, kNarrow};
    const std::string words =
        "the tensor \"ffn_gate_exps.weight\" is stored as IQ4_XS, expected f32, f16, bf16, q8_0, ";
    const Recipe other = index_recipe(tensor_recipe("ffn_gate_exps.weight"), 0);
    VERIFY_BAD_INPUT(catalog.need("ffn_gate_exps.weight", all), path, words);
    VERIFY_BAD_INPUT(catalog.make(other, one), path, words);
    VERIFY_BAD_INPUT(catalog.need("ffn_up_exps.weight", turned), path, "has the shape [3, 70, 256]");
  }

  void an_expert_is_read_into_the_memory_that_is_there() {
    const Scratch scratch;
    const std::string content = small_gguf();
    const auto files = WeightFiles::open(scratch.write("m.gguf", content));
    const auto source = make_stored_weights(files);
    const std::string text = "index(\"ffn_down_exps.weight\", 2)";
    std::vector<std::byte> to(static_cast<size_t>(kNarrow * 210));
    source->copy(text, 0, to);
    const auto begin = static_cast<size_t>(files->find("ffn_down_exps.weight")->begin) + 2 * to.size();
    QVERIFY(std::memcmp(to.data(), content.data() + begin, to.size()) == 0);
  }
};

STORMCELL_TEST(GgufSourceTest)

}  // namespace stormcell::testing
#include "gguf_source_test.moc"
