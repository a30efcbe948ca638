// Frames of a video by their number, decoded ahead on a thread of their own, a bounded number of them.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/progress.h"
#include "core/formats/video.h"

namespace stormcell {

/// The frames of a video, as found when it was opened.
struct FramePlaces {
  int64_t frames = 0;
  std::vector<int64_t> times;  ///< by frame, ascending; empty: the file does not say them all, and no jump is possible
  std::vector<int64_t> keys;   ///< frames that are decoded without those before them, ascending
};

/// A video that can be told which frame is to come next.
class VideoCursor {
 public:
  /// `places` were found when `path` was first opened. Error(bad_input): the file has changed. `stop` ends a walk
  /// between two frames with what its check() throws.
  VideoCursor(std::string path, const FramePlaces& places, CancellationToken stop = {});
  /// Moves so that the next frame is `index`, or one before it that leads to it.
  void go_to(int64_t index);
  int64_t next() const { return next_; }
  /// Takes frame next() and goes on to the one behind it. Error(bad_input): it is gone.
  VideoFrame take();

 private:
  void begin_again();
  /// Moves to `key` or a later frame up to `index`. False: this container cannot, and never will.
  bool jump_to(int64_t key, int64_t index);
  [[noreturn]] void refuse_change() const;

  std::string path_;
  const FramePlaces& places_;
  const CancellationToken stop_;
  std::unique_ptr<Video> video_;
  std::optional<VideoFrame> read_;  ///< frame next_, where a jump had to look which one it met
  int64_t next_ = 0;
  bool jumped_ = false, may_jump_ = true;
};

/// Decodes frames ahead, so that ascending reads never wait for a frame that could have been decoded before. A frame
/// further back, or behind a later key frame, is reached by a jump. Any thread may ask; one is answered at a time.
class FramesAhead {
 public:
  FramesAhead(std::string path, FramePlaces places) : path_(std::move(path)), places_(std::move(places)) {}
  ~FramesAhead();
  FramesAhead(const FramesAhead&) = delete;
  FramesAhead& operator=(const FramesAhead&) = delete;

  /// Throws Error(bad_input) that names the file if the frame is gone.
  VideoFrame frame(int64_t index);
  /// Returns when the frame is there, or throws what cancel.check() throws: then it is decoded all the same, for
  /// whoever asks next.
  void await(int64_t index, const CancellationToken& cancel);

 private:
  /// Frames in memory: those that wait, and of those that were taken the latest, since a batch is asked for more than
  /// once.
  static constexpr int64_t kMostHeld = 8, kKept = 4;

  class Turn;

  bool is_far(int64_t index) const;
  const VideoFrame& bring(int64_t index, Turn& turn);
  void decode_ahead();
  void decode_until_stopped();

  const std::string path_;
  const FramePlaces places_;
  const CancellationToken stop_;  ///< of the thread
  std::mutex mutex_;              ///< of what follows
  std::condition_variable changed_;
  bool is_asked_ = false;        ///< somebody waits for wanted_; others wait for their turn
  std::deque<VideoFrame> held_;  ///< frames from first_ on
  int64_t first_ = 0;
  int64_t wanted_ = 0;           ///< the frame that was asked for last
  std::optional<int64_t> jump_;  ///< the thread is to go on there
  std::exception_ptr problem_;   ///< why the thread ended
  std::thread thread_;           ///< started by the first who asks
};

}  // namespace stormcell
