// Stored placements as a list to choose from.
#pragma once
#include <QString>
#include <functional>
#include <vector>

#include "core/planning/edited_placement.h"

class QComboBox;

namespace stormcell::views {

/// Adds those that fit, by their numbers; the others are listed with what they need ("with another Cluster").
void add_stored(QComboBox* box, const std::vector<StoredLayout>& stored,
                const std::function<bool(const StoredLayout&)>& fits, const QString& others_need);

}  // namespace stormcell::views
