#include "views/words/glossary.h"

#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <stdexcept>

#include "views/words/tr.h"

namespace stormcell::views {
namespace {

std::vector<Term> make_terms() {
  const QString counted = tr("counted while the run was recorded"), measured = tr("measured");
  return {
      {tr("baseline"), tr("the model as it is, without any pass: what optimised plans are compared with"), {}, {}},
      {tr("batch"), tr("sequences or pictures that are run together"), {}, {}},
      {tr("branch"),
       tr("one of the sub-networks that a router chooses among: an expert, an exit, a path; numbered from 0"),
       {},
       {}},
      {tr("budget"),
       tr("bytes that weights of branches may take in memory (--weight-budget): what does not fit is read while a "
          "batch runs"),
       {},
       {}},
      {tr("cell"), tr("the smallest piece of data that is routed: a token, an image patch, a sequence"), {}, {}},
      {tr("co-activation"), tr("two branches that one cell got from the same router"),
       tr("cells that took both branches"), counted},
      {tr("dictionary"), tr("the tokens that a branch got most, over the whole run"), {}, counted},
      {tr("drops"), tr("cells that chose the branch and were kept out by its capacity"), {}, counted},
      {tr("entropy"),
       tr("how evenly a router uses its branches, in bits: 0 is one branch alone, log2(branches) is even"),
       tr("- sum of share * log2(share)"), tr("from counted loads")},
      {tr("fallback"), tr("the part of a batch that was computed again because a guard did not hold"), {}, counted},
      {tr("figure"), tr("a measured or counted number of a run, with its unit"), {}, {}},
      {tr("guard"),
       tr("a check at run time that what a pass relied on holds; where it does not, the left-out path is computed "
          "after all"),
       {},
       counted},
      {tr("imbalance"), tr("of a branch: how far it is from an even share; of a router: that of its largest branch"),
       tr("load / mean load of the router's branches - 1: 0 is even, -1 is unused"), tr("from counted loads")},
      {tr("interval"),
       tr("a range that contains the true figure in 95 of 100 repetitions; if it contains 1 (or a difference of 0), "
          "nothing was shown"),
       {},
       tr("from repeated measurements")},
      {tr("label"), tr("what the dataset says about a sequence: a language, a class, a source"), {}, {}},
      {tr("lift"), tr("how much more often a pair occurs than by chance: 1 is chance, 2 is twice as often"),
       tr("of tokens: share within the branch / share in all; of pairs: cells / what drawing by how many pairs each "
          "branch has would give"),
       tr("from counted cells")},
      {tr("load"),
       tr("cells that the branch got: real ones, and padding where a view or figure says that it is counted in"),
       {},
       counted},
      {tr("longest"), tr("the time of the step that took longest"), {}, measured},
      {tr("margin"),
       tr("score of the last chosen branch minus that of the first not chosen one: small is a near tie"),
       {},
       measured},
      {tr("operator"), tr("a kind of computation: a product, a norm, a scatter of cells to branches"), {}, {}},
      {tr("oracle"), tr("a plain implementation of the model; its outputs are the reference"), {}, {}},
      {tr("padding"),
       tr("places that make all sequences of a batch equally long; they hold no data, and cost time where a plan "
          "computes them"),
       {},
       counted},
      {tr("pass"), tr("a rewrite of the model's graph that makes it faster and leaves its outputs alone"), {}, {}},
      {tr("phase"), tr("forward: a plain pass; prefill: reading the input; decode: writing one token a step"), {}, {}},
      {tr("protocol"), tr("the rule by which a router chooses: top-k, argmax with capacity, thresholds"), {}, {}},
      {tr("reference"), tr("the run that another one is compared with"), {}, {}},
      {tr("router"), tr("decides for each cell which branches it goes to"), {}, {}},
      {tr("run"), tr("one execution of a model over data, recorded in a session"), {}, {}},
      {tr("score"), tr("what a router computes for each cell and branch; the largest are chosen"), {}, measured},
      {tr("sequence"),
       tr("one item of the data: a line of text, a request, a picture; numbered from 0 in its run"),
       {},
       {}},
      {tr("session"), tr("a file with runs of one model and what they recorded"), {}, {}},
      {tr("share"), tr("the part of a router's cells that one branch got"),
       tr("load of the branch / load of all branches of its router"), counted},
      {tr("speed-up"),
       tr("how many times as fast as the baseline; reported only where the outputs agree with the reference"),
       tr("time of all batches with the baseline / with the plan, from executions of both on the same batch, one right "
          "after the other"),
       measured},
      {tr("step"), tr("one executed operator of the plan"), {}, {}},
      {tr("token"), tr("a piece of text as the model reads it, by its number in the vocabulary"), {}, {}},
      {tr("transition"),
       tr("cells of one branch that went on to a branch of a next router, with no router between"),
       {},
       counted},
      {tr("verified"), tr("the outputs agree with those of the oracle within the stated tolerance"), {}, measured},
      {tr("weight"),
       tr("what a branch's result is multiplied by before the results of all branches are added up"),
       {},
       measured},
      {tr("weight mass"),
       tr("sum of the scores that scale the branch's outputs"),
       {},
       tr("added up while the run was recorded")},
      {tr("worker"), tr("a thread that executes steps"), {}, {}},
  };
}

/// "branches", "cells", "speed-ups" and the like.
QRegularExpression words_of(const Term& t) {
  return QRegularExpression("\\b" + QRegularExpression::escape(t.name) + "(s|es)?\\b",
                            QRegularExpression::CaseInsensitiveOption);
}

QString html_of(const Term& t) {
  QString html = "<b>" + t.name.toHtmlEscaped() + "</b>: " + t.definition.toHtmlEscaped();
  if (!t.formula.isEmpty()) html += "<br><code>" + t.formula.toHtmlEscaped() + "</code>";
  if (!t.origin.isEmpty()) html += "<br><i>" + t.origin.toHtmlEscaped() + "</i>";
  return html;
}

}  // namespace

QString Term::line() const {
  const QString& what = formula.isEmpty() ? definition : formula;
  return origin.isEmpty() ? what : what + "; " + origin;
}

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = make_terms();
  return terms;
}

const Term& term(const QString& name) {
  for (const Term& t : glossary())
    if (t.name.compare(name, Qt::CaseInsensitive) == 0) return t;
  throw std::logic_error("no term " + name.toStdString());
}

QString glossary_tip(const QString& text) {
  std::vector<const Term*> mentioned;
  for (const Term& t : glossary()) {
    const auto match = words_of(t).match(text);
    if (!match.hasMatch()) continue;
    if (match.capturedLength() == text.trimmed().size()) return html_of(t);
    mentioned.push_back(&t);
  }
  QStringList parts;
  for (const Term* t : mentioned) {
    // "weight mass" is not also "weight".
    const bool part = std::any_of(mentioned.begin(), mentioned.end(), [&](const Term* other) {
      return other != t && words_of(*t).match(other->name).hasMatch();
    });
    if (!part) parts << html_of(*t);
  }
  return parts.join("<br>");
}

QString glossary_page() {
  QString html;
  for (const Term& t : glossary()) html += "<p>" + html_of(t) + "</p>";
  return html;
}

}  // namespace stormcell::views
