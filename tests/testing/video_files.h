// Videos to test with, made when a test asks for them; where FFmpeg's libraries are absent, nothing makes them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell::testing {

struct VideoToWrite {
  int64_t height = 32, width = 48;
  std::vector<uint8_t> greys;     ///< by frame, of its left half; the right half is 255 less that
  int key_every = 4;              ///< frames from one that needs no other to the next
  int between = 0;                ///< most frames in a row that need one behind them
  std::string container = "avi";  ///< avi, mp4, matroska
  int degrees = 0;                ///< the container says that it be turned so far to the left
};
/// The names of FFmpeg's libraries that this build knows, as the loader looks for them; empty: it knows none.
std::vector<std::string> video_libraries();
/// MPEG-4 part 2, 25 frames a second. Throws std::runtime_error where it cannot.
void write_video(const std::string& path, const VideoToWrite& video);

}  // namespace stormcell::testing
