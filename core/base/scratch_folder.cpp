#include "core/base/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"

namespace stormcell {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  path_ = ((error ? std::filesystem::path("/tmp") : folder) / "stormcell-XXXXXX").string();
  if (!::mkdtemp(path_.data()))
    failed(path_, std::string("cannot be made: ") + std::strerror(errno), "set TMPDIR to a folder that may be written");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stormcell
