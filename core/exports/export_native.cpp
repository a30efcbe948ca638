#include "core/exports/export_native.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/cell/decision.h"
#include "core/exports/export_origin.h"
#include "core/exports/text_output.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/safetensors_writer.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/session/advice.h"
#include "core/session/session_reader.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int32_t kDropped = -1, kNotMet = -2, kNoToken = -1;

bool has_decisions(const SessionReader& session, const RunSummary& run) {
  return run.batches > 0 && session.has_decisions(run.id);
}

/// Spaces that hold cells of routers, in the order of the layout: each is a stack of the trace.
std::vector<int32_t> stacks_of(const RunLayout& layout) {
  std::vector<int32_t> spaces;
  for (const RouterInfo& r : layout.routers)
    if (std::find(spaces.begin(), spaces.end(), r.space) == spaces.end()) spaces.push_back(r.space);
  std::sort(spaces.begin(), spaces.end());
  return spaces;
}

class TraceWriter {
 public:
  TraceWriter(const SessionReader& session, const RunSummary& run)
      : session_(session),
        run_(run),
        layout_(session.layout(run.id)),
        stacks_(stacks_of(layout_)),
        parts_(layout_.routers.size()) {}

  void write(const std::string& path, const Progress& progress) {
    look_over(progress);
    SafetensorsWriter out(path, declarations(), metadata());
    for (int64_t b = 0; b < run_.batches; ++b) {
      progress.report("trace", b, run_.batches);
      const std::vector<BatchSpace> spaces = session_.spaces(run_.id, b);
      write_cells(batches_[b], spaces, out);
      for (size_t r = 0; r < layout_.routers.size(); ++r) write_layer(r, b, spaces, out);
    }
    write_pieces(out);
    out.finish();
  }

 private:
  const BatchSpace* find(const std::vector<BatchSpace>& spaces, int32_t id) const {
    const auto at = std::find_if(spaces.begin(), spaces.end(), [&](const BatchSpace& s) { return s.space == id; });
    return at == spaces.end() ? nullptr : &*at;
  }

  // Counts cells, and finds the parts of the layers and whether there is padding: a file states these before its data.
  void look_over(const Progress& progress) {
    batches_ = session_.batches(run_.id);
    for (const BatchSummary& b : batches_) steps_ = steps_ || b.server_step >= 0, ranks_ = ranks_ || b.rank >= 0;
    for (int64_t b = 0; b < run_.batches; ++b) {
      progress.report("reading", b, run_.batches);
      const std::vector<BatchSpace> spaces = session_.spaces(run_.id, b);
      for (const int32_t stack : stacks_)
        if (const BatchSpace* s = find(spaces, stack)) {
          cells_ += s->cells.cells();
          padding_ = padding_ || !s->mask.empty();
          grid_ = grid_ || s->cells.columns > 0;
          forward_ = forward_ || s->cells.phase == Phase::forward;
          tokens_ = tokens_ || !s->tokens.empty();
          for (const int32_t token : s->tokens)
            if (token >= 0) ids_.insert(token);
        }
    }
    pieces_ = session_.pieces(std::vector<int32_t>(ids_.begin(), ids_.end()));
    for (const auto& [id, text] : pieces_) piece_bytes_ += std::ssize(text);
    for (size_t r = 0; r < parts_.size(); ++r) {
      const int32_t router = r;
      const RouterLoads total = session_.total_loads(run_.id, router);
      parts_[r].dropped = std::any_of(total.dropped.begin(), total.dropped.end(), [](int64_t n) { return n > 0; });
      parts_[r].weights = std::any_of(total.weight.begin(), total.weight.end(), [](double w) { return w != 0; });
      // Decisions of a run have the same parts, with two exceptions. Bytes read are stored if they do not follow from
      // the residency. Margins may be missing in one of several merged recordings.
      bool margins = true;
      for (int64_t b = 0; b < run_.batches; ++b) {
        progress.report("reading", b, run_.batches);
        const auto d = session_.decision(run_.id, router, b);
        if (!d || d->cells == 0) continue;
        margins = margins && !d->margin.empty() &&
                  std::none_of(d->margin.begin(), d->margin.end(), [](float m) { return std::isnan(m); });
        parts_[r].margins = margins;
        parts_[r].weights = parts_[r].weights || !d->weight.empty();
        parts_[r].residency = parts_[r].residency || !d->residency.empty();
        parts_[r].bytes = parts_[r].bytes || !d->bytes_read.empty();
        if (!d->scores.empty()) parts_[r].score_columns = d->score_columns;
        if (!margins && (!parts_[r].residency || parts_[r].bytes)) break;
      }
    }
  }

