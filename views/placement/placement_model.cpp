#include "views/placement/placement_model.h"

#include <algorithm>
#include <numeric>

#include "core/summary/step_contents.h"
#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

std::vector<double> over_mean(const std::vector<double>& loads) {
  const double mean =
      std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(std::max<size_t>(loads.size(), 1));
  std::vector<double> out;
  for (const double load : loads) out.push_back(mean > 0 ? load / mean : 0);
  return out;
}

bool stood_there(const LayerSlots& before, size_t rank, size_t each, int32_t branch) {
  const auto begin = before.begin() + rank * each, end = begin + static_cast<std::ptrdiff_t>(each);
  return std::find(begin, end, branch) != end;
}

void add_slots(const EditedPlacement& edited, DataPart part, PlacementPage& page) {
  const LayerSlots& now = edited.placement().layers[page.layer];
  const std::vector<double>& loads = edited.slot_loads(part, page.layer);
  std::vector<int32_t> replicas(edited.about().branches);
  for (const int32_t b : now)
    if (b >= 0) ++replicas[b];
  const size_t each = page.slots_of_rank;
  for (size_t s = 0; s < now.size(); ++s) {
    ShownSlot& shown = page.held.emplace_back();
    shown.branch = now[s];
    if (now[s] < 0) continue;
    shown.replicas = replicas[now[s]];
    shown.load = loads[s];
    shown.moved = !stood_there(edited.start().layers[page.layer], s / each, each, now[s]);
    page.most = std::max(page.most, shown.load);
  }
}

std::vector<ShownFigure> shown_figures(const EditedPlacement& edited, size_t layer, DataPart part) {
  const std::optional<EditFigures> before = edited.start_figures(part), now = edited.figures(part);
  if (!before || !now) return {};
  std::vector<ShownFigure> out = {
      {tr("Imbalance"), tr("Mean over layers of max / mean - 1 over GPUs; counted"), before->imbalance, now->imbalance},
      {tr("Imbalance, this layer"), tr("Max / mean - 1 over GPUs of the layer on show; counted"),
       imbalance_of_ranks(edited.start_rank_loads(part, layer)), edited.layer_imbalance(part, layer)}};
  if (now->cross_pairs) {
    out.push_back({tr("Cross pairs"),
                   tr("Share of the pairs of a token's experts at consecutive layers that are on two GPUs; counted"),
                   before->cross_pairs, now->cross_pairs});
    out.push_back({tr("GPUs a token"), tr("Distinct GPUs that a token goes to at a layer, as a mean; counted"),
                   before->ranks_per_token, now->ranks_per_token});
  }
  if (now->step_ms) {
    const QString origin = tr("%1, predicted from rates of data sheets, without start-up times, queues and overlap")
                               .arg(to_qstring(step_contents()));
    out.push_back({tr("Step, ms"),
                   tr("Mean over steps of dispatch, slowest GPU and combine of all layers; %1").arg(origin),
                   before->step_ms, now->step_ms});
    out.push_back({tr("Step, this layer, ms"), tr("Mean over steps of the layer on show; %1").arg(origin),
                   edited.start_layer_ms(part, layer), edited.layer_ms(part, layer)});
    out.push_back({tr("Step, 95 %, ms"), tr("95 % of the steps stay below this time; %1").arg(origin), before->p95_ms,
                   now->p95_ms});
  }
  return out;
}

QString state_of(const EditedPlacement& edited) {
  const int64_t moved = edited.moved_slots();
  const auto empty = static_cast<qint64>(edited.empty_slots());
  QString text = moved == 0 ? tr("As at the start")
                            : tr("%1 hold another expert than at the start").arg(counted_text(moved, "slot"));
  if (empty > 0) text += tr("; %1 empty: no server takes that").arg(counted_text(empty, "slot"));
  return text;
}

