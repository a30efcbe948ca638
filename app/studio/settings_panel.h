// The settings of a run: every option of `stormcell optimize`, made from the tables that the command line is made from
// (kSettings, kOptimizeOptions). An empty field leaves an option at its default.
#pragma once
#include <QString>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "app/studio/run_controller.h"

class QGridLayout;
class QLineEdit;

namespace stormcell::studio {

class SettingsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit SettingsPanel(QWidget* parent = nullptr);
  /// The current settings, without model and data. Throws Error(bad_input) that names the option.
  RunRequest request() const;
  QString session() const;
  void set_session(const QString& session);

 private:
  /// Takes the word of one option; not called for an empty one.
  using Read = std::function<void(const std::string& word, RunRequest& request)>;
  struct Row {
    std::function<std::string()> word;  ///< empty: left at its default
    Read read;
  };
  void add_words(const QString& option, const QString& value, const QString& help, Read read);
  void add_flag(const QString& option, const QString& help, bool on, Read read);
  void add_choice(const QString& option, const QStringList& choices, const QString& help, Read read);
  void add_settings();
  void add_optimize_options();
  void add_session();
  void add_row(const QString& title, QWidget* editor, const QString& help);

  QGridLayout* grid_;
  QLineEdit* session_ = nullptr;
  std::vector<Row> rows_;
};

/// The title of an option: "Weight budget" of "--weight-budget".
QString title_of_option(const QString& option);

}  // namespace stormcell::studio
