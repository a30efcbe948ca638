// The list of open sessions, and of open models with the session of their runs.
#pragma once
#include <QList>
#include <QListWidget>
#include <QString>

namespace stormcell::studio {

class ModelPage;

class OpenList : public QListWidget {
  Q_OBJECT
 public:
  explicit OpenList(QWidget* parent = nullptr);

  struct Entry {
    ModelPage* page = nullptr;  ///< null: a session alone
    QString session;            ///< empty: the model has not run yet
  };
  int size() const { return static_cast<int>(entries_.size()); }
  const Entry& entry(int index) const { return entries_[index]; }
  /// -1: nothing is open.
  int current() const { return currentRow(); }
  /// The page of the current entry; null: it is a session, or nothing is open.
  ModelPage* page() const;
  /// -1: the list does not have it.
  int find_session(const QString& session) const;
  int find_model(const QString& model) const;
  int index_of(const ModelPage* page) const;
  int add(const Entry& entry);
  void set_session(int index, const QString& session);
  /// Another page of the same model.
  void set_page(int index, ModelPage* page);
  /// Without a signal.
  void select(int index);
  void remove(int index);

 signals:
  /// The user chose an entry.
  void chosen(int index);

 private:
  QString title_of(const Entry& entry) const;
  QList<Entry> entries_;
};

}  // namespace stormcell::studio