  std::vector<TensorDeclaration> declarations() const {
    std::vector<TensorDeclaration> list;
    for (size_t r = 0; r < layout_.routers.size(); ++r) {
      const std::string layer = "layer." + std::to_string(r);
      const std::vector<int64_t> shape = {cells_, layout_.routers[r].fan_out};
      list.push_back({layer + ".indices", DType::i32, shape});
      if (parts_[r].weights) list.push_back({layer + ".weights", DType::f32, shape});
      if (parts_[r].dropped) list.push_back({layer + ".dropped", DType::i32, shape});
      if (parts_[r].residency) list.push_back({layer + ".residency", DType::u8, shape});
      if (parts_[r].bytes) list.push_back({layer + ".bytes_read", DType::i64, shape});
      if (parts_[r].margins) list.push_back({layer + ".margins", DType::f32, {cells_}});
      if (const int64_t columns = parts_[r].score_columns)
        list.push_back({layer + ".scores", DType::f32, {cells_, columns}});
    }
    for (const char* name : {"cell.request", "cell.position", "cell.phase", "cell.stack", "cell.batch"})
      list.push_back({name, DType::i32, {cells_}});
    if (padding_) list.push_back({"cell.real", DType::i32, {cells_}});
    if (grid_) list.push_back({"cell.columns", DType::i32, {cells_}});
    if (steps_) list.push_back({"cell.step", DType::i64, {cells_}});
    if (ranks_) list.push_back({"cell.rank", DType::i32, {cells_}});
    if (tokens_) list.push_back({"cell.token", DType::i32, {cells_}});
    if (!pieces_.empty()) {
      list.push_back({"token.id", DType::i32, {std::ssize(pieces_)}});
      list.push_back({"token.end", DType::i64, {std::ssize(pieces_)}});
      list.push_back({"token.text", DType::u8, {piece_bytes_}});
    }
    return list;
  }

  SafetensorsMetadata metadata() const {
    const ExportOrigin origin = origin_of(session_, run_);
    SafetensorsMetadata about = {{"schema", "stormcell.trace/1"}, {"version", origin.version},
                                 {"device", origin.device},       {"date", origin.date},
                                 {"session", origin.session},     {"run", std::to_string(origin.run)},
                                 {"model", origin.model},         {"fingerprint", origin.fingerprint}};
    int32_t branches = 0, k = 0;
    for (size_t r = 0; r < layout_.routers.size(); ++r) {
      const RouterInfo& router = layout_.routers[r];
      const std::string layer = "layer." + std::to_string(r);
      branches = std::max(branches, router.branches);
      k = std::max(k, router.fan_out);
      about[layer + ".router"] = router.name;
      about[layer + ".branches"] = std::to_string(router.branches);
      about[layer + ".stack"] = stack_name(router.space);
      about[layer + ".protocol"] = router.protocol;
      const auto known = [&](const char* key, int64_t value, bool is_known) {
        if (is_known) about[layer + key] = std::to_string(value);
      };
      known(".parent", router.parent, router.parent >= 0);
      known(".parent_branch", router.parent_branch, router.parent_branch >= 0);
      known(".layer", router.layer, router.layer >= 0);
      known(".branch_bytes", router.branch_bytes, router.branch_bytes > 0);
      known(".dense_bytes", router.dense_bytes, router.dense_bytes > 0);
    }
    about["layers"] = std::to_string(layout_.routers.size());
    about["branches"] = std::to_string(branches);
    about["k"] = std::to_string(k);
    about["family"] = session_.summary().model.family;
    // A recording is as complete as its recorder said.
    const nlohmann::json from = value_at(json_or_null(run_.dataset), "origin");
    if (const std::string recorder = text_at(from, "recorder"); !recorder.empty())
      about["recorder"] = recorder, about["cut"] = text_at(from, "cut");
    std::string lacks;
    for (const std::string& fact : lacks_of_import(run_))
      if (std::find(std::begin(kNativeLacks), std::end(kNativeLacks), fact) != std::end(kNativeLacks))
        lacks += (lacks.empty() ? "" : " ") + fact;
    if (!lacks.empty()) about["lacks"] = lacks;
    if (forward_) about["phase.0"] = "forward";
    for (size_t s = 0; s < stacks_.size(); ++s) about["stack." + std::to_string(s)] = stack_name(stacks_[s]);
    return about;
  }
  std::string stack_name(int32_t space) const {
    return space >= 0 && static_cast<size_t>(space) < layout_.spaces.size() ? layout_.spaces[space]
                                                                            : std::string("cells");
  }

