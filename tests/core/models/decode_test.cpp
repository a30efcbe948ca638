// Decoding sequences of unlike length together: each as if it were alone, on every device; and going on under another
// plan.
#include <numeric>

#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::decode_test {
namespace {

std::string fixture(const std::string& name) { return reference_path(name); }

using Prompt = std::vector<int32_t>;
std::vector<Prompt> prompts(const Model& model, const std::vector<int64_t>& lengths, uint64_t seed = 3) {
  Random random(seed);
  std::vector<Prompt> made;
  for (const int64_t length : lengths) {
    Prompt& p = made.emplace_back();
    for (int64_t i = 0; i < length; ++i) p.push_back(static_cast<int32_t>(random.between(3, model.vocabulary - 1)));
  }
  return made;
}

/// The place of a shorter prompt's padding among the cells of the longest.
enum class Padding : uint8_t { last, first, between };
ModelInputs inputs_of(const std::vector<Prompt>& prompts, Padding padding = Padding::last) {
  ModelInputs in;
  in.sequences = static_cast<int64_t>(prompts.size());
  for (const Prompt& p : prompts) in.length = std::max(in.length, static_cast<int64_t>(p.size()));
  std::vector<int32_t>&ids = in.values["input_ids"], &mask = in.values["attention_mask"];
  for (const Prompt& p : prompts) {
    const int64_t pads = in.length - static_cast<int64_t>(p.size());
    const int64_t before = padding == Padding::last    ? static_cast<int64_t>(p.size())
                           : padding == Padding::first ? 0
                                                       : static_cast<int64_t>(p.size()) / 2;
    for (int64_t i = 0; i < in.length; ++i) {
      const bool real = i < before || i >= before + pads;
      mask.push_back(real);
      ids.push_back(real ? p[static_cast<size_t>(i < before ? i : i - pads)] : 0);
    }
  }
  return in;
}

/// A decoding graph that is ready to run.
class Decoder {
 public:
  Decoder(Device& device, const Model& model, std::shared_ptr<const Graph> graph, const ModelInputs& largest,
          int64_t most, std::shared_ptr<StateStore> states = nullptr, int64_t past = 0)
      : graph_(std::move(graph)),
        most_(most),
        store_(device, model.weights),
        executor_(device, store_, program(), options(largest, past, std::move(states))) {}

  const ExecutionResult& run(const ModelInputs& in, std::span<const SequenceId> sequences = {}, int64_t past = 0,
                             const ReplayedDecisions* replayed = nullptr) {
    InputValues values;
    for (const Value& v : graph_->values)
      if (v.kind == ValueKind::input) values.integers[v.name] = in.values.at(v.name);
    ExecuteOptions options;
    options.outputs = true;
    options.sequences = sequences;
    options.replayed = replayed;
    executor_.run(values, bindings(in, past), options, result_);
    return result_;
  }
  Executor& executor() { return executor_; }

 private:
  Bindings bindings(const ModelInputs& in, int64_t past) const {
    Bindings b = bindings_for(*graph_, in, most_);
    if (const SymbolId id = graph_->find_symbol(kPastLength); id != kNone) b[static_cast<size_t>(id)] = past;
    return b;
  }
  std::shared_ptr<const Program> program() const { return std::make_shared<Program>(lower(graph_)); }
  CompileOptions options(const ModelInputs& largest, int64_t past, std::shared_ptr<StateStore> states) const {
    CompileOptions o{bindings(largest, past)};
    o.states = std::move(states);
    return o;
  }

  std::shared_ptr<const Graph> graph_;
  int64_t most_;
  WeightStore store_;
  Executor executor_;
  ExecutionResult result_;
};

const OutputValue& output(const ExecutionResult& r, std::string_view name) {
  for (const OutputValue& out : r.outputs)
    if (out.name == name) return out;
  throw std::runtime_error("no such output");
}

/// Tokens and logits of one sequence of a batch.
struct Written {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
};
Written of_sequence(const ExecutionResult& r, size_t sequence, size_t most) {
  const OutputValue &tokens = output(r, kGenerated), &logits = output(r, kLogits);
  const auto part = [&](const auto& all, size_t each) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(sequence * each),
                       all.begin() + static_cast<std::ptrdiff_t>((sequence + 1) * each));
  };
  const size_t sequences = tokens.integers.size() / most;
  return {part(tokens.integers, most), part(logits.reals, logits.reals.size() / sequences)};
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

