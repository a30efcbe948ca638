// A video as a source: its frames are pictures, in their order. They are decoded once when it is opened, to count them,
// and again ahead of reading (docs/decisions/033-pictures.md).
#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/frames_ahead.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"

namespace stormcell {
namespace {

/// The frames that opening the video found.
struct FrameList {
  PictureSize size;
  FramePlaces places;
  std::vector<std::vector<float>> samples;  ///< by frame
  std::vector<std::string> warnings;
};

/// "ends early, behind its frame 17 of 40: its packet 17 is not whole; the frames before are taken". A header alone may
/// count frames that an edit list or the camera left out.
void warn_of_end(const std::string& path, const Video& video, FrameList& list) {
  const int64_t frames = list.places.frames, stated = video.stated_frames();
  if (video.fault().empty()) {
    if (stated > frames)
      list.warnings.push_back(path + ": its header counts " + counted(stated, "frame") + ", it shows " +
                              with_commas(frames) + "; all of these are taken");
    return;
  }
  list.warnings.push_back(path + ": the video ends early, after its frame " + with_commas(frames) +
                          (stated > frames ? " of " + with_commas(stated) : std::string()) + ": " + video.fault() +
                          "; the frames before are taken");
}

FrameList read_frames(Video& video, const std::string& path, const PictureForm& form, int64_t limit,
                      const CancellationToken& cancel) {
  FrameList list;
  bool have_times = true;
  while (list.places.frames < limit) {
    cancel.check();
    const std::optional<VideoFrame> frame = video.next();
    if (!frame) break;
    const PictureSize size{frame->header.height, frame->header.width};
    if (list.places.frames == 0) {
      list.size = size;
      form.check(path, "is a video of", size, frame->header.channels);
    } else if (size != list.size) {
      list.warnings.push_back(path + ": the video changes its size after frame " + with_commas(list.places.frames) +
                              ", from " + to_text(list.size) + " to " + to_text(size) +
                              "; the frames before are taken");
      break;
    }
    if (frame->is_key) list.places.keys.push_back(list.places.frames);
    have_times = have_times && frame->time && (list.places.times.empty() || *frame->time > list.places.times.back());
    if (have_times) list.places.times.push_back(*frame->time);
    list.samples.push_back(sampled(frame->pixels()));
    ++list.places.frames;
  }
  if (!have_times) list.places.times.clear();
  if (list.places.frames == 0)
    bad_input(path, "is a video without a whole frame" + (video.fault().empty() ? std::string() : ": " + video.fault()),
              "get the file again, or convert it");
  if (list.places.frames < limit && list.warnings.empty()) warn_of_end(path, video, list);
  return list;
}

class VideoFrames : public SequenceSource {
 public:
  VideoFrames(const std::string& path, Video& video, const PictureForm& form, int64_t limit,
              const CancellationToken& cancel)
      : path_(path), list_(read_frames(video, path, form, limit, cancel)), ahead_(path, list_.places) {}
  int64_t size() const override { return list_.places.frames; }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return "frame " + std::to_string(index); }
  std::vector<std::string> warnings() const override { return list_.warnings; }
  void await(int64_t index, const CancellationToken& cancel) const override { ahead_.await(index, cancel); }
  Sequence sequence(int64_t index) const override {
    return {.pixels = ahead_.frame(index).pixels(), .picture = list_.size};
  }
  Sequence outline(int64_t index) const override { return {.pixels = list_.samples[index], .picture = list_.size}; }

 private:
  std::string path_;
  FrameList list_;
  mutable FramesAhead ahead_;
};

}  // namespace

std::unique_ptr<const SequenceSource> open_video(const std::string& path, const PictureForm& form, int64_t limit,
                                                 const CancellationToken& cancel) {
  const std::unique_ptr<Video> video = Video::open(path);
  if (!video) return nullptr;
  return std::make_unique<VideoFrames>(path, *video, form, limit, cancel);
}

}  // namespace stormcell
