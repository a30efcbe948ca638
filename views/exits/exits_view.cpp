#include "views/exits/exits_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPointF>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>

namespace stormcell::views {
namespace {
/// Items of each exit that may be shown.
constexpr int64_t kMostOfExit = 400;
}  // namespace

ExitsView::ExitsView(QWidget* parent) : View(parent) {
  threshold_ = add_choice(tr("Threshold"),
                          tr("Whose figures the bars and the marked point show: the thresholds that ran, or another "
                             "one for all exits, replayed; of a number the nearest point of the curve"));
  threshold_->setEditable(true);
  threshold_->setProperty(kNumbersAlone,
                          QPointF(kLeastExitThreshold, kMostExitThreshold));  // as configurations take them
  threshold_->setInsertPolicy(QComboBox::NoInsert);
  threshold_->setCompleter(nullptr);
  threshold_->lineEdit()->setAccessibleName(tr("Threshold"));
  threshold_->addItem(tr("those that ran"));
  threshold_->setItemData(0, tr("The thresholds of the recorded run"), Qt::ToolTipRole);
  listed_ = add_choice(tr("Table"), tr("The content of the table (Ctrl+T) and of an exported table"),
                       {{tr("figures"), tr("All items with each set of thresholds, and each class")},
                        {tr("items"), tr("The items of the gallery, each with the exit that it left by")}});
  run_ = new QPushButton(tr("Run with these thresholds"), this);
  run_->setAccessibleName(run_->text());
  bar()->addWidget(run_);
  bar()->add_stretch();
  picture_ = new ExitsPicture(this);
  set_picture(picture_);
  connect(threshold_, &QComboBox::currentIndexChanged, this, [this](int index) {
    picture_->set_point(static_cast<size_t>(std::max(0, index)));
    update_run();
  });
  connect(run_, &QPushButton::clicked, this, [this] {
    if (const RouterThresholds exits = shown_thresholds(); !exits.empty()) emit thresholds_wanted(exits);
  });
  connect(threshold_->lineEdit(), &QLineEdit::editingFinished, this, [this] { choose(threshold_->currentText()); });
  connect(listed_, &QComboBox::currentIndexChanged, this, [this] { refresh_table(); });
  connect(picture_, &ExitsPicture::point_wanted, threshold_, &QComboBox::setCurrentIndex);
  connect(picture_, &ExitsPicture::item_picked, this, [this](qint64 sequence) {
    Selection wanted = selection_;
    wanted.cell = CellPlace{sequence, 0};
    emit selection_wanted(wanted);
  });
}

View::Load ExitsView::load(const Context& context, const Selection&) {
  if (context.main.empty()) {
    data_.reset();
    show_no_run(context);
    return nullptr;
  }
  if (!(unread() & Part::run)) return nullptr;
  return [this, source = context.main](const Progress& progress) -> Deliver {
    const auto data = read_exits_of_run(source.file, source.run, kMostOfExit, 20'000, progress);
    return [this, data] {
      data_ = data;
      show_data();
    };
  };
}

void ExitsView::select(const Selection& selection) {
  selection_ = selection;
  picture_->set_selected(selection.cell ? std::optional(selection.cell->sequence) : std::nullopt, selection.label);
}

void ExitsView::show_data() {
  if (data_->routers.empty() && !data_->curve) {
    picture_->set_page({});
    return show_message(
        tr("No router of this run is an exit: nothing leaves early here.\n`stormcell profile demo:msdnet-digits` "
           "records a network with "
           "exits."));
  }
  ExitsPage page = make_exits_page(*data_);
  const QSignalBlocker quiet(threshold_);
  const QString chosen = threshold_->currentText();  // stays, of a run that is looked at again
  threshold_->clear();
  for (size_t p = 0; p < page.points.size(); ++p) {
    threshold_->addItem(page.points[p].name);
    threshold_->setItemData(static_cast<int>(p), describe(page, p), Qt::ToolTipRole);
  }
  show_choice(threshold_, page.has_curve());
  picture_->set_page(std::move(page));
  threshold_->setCurrentIndex(0);
  choose(chosen);
  picture_->set_point(static_cast<size_t>(threshold_->currentIndex()));
  select(selection_);
  update_run();
  show_content();
}

RouterThresholds ExitsView::shown_thresholds() const {
  const int point = threshold_->currentIndex();  // the first are those that ran
  const std::vector<ShownPoint>& points = picture_->page().points;
  if (!data_ || !data_->curve || point < 1 || point >= std::ssize(points)) return {};
  RouterThresholds exits;
  for (const ExitFigures& exit : data_->curve->exits)
    if (!exit.router.empty()) exits.push_back({exit.router, points[point].threshold});
  return exits;
}

void ExitsView::update_run() {
  const bool known = !context().main.settings.empty(), other = !shown_thresholds().empty();
  run_->setVisible(picture_->page().has_curve());
  run_->setEnabled(known && other);
  run_->setToolTip(!known   ? tr("How this run was made is not known, so it cannot be run again")
                   : !other ? tr("These thresholds ran: choose a point of the curve, or type one")
                            : tr("Runs the same data with this threshold for all exits: measured and verified"));
}

void ExitsView::choose(const QString& text) {
  // Without a curve, the text stays as typed.
  if (!picture_->page().has_curve()) return;
  int point = threshold_->findText(text, Qt::MatchFixedString);
  bool number = false;
  if (const double wanted = text.toDouble(&number); point < 0 && number) {
    point = static_cast<int>(nearest_point(picture_->page(), wanted));
    emit said(tr("The nearest to a threshold of %1 on the curve: %2.").arg(text, threshold_->itemText(point)));
  } else if (point < 0) {
    emit said(tr("No threshold is called '%1'; a number takes the nearest.").arg(text));
    point = std::max(0, threshold_->currentIndex());
  }
  threshold_->setCurrentIndex(point);
  threshold_->setEditText(threshold_->itemText(point));
}

std::vector<ColorMeaning> ExitsView::told_apart() const {
  return exit_meanings(static_cast<int>(picture_->page().exits.size()), Theme::of(palette()));
}

Table ExitsView::table() const {
  if (!data_) return {};
  return listed_->currentIndex() == 1 ? make_items_table(picture_->page()) : make_exits_table(picture_->page());
}

}  // namespace stormcell::views