class DecodeTest : public QObject {
  Q_OBJECT
 private slots:
  void sequences_of_unlike_length_decode_as_if_alone_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"mixtral/top-2-of-8-grouped-heads", "mixtral/top-3-of-8-sliding-window", "mixtral/top-2-of-4-left-padding",
          "mixtral/stored-bf16", "switch/encoder-decoder-8-experts"})
      QTest::newRow(name) << name;
  }
  void sequences_of_unlike_length_decode_as_if_alone() {
    QFETCH(QString, name);
    const auto model = open_model(fixture(name.toStdString()));
    constexpr int64_t kMost = 9;
    const std::vector<int64_t> lengths =
        model->has_encoder ? std::vector<int64_t>{3, 40, 11} : std::vector<int64_t>{8, 200, 1, 63};
    const std::vector<Prompt> all = prompts(*model, lengths);
    const std::shared_ptr<const Graph> graph = model->generate_with_logits();
    cpu::CpuDevice device(2);
    std::vector<Written> alone;
    for (const Prompt& p : all) {
      const ModelInputs in = inputs_of({p});
      Decoder decoder(device, *model, graph, in, kMost);
      alone.push_back(of_sequence(decoder.run(in), 0, kMost));
    }
    EmulatedDevice emulated(2);
    for (Device* where : {static_cast<Device*>(&device), static_cast<Device*>(&emulated)})
      for (const Padding padding : {Padding::last, Padding::first, Padding::between}) {
        if (model->has_encoder && padding != Padding::last) continue;  // an encoder's positions count padding
        const ModelInputs in = inputs_of(all, padding);
        Decoder decoder(*where, *model, graph, in, kMost);
        for (int again = 0; again < 2; ++again) {
          const ExecutionResult& together = decoder.run(in);
          for (size_t s = 0; s < all.size(); ++s) {
            const Written w = of_sequence(together, s, kMost);
            QCOMPARE(w.tokens, alone[s].tokens);
            // Behind its end a sequence decodes what nobody reads, as long as the others go on.
            const auto written =
                static_cast<size_t>(std::count_if(w.tokens.begin(), w.tokens.end(), [](int32_t t) { return t >= 0; }));
            const size_t floats = w.logits.size() / kMost * written;
            QVERIFY(floats > 0 && std::memcmp(w.logits.data(), alone[s].logits.data(), floats * sizeof(float)) == 0);
          }
        }
      }
    // The oracle, too, decodes them so. (In bf16 nearly equal scores flip: verify_decoded_test judges that.)
    if (model->dtype == DType::bf16) return;
    const auto oracle = run_oracle<float>(*model, *graph, inputs_of(all), kMost);
    for (size_t s = 0; s < all.size(); ++s)
      for (size_t t = 0; t < kMost; ++t)
        QCOMPARE(oracle.output(kGenerated).integers[s * kMost + t], alone[s].tokens[t]);
  }

  void states_go_on_under_another_plan() {
    for (const char* name : {"mixtral/top-2-of-8-grouped-heads", "mixtral/top-3-of-8-sliding-window"}) {
      const auto model = open_model(fixture(name));
      cpu::CpuDevice cpu(2);
      // Prompts whose texts do not end within what is decoded here.
      std::vector<Prompt> all;
      for (uint64_t seed = 0; seed < 50; ++seed) {
        all = prompts(*model, {70, 5, 130}, seed);
        Decoder decoder(cpu, *model, model->generate(), inputs_of(all), 10);
        const std::vector<int32_t> tokens = output(decoder.run(inputs_of(all)), kGenerated).integers;
        if (std::count(tokens.begin(), tokens.end(), -1) == 0) break;
        all.clear();
      }
      QCOMPARE(all.size(), size_t{3});
      EmulatedDevice emulated(2);
      for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
        const ModelInputs in = inputs_of(all);
        Decoder whole(*device, *model, model->generate_with_logits(), in, 10);
        const ExecutionResult expected = whole.run(in);
        const auto states = std::make_shared<StateStore>(*device);
        std::vector<SequenceId> sequences;
        for (size_t s = 0; s < all.size(); ++s) sequences.push_back(states->open());
        // Another program: the one that keeps no logits.
        Decoder first(*device, *model, model->generate(), in, 4, states);
        const std::vector<int32_t> begun = output(first.run(in, sequences), kGenerated).integers;
        for (size_t s = 0; s < all.size(); ++s)
          QCOMPARE(states->place(sequences[s]), static_cast<int32_t>(all[s].size()) + 3);
        std::vector<Prompt> last;
        for (size_t s = 0; s < all.size(); ++s) last.push_back({begun[s * 4 + 3]});
        const ModelInputs more = inputs_of(last);
        Decoder then(*device, *model, model->generate_with_logits(), more, 6, states, 200);
        const ExecutionResult& came = then.run(more, sequences, 200);
        for (size_t s = 0; s < all.size(); ++s) {
          const Written w = of_sequence(expected, s, 10), rest = of_sequence(came, s, 6);
          std::vector<int32_t> joined(begun.begin() + static_cast<std::ptrdiff_t>(s * 4),
                                      begun.begin() + static_cast<std::ptrdiff_t>(s * 4 + 4));
          joined.insert(joined.end(), rest.tokens.begin(), rest.tokens.end());
          QCOMPARE(joined, w.tokens);
          const std::vector<float> logits(w.logits.end() - static_cast<std::ptrdiff_t>(rest.logits.size()),
                                          w.logits.end());
          QVERIFY(same_bits(rest.logits, logits));
        }
        // A batch of some of them, in another order; the others stay.
        const SequenceId swapped[] = {sequences[2], sequences[0]};
        const int32_t before = states->place(sequences[1]);
        then.run(inputs_of({{3}, {4}}), swapped, 200);
        QCOMPARE(states->place(sequences[1]), before);
        for (const SequenceId s : sequences) states->close(s);
        QCOMPARE(states->used_bytes(), int64_t{0});
      }
    }
  }

  void states_of_another_model_are_refused() {
    const auto model = open_model(fixture("mixtral/top-2-of-8-grouped-heads")),
               other = open_model(fixture("mixtral/top-2-of-4-left-padding"));
    cpu::CpuDevice device(2);
    const auto states = std::make_shared<StateStore>(device);
    const std::vector<SequenceId> sequences{states->open()};
    const ModelInputs in = inputs_of(prompts(*model, {9}));
    Decoder one(device, *model, model->generate(), in, 3, states),
        two(device, *other, other->generate(), in, 3, states, 100);
    one.run(in, sequences);
    const std::string said = complaint([&] { two.run(in, sequences, 100); });
    QVERIFY2(said.starts_with("states of a sequence: are those of another plan: "), said.c_str());
    QVERIFY2(said.ends_with(" (go on with a plan of the same model and format, or begin anew)"), said.c_str());
    QVERIFY(said.find('\n') == std::string::npos);
    QCOMPARE(states->place(sequences[0]), 11);
    QCOMPARE(complaint([&] {
               one.run(in, std::vector<SequenceId>{sequences[0], sequences[0]});
             }),
             std::string("sequences: expected one for each of 1 of the batch, got 2"));
  }

  void a_batch_that_fails_leaves_its_sequences_where_they_were() {
    const auto model = open_model(fixture("mixtral/top-2-of-8-grouped-heads"));
    cpu::CpuDevice device(2);
    const ModelInputs in = inputs_of(prompts(*model, {9, 70}));
    const auto states = std::make_shared<StateStore>(device);
    const std::vector<SequenceId> kept{states->open(), states->open()};
    Decoder decoder(device, *model, model->generate_with_logits(), in, 3, states, 100);
    const std::vector<int32_t> places{11, 72};
    const auto where = [&] { return std::vector<int32_t>{states->place(kept[0]), states->place(kept[1])}; };
    decoder.run(in, kept);
    QCOMPARE(where(), places);
    const int64_t used = states->used_bytes();
    // Without room for what the sequences have: one that fails on the way, when the first has been written.
    const ModelInputs more = inputs_of(prompts(*model, {5, 1}, 9));
    const std::string said = complaint([&] { decoder.run(more, kept, 10); });
    QVERIFY2(said.find("expected rows that fit 18 places, got 1 from place 72") != std::string::npos, said.c_str());
    QCOMPARE(where(), places);
    QCOMPARE(states->used_bytes(), used);  // and without the pages that it had reserved
    // One that is found to be wrong when all has been computed: choices to replay for fewer turns than there were.
    ReplayedDecisions few(decoder.executor().program().routers.size());
    for (const RouterId r : few.ids())
      if (const ProgramRouter& router = decoder.executor().program().routers[r]; router.repeat != kNone)
        few[r] = {{std::vector<int32_t>(4, 0), {0, 1}}};
    const std::string late = complaint([&] { decoder.run(more, kept, 100, &few); });
    QVERIFY2(late.find("expected those of 2 executions, got 1") != std::string::npos, late.c_str());
    QCOMPARE(where(), places);
    QCOMPARE(states->used_bytes(), used);
    // They go on as if nothing had been.
    const std::vector<SequenceId> other{states->open(), states->open()};
    decoder.run(in, other);
    const ExecutionResult expected = decoder.run(more, other, 100);
    const ExecutionResult& came = decoder.run(more, kept, 100);
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
      QCOMPARE(came.outputs[i].integers, expected.outputs[i].integers);
      QVERIFY(same_bits(came.outputs[i].reals, expected.outputs[i].reals));
    }
  }

  void a_batch_takes_pages_for_its_real_cells() {
    const auto model = open_model(fixture("mixtral/top-2-of-8-grouped-heads"));
    cpu::CpuDevice device(2);
    const ModelInputs in = inputs_of(prompts(*model, {8, 200}));
    const auto states = std::make_shared<StateStore>(device);
    const std::vector<SequenceId> sequences{states->open(), states->open()};
    Decoder decoder(device, *model, model->generate(), in, 20, states);
    decoder.run(in, sequences);
    int64_t page = 0;
    for (const SequenceState& s : decoder.executor().states_key().states) page += s.page_bytes();
    QCOMPARE(states->used_bytes(), (1 + 4) * page);                         // 27 and 219 rows
    QCOMPARE(decoder.executor().layout().memory.page_bytes, 2 * 4 * page);  // 220 cells each at most
    // A sequence cannot stand twice in a batch.
    QVERIFY(complaint([&] { decoder.run(in, std::vector<SequenceId>{sequences[0], sequences[0]}); }) != "");
  }
};

STORMCELL_TEST(DecodeTest)

}  // namespace stormcell::testing::decode_test

#include "decode_test.moc"
