// Routing traces of other systems: one reader a file, all in one list, each handing batches of routing decisions to a
// sink.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/cell_space.h"
#include "core/cell/decision.h"
#include "core/cell/decision_record.h"
#include "core/formats/expert_layers.h"
#include "core/formats/mapped_file.h"
#include "core/formats/text_lines.h"
#include "core/traces/traced_exits.h"

namespace stormcell {

/// One router of a traced model.
struct TraceRouter {
  std::string name;      ///< "layer.3" where the trace has no names
  std::string protocol;  ///< empty: the trace does not say
  int32_t layer = -1;    ///< the model's number of the layer, -1: not known
  int32_t branches = 1;
  int32_t fan_out = 1;  ///< choices of a cell
  int32_t stack = 0;    ///< index into TraceHeader::stacks
  int32_t parent = -1;  ///< the router with the branch that holds this one, -1: none
  int32_t parent_branch = -1;
  int64_t branch_bytes = 0;  ///< weights of one branch, 0: not known
  int64_t dense_bytes = 0;   ///< weights of the layer outside its branches, 0: not known
};

/// Expert and load of each slot of a layer, over the whole trace. -1: an empty slot.
struct SlotLoads {
  std::vector<int32_t> expert;
  std::vector<int64_t> load;
};
/// Loads of a server's slots, if no slot changed its expert. They keep replicas of an expert apart; choices and loads
/// of experts do not.
struct RecordedSlots {
  std::vector<SlotLoads> layers;  ///< [routers]; empty: the trace does not say
  int32_t ranks = 0;              ///< ranks that share the slots, equally many each; 0: not known
};

/// The facts known before the first batch.
struct TraceHeader {
  std::string model;        ///< its name, empty: the trace has none
  std::string family;       ///< "qwen3moe", empty: not known
  std::string fingerprint;  ///< only if the trace comes from a session; other models are recognised by name and shape
  std::vector<std::string> stacks = {"tokens"};  ///< each a cell space of its own
  std::vector<TraceRouter> routers;              ///< those of a stack in the order in which cells meet them
  std::map<std::string, std::string> origin;     ///< the trace's own statements, unchanged
  std::vector<std::string> lacks;                ///< missing facts, of kTraceFacts
  bool counts = false;                           ///< it comes as loads of steps, without the choices of single cells
  int32_t model_layers = 0;                      ///< of the model, those without branches included; 0: not known
  int32_t rank = -1;  ///< rank of these cells or counts, -1: not known, or of all ranks together
  RecordedSlots recorded_slots;
  bool tokens = false;                    ///< batches may hold token ids
  std::map<int32_t, std::string> pieces;  ///< texts of tokens, as in the vocabulary
  std::string recorder;                   ///< the recorder that states its omissions; empty: the trace names none
  std::string cut;                        ///< content that this recorder left out; empty: none
  TracedExits exits;                      ///< of a network with exits
};

/// Facts that a trace has or lacks.
inline constexpr std::string_view kTraceFacts[] = {
    "model",    "branches",  "k",      "decisions", "homes",     "steps",        "order",
    "requests", "positions", "phases", "weights",   "residency", "branch_bytes", "timings"};
/// A fact that a trace has, or has under a condition.
struct TracedFact {
  TracedFact(const char* fact, bool is_there = true) : name(fact), had(is_there) {}
  std::string_view name;
  bool had;
};
/// Returns the other facts: a reader names those that it has, so that none is forgotten.
std::vector<std::string> lacks_without(std::initializer_list<TracedFact> facts);
/// Facts that a native trace's tensors seem to state in any case; its metadata says under `lacks` which of them it
/// lacks.
inline constexpr std::string_view kNativeLacks[] = {"homes", "steps", "order", "requests", "positions", "phases"};
/// The option of a recorder or of the import that adds this fact, or the margins, to a trace of this format (its id);
/// empty: none is known.
std::string_view how_to_record(std::string_view format, std::string_view fact);

/// One stack's cells of a batch.
struct TraceCells {
  int32_t stack = 0;
  CellTable cells;
  std::span<const int32_t> mask;    ///< [cells] 0: padding; empty: all are real
  std::span<const int32_t> tokens;  ///< [cells] ids; empty: not known
};

/// Receives a trace: begin() once, then batches, or loads if the header says so, in the order of the trace. All methods
/// may throw.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void begin(const TraceHeader& header) = 0;
  /// Called before a batch, or before the first loads of a step, if the trace has the server's numbers of steps; they
  /// never decrease.
  virtual void server_step(int64_t) {}
  virtual void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) = 0;
  /// Receives the number of choices of each branch in a step. Steps ascend from 0; each step has every router once,
  /// ascending.
  virtual void loads(int64_t step, int32_t router, std::span<const int64_t> counts) = 0;
  /// Called before a batch if the trace has the classes of its sequences: one each, in order, -1: not known.
  virtual void labels(std::span<const int32_t>) {}
  /// Called before a batch if the rank changes within the trace: rank of the batch's cells, -1: not known.
  virtual void rank(int32_t) {}
};

