#include "core/bench/open_state.h"

#include <algorithm>

#include "core/base/blocking.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/bench/device_names.h"
#include "core/bench/devices.h"
#include "core/bench/option_checks.h"
#include "core/bench/sampling_options.h"
#include "core/formats/chat_form.h"
#include "core/formats/chat_template.h"

namespace stormcell {
namespace {

ChatOptions chat_options(const Model& model, const ExperimentOptions& options) {
  ChatTemplate found;
  if (!model.text_place.empty()) found = chat_template_of(model.text_place);
  if (found.text.empty())
    bad_input("--chat", (found.where.empty() ? options.model : found.where) + " has no chat template",
              "leave out --chat and give the text as the model is to read it, or put chat_template.jinja there");
  check_chat_form(found.text, found.where);
  return {std::move(found.text), std::move(found.where), options.system, options.date};
}

/// The options that make the data fit the model.
DataOptions data_options(const ExperimentState& s, const Progress& progress) {
  const ExperimentOptions& options = s.options;
  DataOptions data;
  data.batch = options.batch;
  data.batches = options.batches;
  data.bucket_by_length = options.bucket_by_length;
  data.length = options.length;
  data.max_length = s.model->max_length;
  data.truncate = options.truncate;
  data.field = options.field;
  data.target_field = options.target_field;
  data.label_field = options.label_field;
  data.prompts = options.prompts;
  data.special_tokens = options.special_tokens;
  if (options.chat) data.chat = chat_options(*s.model, options);
  data.seed = options.seed;
  data.vocabulary = s.model->vocabulary;
  data.classes = s.model->classes;
  data.inputs = s.model->inputs;
  data.pad_id = s.model->tokens.pad;
  data.tokenizer_fault = s.model->tokenizer_fault;
  data.decoder_start_id = s.model->tokens.decoder_start;
  data.cancel = progress.cancel;
  data.resources = resources_folder();
  return data;
}

}  // namespace

std::unique_ptr<ExperimentState> open_state(const ExperimentOptions& options, const Progress& progress) {
  may_block("Experiment::open");
  const double begin = seconds_now();
  auto state = std::make_unique<ExperimentState>();
  ExperimentState& s = *state;
  s.options = options;
  check(options);  // before anything is read
  check_dense(options);
  check_target(options);
  check_sampling(options);
  check_prompts(options);
  check_device(options.device);
  const std::optional<DType> asked = parse_dtype(options.dtype);

  progress.report("opening the model", 0, 0);
  ModelOptions model;
  model.allow_nonfinite = options.allow_nonfinite;
  model.seed = options.seed;
  model.tokenizer = options.tokenizer;
  model.progress = progress;
  s.model = open_model(options.model, model);

  progress.report("opening the data", 0, 0);
  const bool pictures = asks_for(s.model->inputs, InputRole::pixels);
  if (options.batch == 0) s.options.batch = pictures ? 1 : 8;
  s.data = Dataset::open(options.data, s.model->tokenizer, data_options(s, progress));

  s.device = open_device(options.device, {options.threads});
  if (const std::vector<DType> formats = s.device->info().formats;
      asked && std::find(formats.begin(), formats.end(), *asked) == formats.end())
    bad_input("--dtype",
              std::string(to_text(*asked)) + ": " + s.device->info().name + " has no products in this format",
              "choose another");
  if (!s.data->sizes().empty()) s.picture = s.data->sizes().back().size;
  s.dtype = asked.value_or(s.model->dtype);
  const SaidAnnotations given{options.annotations, "--annotate"};
  if (!given.list.empty())
    s.idle_annotations = check_annotated_names(s.phase_graphs(), work_phase(options.phase), given);
  s.graph = s.prepared(s.model->forward_for(s.picture));
  for (std::string& sentence : overruled(*s.graph, given)) s.idle_annotations.push_back(std::move(sentence));
  const DeviceInfo info = s.device->info();
  if (info.rounds_bf16_inputs) s.bf16_rows = info.bf16_rows;
  s.operators = info.operators;
  // A converted model is judged by an oracle that holds the same rounded weights: where products do not round, only
  // f32's rounding is left.
  const NumberFormat& format = format_of(s.dtype);
  const bool exact = !format.own_products || (s.dtype != s.model->dtype && s.arithmetic() == Arithmetic::f32);
  s.tolerance = exact ? kF32Tolerance : format.product_tolerance;
  s.store = std::make_unique<WeightStore>(*s.device, s.model->weights, options.weight_budget);
  s.budget = BudgetMeter(*s.store);
  s.memory = std::make_shared<SharedMemory>(*s.device);
  s.states = std::make_shared<StateStore>(*s.device);
  s.open_seconds = seconds_now() - begin;
  return state;
}

}  // namespace stormcell
