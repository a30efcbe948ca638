// Video, by FFmpeg's libraries if the build supports them and the machine has them: the frames of its best picture
// stream, in order, as they are shown.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/exif.h"
#include "core/formats/picture_file.h"

namespace stormcell {

/// A clause that says why no video is read; empty where video is read. Loads FFmpeg's libraries.
std::string lacked_for_video();

struct VideoFrame {
  PictureHeader header;         ///< as shown; three channels
  std::optional<int64_t> time;  ///< in units of the stream; none: the file does not say
  bool is_key = false;          ///< decoded without those before it
  std::vector<uint8_t> bytes;   ///< as stored, [height, width, 3]; pixels() turns it
  Orientation orientation = Orientation::as_stored;

  /// Pixels from 0 to 1, [height, width, 3], as shown.
  std::vector<float> pixels() const;
};

/// An open video, read by one thread.
class Video {
 public:
  /// Null if the file does not begin like a video that the libraries know, or the build has no libraries.
  /// Error(bad_input) that names the file: it cannot be read, has no pictures or is damaged at its beginning.
  /// Containers that name other files or addresses are not opened.
  static std::unique_ptr<Video> open(const std::string& path);
  virtual ~Video() = default;

  /// The next frame; none behind the last, or if the file ends early or is damaged (see fault()).
  virtual std::optional<VideoFrame> next() = 0;
  /// Why next() ended before the end: "its packet 17 is not whole"; empty: it did not.
  virtual const std::string& fault() const = 0;
  /// The number of frames that the file states; 0: it states none.
  virtual int64_t stated_frames() const = 0;
  /// Makes next() go on with the last key frame at or before `time`, as far as the container knows. False: it cannot,
  /// and the video must be opened again.
  virtual bool seek(int64_t time) = 0;
};

}  // namespace stormcell
