#include "tests/gpu/fake_card.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "gpu/device/card_kernels.h"
#include "tests/gpu/host_thread.h"

namespace stormcell::testing {
namespace {

FakeCard* the_card = nullptr;

// As in the emulated device: a NaN as float, far out of range as index.
constexpr int kUnwritten = 0xff;
constexpr uint64_t kFakeAlignment = 256;
constexpr int32_t kMostTurnsOfALoop = 1000;

/// Runs a kernel on the host; empty, or what went wrong.
std::string play(int32_t kernel, int64_t blocks, const std::vector<std::byte>& args, ThreadOrder order) {
  std::string wrong = "no kernel of that number";
  card::with_kernel(kernel, [&]<class Kernel>() {
    typename Kernel::Args of_kernel;
    std::memcpy(&of_kernel, args.data(), std::min(args.size(), sizeof of_kernel));
    wrong = run_on_host<Kernel>(static_cast<int>(blocks), of_kernel, order);
  });
  return wrong;
}

size_t args_bytes(int32_t kernel) {
  size_t bytes = 0;
  card::with_kernel(kernel, [&]<class Kernel>() { bytes = sizeof(typename Kernel::Args); });
  return bytes;
}

std::vector<std::byte> copied_args(int32_t kernel, const void* args) {
  const auto* from = static_cast<const std::byte*>(args);
  return {from, from + args_bytes(kernel)};
}

}  // namespace

struct FakeCard::Stream {
  std::deque<std::function<void()>> work;
};

struct FakeCard::State {
  std::map<uint64_t, std::pair<std::unique_ptr<std::byte[]>, int64_t>> memory;
  std::map<void*, std::unique_ptr<std::byte[]>> pinned;
  std::set<Stream*> streams;
  /// The stream that must have run so many pieces of work until the event is reached.
  struct Event {
    Stream* stream = nullptr;
    std::shared_ptr<bool> reached = std::make_shared<bool>(true);
  };
  std::set<Event*> events;
  std::set<FakeGraph*> graphs, programs;
  std::mt19937_64 random{1};  // the order of nodes
};

struct FakeCalls {
  using State = FakeCard::State;
  using Stream = FakeCard::Stream;
  using Graph = FakeGraph;

  static FakeCard& fake() { return *the_card; }
  static State& state() { return *the_card->state_; }
  /// The error of this call; 0: none.
  static int begin(const char* call) {
    FakeCard& f = fake();
    if (const auto at = f.fails.find(call); at != f.fails.end()) return at->second;
    if (++f.calls_made != f.fails_at) return 0;
    f.failed_call = call;
    return f.error;
  }
  template <class Set, class Handle>
  static int destroy(Set& set, Handle handle) {
    using Pointer = typename Set::value_type;
    auto* of = reinterpret_cast<Pointer>(handle);
    if (set.erase(of) == 0)
      ++fake().wrong_frees;
    else
      delete of;
    return 0;
  }
  static void run(Stream& stream) {
    while (!stream.work.empty()) {
      const std::function<void()> next = std::move(stream.work.front());
      stream.work.pop_front();
      next();
    }
  }
  static void run_until(Stream& stream, const bool& reached) {
    while (!reached && !stream.work.empty()) {
      const std::function<void()> next = std::move(stream.work.front());
      stream.work.pop_front();
      next();
    }
  }
  static void put(card::CardStream stream, std::function<void()> work) {
    reinterpret_cast<Stream*>(stream)->work.push_back(std::move(work));
  }
  static void play_on_fake(int32_t kernel, int64_t blocks, const std::vector<std::byte>& args) {
    const std::string wrong = play(kernel, blocks, args, ThreadOrder::ascending);
    if (fake().wrong.empty()) fake().wrong = wrong;
  }
  static void play_loop(const FakeNode& loop) {
    for (int32_t turn = 0; *loop.condition != 0; ++turn) {
      if (turn == kMostTurnsOfALoop) {
        fake().wrong = "a loop has no end";
        return;
      }
      ++fake().turns;
      play_graph(*loop.body);
    }
  }
  /// In an order that the edges allow: the ready node of the lowest drawn number first. Each time the conditions of
  /// loops begin with 0.
  static void play_graph(const Graph& graph) {
    for (const std::shared_ptr<int32_t>& condition : graph.conditions) *condition = 0;
    play_nodes(graph.nodes);
  }
  static void play_nodes(const std::vector<FakeNode>& nodes) {
    std::vector<int32_t> precedence(nodes.size()), waits(nodes.size());
    std::iota(precedence.begin(), precedence.end(), 0);
    std::shuffle(precedence.begin(), precedence.end(), state().random);
    std::vector<std::vector<int32_t>> behind(nodes.size());
    std::set<std::pair<int32_t, int32_t>> ready;
    for (int32_t n = 0; n < std::ssize(nodes); ++n) {
      waits[n] = static_cast<int32_t>(nodes[n].after.size());
      for (const int32_t before : nodes[n].after) behind[before].push_back(n);
      if (waits[n] == 0) ready.emplace(precedence[n], n);
    }
    while (!ready.empty()) {
      const int32_t n = ready.begin()->second;
      ready.erase(ready.begin());
      if (nodes[n].body)
        play_loop(nodes[n]);
      else
        play_on_fake(nodes[n].kernel, nodes[n].blocks, nodes[n].args);
      for (const int32_t next : behind[n])
        if (--waits[next] == 0) ready.emplace(precedence[next], next);
    }
  }

