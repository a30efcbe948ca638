// Pages of reports, written into a folder that goes away, and what is asked of every one.
#pragma once
#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <functional>
#include <string>

namespace stormcell::testing {

class ReportPages {
 protected:
  /// Returns what `write` puts into a file, with plain blanks.
  std::string page_of(const std::function<void(const std::string& file)>& write) const {
    const QString path = folder_.filePath("page.html");
    write(path.toStdString());
    QFile file(path);
    const QByteArray html = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    return QString::fromUtf8(html).replace(QChar(QChar::Nbsp), ' ').toStdString();
  }
  /// Why it is no well-formed document; empty: it is one.
  static QString flaw(const std::string& html) {
    QXmlStreamReader xml(QByteArray::fromStdString(html));
    while (!xml.atEnd()) xml.readNext();
    return xml.hasError() ? xml.errorString() + " in line " + QString::number(xml.lineNumber()) : QString();
  }
  static bool has(const std::string& html, const std::string& what) { return html.find(what) != std::string::npos; }

  QTemporaryDir folder_;
};

}  // namespace stormcell::testing
