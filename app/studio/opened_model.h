// A model as its page shows it, read from headers before anything is run: its sheet, its routers, and anything missing
// for a run.
#pragma once
#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/summary/sheet_figures.h"

namespace stormcell::studio {

/// The id of a model's page among those of the views.
inline constexpr const char* kModelView = "model";

/// One router, or one layer with experts: a row of the heatmap.
struct RouterShape {
  QString name;
  int branches = 0;
  bool operator==(const RouterShape&) const = default;
};

struct OpenedModel {
  QString model;  ///< as a run names it: the absolute path of a folder or file, preset:NAME or demo:NAME
  QString name, family;
  std::optional<ModelSheet> sheet;  ///< nothing: a preset has no files
  std::vector<RouterShape> routers;
  bool runs = false;  ///< this version can run it
  bool takes_pictures = false;
  bool has_data = false;  ///< its name is that of its data too: a demo
  QString fault;          ///< why it cannot be opened although its family is known; empty: it can, or `sheet` has lacks
  QString recorder_text;  ///< the file of sheet->recorder; empty: there is none
  QString session;        ///< where its runs are kept until they are saved elsewhere
  std::string revision;   ///< of its files when they were read: files_revision()
};

/// Reads headers, never weights. Throws Error(bad_input): no model, or a damaged one. May block.
OpenedModel read_model(const QString& path);

/// The session for the runs of `model` in the folder for this program's data: "NAME.storm", with a number behind NAME
/// if that file holds runs of another model. May block.
QString kept_session(const QString& name, const QString& model);
/// The folder for this program's data.
QString sessions_folder();

}  // namespace stormcell::studio
