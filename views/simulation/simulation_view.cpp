#include "views/simulation/simulation_view.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>
#include <QWidgetAction>
#include <algorithm>

#include "core/base/error.h"
#include "views/placement/cluster_choice.h"
#include "views/placement/placement_model.h"
#include "views/placement/step_choices.h"
#include "views/placement/stored_choice.h"
#include "views/words/fault_words.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

constexpr int64_t kMostSimulatedSteps = 256;  // in the list of those whose exchange can be shown

/// Empty, with the reason in `fault`, if the verb refuses.
std::optional<SimulateFigures> simulated(const SimulateOptions& options, std::string& fault, const Progress& progress) {
  try {
    return simulate(options, progress);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    fault = without_options(QString::fromUtf8(e.what())).toStdString();
    return {};
  }
}

/// Placements to try on a cluster: the wanted one if it has this number of GPUs. Otherwise the contiguous layout and,
/// in case experts do not divide among the GPUs, the session's placements for this number, the newest first.
std::vector<int64_t> starts_on(const Cluster& cluster, int64_t wanted, const std::vector<StoredLayout>& stored) {
  std::vector<int64_t> out = {0};
  for (auto s = stored.rbegin(); s != stored.rend(); ++s) {
    if (s->placement.ranks != cluster.ranks()) continue;
    if (s->id == wanted) return {wanted};
    out.push_back(s->id);
  }
  return out;
}

}  // namespace

SimulationView::SimulationView(QWidget* parent) : View(parent) {
  add_controls();
  picture_ = new SimulationPicture(this);
  set_picture(picture_);
  show_part();
  connect(cluster_, &ClusterChoice::chosen, this, &View::load_wanted);
  connect(choices_, &StepChoices::chosen, this, &View::load_wanted);
  for (QComboBox* box : {start_, overlap_, step_, dtype_, tokens_})
    connect(box, &QComboBox::currentIndexChanged, this, &View::load_wanted);
  for (QDoubleSpinBox* box : {hidden_, ffn_, capacity_, uplinks_, rest_})
    connect(box, &QDoubleSpinBox::valueChanged, this, &View::load_wanted);
  connect(show_, &QComboBox::currentIndexChanged, this, [this] {
    show_part();
    refresh_page();
    emit load_wanted();
  });
  connect(layer_, &QComboBox::currentIndexChanged, this, [this] {
    refresh_page();
    if (shows_exchange(part())) emit load_wanted();
  });
  connect(picture_, &SimulationPicture::layer_wanted, this, &SimulationView::pick_layer);
  connect(picture_, &SimulationPicture::cluster_wanted, this, [this](int number) { cluster_->choose(number); });
}

