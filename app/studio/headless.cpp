#include "app/studio/headless.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QImage>
#include <QTimer>
#include <cstdio>

#include "app/studio/document.h"
#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/picture_export.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "views/registry.h"

namespace stormcell::studio {
namespace {

/// A fault in words, as other threads hand it over.
struct Trouble {
  QString text;
};

/// Lets events come until something is there.
class Patience {
 public:
  Patience(std::chrono::milliseconds most, QString what) : most_(most), deadline_(most), what_(std::move(what)) {}
  Background::Failed failed() {
    return [this](const QString& message) { trouble_ = message; };
  }
  /// Throws where something has failed, or it takes too long.
  void check() const {
    if (!trouble_.isEmpty()) throw Trouble{trouble_};
    if (deadline_.hasExpired())
      stormcell::failed(what_.toStdString(),
                        "not all that it shows was read within " + std::to_string(most_.count() / 1000) + " s",
                        "nothing was written");
  }
  template <class Done>
  void until(Done done) {
    QTimer alarm;  // an event at the deadline, where nothing else happens
    alarm.start(std::chrono::milliseconds(deadline_.remainingTime()));
    while (!done()) {
      check();
      QEventLoop().processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    }
  }

 private:
  std::chrono::milliseconds most_;
  QDeadlineTimer deadline_;
  QString what_, trouble_;
};

const views::ViewEntry& entry_of(const QString& id) {
  for (const views::ViewEntry& e : views::all_views())
    if (id == e.id) return e;
  bad_input("--export", "no view '" + id.toStdString() + "'",
            advice_on_word(id.toStdString(), views::all_views(), [](const views::ViewEntry& e) { return e.id; }));
}

/// Opens the requested session, and refuses a selection that it does not have.
void open(Document& document, Background& background, const ExportRequest& request) {
  Patience patience(request.patience, request.session);
  bool chosen = false, looked_over = false;
  QObject here;  // whose connections end with this function
  QObject::connect(&document, &Document::failed, &here, patience.failed());
  QObject::connect(&document, &Document::choices_changed, &here, [&chosen] { chosen = true; });
  QObject::connect(&document, &Document::looked_over, &here, [&](const QString& damage) {
    looked_over = true;
    if (!damage.isEmpty()) patience.failed()(damage);
  });
  document.open(request.session);
  patience.until([&] { return !document.empty(); });
  patience.until([&] { return looked_over; });
  patience.check();
  if (!request.other.isEmpty()) {
    document.compare_with(request.other);
    patience.until([&] {
      const views::Context& context = document.context();
      return !context.other.empty() || !context.recording.empty();
    });
  }
  if (request.selection == views::Selection()) return;
  const views::Source& main = document.context().main;
  const std::string file = document.session().file;
  if (main.empty()) bad_input(file, "holds no run, so there is nothing to select");
  patience.until([&] { return chosen; });
  check_selection(file, document.choices(), request.selection);
  if (!request.selection.cell) return;
  bool there = false;
  background.start(
      Job::check_cell,
      [&there, main, cell = *request.selection.cell](const Progress&) -> views::View::Deliver {
        read_cell_trail(main.file, main.run, cell);
        return [&there] { there = true; };
      },
      patience.failed());
  patience.until([&] { return there; });
}

void write_view(const ExportRequest& request) {
  const views::ViewEntry& entry = entry_of(request.view);
  Background background;
  Document document(background);
  open(document, background, request);
  const std::unique_ptr<views::View> view(entry.make(nullptr));
  view->setAccessibleName(entry.title);
  view->resize(request.size);
  settle(*view, background, document.context(), request.selection, request.controls, request.patience);
  if (view->refuses()) throw Trouble{view->message()};
  if (!view->has_content())
    std::fprintf(stderr, "stormcell: warning: %s has nothing to show: %s\n", entry.id,
                 qPrintable(view->message().simplified()));
  const QString suffix = QFileInfo(request.file).suffix();
  const QByteArray bytes = suffix.compare("csv", Qt::CaseInsensitive) == 0
                               ? views::to_csv(view->table(), table_comments(*view)).toUtf8()
                               : draw_picture(*view, request.size, request.scale, suffix).bytes();
  const AllowBlocking now;
  write_file(request.file, bytes);
}

bool is_png(const QString& file) { return QFileInfo(file).suffix().compare("png", Qt::CaseInsensitive) == 0; }

/// Everything that the widget shows, `title` and `source` for programs.
void write_widget(QWidget& widget, const ExportRequest& request, const QString& title, const QString& source) {
  QImage image(request.size * request.scale, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(request.scale);
  image.fill(widget.palette().color(QPalette::Window));
  widget.render(&image);
  image.setText("Title", title);
  image.setText("Source", source);
  const AllowBlocking now;
  write_file(request.file, DrawnPicture{image, {}}.bytes());
}

/// The window: a view between the list of runs and the panel What if.
void write_window(const ExportRequest& request) {
  if (!is_png(request.file))
    bad_input(request.file.toStdString(), "a window is not written in this format", "name a .png file");
  const views::ViewEntry& entry = entry_of(request.view);
  MainWindow window;
  window.resize(request.size);
  window.show();
  open(window.document(), window.background(), request);
  window.document().select(request.selection);
  window.show_view(entry.id);
  window.actions().trigger("what-if");
  Patience patience(request.patience, request.session);
  views::View* view = window.view();
  const auto read = [&] { return window.background().idle(); };
  QList<ControlState> before;
  do {
    patience.until(read);
    before = control_states(*view);
    for (const ControlState& control : request.controls) set_control(*view, control);
    patience.until(read);
  } while (control_states(*view) != before);
  QCoreApplication::processEvents();  // rows of controls settle a turn behind what they offer
  write_widget(window, request, window.windowTitle(), request.session);
}

/// The page of a model as the window shows it, as long as the picture is high.
void write_model_page(const ExportRequest& request) {
  if (request.window)
    bad_input("--window", "a model's page is no view of a session", "leave --window out, or name a session");
  if (!request.controls.isEmpty() || !request.other.isEmpty() || !(request.selection == views::Selection()))
    bad_input("--export model", "a model's page has no controls, no selection and nothing to compare with",
              "leave --set, --compare-with and the selection out");
  if (!is_png(request.file))
    bad_input(request.file.toStdString(), "a model's page is not written in this format", "name a .png file");
  const AllowBlocking now;
  ModelPage page(read_model(request.session));
  page.resize(request.size);
  // Fields without a focus have no cursor: pictures do not blink.
  page.setFocusProxy(nullptr);
  write_widget(page, request, page.model().name, page.model().model);
}

}  // namespace

void check_selection(const std::string& file, const SelectionChoices& choices, const views::Selection& s) {
  if (choices.run == 0) return;  // what is wrong with the run is for its view to say
  const std::string where = file + "#" + std::to_string(choices.run);
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "one of: " : ", ") + name;
    return text;
  };
  const auto holds = [](const std::vector<std::string>& names, const QString& name) {
    return std::find(names.begin(), names.end(), name.toStdString()) != names.end();
  };
  if (!s.all_batches() && (s.first_batch >= choices.batches || s.end_batch > choices.batches))
    bad_input(where, "--batches: not all of them are there",
              choices.batches == 0 ? "the run has no batch" : "0:" + std::to_string(choices.batches) + " are all");
  if (!s.phase.isEmpty() && !holds(choices.phases, s.phase))
    bad_input(where, "--phase: no cell is of phase '" + s.phase.toStdString() + "'", listed(choices.phases));
  if (!s.label.isEmpty() && !holds(choices.labels, s.label))
    bad_input(where, "--label: no sequence has the label '" + s.label.toStdString() + "'",
              choices.labels.empty() ? "the run has no labels; --label-field records them" : listed(choices.labels));
  std::vector<std::string> routers;
  int32_t branches = 0;
  for (const RouterLine& router : choices.routers) {
    routers.push_back(router.name);
    if (s.router.isEmpty() || s.router.toStdString() == router.name) branches = std::max(branches, router.branches);
  }
  if (!s.router.isEmpty() && !holds(routers, s.router))
    bad_input(where, "--router: no router is called '" + s.router.toStdString() + "'",
              routers.empty() ? "the run has none" : listed(routers));
  if (s.branch >= branches)
    bad_input(
        where,
        "--branch: no branch " + std::to_string(s.branch) + (s.router.isEmpty() ? "" : " at " + s.router.toStdString()),
        branches == 0 ? "the run has no routers" : "0 to " + std::to_string(branches - 1));
}

