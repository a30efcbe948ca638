#include "core/readings/contents_view.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/blocking.h"
#include "core/base/enum_words.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/models/model.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"
#include "core/summary/items_text.h"

namespace stormcell {
namespace {

/// The first batch tells: what is recorded is recorded for all of a run.
void look_into(const SessionReader& reader, RunContents& run, size_t routers) {
  const auto keep = [&](Kept what, bool there) { row_of(run.kept, what) |= there; };
  const int64_t id = run.line.id;
  keep(Kept::decisions, run.line.decisions);
  if (run.line.batches == 0) return;
  keep(Kept::sums, routers > 0);
  const RecordedInputs inputs = recorded_inputs(reader, id);
  keep(Kept::texts, inputs.texts), keep(Kept::labels, inputs.labels), keep(Kept::tokens, inputs.tokens);
  keep(Kept::pieces, inputs.tokens && reader.has_pieces());
  keep(Kept::pictures, reader.thumbnail_count(id) > 0);
  for (size_t r = 0; r < routers && run.line.decisions; ++r)
    if (const auto d = reader.decision(id, static_cast<int32_t>(r), 0)) {
      keep(Kept::weights, !d->weight.empty());
      keep(Kept::margins, !d->margin.empty());
      keep(Kept::scores, !d->scores.empty());
    }
  keep(Kept::events, !reader.events(id, 0).empty());
  keep(Kept::guards, !reader.guards(id).empty());
}

void look_at_routers(const SessionReader& reader, const RunLayout& layout, RunContents& run) {
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const RouterInfo& info = layout.routers[r];
    RunContents::Router router;
    router.line = line_of(layout, info);
    const RouterLoads loads = reader.total_loads(run.line.id, static_cast<int32_t>(r));
    for (size_t b = 0; b < loads.load.size(); ++b) {
      router.cells += loads.load[b], router.padding += loads.padding[b];
      router.touched += loads.load[b] > 0;
    }
    run.routers.push_back(std::move(router));
  }
  if (!layout.routers.empty())
    for (const LabelLoads& l : reader.label_loads(run.line.id, 0)) run.labels.push_back(l.label);
}

std::vector<PictureFigures> sizes_in(const nlohmann::json& dataset) {
  std::vector<PictureFigures> sizes;
  const auto list = dataset.find("sizes");
  if (list == dataset.end() || !list->is_array()) return sizes;
  for (const nlohmann::json& s : *list)
    if (s.is_object())
      sizes.push_back({whole_at(s, "height"), whole_at(s, "width"), whole_at(s, "items"), whole_at(s, "batches")});
  return sizes;
}

}  // namespace

std::string RunContents::items_text() const {
  if (sizes.empty()) return std::to_string(sequences) + (sequences == 1 ? " sequence" : " sequences");
  int64_t all = 0;
  for (const PictureFigures& s : sizes) all += s.items;
  return (sequences < all ? std::to_string(sequences) + " of " : "") + pictures_text(sizes);
}

std::shared_ptr<const SessionData> read_session_data(const std::string& file, int64_t run, const Progress& progress) {
  may_block("read_session_data");
  const SessionOverview overview = open_session(file);
  const SessionReader reader(file);
  const SessionSummary& s = reader.summary();
  auto data = std::make_shared<SessionData>();
  data->file = file, data->id = s.id, data->created = s.created, data->program = s.program, data->schema = s.schema;
  std::error_code ignored;
  data->bytes = static_cast<int64_t>(std::filesystem::file_size(file, ignored));
  if (ignored) data->bytes = 0;
  const nlohmann::json model = json_or_null(s.model.json);
  data->model = s.model.name, data->family = s.model.family, data->fingerprint = s.model.fingerprint;
  data->weights = text_at(model, "weights");
  // Earlier programs said it with a run's figures alone, and called weights trained if nobody had said how they were
  // made.
  const bool says = value_at(model, "weights_stated").is_boolean();
  data->weights_stated = says ? flag_at(model, "weights_stated") : data->weights != to_text(WeightOrigin::trained);
  data->parameters = whole_at(model, "parameters"), data->weight_bytes = whole_at(model, "weight_bytes");
  for (const RunLine& line : overview.runs) {
    progress.report("reading runs", std::ssize(data->runs), std::ssize(overview.runs));
    RunContents contents;
    contents.line = line;
    const RunSummary summary = reader.run(line.id);
    const RunLayout layout = reader.layout(line.id);
    const nlohmann::json dataset = json_or_null(summary.dataset), machine = json_or_null(summary.machine);
    contents.dataset = text_at(dataset, "name"), contents.dataset_fingerprint = text_at(dataset, "fingerprint");
    contents.machine = text_at(machine, "name"), contents.isa = text_at(machine, "isa");
    contents.threads = static_cast<int>(whole_at(machine, "threads"));
    contents.sizes = sizes_in(dataset);
    // Pictures may be left out between others.
    contents.sequences = contents.sizes.empty() ? reader.sequences(line.id) : reader.recorded_sequences(line.id);
    look_into(reader, contents, layout.routers.size());
    if (!says && line.result) data->weights_stated = line.result->figures.model.weights_stated;
    if (line.id == run) look_at_routers(reader, layout, contents);
    data->runs.push_back(std::move(contents));
  }
  return data;
}

}  // namespace stormcell
