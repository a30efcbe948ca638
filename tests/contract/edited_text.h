// The changes that editors, spreadsheets and shells make to a text, and the rows of their tests.
#pragma once
#include <QTest>
#include <string>

#include "tests/testing/gzip_bytes.h"

namespace stormcell::testing {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
inline std::string with_crlf(const std::string& text) { return replaced(text, "\n", "\r\n"); }
inline std::string quoted(const std::string& text) {
  std::string all = "\"" + replaced(text, ",", "\",\"");
  all = replaced(all, "\n", "\"\n\"");
  return all.substr(0, all.size() - 1);
}
inline std::string utf16(const std::string& text) {
  std::string wide("\xFF\xFE");
  for (const char c : text) wide += c, wide += '\0';
  return wide;
}
inline const std::string kMark = "\xEF\xBB\xBF";

inline void edited_columns() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("words");
}
inline void edited_row(const char* name, const std::string& bytes, const std::string& words = {}) {
  QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()))
                      << QString::fromStdString(words);
}

}  // namespace stormcell::testing
