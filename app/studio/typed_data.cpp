#include "app/studio/typed_data.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>

#include "app/studio/picture_export.h"
#include "core/base/error.h"

namespace stormcell::studio {
namespace {

/// The home folder is written "~" in shells.
QString with_home(const QString& path) { return path.startsWith("~/") ? QDir::homePath() + path.mid(1) : path; }

}  // namespace

QString data_of(const QString& typed, const QString& folder, bool takes_pictures) {
  const QString text = typed.trimmed();
  if (text.isEmpty()) bad_input("data", "there are none", "type text, or drop a file");
  if (!text.contains('\n')) {
    if (text.startsWith("random:") || text.startsWith("demo:")) return text;
    const QFileInfo file(with_home(text));
    if (file.isAbsolute() && file.exists()) return file.absoluteFilePath();
    if (file.isAbsolute() && takes_pictures) bad_input(text.toStdString(), "there is no such file or folder");
  }
  if (takes_pictures)
    bad_input("data", "this model takes pictures, and text was typed",
              "drop a picture, a folder of pictures or a video");
  constexpr qsizetype kNamed = 12;
  const QByteArray bytes = text.toUtf8() + "\n";
  const QByteArray name = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().left(kNamed);
  const QString file = folder + "/typed-" + QString::fromLatin1(name) + ".txt";
  if (!QDir().mkpath(folder)) bad_input(folder.toStdString(), "the folder cannot be made", "choose another session");
  write_file(file, bytes);
  return file;
}

}  // namespace stormcell::studio
