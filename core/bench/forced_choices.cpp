#include "core/bench/forced_choices.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/bench/batch_inputs.h"
#include "core/cell/protocol_row.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"
#include "core/graph/intervened.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

constexpr int32_t kFileDropped = -1, kFileNotComputed = -2;
constexpr std::string_view kBranch = ".branch", kCell = ".cell", kTurns = ".turns";
constexpr const char* kHowToWrite = "write such a file with run --outputs";

struct ForcedRouter {
  Protocol protocol;
  int32_t branches = 0, fan_out = 0;
  SpaceId dense_space = kNone;
  std::set<int32_t> off;
};

/// A router may decide once, as in a prompt, in each turn, or both.
struct RoutersOfName {
  std::optional<ForcedRouter> once, in_turns;
};
using Routers = std::map<std::string, RoutersOfName, std::less<>>;

void add_routers(const Graph& graph, const Block& block, bool in_turns, const BranchesOff& off, Routers& routers) {
  for (const NodeId id : block.nodes) {
    const Node& node = graph.node(id);
    for (const Block& body : node.bodies)
      add_routers(graph, body, in_turns || has_role(node, Role::repeat), off, routers);
    if (!is_route(node)) continue;
    const Value& decision = graph.value(node.outputs[0]);
    RoutersOfName& of = routers[node.name];
    ForcedRouter& r = (in_turns ? of.in_turns : of.once).emplace();
    r.protocol = protocol_of(node.attributes);
    r.branches = decision.branches, r.fan_out = decision.fan_out;
    r.dense_space = graph.dense_ancestor(decision.type.space);
    if (const auto at = off.find(node.name); at != off.end()) r.off = {at->second.begin(), at->second.end()};
  }
}

/// "b3.NAME.branch" as 3 and NAME; nothing: the tensor is something else.
struct TensorName {
  int64_t batch = 0;
  std::string router;
  bool in_turns = false;
};
std::optional<TensorName> parse_name(std::string_view name) {
  TensorName parsed;
  parsed.in_turns = name.ends_with(kTurns);
  if (!name.starts_with("b") || (!parsed.in_turns && !name.ends_with(kBranch))) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), parsed.batch);
  if (error != std::errc() || parsed.batch < 0 || end == name.data() + name.size() || *end != '.') return std::nullopt;
  const std::string_view rest = name.substr(static_cast<size_t>(end - name.data()) + 1);
  const std::string_view kind = parsed.in_turns ? kTurns : kBranch;
  if (rest.size() <= kind.size()) return std::nullopt;
  parsed.router = rest.substr(0, rest.size() - kind.size());
  return parsed;
}

