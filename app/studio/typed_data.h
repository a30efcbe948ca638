// The data of a run as a user gives them: typed as text, dropped as a file, or named.
#pragma once
#include <QString>

namespace stormcell::studio {

/// The data as --data takes them. A line that names a file, a folder, random:... or demo:... stays as it is. Other text
/// is written into a file in `folder`, whose name depends on the text: the same text is the same data. Throws
/// Error(bad_input): nothing was typed, or text is given to a model of pictures. May block.
QString data_of(const QString& typed, const QString& folder, bool takes_pictures);

}  // namespace stormcell::studio
