// The words of all views: meaning, computation and origin of each. One table, shown on hover and as a page.
#pragma once
#include <QString>
#include <vector>

namespace stormcell::views {

struct Term {
  QString name;        ///< as a person writes it, in the singular
  QString definition;  ///< a sentence without its end
  QString formula;     ///< empty: nothing is computed
  QString origin;      ///< "measured", "counted while the run was recorded"; empty: no figure
  /// The formula if there is one, else the definition, and its origin: a line below a picture.
  QString line() const;
};

const std::vector<Term>& glossary();
/// Must be there.
const Term& term(const QString& name);
/// HTML for a tooltip: the term that is called `text`, or all terms that `text` mentions, in the singular or plural;
/// empty: none.
QString glossary_tip(const QString& text);
/// All terms, as HTML.
QString glossary_page();

}  // namespace stormcell::views
