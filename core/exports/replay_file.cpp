#include "core/exports/replay_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/exports/changed_choices.h"
#include "core/exports/text_output.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors_writer.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

constexpr std::array kReplays = {
    ReplayFormat{
        "megatron", "safetensors: layer.0, layer.1, ... i64 [tokens, k], with request and position",
        "Megatron Core 0.15 and later, developer guide, page \"MoE Router Replay\"",
        "give RouterReplay.set_replay_data() the tensors layer.0, layer.1, ... as a list, cut to the tokens of "
        "each micro-batch, with moe_enable_routing_replay and the action REPLAY_FORWARD"},
    ReplayFormat{"transformers", "safetensors: the same",
                 "transformers 5, the experts interface (integrations/moe.py) and pull request 44925, a recipe",
                 "register an experts function that takes layer.N of its tokens in the place of the index it is given, "
                 "and weighs them by the router's own scores"},
    ReplayFormat{
        "npy",
        "numpy.save of i32 [tokens, layers, k]",
        "vLLM 0.21 and later return routed_experts of this shape, and NeMo RL 0.8 replays them (guide \"Router "
        "Replay\")",
        "hand numpy.load() of the file on as routed_experts; the tokens are request after request",
        {},
        {},
        "npy"},
    ReplayFormat{"vllm", "none", "vLLM 0.21 and later, enable_return_routed_experts", "",
                 "vLLM returns the experts of its answers and documents no way to be given them",
                 "use npy for a trainer that replays what vLLM returns, or transformers or megatron"},
};

const ReplayFormat& find_replay_format(const std::string& id) {
  const auto advice = [&](std::string_view word) {
    return advice_on_word(word, kReplays, [](const ReplayFormat& f) { return f.id; });
  };
  if (id.empty()) bad_input("--format", "is missing: it says which program is to replay the choices", advice(""));
  const auto at = std::find_if(kReplays.begin(), kReplays.end(), [&](const ReplayFormat& f) { return f.id == id; });
  if (at == kReplays.end()) bad_input("--format", "\"" + id + "\" is not a format of a replay", advice(id));
  if (!at->why_not.empty()) bad_input("--format", id + ": " + std::string(at->why_not), std::string(at->instead));
  return *at;
}

bool holds_choices(const SessionReader& session, const RunSummary& run) {
  return run.batches > 0 && session.has_decisions(run.id);
}

void write_layers(const ChangedChoices& c, const ReplayFigures& f) {
  const auto tokens = std::ssize(c.tokens);
  std::vector<TensorDeclaration> tensors;
  for (size_t l = 0; l < c.layers.size(); ++l)
    tensors.push_back({"layer." + std::to_string(l), DType::i64, {tokens, int64_t{c.layers[l].k}}});
  const bool known = std::any_of(c.tokens.begin(), c.tokens.end(), [](const ReplayedToken& t) { return t.id >= 0; });
  tensors.push_back({"request", DType::i64, {tokens}});
  tensors.push_back({"position", DType::i32, {tokens}});
  if (known) tensors.push_back({"token", DType::i32, {tokens}});
  SafetensorsMetadata about = {{"format", "stormcell.replay/1"},
                               {"for", f.format},
                               {"documented", f.documented},
                               {"model", f.model},
                               {"session", f.session}};
  for (size_t l = 0; l < c.layers.size(); ++l) about["layer." + std::to_string(l)] = c.layers[l].router;
  SafetensorsWriter out(f.file, tensors, about);
  for (size_t l = 0; l < c.layers.size(); ++l) {
    const std::vector<int64_t> wide(c.layers[l].choices.begin(), c.layers[l].choices.end());
    out.append("layer." + std::to_string(l), wide.data(), wide.size() * sizeof(int64_t));
  }
  for (const ReplayedToken& t : c.tokens) {
    out.append("request", &t.request, sizeof t.request);
    out.append("position", &t.position, sizeof t.position);
    if (known) out.append("token", &t.id, sizeof t.id);
  }
  out.finish();
}