  void write_cells(const BatchSummary& batch, const std::vector<BatchSpace>& spaces, SafetensorsWriter& out) {
    for (std::vector<int32_t>* column :
         {&request_, &position_, &phase_, &stack_, &batch_, &real_, &columns_, &cell_token_})
      column->clear();
    for (size_t s = 0; s < stacks_.size(); ++s) {
      const BatchSpace* space = find(spaces, stacks_[s]);
      if (!space) continue;
      for (int64_t row = 0; row < space->cells.cells(); ++row) {
        const CellId id = space->cells.id(row);
        request_.push_back(static_cast<int32_t>(id.sequence));
        position_.push_back(id.position);
        phase_.push_back(id.phase == Phase::decode);
        stack_.push_back(static_cast<int32_t>(s));
        batch_.push_back(static_cast<int32_t>(batch.number));
        columns_.push_back(space->cells.columns);
        real_.push_back(space->mask.empty() || space->mask[row] != 0);
        cell_token_.push_back(row < std::ssize(space->tokens) ? space->tokens[row] : kNoToken);
      }
    }
    const auto append = [&](const char* name, const std::vector<int32_t>& values) {
      out.append(name, values.data(), values.size() * sizeof(int32_t));
    };
    append("cell.request", request_);
    append("cell.position", position_);
    append("cell.phase", phase_);
    append("cell.stack", stack_);
    append("cell.batch", batch_);
    if (padding_) append("cell.real", real_);
    if (grid_) append("cell.columns", columns_);
    const std::vector<int64_t> step(request_.size(), batch.server_step);
    if (steps_) out.append("cell.step", step.data(), step.size() * sizeof(int64_t));
    if (ranks_) append("cell.rank", std::vector<int32_t>(request_.size(), batch.rank));
    if (tokens_) append("cell.token", cell_token_);
  }

  void write_pieces(SafetensorsWriter& out) const {
    int64_t end = 0;
    for (const auto& [id, text] : pieces_) {
      end += std::ssize(text);
      out.append("token.id", &id, sizeof id);
      out.append("token.end", &end, sizeof end);
      out.append("token.text", text.data(), text.size());
    }
  }

