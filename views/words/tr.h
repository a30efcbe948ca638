// Words of pictures and tables in the language of the application. Widgets have a tr() of their own.
#pragma once
#include <QCoreApplication>
#include <QString>

namespace stormcell::views {

/// `text`, translated in the context "Views".
inline QString tr(const char* text) { return QCoreApplication::translate("Views", text); }

}  // namespace stormcell::views
