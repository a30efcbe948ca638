#include "app/studio/opened_file.h"

#include <QFileInfo>

#include "app/studio/trace_import.h"
#include "core/base/error.h"
#include "core/formats/file_kind.h"

namespace stormcell::studio {

OpenedAs opened_as(const QString& path) {
  const QFileInfo what(path);
  if (what.isDir()) {
    if (QFileInfo::exists(path + "/config.json")) return OpenedAs::model;
    bad_input(path.toStdString(), "is no model", "a model's folder holds config.json and *.safetensors");
  }
  const std::optional<KnownFile> known = known_file(path.toStdString());
  const FileUses uses = known ? known->kind->uses : FileUses();
  if (uses.has(FileUse::session)) return OpenedAs::session;
  if (uses.has(FileUse::trace)) return OpenedAs::trace;
  if (uses.has(FileUse::model)) return OpenedAs::model;
  if (uses.has(FileUse::model_config)) return OpenedAs::model_of_config;
  if (known && !known->remedy.empty())
    bad_input(path.toStdString(), "is " + known->name + ", not a session, a trace or a model", known->remedy);
  // The reader's own error says what it takes and what is missing.
  return trace_suffixes().contains(what.suffix().toLower()) ? OpenedAs::trace : OpenedAs::session;
}

}  // namespace stormcell::studio
