#include "views/words/fault_words.h"

namespace stormcell::views {
namespace {

/// Start of the advice, which ends an Error's text in parentheses and may contain some; -1: there is none.
qsizetype advice_of(const QString& fault) {
  if (!fault.endsWith(')')) return -1;
  int depth = 0;
  for (qsizetype i = fault.size() - 1; i > 0; --i) {
    if (fault[i] == ')') ++depth;
    if (fault[i] == '(' && --depth == 0) return fault[i - 1] == ' ' ? i - 1 : -1;
  }
  return -1;
}

}  // namespace

QString without_options(QString fault) {
  if (const qsizetype advice = advice_of(fault); advice >= 0 && fault.indexOf("--", advice) >= 0)
    fault.truncate(advice);
  if (const qsizetype colon = fault.indexOf(": "); colon > 0 && fault.startsWith("--")) fault.remove(0, colon + 2);
  return fault;
}

}  // namespace stormcell::views