  void write_layer(size_t r, int64_t batch, const std::vector<BatchSpace>& spaces, SafetensorsWriter& out) {
    const RouterInfo& router = layout_.routers[r];
    const size_t k = router.fan_out;
    indices_.assign(request_.size() * k, kNotMet);
    const Parts& parts = parts_[r];
    weights_.assign(parts.weights ? indices_.size() : 0, 0.0f);
    dropped_.assign(parts.dropped ? indices_.size() : 0, kDropped);
    residency_.assign(parts.residency ? indices_.size() : 0, 0);
    bytes_.assign(parts.bytes ? indices_.size() : 0, 0);
    const size_t columns = parts.score_columns;
    scores_.assign(request_.size() * columns, 0.0f);
    margins_.assign(parts.margins ? request_.size() : 0, std::numeric_limits<float>::quiet_NaN());
    size_t first = 0;  // row of the router's space among the batch's cells
    for (const int32_t stack : stacks_) {
      if (stack == router.space) break;
      if (const BatchSpace* s = find(spaces, stack)) first += static_cast<size_t>(s->cells.cells());
    }
    if (const auto d = session_.decision(run_.id, static_cast<int32_t>(r), batch)) {
      for (size_t c = 0; c < static_cast<size_t>(d->cells); ++c) {
        const size_t row = first + (d->ancestor.empty() ? c : static_cast<size_t>(d->ancestor[c]));
        if ((row + 1) * k > indices_.size())
          bad_input(session_.path(),
                    "the file is damaged: a decision of batch " + std::to_string(batch) + " does not fit its cells",
                    kCopyAgain);
        if (parts.margins) margins_[row] = d->margin[c];
        if ((c + 1) * columns <= d->scores.size())
          std::copy_n(d->scores.begin() + c * columns, columns, scores_.begin() + row * columns);
        for (size_t i = 0; i < k; ++i) {
          const int32_t choice = d->choice[c * k + i];
          const size_t from = c * k + i, to = row * k + i;
          indices_[to] = is_kept(choice) ? choice : kDropped;
          if (parts.weights && from < d->weight.size()) weights_[to] = d->weight[from];
          if (parts.dropped && is_dropped(choice)) dropped_[to] = branch_of(choice);
          if (parts.residency && from < d->residency.size()) residency_[to] = d->residency[from];
          if (parts.bytes) bytes_[to] = from < d->bytes_read.size() ? d->bytes_read[from] : bytes_of(*d, from, router);
        }
      }
    }
    const std::string layer = "layer." + std::to_string(r);
    out.append(layer + ".indices", indices_.data(), indices_.size() * sizeof(int32_t));
    const auto append = [&](const char* part, const auto& values) {
      if (!values.empty()) out.append(layer + part, values.data(), values.size() * sizeof(values[0]));
    };
    append(".weights", weights_);
    append(".dropped", dropped_);
    append(".residency", residency_);
    append(".bytes_read", bytes_);
    append(".margins", margins_);
    append(".scores", scores_);
  }

  /// Decisions without bytes read follow the rule: a miss reads the branch.
  static int64_t bytes_of(const StoredDecision& d, size_t slot, const RouterInfo& router) {
    return slot < d.residency.size() && d.residency[slot] == static_cast<uint8_t>(Residency::miss) ? router.branch_bytes
                                                                                                   : 0;
  }

  const SessionReader& session_;
  const RunSummary run_;
  const RunLayout layout_;
  const std::vector<int32_t> stacks_;
  struct Parts {
    bool weights = false, dropped = false, residency = false, bytes = false, margins = false;
    int64_t score_columns = 0;  ///< of a cell; not always one a branch
  };
  std::vector<Parts> parts_;
  bool padding_ = false, grid_ = false, forward_ = false, steps_ = false, ranks_ = false, tokens_ = false;
  std::vector<BatchSummary> batches_;
  int64_t cells_ = 0, piece_bytes_ = 0;
  std::set<int32_t> ids_;                  // of tokens that cells have
  std::map<int32_t, std::string> pieces_;  // their texts, as far as they are known
  std::vector<int32_t> request_, position_, phase_, stack_, batch_, real_, columns_, cell_token_, indices_, dropped_;
  std::vector<float> weights_, scores_, margins_;
  std::vector<uint8_t> residency_;
  std::vector<int64_t> bytes_;
};

}  // namespace

void write_native_trace(const ExportOptions& options, const Progress& progress) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run = choose_run(session, path.run, has_decisions, "holds no decisions: record them with profile");
  check_output_path(options.output);
  TraceWriter(session, run).write(options.output, progress);
}

}  // namespace stormcell