void SimulationView::add_controls() {
  show_ = add_choice(
      tr("Show"), tr("The part of the simulation that is drawn"),
      {{tr("phases"), tr("The phases of a step by layer and by GPU, and the figures that it depends on")},
       {tr("clusters"), tr("The same steps on every cluster of the list, beside each other")},
       {tr("exchange"), tr("The messages of one layer of one step, sharing ports and uplinks in time; up to 64 GPUs")},
       {tr("messages"), tr("Which GPU sends to which in that exchange, and when it has come; up to 8 GPUs")}});
  cluster_ = new ClusterChoice(
      add_choice(tr("Cluster"),
                 tr("Whose GPUs, nodes and links the steps are simulated on; its figures are published ones")),
      this);
  bar()->addWidget(cluster_->button());
  start_ = add_choice(tr("Placement"),
                      tr("Which expert is on which GPU: contiguous, or a placement of the session for as many GPUs"));
  start_->addItem(tr("contiguous"), qlonglong{0});
  start_->setItemData(0, tr("Expert after expert, as servers begin"), Qt::ToolTipRole);
  overlap_ = add_choice(tr("Overlap"),
                        tr("Whether messages overlap with experts: two micro-batches take turns, or nothing overlaps"));
  for (const std::string_view word : overlaps()) {
    overlap_->addItem(to_qstring(word));
    overlap_->setItemData(overlap_->count() - 1,
                          word == to_text(Overlap::none) ? tr("One phase after the other")
                                                         : tr("While one half computes, the other's messages travel"),
                          Qt::ToolTipRole);
  }
  layer_ =
      add_choice(tr("Layer"), tr("The router whose GPUs or exchange are shown; PageUp and PageDown go through them"));
  step_ = add_choice(tr("Step"), tr("Whose messages the exchange sends: of the simulated ones, from 0"));
  step_->addItem("0");
  step_->setItemData(0, tr("Counted from 0, as they were recorded or drawn"), Qt::ToolTipRole);
  auto* more = new QToolButton(this);
  more->setText(tr("Model and steps"));
  more->setToolTip(
      tr("Sizes of the model where the session does not say them, what tokens of a step do, measured times, uplinks of "
         "nodes"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  auto* panel = new QWidget(menu);
  add_more(new QFormLayout(panel));
  auto* action = new QWidgetAction(menu);
  action->setDefaultWidget(panel);
  menu->addAction(action);
  more->setMenu(menu);
  bar()->addWidget(more);
  bar()->add_stretch();
}

void SimulationView::add_more(QFormLayout* more) {
  const auto add = [&](QWidget* control, const QString& name, const QString& tip) {
    control->setAccessibleName(name);
    control->setToolTip(tip);
    more->addRow(name, control);
  };
  const auto add_number = [&](const QString& name, const QString& tip, double least, double most,
                              const QString& at_least) {
    auto* box = new QDoubleSpinBox(more->parentWidget());
    box->setDecimals(0);
    box->setRange(least, most);
    box->setSpecialValueText(at_least);
    box->setKeyboardTracking(false);  // not at every digit
    add(box, name, tip);
    return box;
  };
  constexpr double kMostWidth = 1 << 20;
  hidden_ = add_number(tr("Hidden size"), tr("Width of a token; 0: as the session or the published architecture says"),
                       0, kMostWidth, tr("as known"));
  ffn_ = add_number(tr("Expert width"),
                    tr("Inner width of an expert; 0: as the session or the published architecture says"), 0, kMostWidth,
                    tr("as known"));
  dtype_ = new QComboBox(more->parentWidget());
  const QString format = tr("Number format of the experts' weights");
  for (const char* word : {"", "f32", "bf16", "f16", "f8", "i8", "f4"}) {
    dtype_->addItem(*word ? QString(word) : tr("as known"), QString(word));
    dtype_->setItemData(dtype_->count() - 1, *word ? format : tr("As published, else bf16"), Qt::ToolTipRole);
  }
  add(dtype_, tr("Number format"), format);
  tokens_ = new QComboBox(more->parentWidget());
  for (const int count : {0, 16, 64, 256, 1024, 4096, 16384}) {
    tokens_->addItem(count == 0 ? tr("recorded") : count_text(count), count);
    tokens_->setItemData(tokens_->count() - 1,
                         count == 0 ? tr("The steps as they were recorded")
                                    : tr("Steps of so many tokens, drawn from the recorded ones"),
                         Qt::ToolTipRole);
  }
  add(tokens_, tr("Tokens a step"),
      tr("Recorded steps, or so many tokens drawn with replacement, all layers of a token together"));
  choices_ = new StepChoices(more, this);
  capacity_ = add_number(tr("Capacity factor"),
                         tr("What if an expert took at most so many times its even share of a step's choices, and the "
                            "others were dropped; "
                            "0: all are taken"),
                         0, kMostFactor, tr("none"));
  capacity_->setDecimals(2);
  constexpr double kCapacityStep = 0.25;
  capacity_->setSingleStep(kCapacityStep);
  more->addRow(tr("Calibration"), make_calibration(more->parentWidget()));
  rest_ = add_number(tr("Rest of a step, ms"),
                     tr("Milliseconds of a step that are neither experts nor exchange: attention, norms, sampling; 0: "
                        "not stated, and without "
                        "a calibration no tokens a second are"),
                     0, kMostRestMs, tr("not stated"));
  rest_->setDecimals(3);
  uplinks_ = add_number(
      tr("Oversubscription"),
      tr("The rate of a node's network ports divided by the rate of its uplink; 1: the uplink limits nothing"), 1,
      kMostFactor, {});
}

/// A file's name that can be typed, and a button that finds one.
QWidget* SimulationView::make_calibration(QWidget* parent) {
  auto* row = new QWidget(parent);
  calibration_ = new QComboBox(row);
  calibration_->setEditable(true);
  calibration_->setInsertPolicy(QComboBox::NoInsert);
  calibration_->addItem(tr("data sheets"));
  constexpr int kShown = 24;  // characters
  calibration_->setMinimumContentsLength(kShown);
  calibration_->setAccessibleName(tr("Calibration"));
  calibration_->lineEdit()->setAccessibleName(tr("Calibration"));
  calibration_->setToolTip(tr(
      "Times of measured calls and products, as stormcell calibrate wrote them, in place of the data sheets' rates"));
  calibration_->setItemData(0, tr("Rates of data sheets only, without start-up times"), Qt::ToolTipRole);
  auto* open = new QToolButton(row);
  open->setText("...");
  open->setAccessibleName(tr("Open a calibration"));
  open->setToolTip(tr("A file of stormcell calibrate"));
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(calibration_, 1);
  line->addWidget(open);
  connect(open, &QToolButton::clicked, this, &SimulationView::open_calibration);
  connect(calibration_->lineEdit(), &QLineEdit::editingFinished, this, &View::load_wanted);
  connect(calibration_, &QComboBox::activated, this, &View::load_wanted);
  return row;
}

void SimulationView::open_calibration() {
  auto* dialog = new QFileDialog(this, tr("Open a calibration"), {}, tr("Calibrations (*.json);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    calibration_->setEditText(file);
    emit load_wanted();
  });
  dialog->open();
}

SimulateOptions SimulationView::Wanted::options() const {
  SimulateOptions out;
  out.session = file + "#" + std::to_string(run), out.cluster = cluster, out.phase = phase, out.overlap = overlap;
  if (start > 0) out.placement = "#" + std::to_string(start);
  out.step.tokens_per_step = tokens, out.step.replicas = replicas, out.step.residence = residence;
  out.step.capacity_factor = capacity;
  out.sizes.hidden = hidden, out.sizes.ffn = ffn, out.sizes.dtype = dtype;
  out.oversubscription = oversubscription, out.calibration = calibration;
  if (rest_ms > 0) out.rest_ms = rest_ms;
  out.collective = collective, out.collective_step = step;
  return out;
}

SimulationView::Wanted SimulationView::wanted(const Context& context, const Selection& selection) const {
  Wanted w;
  w.file = context.main.file, w.run = context.main.run, w.cluster = cluster_->spec();
  for (const Phase phase : {Phase::prefill, Phase::decode})
    if (selection.phase == to_qstring(to_text(phase))) w.phase = to_text(phase);
  w.overlap = overlap_->currentText().toStdString(), w.dtype = dtype_->currentData().toString().toStdString();
  w.tokens = tokens_->currentData().toLongLong();
  w.hidden = static_cast<int64_t>(hidden_->value()), w.ffn = static_cast<int64_t>(ffn_->value());
  w.oversubscription = uplinks_->value(), w.capacity = capacity_->value(), w.rest_ms = rest_->value();
  w.replicas = choices_->replicas(), w.residence = choices_->residence();
  if (const QString file = calibration_->currentText().trimmed(); file != calibration_->itemText(0))
    w.calibration = file.toStdString();
  const bool same_run = w.file == shown_.file && w.run == shown_.run;
  if (same_run && w.cluster == shown_.cluster) w.start = start_->currentData().toLongLong();  // else of another shape
  if (!shows_exchange(part())) return w;
  w.collective = same_run ? std::max(0, layer_->currentIndex()) : 0;
  w.step = same_run && w.tokens == shown_.tokens && w.phase == shown_.phase ? std::max(0, step_->currentIndex()) : 0;
  return w;
}

SimulationView::Read SimulationView::read(const Wanted& want, const Progress& progress) {
  Read out;
  out.presets = cluster_presets();
  out.cluster = read_cluster(want.cluster);
  out.stored = stored_layouts(want.file, want.run);
  out.figures = simulated(want.options(), out.fault, progress);
  return out;
}

std::vector<ComparedCluster> SimulationView::compare(const Wanted& want, const std::vector<std::string>& clusters,
                                                     const std::vector<StoredLayout>& stored,
                                                     const Progress& progress) {
  std::vector<ComparedCluster> out;
  for (const std::string& spec : clusters) {
    const Cluster cluster = read_cluster(spec);
    if (progress.sink) progress.sink->remark(cluster.name);
    ComparedCluster& one = out.emplace_back();
    one.name = spec.starts_with('{') ? tr("%1, changed").arg(to_qstring(cluster.name)).toStdString() : cluster.name;
    Wanted here = want;
    here.cluster = spec;
    for (const int64_t start : starts_on(cluster, want.start, stored)) {
      here.start = start;
      std::string fault;
      one.figures = simulated(here.options(), fault, progress);
      if (one.figures) break;
      if (one.fault.empty()) one.fault = fault;
    }
    if (one.figures) one.fault.clear();
  }
  return out;
}

View::Load SimulationView::load(const Context& context, const Selection& selection) {
  if (context.main.empty()) {
    read_ = {}, shown_ = {}, compared_.clear(), compared_specs_.clear();
    picture_->set_page({});
    show_no_run(context);
    return nullptr;
  }
  const bool changed = static_cast<bool>(unread() & (Part::run | Part::session));
  const Wanted want = wanted(context, selection);
  Wanted steps = shown_;
  steps.collective = -1, steps.step = 0;
  const bool known = want == shown_ || (read_.figures && want == steps);  // with an exchange came all the rest
  const bool again = changed || !known;
  Wanted any = want;
  any.cluster.clear(), any.collective = -1, any.step = 0;
  const std::vector<std::string> specs = cluster_->specs();
  const bool compares =
      part() == SimulationPart::clusters && (changed || !(any == compared_for_) || specs != compared_specs_);
  if (!again && !compares) {
    if (!has_content()) refresh_page();  // another choice was refused or stopped meanwhile
    return nullptr;
  }
  return [this, want, any, again, compares, specs, stored = read_.stored](const Progress& progress) -> Deliver {
    Read read;
    if (again) read = SimulationView::read(want, progress);
    std::vector<ComparedCluster> compared;
    // Without chosen clusters, the first reading finds them and then asks for another reading.
    if (compares) compared = compare(any, specs, again ? read.stored : stored, progress);
    return [this, want, any, again, compares, specs, read, compared] {
      if (compares) compared_ = compared, compared_for_ = any, compared_specs_ = specs;
      if (again) return take(want, read);
      refresh_page();
    };
  };
}

void SimulationView::take(const Wanted& want, Read read) {
  const bool first = read_.presets.empty();
  read_ = std::move(read);
  shown_ = want;
  cluster_->set(read_.presets, want.cluster, read_.cluster);
  fill_starts();
  if (read_.figures) {
    fill_layers();
    fill_steps();
    if (first) follow_router();
    for (const std::string& warning : read_.figures->warnings) emit said(to_qstring(warning));
  }
  refresh_page();
  if (first && part() != SimulationPart::phases) emit load_wanted();
}

void SimulationView::fill_starts() {
  const QSignalBlocker quiet(start_);
  while (start_->count() > 1) start_->removeItem(1);
  add_stored(
      start_, read_.stored, [this](const StoredLayout& s) { return s.placement.ranks == read_.cluster.ranks(); },
      tr("with another Cluster"));
  start_->setCurrentIndex(std::max(0, start_->findData(static_cast<qlonglong>(shown_.start))));
}

void SimulationView::fill_layers() {
  const QSignalBlocker quiet(layer_);
  const QString chosen = layer_->currentText();
  layer_->clear();
  const std::vector<QString> names = names_of_layers(*read_.figures);
  for (size_t l = 0; l < names.size(); ++l) {
    layer_->addItem(names[l]);
    layer_->setItemData(layer_->count() - 1, to_qstring(read_.figures->layers[l].name), Qt::ToolTipRole);
  }
  layer_->setCurrentIndex(std::max(0, layer_->findText(chosen)));
}

void SimulationView::fill_steps() {
  const QSignalBlocker quiet(step_);
  const int before = step_->currentIndex(),
            count = static_cast<int>(std::clamp<int64_t>(read_.figures->steps, 1, kMostSimulatedSteps));
  while (step_->count() > count) step_->removeItem(step_->count() - 1);
  while (step_->count() < count) {
    step_->addItem(QString::number(step_->count()));
    step_->setItemData(step_->count() - 1, step_->itemData(0, Qt::ToolTipRole), Qt::ToolTipRole);
  }
  step_->setCurrentIndex(std::clamp(before, 0, count - 1));
}

SimulationPart SimulationView::part() const { return static_cast<SimulationPart>(show_->currentIndex()); }

void SimulationView::show_part() {
  show_choice(layer_, part() != SimulationPart::clusters);
  show_choice(step_, shows_exchange(part()));
}

void SimulationView::select(const Selection& selection) {
  const bool other_router = selection.router != selection_.router;
  selection_ = selection;
  if (!other_router || !read_.figures) return;
  follow_router();
  refresh_page();
}

/// Moves to the layer of the common selection, if it is here.
void SimulationView::follow_router() {
  const std::vector<SimulatedLayer>& layers = read_.figures->layers;
  const auto at = std::find_if(layers.begin(), layers.end(),
                               [&](const SimulatedLayer& l) { return to_qstring(l.name) == selection_.router; });
  if (at == layers.end()) return;
  const QSignalBlocker quiet(layer_);
  layer_->setCurrentIndex(static_cast<int>(at - layers.begin()));
}

void SimulationView::pick_layer(int layer) {
  layer_->setCurrentIndex(layer);
  if (!read_.figures) return;
  Selection picked = selection_;
  picked.router = to_qstring(read_.figures->layers[layer].name), picked.branch = -1;
  emit selection_wanted(picked);
}

void SimulationView::refresh_page() {
  if (read_.presets.empty()) return;
  const SimulateFigures* figures = read_.figures ? &*read_.figures : nullptr;
  // If the chosen cluster is refused, the others are still shown.
  for (const ComparedCluster& c : compared_)
    if (!figures && part() == SimulationPart::clusters && c.figures) figures = &*c.figures;
  if (!figures) {
    picture_->set_page({});
    return show_message(tr("%1.\n\nAnother Cluster or Placement may hold the experts; ones with spare slots are made "
                           "in the Placement view. "
                           "Hidden size and Expert width can be entered where the session does not say them, and "
                           "Tokens a step where it is "
                           "one sum of steps.")
                            .arg(to_qstring(read_.fault)));
  }
  const size_t layer = std::max(0, layer_->currentIndex());
  SimulationPage page = make_simulation_page(*figures, part(), std::min(layer, figures->layers.size() - 1));
  if (!read_.figures)
    page.headline =
        tr("Simulated on other clusters than %1: %2").arg(to_qstring(read_.cluster.name), to_qstring(read_.fault));
  if (page.part == SimulationPart::clusters) {
    add_clusters(compared_, page);
    for (size_t c = 0; c < page.clusters.size(); ++c) page.clusters[c].chosen = compared_specs_[c] == shown_.cluster;
  }
  picture_->set_page(std::move(page));
  show_content();
}

Table SimulationView::table() const {
  return picture_->page().layers.empty() ? Table() : make_simulation_table(picture_->page());
}

}  // namespace stormcell::views
