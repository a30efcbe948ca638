#include "core/bench/forced_choices.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
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
constexpr std::string_view kBranch = ".branch", kCell = ".cell";
constexpr const char* kHowToWrite = "write such a file with run --outputs";

struct ForcedRouter {
  Protocol protocol;
  int32_t branches = 0, fan_out = 0;
  SpaceId dense_space = kNone;
  std::set<int32_t> off;
};

std::map<std::string, ForcedRouter> routers_of(const Graph& graph, const Intervention& intervention) {
  std::map<std::string, ForcedRouter> routers;
  const BranchesOff off = branches_off(intervention);
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node)) return;
    const Value& decision = graph.value(node.outputs[0]);
    ForcedRouter& r = routers[node.name];
    r = {protocol_of(node.attributes),
         decision.branches,
         decision.fan_out,
         graph.dense_ancestor(decision.type.space),
         {}};
    if (const auto at = off.find(node.name); at != off.end()) r.off = {at->second.begin(), at->second.end()};
  });
  return routers;
}

/// "b3.NAME.branch" as 3 and NAME; nothing: the tensor is something else.
struct TensorName {
  int64_t batch = 0;
  std::string router;
};
std::optional<TensorName> parse_name(std::string_view name) {
  if (!name.starts_with("b") || !name.ends_with(kBranch)) return std::nullopt;
  TensorName parsed;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), parsed.batch);
  if (error != std::errc() || parsed.batch < 0 || end == name.data() + name.size() || *end != '.') return std::nullopt;
  const std::string_view rest = name.substr(static_cast<size_t>(end - name.data()) + 1);
  if (rest.size() <= kBranch.size()) return std::nullopt;
  parsed.router = rest.substr(0, rest.size() - kBranch.size());
  return parsed;
}

std::vector<int32_t> read_integers(const TensorFile& file, const TensorPlace& tensor) {
  if (tensor.dtype != DType::i32)
    bad_input(file.path(), tensor.name + ": expected i32, got " + std::string(to_text(tensor.dtype)), kHowToWrite);
  std::vector<int32_t> values(tensor.elements());
  file.read(tensor, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The rows of one tensor, each checked and put where its cell is among those of the dense space.
std::vector<int32_t> by_dense_cell(const TensorFile& file, const TensorPlace& tensor, const ForcedRouter& router,
                                   int64_t dense_cells) {
  const auto wrong = [&](const std::string& what, const std::string& advice = kHowToWrite) {
    bad_input(file.path(), tensor.name + ": " + what, advice);
  };
  const TensorPlace* named = file.find(tensor.name.substr(0, tensor.name.size() - kBranch.size()) + std::string(kCell));
  const int64_t rows = named ? named->elements() : dense_cells;
  if (tensor.shape != std::vector<int64_t>{rows, router.fan_out})
    wrong("expected shape " + shape_text(std::vector<int64_t>{rows, router.fan_out}) + ", got " +
              shape_text(tensor.shape),
          "force choices of the same data, batches and k");
  const std::vector<int32_t> from = read_integers(file, tensor);
  const std::vector<int32_t> cells = named ? read_integers(file, *named) : std::vector<int32_t>();
  std::vector<int32_t> choices(dense_cells * router.fan_out, kNotRecorded);
  const bool drops = protocol_row(router.protocol.kind).places != Places::unlimited;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t cell = named ? cells[row] : row;
    if (named && cell == -1) continue;
    if (cell < 0 || cell >= dense_cells)
      wrong("expected a cell below " + std::to_string(dense_cells) + ", got " + std::to_string(cell));
    const std::span<const int32_t> chosen(from.data() + row * router.fan_out, router.fan_out);
    std::set<int32_t> taken;
    for (const int32_t b : chosen) {
      if (b < kFileNotComputed || b >= router.branches)
        wrong("expected a branch below " + std::to_string(router.branches) + ", got " + std::to_string(b));
      if (b >= 0 && !taken.insert(b).second)
        wrong("a cell takes branch " + std::to_string(b) + " twice", "name each branch of a cell once");
      if (router.off.contains(b))
        wrong("a cell takes branch " + std::to_string(b) + ", which --off says is off", "leave one of the two out");
    }
    const bool free = std::any_of(chosen.begin(), chosen.end(),
                                  [&](int32_t b) { return b == kFileNotComputed || (b == kFileDropped && drops); });
    if (free) continue;
    for (int64_t i = 0; i < router.fan_out; ++i)
      choices[cell * router.fan_out + i] = chosen[i] == kFileDropped ? kNoBranch : chosen[i];
  }
  return choices;
}

}  // namespace

ForcedChoices::ForcedChoices(const Intervention& intervention, const Graph& graph, const Dataset& data)
    : file_(intervention.force) {
  const TensorFile file(file_);
  const std::map<std::string, ForcedRouter> routers = routers_of(graph, intervention);
  for (const TensorPlace& tensor : file.tensors()) {
    const std::optional<TensorName> name = parse_name(tensor.name);
    if (!name) continue;
    const auto router = routers.find(name->router);
    if (router == routers.end())
      bad_input(file_, tensor.name + ": the model has no router \"" + name->router + "\"",
                routers.empty() ? "none of its parts is chosen at run time"
                                : advice_on_word(name->router, routers, [](const auto& r) { return r.first; }));
    if (name->batch >= data.batch_count())
      bad_input(file_,
                tensor.name + ": there is no batch " + std::to_string(name->batch) + ", the data have " +
                    counted(data.batch_count(), "batch"),
                "force choices of the same data and batches");
    const Bindings bindings = bindings_of(graph, data.outline(name->batch), 0);
    const int64_t cells = graph.space(router->second.dense_space).count.evaluate(bindings);
    batches_[name->batch][name->router] = by_dense_cell(file, tensor, router->second, cells);
  }
  if (batches_.empty()) bad_input(file_, "holds no choices of routers, tensors such as b0.ROUTER.branch", kHowToWrite);
}

const ForcedChoices::OfBatch& ForcedChoices::choices(int64_t batch) const {
  static const OfBatch none;
  const auto at = batches_.find(batch);
  return at == batches_.end() ? none : at->second;
}

ReplayedDecisions ForcedChoices::of(const Batch& batch, const Program& program) const {
  ReplayedDecisions replayed(program.routers.size());
  const OfBatch& forced = choices(batch.index);
  for (const RouterId r : replayed.ids()) {
    const auto at = forced.find(program.routers[r].name);
    if (at == forced.end()) continue;
    if (!program.routers[r].by_row)
      bad_input(file_, "router " + at->first + " decides about cells that no row of the batch names",
                "leave its choices out");
    replayed[r].push_back({at->second, {}});
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
