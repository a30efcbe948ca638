#include "app/studio/opened_model.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/experiment/inspect.h"
#include "core/experiment/inspect_sheet.h"
#include "core/imports/recorder_scripts.h"
#include "core/readings/session_view.h"
#include "core/summary/settings.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

constexpr const char* kDemo = "demo:";

/// Every layer gets as many experts: headers have no more detail.
std::vector<RouterShape> shape_of_sheet(const ModelSheet& sheet) {
  std::vector<RouterShape> routers;
  for (int64_t i = 0; i < sheet.layers_with_experts; ++i)
    routers.push_back({QString("layer %1").arg(i), static_cast<int>(sheet.experts)});
  return routers;
}

void take_sheet(OpenedModel& opened, const ModelSheet& sheet) {
  opened.sheet = sheet;
  opened.name = views::to_qstring(sheet.name), opened.family = views::to_qstring(sheet.family);
  if (opened.routers.empty()) opened.routers = shape_of_sheet(sheet);
  if (sheet.recorder.empty()) return;
  try {
    opened.recorder_text = QString::fromStdString(recorder_script(sheet.recorder));
  } catch (const Error&) {  // the sheet is worth showing without the folder of recorders
  }
}

void take_structure(OpenedModel& opened, const InspectedModel& model) {
  const ModelStructure& structure = model.structure;
  opened.runs = structure.unsupported.empty();
  opened.takes_pictures = structure.picture.has_value();
  for (const RouterStructure& router : structure.routers)
    opened.routers.push_back({QString::fromStdString(router.name), router.branches});
  if (!opened.runs) opened.fault = QString::fromStdString(structure.unsupported.front());
  if (const std::optional<ModelSheet> sheet = sheet_of_opened(model.path)) take_sheet(opened, *sheet);
  // The sheet of a demo is called as its folder is.
  opened.name = views::to_qstring(structure.name), opened.family = views::to_qstring(structure.family);
}

/// The model of a session's newest run; empty: the file exists, but no run names its model.
std::optional<QString> model_of_session(const QString& file) {
  try {
    const SessionOverview session = open_session(file.toStdString());
    for (auto run = session.runs.rbegin(); run != session.runs.rend(); ++run)
      if (const auto settings = parse_settings(run->settings)) return QString::fromStdString(settings->model);
  } catch (const Error&) {  // damaged, or no session: it is left alone
  }
  return std::nullopt;
}

QString file_name_of(QString name) {
  constexpr qsizetype kMostName = 100;
  for (QChar& c : name)
    if (!c.isLetterOrNumber() && c != '-' && c != '_' && c != '.') c = '-';
  while (name.startsWith('.')) name.remove(0, 1);
  name = name.left(kMostName);
  return name.isEmpty() ? QString("model") : name;
}

}  // namespace

OpenedModel read_model(const QString& path) {
  const QFileInfo place(path);
  OpenedModel opened;
  const std::string named = (place.exists() ? place.absoluteFilePath() : path).toStdString();
  const SheetAnswer found = find_sheet(named);
  opened.model = QString::fromStdString(found.model);
  opened.revision = files_revision({.model = found.model});
  opened.has_data = opened.model.startsWith(kDemo);
  if (found.sheet) {
    take_sheet(opened, *found.sheet);
  } else {
    try {
      take_structure(opened, inspect_with_graph({.model = found.model}));
    } catch (const Error& error) {
      const std::optional<ModelSheet> sheet = place.exists() ? sheet_of_opened(found.model) : std::nullopt;
      if (!sheet) throw;
      opened.fault = QString::fromUtf8(error.what());
      take_sheet(opened, *sheet);
    }
  }
  if (opened.runs) opened.session = kept_session(opened.name, opened.model);
  return opened;
}

QString sessions_folder() { return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/sessions"; }

QString kept_session(const QString& name, const QString& model) {
  const QString begin = sessions_folder() + "/" + file_name_of(name);
  QString file = begin + ".storm";
  for (int i = 2; QFileInfo::exists(file) && model_of_session(file) != model; ++i)
    file = begin + QString("-%1.storm").arg(i);
  return file;
}

}  // namespace stormcell::studio
