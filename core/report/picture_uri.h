// A small picture as an address that holds it whole: a page with pictures stays one file that refers to nothing.
#pragma once
#include <string>

#include "core/cell/thumbnail.h"

namespace stormcell::report {

/// "data:image/png;base64,..."; empty without a picture. It is not compressed, because that library is an optional part
/// of a build: a third larger than its pixels.
std::string picture_uri(const Thumbnail& picture);

}  // namespace stormcell::report
