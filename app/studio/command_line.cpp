#include "app/studio/command_line.h"

#include <QRegularExpression>

#include "core/summary/parse.h"

namespace stormcell::studio {

QString shell_quoted(const QString& word) {
  static const QRegularExpression plain("^[A-Za-z0-9_@%+=:,./#-]+$");
  if (plain.match(word).hasMatch()) return word;
  QString quoted = word;
  return "'" + quoted.replace("'", "'\\''") + "'";
}

QString command_of(const std::string& settings, const QString& session, const PassSelection& passes,
                   double time_limit) {
  const auto options = parse_settings(settings);
  if (!options) return {};
  QStringList words = {"stormcell", "optimize"};
  for (const std::string& word : command_words(*options, "optimize"))
    words << shell_quoted(QString::fromStdString(word));
  const auto list = [&](const char* name, const std::vector<std::string>& passes_of) {
    QStringList names;
    for (const std::string& p : passes_of) names << QString::fromStdString(p);
    if (!names.isEmpty()) words << name << names.join(",");
  };
  list("--enable", passes.enable);
  list("--disable", passes.disable);
  list("--only", passes.only);
  for (const auto& [pass, options] : passes.options)
    for (const auto& [key, value] : options)
      words << "--pass-option" << shell_quoted(QString::fromStdString(pass + "." + key + "=" + value));
  if (time_limit > 0) words << "--time-limit" << QString::number(time_limit);
  if (!session.isEmpty()) words << "-o" << shell_quoted(session);
  return words.join(' ');
}

double time_limit_of(const RunLine& run) { return run.result ? run.result->figures.time_limit_seconds.value_or(0) : 0; }

QString export_command(const QString& view, const QString& file, const QString& session, const QString& other,
                       const QStringList& how) {
  QStringList words = {"stormcell-studio", "--export", view, "-o", shell_quoted(file)};
  words << how;
  if (!other.isEmpty()) words << "--compare-with" << shell_quoted(other);
  words << shell_quoted(session);
  return words.join(' ');
}

}  // namespace stormcell::studio
