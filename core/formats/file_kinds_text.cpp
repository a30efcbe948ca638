// Kinds of text: other encodings, traces, JSON of this program and of others, tables and logs.
#include <array>

#include "core/formats/file_kind_groups.h"
#include "core/formats/file_marks.h"
#include "core/formats/trace_marks.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;
using Look = const FileLook&;
using Shape = JsonOutline::Shape;

constexpr std::string_view kFrom = "stormcell place S.storm --cluster C --from FILE judges it";

/// True if the JSON is an object, a list of objects or lines with this key.
template <const char* key>
bool has_key(Look look) {
  return look.json.has(key);
}
constexpr char kWeightMap[] = "weight_map", kPeft[] = "peft_type", kNbformat[] = "nbformat",
               kTraceEvents[] = "traceEvents", kPhysical[] = "physical_to_logical_map", kLayerList[] = "layer_list",
               kLogHistory[] = "log_history";

/// Schemas match in any version: the reader says which one it reads.
template <const char* text>
bool is_schema(Look look) {
  return look.json.text("schema").starts_with(text);
}
constexpr char kConfig[] = "stormcell.config/", kCluster[] = "stormcell.cluster/",
               kCalibration[] = "stormcell.calibration/", kJobs[] = "stormcell.jobs/";

/// Traces are recognised by the beginning and the end of a content.
template <bool (*is)(std::string_view)>
bool is_trace(Look look) {
  return look.size > look.head.size() ? is(std::string(look.head) + "\n" + std::string(look.tail)) : is(look.head);
}

