// The CUDA device over a card that the tests play: a plan becomes a graph of the same nodes and edges, which gives the
// oracle's answers; whatever call fails, the error names it and nothing stays behind.
#include "gpu/device/cuda_device.h"

#include <atomic>
#include <cstring>

#include "core/base/error.h"
#include "core/runtime/kernel_build_context.h"
#include "gpu/device/card_executable.h"
#include "gpu/device/card_kernels.h"
#include "tests/gpu/fake_card.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/complaint.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kRuns = 6;  // more than there are call blocks

/// A router, experts in two products, a residual.
RandomCase small_mixture(uint64_t seed) {
  MixtureBuilder b(seed);
  ValueId x = b.tokens(2, 9, 8);
  Mixture shape;
  shape.branches = 3, shape.width = 12, shape.mode = "weighted";
  Protocol rule;
  rule.kind = ProtocolKind::switch_top1;
  rule.capacity = 6;
  x = b.mixture(x, b.scored(x, rule, shape.branches, "moe"), shape, "moe");
  b.output("y", x);
  return b.take("small mixture");
}

Bindings larger_than(Bindings bounds) {
  for (int64_t& bound : bounds) bound += 1;
  return bounds;
}

}  // namespace

class CudaDeviceTest : public QObject {
  Q_OBJECT
 private slots:
  void a_program_gives_the_oracle_s_answers_with_two_synchronisations() {
    for (const uint64_t seed : {1, 2, 3}) {
      FakeCard fake;
      card::CudaDevice device(fake.calls(), 0, 1);
      const RandomCase c = small_mixture(seed);
      HostRun run(device, c);
      for (int i = 0; i < kRuns; ++i) {
        const std::string wrong = difference(c, run.program(), run.run());
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
        QCOMPARE(run.synchronizations(), kSynchronizationsOfARun);
      }
      QCOMPARE(fake.launches, int64_t{kRuns});
    }
  }

  /// As they are, and as the standard passes make them for this device; f32 and bf16.
  void random_mixtures_give_the_oracle_s_answers() {
    constexpr uint64_t kCases = kSanitized ? 4 : 24;
    for (uint64_t seed = 1; seed <= kCases; ++seed)
      for (const bool optimised : {false, true}) {
        FakeCard fake;
        card::CudaDevice device(fake.calls(), 0, 1);
        RandomCase c = random_mixtures(seed);
        if (optimised) c.graph = optimised_for(device, c.graph);
        HostRun run(device, c);
        const std::string wrong = difference(c, run.program(), run.run());
        QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
        QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
      }
  }

