// All views, in the order of the sidebar. A new view is one folder and one row here.
#pragma once
#include <span>

#include "views/frame/view.h"

namespace stormcell::views {
std::span<const ViewEntry> all_views();
}
