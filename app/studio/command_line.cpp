#include "app/studio/command_line.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

namespace stormcell::studio {

QString shell_quoted(const QString& word) {
  static const QRegularExpression plain("^[A-Za-z0-9_@%+=:,./#-]+$");
  if (plain.match(word).hasMatch()) return word;
  QString quoted = word;
  return "'" + quoted.replace("'", "'\\''") + "'";
}

std::optional<ExperimentOptions> options_of(const std::string& settings) {
  const QJsonObject s = QJsonDocument::fromJson(QByteArray::fromStdString(settings)).object();
  if (s["model"].toString().isEmpty()) return {};
  ExperimentOptions o;
  o.model = s["model"].toString().toStdString();
  o.data = s["data"].toString().toStdString();
  o.batch = static_cast<int64_t>(s["batch"].toDouble(8));
  o.batches = static_cast<int64_t>(s["batches"].toDouble(-1));
  o.length = static_cast<int64_t>(s["length"].toDouble(0));
  o.truncate = s["truncate"].toBool();
  o.dtype = s["dtype"].toString().toStdString();
  o.field = s["field"].toString("text").toStdString();
  o.target_field = s["target_field"].toString().toStdString();
  o.label_field = s["label_field"].toString().toStdString();
  o.seed = static_cast<uint64_t>(s["seed"].toDouble(0));
  o.threads = s["threads"].toInt(0);
  o.record_inputs = s["record_inputs"].toBool();
  o.record_scores = s["record_scores"].toBool();
  if (s["tolerance"].isDouble()) o.tolerance = s["tolerance"].toDouble();
  return o;
}

QString command_of(const std::string& settings, const QString& session, const PlanChoice& passes) {
  const auto options = options_of(settings);
  if (!options) return {};
  const ExperimentOptions standard;
  QStringList words = {"stormcell", "optimize", shell_quoted(QString::fromStdString(options->model)), "--data",
                       shell_quoted(QString::fromStdString(options->data))};
  const auto number = [&](const char* name, int64_t value, int64_t usual) {
    if (value != usual) words << name << QString::number(value);
  };
  const auto text = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) words << name << shell_quoted(QString::fromStdString(value));
  };
  number("--batch", options->batch, standard.batch);
  number("--batches", options->batches, standard.batches);
  number("--length", options->length, standard.length);
  if (options->truncate) words << "--truncate";
  text("--field", options->field, standard.field);
  text("--target-field", options->target_field, "");
  text("--label-field", options->label_field, "");
  number("--seed", static_cast<int64_t>(options->seed), 0);
  if (options->record_inputs) words << "--record-inputs";
  if (options->record_scores) words << "--record-scores";
  if (options->tolerance) words << "--tolerance" << QString::number(*options->tolerance);
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
  if (!session.isEmpty()) words << "-o" << shell_quoted(session);
  return words.join(' ');
}

QString export_command(const QString& view, const QString& file, const QString& session, const QString& other, const QStringList& how) {
  QStringList words = {"stormcell-studio", "--export", view, "-o", shell_quoted(file)};
  words << how;
  if (!other.isEmpty()) words << "--compare-with" << shell_quoted(other);
  words << shell_quoted(session);
  return words.join(' ');
}

}  // namespace stormcell::studio