  void the_graph_has_the_plan_s_nodes_and_edges() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const RandomCase c = small_mixture(4);
    WeightStore store(device, c.weights);
    const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
    const auto executable = device.compile(program, store, {larger_than(c.bindings)});
    const gpu::Plan plan =
        gpu::make_plan(*program, store, {larger_than(c.bindings)}, {.multiprocessors = fake.facts.multiprocessors});
    QCOMPARE(fake.nodes.size(), plan.nodes.size());
    QVERIFY(plan.edges() > 0);
    uint64_t call = 0;
    std::memcpy(&call, fake.nodes[0].args.data(), sizeof call);
    QVERIFY(call != 0);
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      const gpu::PlanNode& node = plan.nodes[n];
      QCOMPARE(fake.nodes[n].kernel, node.kernel);
      QCOMPARE(fake.nodes[n].blocks, node.blocks);
      // Bytes between the members of two plans' structs may differ. The answers of runs hold the members.
      QCOMPARE(fake.nodes[n].args.size(), node.args.size());
      QCOMPARE(std::memcmp(fake.nodes[n].args.data(), &call, sizeof call), 0);
      QVERIFY(fake.nodes[n].after == node.after);
    }
  }

  /// Call by call, until none fails any more.
  void whatever_call_fails_is_named_and_leaves_nothing_behind() {
    const RandomCase c = small_mixture(5);
    const auto run_once = [&](FakeCard& fake) {
      card::CudaDevice device(fake.calls(), 0, 1);
      HostRun run(device, c);
      const std::string wrong = difference(c, run.program(), run.run());
      if (!wrong.empty()) failed("test", wrong);
    };
    FakeCard whole;
    run_once(whole);
    const int64_t calls = whole.calls_made;
    QVERIFY(calls > 50);
    QVERIFY(whole.held().empty());
    int64_t named = 0;
    for (int64_t at = 1; at <= calls; ++at) {
      FakeCard fake;
      fake.fails_at = at;
      ErrorKind kind = ErrorKind::bad_input;
      const std::string told = complaint([&] { run_once(fake); }, &kind);
      const std::string where = fake.failed_call + ", call " + std::to_string(at) + ": " + told;
      QVERIFY2(fake.held().empty() && fake.wrong_frees == 0 && fake.wrong.empty(), where.c_str());
      // A stream waits for its work before it goes, whatever became of that.
      if (told.empty() && fake.failed_call == "synchronize") continue;
      ++named;
      QVERIFY2(told.starts_with("cuda") && told.find(": cuda") != std::string::npos, where.c_str());
      QVERIFY2(told.ends_with("as asked for (cudaErrorOfTheTests)"), where.c_str());
      QVERIFY2(kind == ErrorKind::failed, where.c_str());
    }
    QVERIFY(named > calls * 3 / 4);
  }

  void an_error_names_the_node_the_sizes_and_the_card() {
    const RandomCase c = small_mixture(6);
    const auto told = [&](const char* call) {
      FakeCard fake;
      fake.fails[call] = 999;
      card::CudaDevice device(fake.calls(), 0, 1);
      return complaint([&] { HostRun(device, c).run(); });
    };
    QVERIFY(told("add_node").starts_with("cuda (a card of the tests): cudaGraphAddKernelNode for settle, 1 blocks: "));
    QVERIFY(told("launch_program").find("cudaGraphLaunch of a graph of ") != std::string::npos);
    QVERIFY(told("allocate_pinned").find("cudaHostAlloc of ") != std::string::npos);
  }

  void an_error_of_a_kernel_names_the_graph_that_was_launched() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const RandomCase c = small_mixture(7);
    HostRun run(device, c);
    run.run();
    fake.fails["synchronize"] = 700;
    const std::string told = complaint([&] { run.run(); });
    QVERIFY2(told.find("cudaStreamSynchronize after a graph of ") != std::string::npos, told.c_str());
  }

  void memory_that_is_short_names_what_needs_it_and_what_is_free() {
    FakeCard fake;
    fake.memory = 8192;
    card::CudaDevice device(fake.calls(), 0, 1);
    const auto small = device.allocate(1000, "small");
    QCOMPARE(device.free_bytes(), std::optional<int64_t>(8192 - 1024));
    const std::string told = complaint([&] { device.allocate(10000, "activations"); });
    QVERIFY2(told.find("no memory for activations: 10240 bytes are needed, 7168 of 8192 are free") != std::string::npos,
             told.c_str());
  }

  void memory_that_was_given_back_is_given_again_or_makes_room() {
    FakeCard fake;
    fake.memory = 1 << 20;
    card::CudaDevice device(fake.calls(), 0, 1);
    const DeviceAddress first = device.allocate(600'000, "a")->address();
    QCOMPARE(device.free_bytes(), std::optional<int64_t>(1 << 20));
    QCOMPARE(device.allocate(599'000, "b")->address().value, first.value);
    QCOMPARE(fake.allocations, int64_t{1});
    // Far smaller or larger: the kept block does not serve, and goes where it stands in the way.
    const auto small = device.allocate(1000, "c");
    const auto large = device.allocate(800'000, "d");
    QCOMPARE(fake.allocations, int64_t{3});
    QCOMPARE(fake.held().at("memory"), int64_t{2});
  }

  void copies_that_must_not_hold_the_thread_take_pinned_memory_alone() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const auto stream = device.create_stream();
    const auto buffer = device.allocate(64, "buffer");
    const auto pinned = device.allocate_pinned(64, "pinned");
    std::vector<std::byte> ordinary(64);
    stream->copy_pinned_to_device(buffer->address(), pinned->data(), 64);
    QVERIFY(!complaint([&] { stream->copy_pinned_to_device(buffer->address(), ordinary.data(), 64); }).empty());
    QVERIFY(!complaint([&] { stream->copy_to_pinned(pinned->data() + 1, buffer->address(), 64); }).empty());
    stream->copy_to_pinned(pinned->data(), buffer->address(), 64);
    stream->synchronize();
  }

  void a_stream_waits_for_what_another_one_recorded() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const auto first = device.create_stream(), second = device.create_stream();
    const auto event = device.create_event();
    const auto buffer = device.allocate(4, "buffer");
    QVERIFY(!complaint([&] { second->wait(*event); }).empty());
    const int32_t sent = 17;
    int32_t came = 0;
    first->copy_to_device(buffer->address(), &sent, sizeof sent);
    first->record(*event);
    second->wait(*event);
    second->copy_to_host(&came, buffer->address(), sizeof came);
    second->synchronize();
    QCOMPARE(came, sent);
    QCOMPARE(device.synchronizations(), int64_t{1});
  }

  /// More submissions than call blocks before anybody waits: each has its own.
  void a_submission_never_gets_the_call_block_of_another_one() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    MixtureBuilder b(1);
    const SpaceId space =
        b.dense_space("tokens", b.root_space("sequences", b.bound_symbol("N", 1)), b.bound_symbol("T", 1));
    const ValueId x = b.floats("x", space, {4});
    b.output("y", b.value("scale", {x}, {{"factor", 2.0}}, "twice"));
    const RandomCase c = b.take("twice");
    WeightStore store(device, c.weights);
    const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
    const auto executable = device.compile(program, store, {c.bindings});
    const auto stream = device.create_stream();
    constexpr int kSubmissions = 2 * card::kCallBlocks + 1;
    std::vector<std::unique_ptr<DeviceBuffer>> inputs;
    std::vector<std::array<float, 4>> sent(kSubmissions), came(kSubmissions);
    const OperandId result = program->outputs.front();
    for (int i = 0; i < kSubmissions; ++i) {
      inputs.push_back(device.allocate(16, "x"));
      sent[i].fill(static_cast<float>(i));
      stream->copy_to_device(inputs.back()->address(), sent[i].data(), 16);
      Submission submission;
      submission.bindings = c.bindings;
      submission.inputs = {inputs.back()->address()};
      executable->submit(*stream, submission);
      stream->copy_to_host(came[i].data(), executable->address(result), 16);
    }
    stream->synchronize();
    for (int i = 0; i < kSubmissions; ++i) QCOMPARE(came[i][3], 2.0f * static_cast<float>(i));
  }

  void weights_larger_than_a_piece_arrive_whole_and_rounded() {
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    MemoryWeights weights;
    constexpr int64_t kRows = 1500, kColumns = 1501;  // 9 MB: three pieces
    std::vector<float> numbers(kRows * kColumns);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    weights.add("w", DType::f32, {kRows, kColumns}, numbers);
    for (int turn = 0; turn < 2; ++turn) {  // the second one takes the lane of the first
      const auto buffer = device.load_weight({"w", kPlainLayout, DType::f32}, weights);
      QCOMPARE(std::memcmp(reinterpret_cast<const void*>(buffer->address().value), numbers.data(),
                           numbers.size() * sizeof(float)),
               0);
    }
    const auto rounded = device.load_weight({"w", kPlainLayout, DType::bf16}, weights);
    uint16_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const std::byte*>(rounded->address().value) + 2 * 3, sizeof bits);
    QCOMPARE(bits, uint16_t{0x4040});  // 3
    QCOMPARE(device.synchronizations(), int64_t{0});
  }

  void a_probe_measures_and_ends_where_it_is_cancelled() {
    FakeCard fake;
    fake.facts.multiprocessors = 1;
    card::CudaDevice device(fake.calls(), 0, 3);
    const DeviceProbe probe = device.probe({1 << 16, 0}, {});
    QVERIFY(probe.f32_gflops > 0 && probe.bf16_gflops == probe.f32_gflops && probe.read_gbs > 0);
    QCOMPARE(probe.kernels, std::string("sm_90a"));
    CancellationToken cancel;
    cancel.cancel();
    fake.calls_made = 0;
    fake.fails["launch"] = 999;
    device.probe({1 << 16, 0}, cancel);  // launches nothing
    QVERIFY(fake.wrong.empty());
  }

  void it_says_what_it_is() {
    FakeCard fake;
    const card::CudaDevice device(fake.calls(), 0, 3);
    const DeviceInfo info = device.info();
    QCOMPARE(info.name, std::string("a card of the tests"));
    QCOMPARE(info.backend, std::string("cuda"));
    QCOMPARE(info.threads, 1);
    QCOMPARE(info.host_threads, 3);
    QVERIFY(!info.operators.empty() && !info.keeps_bits && !device.copies_at_once());
  }
};

STORMCELL_TEST(CudaDeviceTest)

}  // namespace stormcell::testing
#include "cuda_device_test.moc"