QString beside_text(const LoadChance& chance) { return chance.beyond ? tr("beyond chance") : tr("within chance"); }
/// On the loads of the layer on show; empty: they were not judged.
QString chance_text(const PlacementPage& page) {
  if (page.layer >= page.chances.size() || !page.chances[page.layer]) return {};
  const LoadChance& chance = *page.chances[page.layer];
  return tr("; the loads of this layer's experts are %1: 95 % of even routers have an imbalance of %2 to %3, drawn for "
            "the whole run")
      .arg(beside_text(chance), number_text(chance.imbalance_low), number_text(chance.imbalance_high));
}

QString name_of_part(DataPart part) { return part == DataPart::held_out ? tr("held out") : tr("fitted"); }

std::optional<FrontPoint> point_of(const QString& name, const std::optional<EditFigures>& f) {
  if (!f || !f->cross_pairs) return {};
  return FrontPoint{name.toStdString(), f->imbalance, *f->cross_pairs};
}

}  // namespace

QString layer_name(const EditedAbout& about, size_t layer) {
  const QString name = to_qstring(about.routers[layer]);
  return about.numbers[layer] >= 0 ? tr("layer %1").arg(about.numbers[layer]) : name;
}

QString choice_text(const StoredLayout& stored) {
  return tr("#%1 %2, %3, %4")
      .arg(QString::number(stored.id), to_qstring(stored.name), counted_text(stored.placement.ranks, "GPU"),
           counted_text(static_cast<qint64>(stored.placement.slot_count()), "slot"));
}

PlacementPage make_placement_page(const EditedPlacement& edited, size_t layer, DataPart part,
                                  const LoadChances& chances) {
  const EditedAbout& about = edited.about();
  PlacementPage page;
  page.layer = layer;
  page.nodes = about.cluster.nodes, page.ranks = about.ranks, page.slots_of_rank = about.slot_count / about.ranks;
  page.headline = tr("%1 on %2: %3 in %4, %5 a GPU and layer")
                      .arg(layer_name(about, layer), to_qstring(about.cluster.name), counted_text(about.ranks, "GPU"),
                           counted_text(about.cluster.nodes, "node"), counted_text(page.slots_of_rank, "slot"));
  page.headline[0] = page.headline[0].toUpper();
  page.nearest = about.replicas == ReplicaRule::nearest;
  if (page.nearest) page.headline += tr("; tokens go to the nearest replicas");
  if (about.residence == Residence::follow)
    page.headline += tr("; an experiment: tokens follow their heaviest expert from layer to layer");
  page.state = state_of(edited);
  const bool two = about.has_held_out;
  const DataPart shown = two ? part : DataPart::fitted,
                 other = shown == DataPart::fitted ? DataPart::held_out : DataPart::fitted;
  add_slots(edited, shown, page);
  page.gpus = over_mean(edited.rank_loads(shown, layer)),
  page.gpus_before = over_mean(edited.start_rank_loads(shown, layer));
  page.part = name_of_part(shown), page.figures = shown_figures(edited, layer, shown);
  if (two) page.other_part = name_of_part(other), page.other_figures = shown_figures(edited, layer, other);
  for (size_t l = 0; l < about.routers.size(); ++l) {
    page.layers.push_back(edited.layer_imbalance(shown, l));
    const auto at = chances.find(about.routers[l]);
    page.chances.push_back(at == chances.end() ? std::nullopt : std::optional(at->second));
  }
  page.here = point_of(tr("now"), edited.figures(DataPart::fitted));
  page.start = point_of(tr("at the start"), edited.start_figures(DataPart::fitted));
  return page;
}

QString describe_slot(const PlacementPage& page, size_t slot) {
  const ShownSlot& s = page.held[slot];
  const QString gpu = tr("GPU %1, slot %2").arg(page.rank_of(slot)).arg(slot);
  if (s.branch < 0) return tr("%1: empty").arg(gpu);
  QString text =
      tr("Expert %1 on %2: %3").arg(s.branch).arg(gpu, counted_text(static_cast<qint64>(s.load + 0.5), "choice"));
  if (s.replicas > 1)
    text += (page.nearest ? tr(", one of %1 replicas of which the nearest take a token")
                          : tr(", one of %1 replicas that share evenly"))
                .arg(s.replicas);
  if (s.moved) text += tr("; not there at the start");
  return text + chance_text(page);
}

