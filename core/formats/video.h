// Video, by FFmpeg's libraries where the build knows them and the machine has them: the frames of its best picture
// stream, one after another, as they are shown.
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
  PictureHeader header;         ///< as it is shown; three channels
  std::optional<int64_t> time;  ///< in units of the stream; none: the file does not say
  bool is_key = false;          ///< decoded without those before it
  std::vector<uint8_t> bytes;   ///< as it is stored, [height, width, 3]; pixels() turns it
  Orientation orientation = Orientation::as_stored;

  /// From 0 to 1, [height, width, 3], as it is shown.
  std::vector<float> pixels() const;
};

/// One thread reads.
class Video {
 public:
  /// Null where the file begins as no video that the libraries know, or the build has none of them. Error(bad_input)
  /// that names the file: it cannot be read, has no pictures or is damaged where it begins. Of containers only those
  /// that hold all they show: none that names other files or addresses.
  static std::unique_ptr<Video> open(const std::string& path);
  virtual ~Video() = default;

  /// The next frame; none behind the last, or where the file ends early or is damaged (fault() says so).
  virtual std::optional<VideoFrame> next() = 0;
  /// Why next() ended before the end: "its packet 17 is not whole"; empty: it did not.
  virtual const std::string& fault() const = 0;
  /// How many frames the file says that it has; 0: it does not.
  virtual int64_t stated_frames() const = 0;
  /// next() goes on with the last key frame that stands at `time` or before it, as far as the container knows. False:
  /// it cannot, and the video has to be opened again.
  virtual bool seek(int64_t time) = 0;
};

}  // namespace stormcell