/// numpy's format 1.0: a header padded to 64 bytes, then the array in C order.
void write_array(const ChangedChoices& c, const ReplayFigures& f) {
  const int32_t k = c.layers.front().k;
  for (const ReplayedLayer& layer : c.layers)
    if (layer.k != k)
      bad_input("--format",
                "npy: router " + layer.router + " takes " + std::to_string(layer.k) + " branches, and " +
                    c.layers.front().router + " " + std::to_string(k),
                "one array has one k: use megatron or transformers");
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" + std::to_string(c.tokens.size()) + ", " +
                       std::to_string(c.layers.size()) + ", " + std::to_string(k) + "), }";
  constexpr size_t kBefore = 10, kAligned = 64;  // magic, version, length
  while ((kBefore + header.size() + 1) % kAligned != 0) header += ' ';
  header += '\n';
  TextOutput out(f.file);
  std::string begin(kNpyMagic);
  begin += '\x01';
  begin += '\0';
  begin += static_cast<char>(header.size() & 0xff);
  begin += static_cast<char>(header.size() >> 8);
  out.write(begin + header);
  for (size_t t = 0; t < c.tokens.size(); ++t)
    for (const ReplayedLayer& layer : c.layers)
      out.write({reinterpret_cast<const char*>(layer.choices.data() + t * k), k * sizeof(int32_t)});
  out.finish();
}

struct ChangedRun {
  std::string session, model;
  int64_t run = 0;
  ChangedChoices choices;
};

ChangedRun choices_of(const std::string& named, const Intervention& change, const Progress& progress) {
  const SessionPath path = parse_session_path(named);
  const SessionReader session(path.file);
  const RunSummary run = choose_run(session, path.run, holds_choices,
                                    "holds no decisions: record them with profile, or import single choices");
  return {path.file, session.summary().model.name, run.id, changed_choices(session, run, change, progress)};
}

/// Without a file.
ReplayFigures figures_of(const ChangedRun& changed) {
  const ChangedChoices& c = changed.choices;
  ReplayFigures f;
  f.session = changed.session, f.run = changed.run, f.model = changed.model;
  f.changes = c.changes;
  std::set<int64_t> requests;
  for (const ReplayedToken& t : c.tokens) requests.insert(t.request);
  f.requests = std::ssize(requests), f.tokens = std::ssize(c.tokens);
  f.changed_tokens = c.changed_tokens;
  for (const ReplayedLayer& layer : c.layers)
    f.routers.push_back(
        {layer.router, layer.branches, layer.k, layer.changed, layer.recorded, layer.load_before, layer.load_after});
  return f;
}

}  // namespace

std::span<const ReplayFormat> replay_formats() { return kReplays; }

ReplayFigures count_replay(const std::string& session, const Intervention& change, const Progress& progress) {
  return figures_of(choices_of(session, change, progress));
}

ReplayFigures write_replay(const ReplayOptions& options, const Progress& progress) {
  const ReplayFormat& format = find_replay_format(options.format);
  if (options.output.empty() || options.output == "-")
    bad_input("-o", "is missing: the file is binary, so it does not go to standard output", "-o FILE");
  check_output_path(options.output);
  const ChangedRun changed = choices_of(options.session, options.change, progress);
  ReplayFigures f = figures_of(changed);
  f.file = options.output, f.format = format.id, f.documented = format.documented, f.how = format.how;
  if (options.format == "npy")
    write_array(changed.choices, f);
  else
    write_layers(changed.choices, f);
  return f;
}

std::string to_json(const ReplayFigures& f) {
  nlohmann::ordered_json j = json_of_verb("replay");
  j["session"] = f.session, j["run"] = f.run, j["model"] = f.model;
  j["changes"] = f.changes;
  j["file"] = f.file, j["format"] = f.format, j["documented"] = f.documented, j["how"] = f.how;
  j["requests"] = f.requests, j["tokens"] = f.tokens, j["changed_tokens"] = f.changed_tokens;
  j["routers"] = nlohmann::ordered_json::array();
  for (const ReplayedRouter& r : f.routers)
    j["routers"].push_back({{"router", r.router},
                            {"branches", r.branches},
                            {"k", r.k},
                            {"changed", r.changed},
                            {"of", r.of},
                            {"load_before", r.load_before},
                            {"load_after", r.load_after}});
  return json_text(j);
}

}  // namespace stormcell
