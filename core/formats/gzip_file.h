// Files packed with gzip, which servers and people hand over beside the plain ones: unpacked as a stream into a file without a name.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/formats/open_file.h"

namespace stormcell {

/// By the first bytes.
bool is_gzip(std::string_view begin);
bool is_gzip(const OpenFile& file);

/// How much a packed file may unpack to.
struct GzipLimits {
  size_t bytes = size_t{64} << 30;
  size_t times = 1000;  ///< of its own size
};

/// A regular file as OpenFile::open_regular() opens it, unpacked where it is packed with gzip: into a file in $TMPDIR that has no name
/// there and goes when it is closed. Errors name the file that was given. Error(bad_input): it ends early, something else follows, its
/// checksum is another, or it unpacks to more than the limits. Error(failed): the folder has no room.
OpenFile open_unpacked(const std::string& path, const Progress& progress = {}, const GzipLimits& limits = {});
/// The text of a small file, packed or not; as read_file_text() otherwise.
std::string read_unpacked_text(const std::string& path, size_t limit, const Progress& progress = {});
/// The name without ".gz" if the file is packed, so that the rest of the name shows the format of its content.
std::string unpacked_name(const std::string& path);

}  // namespace stormcell