std::vector<int32_t> read_integers(const TensorFile& file, const TensorPlace& tensor) {
  if (tensor.dtype != DType::i32)
    bad_input(file.path(), tensor.name + ": expected i32, got " + std::string(to_text(tensor.dtype)), kHowToWrite);
  std::vector<int32_t> values(tensor.elements());
  file.read(tensor, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

[[noreturn]] void wrong(const TensorFile& file, const TensorPlace& tensor, const std::string& what,
                        const std::string& advice = kHowToWrite) {
  bad_input(file.path(), tensor.name + ": " + what, advice);
}

constexpr const char* kSameData = "force choices of the same data, batches and k";

/// Checks the choices of one cell and writes them to `to`, which holds kNotRecorded; it stays so if they are not forced.
void take_cell(const TensorFile& file, const TensorPlace& tensor, const ForcedRouter& router,
               std::span<const int32_t> chosen, int32_t* to) {
  std::set<int32_t> taken;
  for (const int32_t b : chosen) {
    if (b < kFileNotComputed || b >= router.branches)
      wrong(file, tensor, "expected a branch below " + std::to_string(router.branches) + ", got " + std::to_string(b));
    if (b >= 0 && !taken.insert(b).second)
      wrong(file, tensor, "a cell takes branch " + std::to_string(b) + " twice", "name each branch of a cell once");
    if (router.off.contains(b))
      wrong(file, tensor, "a cell takes branch " + std::to_string(b) + ", which --off says is off",
            "leave one of the two out");
  }
  const bool drops = protocol_row(router.protocol.kind).places != Places::unlimited;
  for (const int32_t b : chosen)
    if (b == kFileNotComputed || (b == kFileDropped && drops)) return;
  for (const int32_t b : chosen) *to++ = b == kFileDropped ? kNoBranch : b;
}

/// The rows of one tensor, each checked and put where its cell is among those of the dense space.
std::vector<int32_t> by_dense_cell(const TensorFile& file, const TensorPlace& tensor, const ForcedRouter& router,
                                   int64_t dense_cells) {
  const TensorPlace* named = file.find(tensor.name.substr(0, tensor.name.size() - kBranch.size()) + std::string(kCell));
  const int64_t rows = named ? named->elements() : dense_cells;
  if (tensor.shape != std::vector<int64_t>{rows, router.fan_out})
    wrong(file, tensor,
          "expected shape " + shape_text(std::vector<int64_t>{rows, router.fan_out}) + ", got " +
              shape_text(tensor.shape),
          kSameData);
  const std::vector<int32_t> from = read_integers(file, tensor);
  const std::vector<int32_t> cells = named ? read_integers(file, *named) : std::vector<int32_t>();
  std::vector<int32_t> choices(dense_cells * router.fan_out, kNotRecorded);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t cell = named ? cells[row] : row;
    if (named && cell == -1) continue;
    if (cell < 0 || cell >= dense_cells)
      wrong(file, tensor, "expected a cell below " + std::to_string(dense_cells) + ", got " + std::to_string(cell));
    take_cell(file, tensor, router, std::span<const int32_t>(from.data() + row * router.fan_out, router.fan_out),
              choices.data() + cell * router.fan_out);
  }
  return choices;
}

/// The choices of each turn.
std::vector<std::vector<int32_t>> by_turn(const TensorFile& file, const TensorPlace& tensor, const ForcedRouter& router,
                                          int64_t sequences, int64_t new_tokens) {
  const int64_t turns = tensor.shape.size() == 3 ? tensor.shape[1] : 0;
  if (turns < 1 || turns > new_tokens ||
      tensor.shape != std::vector<int64_t>{sequences, turns, int64_t{router.fan_out}})
    wrong(file, tensor,
          "expected shape [" + std::to_string(sequences) + ", at most " + counted(new_tokens, "turn") + ", " +
              std::to_string(router.fan_out) + "], got " + shape_text(tensor.shape),
          kSameData);
  const std::vector<int32_t> from = read_integers(file, tensor);
  std::vector<std::vector<int32_t>> all;
  for (int64_t t = 0; t < turns; ++t) {
    std::vector<int32_t>& choices = all.emplace_back(sequences * router.fan_out, kNotRecorded);
    for (int64_t s = 0; s < sequences; ++s)
      take_cell(file, tensor, router,
                std::span<const int32_t>(from.data() + (s * turns + t) * router.fan_out, router.fan_out),
                choices.data() + s * router.fan_out);
  }
  return all;
}

}  // namespace