QString describe_gpu(const PlacementPage& page, size_t rank) {
  return tr("GPU %1: %2 of the mean load of this layer, at the start %3")
             .arg(QString::number(rank), percent_text(page.gpus[rank]), percent_text(page.gpus_before[rank])) +
         chance_text(page);
}

QString value_text(const ShownFigure& figure, const std::optional<double>& value) {
  return value ? number_text(*value, figure.digits) : QString("-");
}

QString difference_text(const ShownFigure& f) {
  if (!f.before || !f.now || number_text(*f.before, f.digits) == number_text(*f.now, f.digits)) return {};
  return change_text(*f.before, *f.now);
}

size_t least_loaded(const PlacementPage& page) {
  return static_cast<size_t>(std::min_element(page.gpus.begin(), page.gpus.end()) - page.gpus.begin());
}

Table make_placement_table(const PlacementPage& page) {
  Table table;
  table.columns = {
      {tr("What"), tr("A figure of all layers, a GPU or a slot of the layer on show, a point of the front")},
      {tr("GPU"), tr("Number of the GPU in the cluster; GPUs of a node follow each other")},
      {tr("Expert"), tr("That the slot holds; empty: none")},
      {tr("Load"), page.nearest ? tr("For a slot its choices, sent to the nearest replica; for a GPU its load over the "
                                     "layer's mean. Counted")
                                : tr("For a slot its choices, shared evenly over replicas; for a GPU its load over the "
                                     "layer's mean. Counted")},
      {tr("Before"), tr("At the start")},
      {tr("Now"), tr("After what was changed")},
      {tr("Part"), tr("Part of the data: the part that searches fit to, or the part that they never saw")},
      {tr("Beside chance"), tr("Loads of the layer's experts over the whole run beside those of even routers, with "
                               "regard to the number of layers; drawn. Empty: not judged")}};
  const auto known = [](const std::optional<double>& v) { return v ? Value(*v) : Value(); };
  const auto beside = [&](size_t layer) {
    return layer < page.chances.size() && page.chances[layer] ? Value(beside_text(*page.chances[layer])) : Value();
  };
  const auto add_figures = [&](const std::vector<ShownFigure>& figures, const QString& part) {
    for (const ShownFigure& f : figures)
      table.rows.push_back({f.name, Value(), Value(), Value(), known(f.before), known(f.now), part, Value()});
  };
  add_figures(page.figures, page.part), add_figures(page.other_figures, page.other_part);
  for (size_t r = 0; r < page.gpus.size(); ++r)
    table.rows.push_back(
        {tr("GPU"), static_cast<qlonglong>(r), Value(), page.gpus[r], page.gpus_before[r], page.gpus[r], page.part,
         beside(page.layer)});
  for (size_t s = 0; s < page.held.size(); ++s) {
    const ShownSlot& shown = page.held[s];
    table.rows.push_back({tr("slot %1").arg(s), static_cast<qlonglong>(page.rank_of(s)),
                          shown.branch < 0 ? Value() : Value(static_cast<qlonglong>(shown.branch)), shown.load, Value(),
                          Value(), page.part, beside(page.layer)});
  }
  for (size_t l = 0; l < page.layers.size(); ++l)
    table.rows.push_back({tr("imbalance of layer %1").arg(l), Value(), Value(), Value(), Value(), page.layers[l],
                          page.part, beside(l)});
  for (const FrontPoint& p : page.front)
    table.rows.push_back({tr("front: %1, imbalance").arg(to_qstring(p.name)), Value(), Value(), Value(), Value(),
                          p.imbalance, tr("fitted"), Value()});
  for (const FrontPoint& p : page.front)
    table.rows.push_back({tr("front: %1, cross pairs").arg(to_qstring(p.name)), Value(), Value(), Value(), Value(),
                          p.cross_pairs, tr("fitted"), Value()});
  return table;
}

}  // namespace stormcell::views