// Text in another encoding.
constexpr std::array kCodings = {
    FileKind{"utf-32", "text in UTF-32", "save it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE > NEW", kNoUse, "", is_utf32},
    FileKind{"utf-16", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW", kNoUse, "", is_utf16},
    FileKind{"carriage-returns", "text whose lines end with only carriage returns",
             "write it with line feeds: tr '\\r' '\\n' < FILE > NEW",
             FileUses(FileUse::data) | FileUse::calls | FileUse::labels, "", has_only_carriage_returns},
};

// Routing traces as text, in the order of trace_formats(). They are recognised by a word anywhere in their first bytes.
// The vocabulary of a tokenizer may contain that word, so JSON of models is tried before.
constexpr std::array kTraces = {
    FileKind{"route-trace", "a routing trace of the form route_trace", remedy::kImport, FileUse::trace, "",
             is_trace<is_route_trace_csv>},
    FileKind{"router-trace", "a routing trace of the form RouterTrace", remedy::kImport, FileUse::trace, "",
             is_trace<is_router_trace_json>},
    FileKind{"logical-count", "a dump of SGLang's counts of experts", remedy::kImport, FileUse::trace, "",
             is_trace<is_logical_count_json>},
    FileKind{"routed-experts", "a file of answers with routed_experts", remedy::kImport, FileUse::trace, "",
             is_trace<is_routed_experts_json>},
    FileKind{"vllm-eplb", "a recording of vLLM's expert loads", remedy::kImport, FileUse::trace, "",
             is_trace<is_vllm_eplb_jsonl>},
    FileKind{"trtllm", "the head of TensorRT-LLM's expert statistics", remedy::kImport, FileUse::trace, "",
             is_trace<is_trtllm_statistics>},
    FileKind{"megatron", "a routing trace of Megatron-LM", remedy::kImport, FileUse::trace, "",
             is_trace<is_megatron_jsonl>},
};

// JSON of this program.
constexpr std::array kOwn = {
    FileKind{"config", "a configuration that optimize wrote", "stormcell run MODEL --data DATA --config FILE",
             FileUse::configuration, "", is_schema<kConfig>},
    FileKind{"cluster", "a cluster", "name it with --cluster FILE", FileUse::cluster, "", is_schema<kCluster>},
    FileKind{"calibration", "a calibration", "name it with --calibration FILE",
             FileUses(FileUse::calibration) | FileUse::calls, "", is_schema<kCalibration>},
    FileKind{"jobs", "a list of jobs", "stormcell batch FILE", FileUse::jobs, "", is_schema<kJobs>},
    FileKind{"figures", "a file of figures that this program wrote", "name the session that they are of", kNoUse, "",
             [](Look l) { return l.json.text("schema").starts_with("stormcell."); },
             [](Look l) { return text_detail(l, "schema"); }},
    FileKind{"graph", "a graph that this program wrote as text", "name the model that it is of", kNoUse,
             "stormcell.graph/"},
};

// JSON of models and of tools, recognised by its outermost keys.
constexpr std::array kJson = {
    FileKind{"index", "an index of PyTorch weights", "convert the weights to safetensors, and name the model's folder",
             kNoUse, "", [](Look l) { return l.json.has("weight_map") && holds(l, ".bin\""); }},
    FileKind{"index", "an index of safetensors files", remedy::kFolderOfModel, FileUse::index, "", has_key<kWeightMap>},
    FileKind{"adapter", "the configuration of an adapter of PEFT",
             "merge the adapter into its model, and name that folder", kNoUse, "", has_key<kPeft>},
    FileKind{"ollama-manifest", "a manifest of Ollama, not the model itself",
             "name the largest file of its blobs folder: it is the model in GGUF", kNoUse, "",
             [](Look l) { return l.json.has("schemaVersion") && holds(l, "application/vnd.ollama.image.model"); }},
    FileKind{"quantize-config", "the configuration of a quantisation", remedy::kFolderOfModel, kNoUse, "",
             [](Look l) { return l.json.has("bits") && l.json.has("group_size") && !l.json.has("model_type"); }},
    FileKind{"tokenizer-config", "a tokenizer's configuration", remedy::kFolderOfModel, kNoUse, "",
             [](Look l) { return l.json.has("tokenizer_class") && !l.json.has("model_type"); }},
    FileKind{"preprocessor-config", "a preprocessor's configuration", remedy::kFolderOfModel, kNoUse, "",
             [](Look l) {
               return l.json.has("image_processor_type") || l.json.has("feature_extractor_type") ||
                      l.json.has("processor_class");
             }},
    FileKind{"diffusers", "the index of a Diffusers pipeline", "name the folder of one of its models", kNoUse, "",
             [](Look l) { return l.json.has("_diffusers_version"); }},
    FileKind{"model-config", "a model's config.json",
             "name its folder as MODEL; for a traced model: import TRACE --model-config FILE", FileUse::model_config,
             "",
             [](Look l) {
               return l.json.shape == Shape::object && (l.json.has("model_type") || l.json.has("architectures"));
             },
             [](Look l) { return text_detail(l, "model_type"); }},
    FileKind{"generation-config", "a generation_config.json", remedy::kFolderOfModel, kNoUse, "",
             [](Look l) {
               return l.json.shape == Shape::object && (l.json.has("eos_token_id") || l.json.has("bos_token_id")) &&
                      l.json.has("transformers_version");
             }},
    FileKind{"tokenizer", "a tokenizer.json", remedy::kFolderOfModel, FileUse::tokenizer, "",
             [](Look l) {
               return l.json.has("added_tokens") &&
                      (l.json.has("model") || l.json.has("normalizer") || l.json.has("version"));
             }},
    FileKind{"vocabulary", "a tokenizer's vocabulary", remedy::kFolderOfModel, kNoUse, "",
             [](Look l) { return l.json.shape == Shape::object && has_in_name(l, {"vocab"}); }},
    FileKind{"params", "the params.json of a model in the form of its makers", remedy::kTakeFolder, kNoUse, "",
             [](Look l) { return l.json.has("n_layers") && l.json.has("dim"); }},
    FileKind{"notebook", "a Jupyter notebook", remedy::kNoProgram, kNoUse, "", has_key<kNbformat>},
    FileKind{"profile", "a profile of PyTorch or Chrome", remedy::kTimesAlone, kNoUse, "", has_key<kTraceEvents>},
    FileKind{"training-log", "the log of a training", remedy::kTimesAlone, kNoUse, "", has_key<kLogHistory>},
};

// JSON of servers. A trace may have these keys too, so traces are tried first.
constexpr std::array kServers = {
    FileKind{"placement", "a placement of SGLang", kFrom, FileUse::placement, "", has_key<kPhysical>},
    FileKind{"placement", "a placement of vLLM", kFrom, FileUse::placement, "",
             [](Look l) { return l.json.text("record_type") == "eplb_initial_mapping"; }},
    FileKind{"placement", "a placement of vLLM-Ascend", kFrom, FileUse::placement, "", has_key<kLayerList>},
    FileKind{"placement", "a placement of TensorRT-LLM", kFrom, FileUse::placement, "",
             [](Look l) { return is_text(l) && holds(l, "initial_global_assignments:"); }},
    FileKind{"answers", "a file of answers of a server without routed_experts",
             "ask the server for routed_experts, as the guide's page recordings shows", kNoUse, "",
             // Questions with choices have none of the other keys. The second form is of SGLang's /generate.
             [](Look l) {
               if (l.json.has("meta_info")) return l.json.has("text") || l.json.has("output_ids");
               return l.json.has("choices") && (l.json.has("object") || l.json.has("created") || l.json.has("usage"));
             },
             nullptr, "name the texts that were sent to the server, one a line in a .txt or a .jsonl"},
    FileKind{"server-error", "an error that a server sent", "check the request or the address, and get it again",
             kNoUse, "", is_error_json, error_detail},
};

// Tables and logs.
constexpr std::array kTextTables = {
    FileKind{"nccl-tests", "the output of nccl-tests", "stormcell calibrate FILE -o CAL.json", FileUse::calls, "",
             [](Look l) { return is_text(l) && is_nccl_table(l); }},
    FileKind{"nccl-log", "a log of NCCL", "stormcell calibrate takes the output of nccl-tests, with its table",
             FileUse::data, "", [](Look l) { return is_text(l) && holds(l, " NCCL INFO "); }},
    FileKind{"calls", "a table of measured calls", "stormcell calibrate FILE -o CAL.json", FileUse::calls, "",
             [](Look l) {
               return is_text(l) && has_columns(l, {"op", "gpu"});
             }},
    FileKind{"route-trace-rows", "a table of route_trace without the lines that begin with #",
             "record it again, or copy those lines from the recording", kNoUse, "",
             [](Look l) {
               return is_text(l) && has_columns(l, {"turn", "layer", "slot", "expert"});
             }},
    FileKind{"python-text", "a dictionary as Python prints it, which is not JSON",
             "write it with json.dump() instead of print() or str()", FileUse::data, "", is_python_text},
    FileKind{"modelfile", "a Modelfile of Ollama", "name the GGUF file that it is made from", kNoUse, "FROM ",
             [](Look l) { return is_text(l) && has_in_name(l, {"modelfile"}); }},
    FileKind{"merges", "a tokenizer's merges", remedy::kFolderOfModel, kNoUse, "#version:"},
    FileKind{"svg", "an SVG picture", remedy::kPicture, kNoUse, "",
             [](Look l) { return is_text(l) && l.head.starts_with("<") && holds(l, "<svg"); }},
    FileKind{"openvino", "an OpenVINO model", remedy::kTakeFolder, kNoUse, "",
             [](Look l) { return is_text(l) && l.head.starts_with("<") && holds(l, "<net "); }},
    FileKind{"xml", "an XML file", "export what it holds as JSON or CSV", kNoUse, "<?xml"},
};

// Forms that any content may have: their reader gives the advice.
constexpr std::array kForms = {
    FileKind{"json-lines", "JSON lines", "", FileUse::data, "", [](Look l) { return l.json.shape == Shape::lines; },
             keys_detail},
    FileKind{"json", "JSON", "", kNoUse, "", [](Look l) { return l.json.shape == Shape::object; }, keys_detail},
    FileKind{"json", "a JSON list", "", FileUse::placement, "", [](Look l) { return l.json.shape == Shape::list; },
             keys_detail},
    FileKind{"table", "a table", "", FileUses(FileUse::calls) | FileUse::labels, "", is_table, columns_detail},
    FileKind{"text", "a text file", "", FileUse::data, "", is_text},
};

}  // namespace

std::span<const FileKind> coding_kinds() { return kCodings; }
std::span<const FileKind> text_trace_kinds() { return kTraces; }
std::span<const FileKind> own_kinds() { return kOwn; }
std::span<const FileKind> json_kinds() { return kJson; }
std::span<const FileKind> server_kinds() { return kServers; }
std::span<const FileKind> text_table_kinds() { return kTextTables; }
std::span<const FileKind> text_form_kinds() { return kForms; }

}  // namespace stormcell
