// Weights in blocks in a whole graph: products of the CPU agree with the oracle within the tolerance of the format's
// row, and everything that does not read blocks refuses them in one clear line.
#include <cmath>
#include <cstring>

#include "core/base/number_format.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/isa.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/text.h"
#include "core/oracle/stored_formats.h"
#include "tests/testing/block_cases.h"
#include "tests/testing/blocks.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/q8_0.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

enum class Weights : uint8_t { random_blocks, converted };  // converted: q8_0 alone

/// linear(x [7, k], w [n, k]) with a bias, an activation and, as `extras` says, what else it may carry.
RandomCase product(DType format, int64_t n, int64_t k, Weights weights, bool with_norm, uint64_t seed) {
  const std::string width = std::to_string(k), outputs = std::to_string(n);
  std::string text = "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [" + width +
                     "]\ninput %r : f32 tokens [" + outputs + "]\nweight %w : " + std::string(to_text(format)) + " [" +
                     outputs + "," + width + "]\nweight %g : f32 [" + width + "]\nweight %b : f32 [" + outputs +
                     "]\n%y : f32 tokens [" + outputs + "] = linear(%x, %w, ";
  text += with_norm ? "%g, %b, %r) extras=\"gain+bias+residual\" eps=1e-06" : "%b, %r) extras=\"bias+residual\"";
  text += " activation=\"gelu\"\noutput y = %y\n";

  Random random(seed);
  auto held = std::make_shared<MemoryWeights>();
  std::vector<std::byte> stored = weights == Weights::converted
                                      ? q8_0_of(normal_values(random, n * k))
                                      : drawn_blocks([&] { return random.next(); }, format, n * k, Scales::alike);
  held->add_stored("w", format, {n, k}, std::move(stored));
  held->add("g", DType::f32, {k}, normal_values(random, k));
  held->add("b", DType::f32, {n}, normal_values(random, n));

  RandomCase c;
  c.name = std::string(to_text(format)) + " linear " + outputs + " x " + width + (with_norm ? " with a norm" : "");
  c.graph = parse_graph(text, "graph");
  c.weights = held;
  c.bindings = {7};
  c.inputs = {{"x", normal_values(random, 7 * k)}, {"r", normal_values(random, 7 * n)}};
  return c;
}

std::vector<float> output_of(Device& device, const RandomCase& c) {
  return execute_once(device, c).outputs.at(0).reals;
}

/// The largest difference, as a share of the largest value of the reference.
double share_apart(const std::vector<float>& came, const std::vector<double>& expected) {
  double most = 0, scale = 1e-30;
  for (size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(came[i]) - expected[i]));
    scale = std::max(scale, std::fabs(expected[i]));
  }
  return most / scale;
}

std::vector<double> by_the_oracle(const Graph& graph, const WeightSource& weights, const RandomCase& c) {
  return Oracle<double>(graph, weights).run(oracle_inputs<double>(c.inputs), c.bindings).output("y").reals;
}

/// The refusal of a graph of one line over `%x : f32 tokens [64]`, `%ids : i32 tokens []` and `%w : q8_0 [WEIGHT]`.
std::string refusal_of(const std::string& weight, const std::string& line) {
  const std::string text =
      "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [64]\ninput %ids : i32 tokens []\n" +
      std::string("weight %w : q8_0 [") + weight + "]\n" + line + "\noutput y = %y\n";
  return bad_input_complaint([&] { parse_graph(text, "graph"); });
}

}  // namespace

class BlockWeightsTest : public QObject {
  Q_OBJECT

  static void formats() {
    QTest::addColumn<int>("number");
    for (size_t i = 0; i < kBlockFormats.size(); ++i)
      QTest::newRow(to_text(kBlockFormats[i]).data()) << static_cast<int>(i);
  }
  static DType fetched_format() {
    QFETCH(const int, number);
    return kBlockFormats[static_cast<size_t>(number)];
  }

 private slots:
  void each_instruction_set_expands_what_the_oracle_reads_data() { formats(); }
  void each_instruction_set_expands_what_the_oracle_reads() {
    const DType format = fetched_format();
    constexpr int64_t kBlocks = 2000;
    const int64_t n = kBlocks * format_of(format).block_elements;
    Random random(11);
    const std::vector<std::byte> stored = drawn_blocks([&] { return random.next(); }, format, n, Scales::finite);
    std::vector<float> read(static_cast<size_t>(n)), expanded(read.size());
    reference::stored_format(format).read(stored.data(), 0, n, read.data());
    for (const cpu::Isa isa : cpu::available_isas()) {
      cpu::set_isa_for_test(isa);
      cpu::block_kernels(format)->expand(stored.data(), n, expanded.data());
      QVERIFY2(expanded == read, cpu::to_text(isa).data());  // and -0 is 0
    }
    cpu::set_isa_for_test({});
  }

  void the_cpu_agrees_with_the_oracle_on_random_blocks_data() { formats(); }
  void the_cpu_agrees_with_the_oracle_on_random_blocks() {
    const DType format = fetched_format();
    const int64_t block = format_of(format).block_elements;
    for (const int64_t n : {1, 7, 65})
      for (const int64_t k : {block, 5 * block})
        for (const char* kernel : {"linear.blocks", "linear.plain"})
          for (const bool with_norm : {false, true}) {
            RandomCase c =
                product(format, n, k, Weights::random_blocks, with_norm, static_cast<uint64_t>(n * 1000 + k));
            annotate(c.graph, std::string("y.kernel=") + kernel, "test");
            const std::vector<double> expected = by_the_oracle(c.graph, *c.weights, c);
            for (const cpu::Isa isa : cpu::available_isas()) {
              cpu::set_isa_for_test(isa);
              cpu::CpuDevice one(1), two(2);
              const std::vector<float> came = output_of(one, c);
              const double apart = share_apart(came, expected);
              QVERIFY2(apart <= format_of(format).product_tolerance,
                       qPrintable(QString("%1 %2: %3").arg(QString::fromStdString(c.name), kernel).arg(apart)));
              const std::vector<float> again = output_of(two, c);
              QVERIFY(std::memcmp(came.data(), again.data(), came.size() * sizeof(float)) == 0);
            }
            cpu::set_isa_for_test({});
          }
  }

