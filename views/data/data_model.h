// Content of a session and what it lacks, in words: a page and a table. Pure: no widget, no reading.
#pragma once
#include <QString>

#include "core/readings/contents_view.h"
#include "views/drawing/theme.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// A kind of record: its name, the question that it answers, and how to get it.
struct KeptText {
  QString name, use, how;
};
KeptText text_of(Kept kept);

/// The page as HTML; `run` is the current one.
QString make_page(const SessionData& data, int64_t run, const Theme& theme);
/// One row for each run and kind of record.
Table make_table(const SessionData& data);

}  // namespace stormcell::views
