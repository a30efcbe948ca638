#include "app/studio/headless.h"

#include <QEventLoop>
#include <QFileInfo>
#include <cstdio>

#include "app/studio/background.h"
#include "app/studio/document.h"
#include "app/studio/picture_export.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "views/registry.h"

namespace stormcell::studio {

int export_view(const ExportRequest& request) {
  const views::ViewEntry* entry = nullptr;
  QStringList known;
  for (const views::ViewEntry& e : views::all_views()) {
    known << e.id;
    if (request.view == e.id) entry = &e;
  }
  if (!entry) {
    std::fprintf(stderr, "stormcell: --export: no view '%s' (one of: %s)\n", qPrintable(request.view), qPrintable(known.join(", ")));
    return 2;
  }
  Background background;
  Document document(background);
  QString trouble;
  QEventLoop loop;
  QObject::connect(&document, &Document::failed, &loop, [&](const QString& message) {
    trouble = message;
    loop.quit();
  });
  QObject::connect(&document, &Document::opened, &loop, &QEventLoop::quit);
  document.open(request.session);
  loop.exec();
  if (!trouble.isEmpty()) {
    std::fprintf(stderr, "stormcell: %s\n", qPrintable(trouble));
    return 2;
  }
  if (!request.other.isEmpty()) {
    QObject::connect(&document, &Document::context_changed, &loop, &QEventLoop::quit, Qt::QueuedConnection);
    document.compare_with(request.other);
    while (document.context().other.empty() && trouble.isEmpty()) loop.exec();
    if (!trouble.isEmpty()) {
      std::fprintf(stderr, "stormcell: %s\n", qPrintable(trouble));
      return 2;
    }
  }
  const std::unique_ptr<views::View> view(entry->make(nullptr));
  view->setAccessibleName(entry->title);
  view->resize(request.size);
  QObject::connect(
      &background, &Background::idle_changed, &loop,
      [&](bool idle) {
        if (idle) loop.quit();
      },
      Qt::QueuedConnection);
  // Choices may come with the data, and what is chosen may want other data: three turns settle both.
  constexpr int kTurns = 3;
  for (int turn = 0; turn < kTurns && trouble.isEmpty(); ++turn) {
    for (const ControlState& state : request.controls) try {
        set_control(*view, state);
      } catch (const Error& e) {
        if (turn == 0) continue;
        std::fprintf(stderr, "stormcell: %s\n", e.what());
        return e.exit_code();
      }
    if (views::View::Load load = view->look_at(document.context(), request.selection)) {
      background.start(view.get(), std::move(load), [&](const QString& message) { trouble = message; });
      if (!background.idle()) loop.exec();
    }
  }
  if (!trouble.isEmpty()) {
    std::fprintf(stderr, "stormcell: %s\n", qPrintable(trouble));
    return 2;
  }
  if (!view->has_content())
    std::fprintf(stderr, "stormcell: warning: %s has nothing to show: %s\n", entry->id, qPrintable(view->message().simplified()));
  try {
    const QString suffix = QFileInfo(request.file).suffix();
    const QByteArray bytes = suffix.compare("csv", Qt::CaseInsensitive) == 0
                                 ? views::to_csv(view->table(), table_comments(*view)).toUtf8()
                                 : draw_picture(*view, request.size, request.scale, suffix).bytes();
    const AllowBlocking now;
    write_file(request.file, bytes);
  } catch (const Error& e) {
    std::fprintf(stderr, "stormcell: %s\n", e.what());
    return e.exit_code();
  }
  return 0;
}

}  // namespace stormcell::studio