/// Facts about the model from its config.json or from options, beside the trace.
struct TracedModel {
  std::string source;  ///< the file, empty: nothing is known
  std::string name, family;
  int32_t branches = 0;  ///< 0: not known
  int32_t k = 0;         ///< choices of a cell, 0: not known
  /// experts that every cell goes to; a server may have fused them: ids behind the others (RoutedAlone)
  int32_t shared = 0;
  /// experts that compute nothing (LongCat-Flash): ids behind the others, counted as no branch
  int32_t zero_experts = 0;
  int32_t layers = 0;               ///< of the model, those without branches included
  int32_t further_layers = 0;       ///< layers after these, which predict further tokens; a recorder may have them, too
  std::vector<int32_t> moe_layers;  ///< numbers of the layers with branches; empty: the rule of the family is not known
  std::string said_by;              ///< names of the keys that say which layers have branches
  std::string doubt;                ///< a sentence if the rule of the family is not known
  std::string unlike;           ///< a sentence if the number of experts differs between layers, since only one is used
  int64_t hidden = 0, ffn = 0;  ///< sizes of a branch, 0: not known
  int64_t kv_width = 0;         ///< numbers that attention keeps of a token in a layer: keys and values, 0: not known
  /// Name of the file with the keys that say which layers have branches, for errors.
  std::string of_rule() const;
};
/// Reads a config.json by the rules of the known families (expert_layers.h). Error(bad_input) if it has no branches.
TracedModel read_traced_model(const std::string& config_json);

/// A row is one choice of one cell at one router; for loads, the count of one branch in one step.
struct TraceCounts {
  int64_t rows_read = 0;
  int64_t rows_skipped = 0;  ///< rows of layers without branches, which some systems fill with zeros
  int64_t rows_masked = 0;   ///< rows that name no branch: padding, cells that were not recorded
  int64_t rows_shared = 0;   ///< columns of shared experts that the server fused: they are not routed and not passed on
  EmptyLines empty_lines;    ///< empty lines of a text
  std::vector<std::string> warnings;  ///< missing parts and doubtful figures; each sentence names the file
  std::string nothing;  ///< why the sink received nothing, not even its begin: "rank 3 was idle: ..."; else empty
  int32_t rank_of_nothing = -1;  ///< then the rank of the file
};

/// A text for TraceCounts::nothing.
inline constexpr std::string_view kNothingChosen = "is zero all over: no expert was ever chosen";

struct TraceSource {
  std::shared_ptr<const MappedFile> file;
  TracedModel model;
  const std::string& path() const { return file->path(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(file->bytes().data()), file->size()}; }
};

struct TraceFormat {
  std::string_view id, summary;
  /// The usual end of such files' names, for dialogs only: formats are recognised by content.
  std::string_view suffix;
  /// Checks only the content, and only its beginning if that is enough.
  bool (*recognize)(std::string_view content) = nullptr;
  /// Throws Error(bad_input) with file, line or element, fault and remedy.
  TraceCounts (*read)(const TraceSource& source, TraceSink& sink, const Progress& progress) = nullptr;
  /// Files beside the one of this path that are read with it; null: it is one file.
  std::vector<std::string> (*companions)(const std::string& path) = nullptr;
  /// Without a configuration, the number of branches may be known only by the largest id of the file. Other files of
  /// the model may have larger ones.
  bool branches_by_ids = false;
};

/// The visible list, in the order in which formats are tried.
std::span<const TraceFormat> trace_formats();
/// Finds a format by its id; Error(bad_input) lists the known ones.
const TraceFormat& find_trace_format(std::string_view id);
/// Finds the format by the file's content. Null if it has none of them or is not UTF-8.
const TraceFormat* find_trace_format(const MappedFile& file);
/// The same, but throws Error(bad_input) with the kind of the file, instead of returning null.
const TraceFormat& recognize_trace(const MappedFile& file);

/// For traces that list all layers of the model: [layers] the router of each, -1: a layer without branches. The layers
/// with branches are the model's if it is known, else those that were ever `used`. Error(bad_input) if the number of
/// layers is not the model's, if no layer has branches, if a layer without branches was used, or if one with branches
/// was not.
std::vector<int32_t> routers_of_layers(const TraceSource& source, const std::vector<uint8_t>& used);
/// For traces that have only layers with branches, without numbers: the numbers of `rows` layers, -1: not known.
/// Error(bad_input) if the model has another number of such layers.
std::vector<int32_t> numbers_of_layers_with_branches(const TraceSource& source, int64_t rows);
/// Checks the header of any trace if the model's layers are known. Error(bad_input) if the number of layers is not the
/// model's, or if the model lacks one of the layers or has no branches in it.
void check_layers_of_model(const TraceSource& source, const TraceHeader& header);
/// A sentence that names the model's layers with branches that are not in `recorded` (numbers of layers, -1: not
/// known). Empty: there are none.
std::string missing_layers(const TracedModel& model, const std::vector<int32_t>& recorded);
/// One for each layer that has one, named by the layer's number.
std::vector<TraceRouter> routers_by_layer(const std::vector<int32_t>& router_of, int64_t branches, int64_t fan_out);

// The readers, a file each; core/formats/trace_marks.h recognises their formats.
TraceCounts read_route_trace_csv(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_router_trace_json(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_logical_count_json(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_sglang_dump(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_routed_experts_json(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_vllm_eplb_jsonl(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_trtllm_statistics(const TraceSource& source, TraceSink& sink, const Progress& progress);
/// The files of the ranks in its folder.
std::vector<std::string> trtllm_rank_files(const std::string& meta_info);
TraceCounts read_megatron_jsonl(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_imatrix_gguf(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_native_trace(const TraceSource& source, TraceSink& sink, const Progress& progress);
TraceCounts read_npy_trace(const TraceSource& source, TraceSink& sink, const Progress& progress);

/// The number of cells that make a batch in a trace without batches: windows are fine enough to look at, and batches
/// large enough to be worth a record.
int64_t cells_a_batch(int64_t rows_a_cell);

}  // namespace stormcell