  void embeddings_and_experts_in_blocks_agree_with_the_oracle_data() { formats(); }
  void embeddings_and_experts_in_blocks_agree_with_the_oracle() {
    const DType format = fetched_format();
    for (const RandomCase& c : experts_in_blocks(format)) {
      const std::vector<double> expected = by_the_oracle(c.graph, *c.weights, c);
      for (const cpu::Isa isa : cpu::available_isas()) {
        cpu::set_isa_for_test(isa);
        cpu::CpuDevice device(2);
        const double share = share_apart(output_of(device, c), expected);
        QVERIFY2(share <= format_of(format).product_tolerance,
                 qPrintable(QString("%1: %2").arg(c.name.c_str()).arg(share)));
      }
      cpu::set_isa_for_test({});
    }
  }

  void another_device_gives_the_same_bits() {
    const RandomCase c = product(DType::q4_k, 20, 512, Weights::random_blocks, true, 3);
    cpu::CpuDevice here(2);
    EmulatedDevice there(1);
    QCOMPARE(output_of(here, c), output_of(there, c));
  }

  void a_conversion_changes_no_more_than_the_row_says() {
    const RandomCase c = product(DType::q8_0, 40, 256, Weights::converted, false, 5);
    Random random(5);
    const std::vector<float> values = normal_values(random, 40 * 256);  // drawn first: those that were converted
    MemoryWeights plain;
    plain.add("w", DType::f32, {40, 256}, values);
    for (const char* name : {"g", "b"}) {
      const WeightInfo& info = *c.weights->find(name);
      std::vector<float> same(static_cast<size_t>(info.elements()));
      std::memcpy(same.data(), c.weights->bytes(name).get(), same.size() * sizeof(float));
      plain.add(name, DType::f32, info.shape, same);
    }
    std::string text = to_text(c.graph);
    text.replace(text.find("q8_0"), 4, "f32");
    const std::vector<double> exact = by_the_oracle(parse_graph(text, "graph"), plain, c);
    cpu::CpuDevice device(1);
    const double apart = share_apart(output_of(device, c), exact);
    QVERIFY2(apart > 1e-4 && apart <= format_of(DType::q8_0).conversion_tolerance, qPrintable(QString::number(apart)));
  }

  void the_text_of_a_graph_names_the_format() {
    const RandomCase c = product(DType::q8_0, 3, 32, Weights::converted, false, 1);
    const std::string text = to_text(c.graph);
    QVERIFY(text.find("weight %w : q8_0 [3,32]") != std::string::npos);
    QCOMPARE(to_text(parse_graph(text, "again")), text);
  }

  void only_whole_blocks_and_only_products_and_tables_are_accepted() {
    QVERIFY2(
        refusal_of("8,33", "%y : f32 tokens [64] = scale(%x) factor=2.0")
                .find("value %w: expected rows of whole blocks of 32 elements, got q8_0 [8,33]") != std::string::npos,
        refusal_of("8,33", "%y : f32 tokens [64] = scale(%x) factor=2.0").c_str());
    const std::string of_gain = refusal_of("64", "%y : f32 tokens [64] = rms_norm(%x, %w) eps=1e-06");
    QVERIFY2(of_gain.find("expected a weight in f32, f16 or bf16 as input 1") != std::string::npos, of_gain.c_str());
    QCOMPARE(refusal_of("64,64", "%y : f32 tokens [64] = linear(%x, %w)"), std::string());
    QCOMPARE(refusal_of("8,64", "%y : f32 tokens [64] = embedding(%ids, %w)"), std::string());
  }

  void a_kernel_that_packs_is_refused_by_name() {
    const auto compiled = [](const std::string& annotation) {
      const RandomCase c = product(DType::q8_0, 4, 32, Weights::converted, false, 2);
      return bad_input_complaint([&] {
        Graph graph = c.graph;
        annotate(graph, annotation, "--annotate");
        cpu::CpuDevice device(1);
        WeightStore store(device, c.weights);
        device.layout_of(std::make_shared<Program>(lower(std::make_shared<Graph>(graph))), store, {c.bindings});
      });
    };
    QCOMPARE(compiled("y.kernel=linear.plain"), std::string());
    QCOMPARE(compiled("y.kernel=linear.blocks"), std::string());
    QCOMPARE(compiled("y.kernel=linear.panels"),
             std::string("linear \"y\": kernel linear.panels does not support this case (linear.blocks or linear.plain "
                         "does)"));
    QVERIFY2(compiled("w.format=bf16").starts_with("linear \"y\": no kernel "), compiled("w.format=bf16").c_str());
    QVERIFY2(compiled("w.format=q8_0").find("expected format f32 or bf16, got \"q8_0\"") != std::string::npos,
             compiled("w.format=q8_0").c_str());
  }

  void a_device_does_not_list_it() {
    const cpu::CpuDevice device(1);
    QCOMPARE(device.info().formats, (std::vector<DType>{DType::f32, DType::bf16}));
  }
};

STORMCELL_TEST(BlockWeightsTest)

}  // namespace stormcell::testing
#include "block_weights_test.moc"
