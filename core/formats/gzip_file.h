// Opens files that may be packed with gzip. A packed file is unpacked as a stream into a file without a name.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/formats/open_file.h"

namespace stormcell {

/// Decides by the first bytes.
bool is_gzip(std::string_view begin);
bool is_gzip(const OpenFile& file);

/// The most that a packed file may unpack to.
struct GzipLimits {
  size_t bytes = size_t{64} << 30;
  size_t times = 1000;  ///< multiples of its own size
};

/// Opens a regular file as OpenFile::open_regular() does. A file packed with gzip is unpacked into a file in $TMPDIR
/// that has no name and is removed when it is closed. Errors name the given file. Error(bad_input): it ends early, is
/// followed by something else, has a wrong checksum, or unpacks to more than the limits. Error(failed): the folder has
/// no room.
OpenFile open_unpacked(const std::string& path, const Progress& progress = {}, const GzipLimits& limits = {});
/// Reads the text of a small file, packed or not; otherwise like read_file_text().
std::string read_unpacked_text(const std::string& path, size_t limit, const Progress& progress = {});
/// The name without ".gz" if the file is packed, so that the rest of the name shows the format of its content.
std::string unpacked_name(const std::string& path);

}  // namespace stormcell