ForcedChoices::ForcedChoices(const Intervention& intervention, const Graph& graph, const Dataset& data,
                             int64_t new_tokens)
    : file_(intervention.force), decodes_(new_tokens > 0) {
  const TensorFile file(file_);
  Routers routers;
  add_routers(graph, graph.top, false, branches_off(intervention), routers);
  for (const auto& [name, of] : routers)
    if (of.once) of_prompt_.insert(name);
  for (const TensorPlace& tensor : file.tensors()) {
    const std::optional<TensorName> name = parse_name(tensor.name);
    if (!name) continue;
    const auto found = routers.find(name->router);
    if (found == routers.end())
      bad_input(file_, tensor.name + ": the model has no router \"" + name->router + "\"",
                routers.empty() ? "none of its parts is chosen at run time"
                                : advice_on_word(name->router, routers, [](const auto& r) { return r.first; }));
    const std::optional<ForcedRouter>& router = name->in_turns ? found->second.in_turns : found->second.once;
    if (!router)
      bad_input(file_,
                tensor.name + (name->in_turns ? ": the router decides once, and in no turn"
                                              : ": the router decides in each turn"),
                name->in_turns ? "name its choices b0.ROUTER.branch" : "name its choices b0.ROUTER.turns");
    if (name->batch >= data.batch_count())
      bad_input(file_,
                tensor.name + ": there is no batch " + std::to_string(name->batch) + ", the data have " +
                    counted(data.batch_count(), "batch"),
                "force choices of the same data and batches");
    const Bindings bindings = bindings_of(graph, data.outline(name->batch), new_tokens);
    const int64_t cells = graph.space(router->dense_space).count.evaluate(bindings);
    std::vector<std::vector<int32_t>>& executions = batches_[name->batch][name->router];
    const size_t first_turn = found->second.once ? 1 : 0;
    if (!name->in_turns) {
      executions.resize(std::max(executions.size(), size_t{1}));
      executions[0] = by_dense_cell(file, tensor, *router, cells);
      continue;
    }
    std::vector<std::vector<int32_t>> turns = by_turn(file, tensor, *router, cells, new_tokens);
    executions.resize(first_turn);
    executions.insert(executions.end(), std::make_move_iterator(turns.begin()), std::make_move_iterator(turns.end()));
  }
  if (batches_.empty()) bad_input(file_, "holds no choices of routers, tensors such as b0.ROUTER.branch", kHowToWrite);
}

const ForcedChoices::OfBatch& ForcedChoices::choices(int64_t batch) const {
  static const OfBatch none;
  const auto at = batches_.find(batch);
  return at == batches_.end() ? none : at->second;
}

bool ForcedChoices::forces(int64_t batch, std::string_view router, int64_t execution) const {
  const OfBatch& of = choices(batch);
  const auto at = of.find(router);
  if (at == of.end()) return false;
  return !decodes_ || (execution < std::ssize(at->second) && !at->second[execution].empty());
}

ReplayedDecisions ForcedChoices::of(const Batch& batch, const Program& program, const Bindings& bindings) const {
  ReplayedDecisions replayed(program.routers.size());
  const OfBatch& forced = choices(batch.index);
  for (const RouterId r : replayed.ids()) {
    const ProgramRouter& router = program.routers[r];
    const auto at = forced.find(router.name);
    if (at == forced.end()) continue;
    // The prompt's router and its namesake of turns are two of the program.
    const bool in_turns = router.repeat != kNone;
    const int64_t first = in_turns && of_prompt_.contains(router.name) ? 1 : 0;
    const int64_t last = in_turns ? std::ssize(at->second) : std::min<int64_t>(1, std::ssize(at->second));
    size_t slots = 0;
    for (int64_t e = first; e < last; ++e) slots = std::max(slots, at->second[e].size());
    if (slots == 0) continue;
    if (!router.by_row)
      bad_input(file_, "router " + at->first + " decides about cells that no row of the batch names",
                "leave its choices out");
    const int64_t executions = program.dims[router.executions].evaluate(bindings);
    for (int64_t e = 0; e < executions; ++e) {
      ReplayedDecision& of = replayed[r].emplace_back();
      if (first + e < last) of.choice = at->second[first + e];
      if (of.choice.empty()) of.choice.assign(slots, kNotRecorded);
    }
  }
  return replayed;
}

std::vector<std::string> ForcedChoices::routers() const {
  std::set<std::string> names;
  for (const auto& [batch, forced] : batches_)
    for (const auto& [router, choices] : forced) names.insert(router);
  return {names.begin(), names.end()};
}

}  // namespace stormcell