  static const char* error_name(int) { return "cudaErrorOfTheTests"; }
  static const char* error_text(int error) { return error == card::kOutOfMemory ? "out of memory" : "as asked for"; }
  static int driver_version(int32_t* version, int32_t* needed) {
    *version = fake().driver, *needed = fake().needed;
    return begin("driver_version");
  }
  static int count_cards(int32_t* count) {
    *count = fake().cards;
    return begin("count_cards");
  }
  static int describe(int, card::CardFacts* facts) {
    *facts = fake().facts;
    return begin("describe");
  }
  static int prepare(int) { return begin("prepare"); }
  static int count_memory(int, int64_t* free, int64_t* all) {
    *all = fake().memory, *free = fake().memory - fake().held_bytes();
    return begin("count_memory");
  }
  static int allocate(int, uint64_t* address, int64_t bytes) {
    if (const int error = begin("allocate")) return error;
    if (fake().held_bytes() + bytes > fake().memory) return card::kOutOfMemory;
    ++fake().allocations;
    const size_t room = static_cast<size_t>(bytes) + kFakeAlignment;
    auto memory = std::make_unique<std::byte[]>(room);
    std::memset(memory.get(), kUnwritten, room);
    const auto first = reinterpret_cast<uint64_t>(memory.get());
    *address = (first + kFakeAlignment - 1) / kFakeAlignment * kFakeAlignment;
    state().memory[*address] = {std::move(memory), bytes};
    return 0;
  }
  static int release(int, uint64_t address) {
    if (state().memory.erase(address) == 0) ++fake().wrong_frees;
    return 0;
  }
  static int allocate_pinned(int, void** memory, int64_t bytes) {
    if (const int error = begin("allocate_pinned")) return error;
    const size_t room = static_cast<size_t>(bytes) + kFakeAlignment;
    auto held = std::make_unique<std::byte[]>(room);
    const auto first = reinterpret_cast<uint64_t>(held.get());
    *memory = reinterpret_cast<void*>((first + kFakeAlignment - 1) / kFakeAlignment * kFakeAlignment);
    state().pinned[*memory] = std::move(held);
    return 0;
  }
  static int release_pinned(int, void* memory) {
    if (state().pinned.erase(memory) == 0) ++fake().wrong_frees;
    return 0;
  }
  static int create_stream(int, card::CardStream* stream) {
    if (const int error = begin("create_stream")) return error;
    auto* made = new Stream;
    state().streams.insert(made);
    *stream = reinterpret_cast<card::CardStream>(made);
    return 0;
  }
  static int destroy_stream(int, card::CardStream stream) {
    // Work that is left may use memory that its owner frees next.
    if (!reinterpret_cast<Stream*>(stream)->work.empty()) fake().wrong = "a stream went before its work was done";
    return destroy(state().streams, stream);
  }
  static int synchronize(int, card::CardStream stream) {
    if (const int error = begin("synchronize")) {
      run(*reinterpret_cast<Stream*>(stream));
      return error;
    }
    run(*reinterpret_cast<Stream*>(stream));
    return 0;
  }
  static int copy_to_card(int, uint64_t to, const void* from, int64_t bytes, card::CardStream stream) {
    if (const int error = begin("copy_to_card")) return error;
    put(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), from, static_cast<size_t>(bytes)); });
    return 0;
  }
  static int copy_to_host(int, void* to, uint64_t from, int64_t bytes, card::CardStream stream) {
    if (const int error = begin("copy_to_host")) return error;
    put(stream, [=] { std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<size_t>(bytes)); });
    return 0;
  }
  static int create_event(int, card::CardEvent* event) {
    if (const int error = begin("create_event")) return error;
    auto* made = new State::Event;
    state().events.insert(made);
    *event = reinterpret_cast<card::CardEvent>(made);
    return 0;
  }
  static int destroy_event(int, card::CardEvent event) { return destroy(state().events, event); }
  static int record(int, card::CardEvent event, card::CardStream stream) {
    if (const int error = begin("record")) return error;
    auto& of = *reinterpret_cast<State::Event*>(event);
    of.stream = reinterpret_cast<Stream*>(stream);
    of.reached = std::make_shared<bool>(false);
    put(stream, [reached = of.reached] { *reached = true; });
    return 0;
  }
  static int wait(int, card::CardEvent event, card::CardStream stream) {
    if (const int error = begin("wait")) return error;
    const auto& of = *reinterpret_cast<State::Event*>(event);
    put(stream, [other = of.stream, reached = of.reached] {
      if (!*reached) run_until(*other, *reached);
    });
    return 0;
  }
  static int synchronize_event(int, card::CardEvent event) {
    if (const int error = begin("synchronize_event")) return error;
    const auto& of = *reinterpret_cast<State::Event*>(event);
    if (!*of.reached) run_until(*of.stream, *of.reached);
    return 0;
  }
  static int launch(int, int32_t kernel, int64_t blocks, const void* args, card::CardStream stream) {
    if (const int error = begin("launch")) return error;
    put(stream, [=, of_kernel = copied_args(kernel, args)] { play_on_fake(kernel, blocks, of_kernel); });
    return 0;
  }
  static int create_graph(int, card::CardGraph* graph) {
    if (const int error = begin("create_graph")) return error;
    auto* made = new Graph;
    state().graphs.insert(made);
    *graph = reinterpret_cast<card::CardGraph>(made);
    return 0;
  }
  static int destroy_graph(int, card::CardGraph graph) {
    const auto* of = reinterpret_cast<const Graph*>(graph);
    for (const Graph* program : state().programs)
      if (program->made_of == of && !of->conditions.empty()) fake().wrong = "a graph went before a loop made of it";
    return destroy(state().graphs, graph);
  }
  static std::vector<int32_t> places_of(const card::CardNode* nodes, int64_t count) {
    std::vector<int32_t> places;
    for (int64_t i = 0; i < count; ++i)
      places.push_back(static_cast<int32_t>(reinterpret_cast<uintptr_t>(nodes[i])) - 1);
    return places;
  }
  static int add_node(int, card::CardGraph graph, int32_t kernel, int64_t blocks, const void* args,
                      const card::CardNode* after, int64_t count, card::CardNode* node) {
    if (const int error = begin("add_node")) return error;
    auto& nodes = reinterpret_cast<Graph*>(graph)->nodes;
    nodes.push_back({kernel, blocks, copied_args(kernel, args), places_of(after, count), {}, {}});
    *node = reinterpret_cast<card::CardNode>(nodes.size());
    return 0;
  }
  static int create_condition(int, card::CardGraph graph, uint64_t* condition) {
    if (const int error = begin("create_condition")) return error;
    auto& conditions = reinterpret_cast<Graph*>(graph)->conditions;
    conditions.push_back(std::make_shared<int32_t>(0));
    *condition = reinterpret_cast<uint64_t>(conditions.back().get());
    return 0;
  }
  static int add_loop(int, card::CardGraph graph, uint64_t condition, const card::CardNode* after, int64_t count,
                      card::CardNode* node, card::CardGraph* body) {
    if (const int error = begin("add_loop")) return error;
    auto& of = *reinterpret_cast<Graph*>(graph);
    FakeNode made;
    made.after = places_of(after, count);
    made.body = std::make_shared<Graph>();
    for (const std::shared_ptr<int32_t>& known : of.conditions)
      if (reinterpret_cast<uint64_t>(known.get()) == condition) made.condition = known;
    if (!made.condition) fake().wrong = "a loop has the condition of another graph";
    *body = reinterpret_cast<card::CardGraph>(made.body.get());
    of.nodes.push_back(std::move(made));
    *node = reinterpret_cast<card::CardNode>(of.nodes.size());
    return 0;
  }
  static int instantiate(int, card::CardGraph graph, card::CardProgram* program) {
    if (const int error = begin("instantiate")) return error;
    auto* made = new Graph(*reinterpret_cast<Graph*>(graph));
    made->made_of = reinterpret_cast<const Graph*>(graph);
    state().programs.insert(made);
    fake().nodes = made->nodes;
    *program = reinterpret_cast<card::CardProgram>(made);
    return 0;
  }
  static int destroy_program(int, card::CardProgram program) { return destroy(state().programs, program); }
  static int launch_program(int, card::CardProgram program, card::CardStream stream) {
    if (const int error = begin("launch_program")) return error;
    ++fake().launches;
    put(stream, [graph = *reinterpret_cast<Graph*>(program)] { play_graph(graph); });
    return 0;
  }

  static constexpr card::CardCalls kTable = {.architectures = "sm_90a",
                                             .error_name = error_name,
                                             .error_text = error_text,
                                             .driver_version = driver_version,
                                             .count_cards = count_cards,
                                             .describe = describe,
                                             .prepare = prepare,
                                             .count_memory = count_memory,
                                             .allocate = allocate,
                                             .release = release,
                                             .allocate_pinned = allocate_pinned,
                                             .release_pinned = release_pinned,
                                             .create_stream = create_stream,
                                             .destroy_stream = destroy_stream,
                                             .synchronize = synchronize,
                                             .copy_to_card = copy_to_card,
                                             .copy_to_host = copy_to_host,
                                             .create_event = create_event,
                                             .destroy_event = destroy_event,
                                             .record = record,
                                             .wait = wait,
                                             .synchronize_event = synchronize_event,
                                             .launch = launch,
                                             .create_graph = create_graph,
                                             .destroy_graph = destroy_graph,
                                             .add_node = add_node,
                                             .create_condition = create_condition,
                                             .add_loop = add_loop,
                                             .instantiate = instantiate,
                                             .destroy_program = destroy_program,
                                             .launch_program = launch_program};
};

FakeCard::FakeCard() : state_(std::make_unique<State>()) { the_card = this; }
FakeCard::~FakeCard() { the_card = nullptr; }
const card::CardCalls& FakeCard::calls() const { return FakeCalls::kTable; }

std::map<std::string, int64_t> FakeCard::held() const {
  std::map<std::string, int64_t> all{
      {"memory", std::ssize(state_->memory)},  {"pinned", std::ssize(state_->pinned)},
      {"stream", std::ssize(state_->streams)}, {"event", std::ssize(state_->events)},
      {"graph", std::ssize(state_->graphs)},   {"program", std::ssize(state_->programs)}};
  std::erase_if(all, [](const auto& kind) { return kind.second == 0; });
  return all;
}

int64_t FakeCard::held_bytes() const {
  int64_t bytes = 0;
  for (const auto& [address, block] : state_->memory) bytes += block.second;
  return bytes;
}

}  // namespace stormcell::testing
