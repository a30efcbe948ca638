#include "app/studio/trace_import.h"

#include <QDir>
#include <QFileInfo>

#include "core/imports/trace_files.h"

namespace stormcell::studio {
namespace {

/// Never over a file that is there.
QString free_name(const QString& trace) {
  const QFileInfo first(trace);
  const QString folder = QFileInfo(first.absolutePath()).isWritable() ? first.absolutePath() : QDir::homePath();
  const QString name = QString::fromStdString(name_of_trace(trace.toStdString()));
  QString session = folder + "/" + name + ".storm";
  for (int i = 2; QFileInfo::exists(session); ++i) session = folder + "/" + name + QString("-%1.storm").arg(i);
  return session;
}

}  // namespace

QString trace_format_ids() {
  QStringList ids;
  for (const ImportFormat& format : import_formats())
    ids << QString::fromUtf8(format.id.data(), static_cast<qsizetype>(format.id.size()));
  return ids.join(", ");
}

QStringList trace_suffixes() {
  QStringList suffixes;
  for (const ImportFormat& format : import_formats())
    suffixes << QString::fromUtf8(format.suffix.data(), static_cast<qsizetype>(format.suffix.size()));
  suffixes << "gz";  // any of them, packed
  suffixes.removeDuplicates();
  return suffixes;
}

ImportResult import_into_new_session(const QStringList& traces, const Progress& progress) {
  ImportOptions options;
  for (const QString& trace : traces) options.traces.push_back(trace.toStdString());
  const QString session = free_name(traces.constFirst());
  options.session = session.toStdString();
  try {
    return {session, import_traces(options, progress)};
  } catch (const Error&) {
    if (!progress.cancel.cancelled()) throw;
    return {QFileInfo::exists(session) ? session : QString(), {}};
  }
}

}  // namespace stormcell::studio