void settle(views::View& view, Background& background, const views::Context& context, views::Selection selection,
            const QList<ControlState>& controls, std::chrono::milliseconds most) {
  Patience patience(most, view.accessibleName());
  QObject here;  // whose connections end with this function
  bool selects = false;
  QObject::connect(&view, &views::View::selection_wanted, &here, [&](const views::Selection& wanted) {
    selects |= !(selection == wanted);
    selection = wanted;
  });
  QList<ControlState> before;
  bool reads = false;
  std::optional<Error> refused;
  do {
    patience.check();
    selects = false;
    before = control_states(view);
    refused.reset();
    for (const ControlState& control : controls) try {
        set_control(view, control);
      } catch (const Error& e) {
        refused = e;  // it may come with the data
      }
    views::View::Load load = view.look_at(context, selection);
    reads = load != nullptr;
    if (reads) background.start(&view, std::move(load), patience.failed());
    patience.until([&] { return view.settled() || background.idle(); });
    patience.check();
  } while (!view.settled() || selects || control_states(view) != before || (reads && refused));
  if (refused) throw *refused;
}

int export_view(const ExportRequest& request) {
  try {
    if (request.view == kModelView)
      write_model_page(request);
    else if (request.window)
      write_window(request);
    else
      write_view(request);
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "stormcell: %s\n", e.what());
    return e.exit_code();
  } catch (const Trouble& trouble) {
    std::fprintf(stderr, "stormcell: %s\n", qPrintable(trouble.text));
    return 2;
  }
}

}  // namespace stormcell::studio
