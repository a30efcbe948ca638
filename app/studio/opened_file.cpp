#include "app/studio/opened_file.h"

#include <QFileInfo>

#include "app/studio/trace_import.h"
#include "core/base/error.h"
#include "core/experiment/inspect_sheet.h"
#include "core/formats/file_kind.h"

namespace stormcell::studio {

namespace {

constexpr FileUses kOfModels = FileUses(FileUse::model) | FileUse::model_config,
                   kOfData = FileUses(FileUse::data) | FileUse::picture;

bool has_any(FileUses uses, FileUses of) { return (uses.bits & of.bits) != 0; }
bool has_sheet(const QString& path) {
  const SheetAnswer found = find_sheet(path.toStdString(), false);
  return found.sheet || found.model != path.toStdString();
}

}  // namespace

OpenedAs opened_as(const QString& path, bool takes_data) {
  const QFileInfo what(path);
  if (path.startsWith("demo:") || path.startsWith("preset:")) return OpenedAs::model;
  if (what.isDir()) {
    if (QFileInfo::exists(path + "/config.json") || has_sheet(path)) return OpenedAs::model;
    bad_input(path.toStdString(), "is not a model", "a model's folder holds config.json and *.safetensors");
  }
  const std::optional<KnownFile> known = known_file(path.toStdString());
  const FileUses uses = known ? known->kind->uses : FileUses();
  if (uses.has(FileUse::session)) return OpenedAs::session;
  if (takes_data && has_any(uses, kOfData) && !has_any(uses, kOfModels)) return OpenedAs::data;
  if (uses.has(FileUse::trace)) return OpenedAs::trace;
  if (has_any(uses, kOfModels) || (known && has_sheet(path))) return OpenedAs::model;
  if (known && !known->remedy.empty())
    bad_input(path.toStdString(), "is " + known->name + ", not a session, a trace or a model", known->remedy);
  // The reader's own error describes what it takes and what is missing.
  const QString suffix = what.suffix().toLower();
  if (trace_suffixes().contains(suffix)) return OpenedAs::trace;
  if (has_any(uses, kOfData) && suffix != "storm")
    bad_input(path.toStdString(), "is " + known->name + ", which a run of a model could read",
              "open a model first, then drop the file again");
  return OpenedAs::session;
}

}  // namespace stormcell::studio
