// A small picture as an address that holds it whole: a page with pictures stays one file that refers to nothing.
#pragma once
#include <string>

#include "core/cell/thumbnail.h"

namespace stormcell::report {

/// "data:image/png;base64,..."; empty where there is no picture. Not compressed, since the library for that is an
/// optional part of a build: a third more than its pixels.
std::string picture_uri(const Thumbnail& picture);

}  // namespace stormcell::report
