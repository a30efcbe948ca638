#include "core/formats/video.h"

#include <algorithm>

#include "core/base/error.h"

#ifdef STORMCELL_WITH_VIDEO
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libswscale/swscale.h>
}

#include <dlfcn.h>

#include <cmath>
#include <mutex>
#include <span>

#include "core/formats/open_file.h"
#endif

namespace stormcell {

std::vector<float> VideoFrame::pixels() const {
  std::vector<float> reals(bytes.size());
  std::transform(bytes.begin(), bytes.end(), reals.begin(), [](uint8_t b) { return static_cast<float>(b) / 255.0F; });
  const bool swapped = swaps_sides(orientation);
  return turned(std::move(reals), swapped ? header.width : header.height, swapped ? header.height : header.width,
                header.channels, orientation);
}

#ifdef STORMCELL_WITH_VIDEO
namespace {

/// A library that the loader looks for when it is made.
class Library {
 public:
  Library(const char* name, int version)
      : handle_(dlopen((std::string(name) + ".so." + std::to_string(version)).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) note_error(name);
  }
  /// Address from dlsym(), which converts to the type of function that it is assigned to.
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol find(const char* name) {
    Symbol found{handle_ ? dlsym(handle_, name) : nullptr};
    if (!found.address && lacks_.empty()) note_error(name);
    return found;
  }
  /// The loader's sentence about the library or the first function that is not there; empty: all are.
  const std::string& lacks() const { return lacks_; }

 private:
  /// The loader says nothing about a function whose address is null.
  void note_error(const char* name) {
    const char* why = dlerror();
    lacks_ = why ? why : std::string(name) + " is not there";
  }

  void* handle_;  // never closed: pictures of a video may outlive whoever opened it
  std::string lacks_;
};

/// FFmpeg's functions. Its libraries, and the hundred that they need, are loaded with the first video: with each start
/// of a program they would take 30 ms.
class Ffmpeg {
  Library util_{"libavutil", LIBAVUTIL_VERSION_MAJOR};
  Library codec_{"libavcodec", LIBAVCODEC_VERSION_MAJOR};
  Library format_{"libavformat", LIBAVFORMAT_VERSION_MAJOR};
  Library scale_{"libswscale", LIBSWSCALE_VERSION_MAJOR};

 public:
  std::string lacks() const {
    for (const Library* library : {&util_, &codec_, &format_, &scale_})
      if (!library->lacks().empty()) return library->lacks();
    return {};
  }

  decltype(&::av_display_rotation_get) av_display_rotation_get = util_.find("av_display_rotation_get");
  decltype(&::av_frame_alloc) av_frame_alloc = util_.find("av_frame_alloc");
  decltype(&::av_frame_free) av_frame_free = util_.find("av_frame_free");
  decltype(&::av_freep) av_freep = util_.find("av_freep");
  decltype(&::av_log_set_level) av_log_set_level = util_.find("av_log_set_level");
  decltype(&::av_malloc) av_malloc = util_.find("av_malloc");
  decltype(&::av_strdup) av_strdup = util_.find("av_strdup");
  decltype(&::av_strerror) av_strerror = util_.find("av_strerror");
  decltype(&::av_packet_alloc) av_packet_alloc = codec_.find("av_packet_alloc");
  decltype(&::av_packet_free) av_packet_free = codec_.find("av_packet_free");
  decltype(&::av_packet_unref) av_packet_unref = codec_.find("av_packet_unref");
  decltype(&::avcodec_alloc_context3) avcodec_alloc_context3 = codec_.find("avcodec_alloc_context3");
  decltype(&::avcodec_flush_buffers) avcodec_flush_buffers = codec_.find("avcodec_flush_buffers");
  decltype(&::avcodec_free_context) avcodec_free_context = codec_.find("avcodec_free_context");
  decltype(&::avcodec_open2) avcodec_open2 = codec_.find("avcodec_open2");
  decltype(&::avcodec_parameters_to_context) avcodec_parameters_to_context =
      codec_.find("avcodec_parameters_to_context");
  decltype(&::avcodec_receive_frame) avcodec_receive_frame = codec_.find("avcodec_receive_frame");
  decltype(&::avcodec_send_packet) avcodec_send_packet = codec_.find("avcodec_send_packet");
  decltype(&::av_find_best_stream) av_find_best_stream = format_.find("av_find_best_stream");
  decltype(&::av_read_frame) av_read_frame = format_.find("av_read_frame");
  decltype(&::av_seek_frame) av_seek_frame = format_.find("av_seek_frame");
  decltype(&::av_stream_get_side_data) av_stream_get_side_data = format_.find("av_stream_get_side_data");
  decltype(&::avformat_alloc_context) avformat_alloc_context = format_.find("avformat_alloc_context");
  decltype(&::avformat_close_input) avformat_close_input = format_.find("avformat_close_input");
  decltype(&::avformat_find_stream_info) avformat_find_stream_info = format_.find("avformat_find_stream_info");
  decltype(&::avformat_open_input) avformat_open_input = format_.find("avformat_open_input");
  decltype(&::avio_alloc_context) avio_alloc_context = format_.find("avio_alloc_context");
  decltype(&::avio_context_free) avio_context_free = format_.find("avio_context_free");
  decltype(&::sws_freeContext) sws_freeContext = scale_.find("sws_freeContext");
  decltype(&::sws_getCachedContext) sws_getCachedContext = scale_.find("sws_getCachedContext");
  decltype(&::sws_getCoefficients) sws_getCoefficients = scale_.find("sws_getCoefficients");
  decltype(&::sws_scale) sws_scale = scale_.find("sws_scale");
  decltype(&::sws_setColorspaceDetails) sws_setColorspaceDetails = scale_.find("sws_setColorspaceDetails");
};

const Ffmpeg& ffmpeg() {
  static const Ffmpeg functions;
  return functions;
}

/// Containers are recognised by content. Formats that list other files or addresses are excluded.
constexpr const char* kContainers =
    "avi,mov,mp4,matroska,webm,mpegts,mpeg,mpegvideo,ogg,flv,ivf,h264,hevc,m4v,mjpeg,yuv4mpegpipe,nut";

std::string text_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  ffmpeg().av_strerror(error, text, sizeof text);
  return text;
}

/// The bytes of a file for the demuxer, read by ourselves: the libraries open nothing.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path) : file_(OpenFile::open_regular(path)) {
    constexpr int kBuffer = 1 << 16;
    context_ = ffmpeg().avio_alloc_context(static_cast<unsigned char*>(ffmpeg().av_malloc(kBuffer)), kBuffer, 0, this,
                                           &ByteSource::read, nullptr, &ByteSource::seek);
  }
  ~ByteSource() {
    if (context_) ffmpeg().av_freep(&context_->buffer);
    ffmpeg().avio_context_free(&context_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  AVIOContext* context() { return context_; }

 private:
  static int read(void* opaque, uint8_t* to, int count) {
    auto* self = static_cast<ByteSource*>(opaque);
    const size_t left = self->file_.size() - self->at_, taken = std::min(static_cast<size_t>(count), left);
    if (taken == 0) return AVERROR_EOF;
    try {
      self->file_.read(self->at_, std::as_writable_bytes(std::span(to, taken)));
    } catch (const Error&) {  // no exception may pass through the library
      return AVERROR(EIO);
    }
    self->at_ += taken;
    return static_cast<int>(taken);
  }
  static int64_t seek(void* opaque, int64_t offset, int whence) {
    auto* self = static_cast<ByteSource*>(opaque);
    const auto size = std::ssize(self->file_);
    if (whence & AVSEEK_SIZE) return size;
    const int64_t to = (whence == SEEK_CUR ? static_cast<int64_t>(self->at_) : whence == SEEK_END ? size : 0) + offset;
    if (to < 0 || to > size) return AVERROR(EINVAL);
    self->at_ = static_cast<size_t>(to);
    return to;
  }

  OpenFile file_;
  AVIOContext* context_ = nullptr;
  size_t at_ = 0;
};

class FfmpegVideo : public Video {
 public:
  explicit FfmpegVideo(const std::string& path) : path_(path), source_(path) {
    static std::once_flag quiet;
    std::call_once(quiet,
                   [] { ffmpeg().av_log_set_level(AV_LOG_QUIET); });  // it would write to stderr whatever it meets
  }
  ~FfmpegVideo() override {
    ffmpeg().av_packet_free(&packet_);
    ffmpeg().av_frame_free(&frame_);
    ffmpeg().sws_freeContext(scaler_);
    ffmpeg().avcodec_free_context(&codec_);
    ffmpeg().avformat_close_input(&format_);
  }
  FfmpegVideo(const FfmpegVideo&) = delete;
  FfmpegVideo& operator=(const FfmpegVideo&) = delete;

  /// False: it is no video.
  bool start() {
    format_ = ffmpeg().avformat_alloc_context();
    packet_ = ffmpeg().av_packet_alloc(), frame_ = ffmpeg().av_frame_alloc();
    if (!format_ || !packet_ || !frame_ || !source_.context()) failed(path_, "there is no memory to read it");
    format_->pb = source_.context();
    format_->format_whitelist = ffmpeg().av_strdup(kContainers);
    format_->protocol_whitelist = ffmpeg().av_strdup("");
    if (ffmpeg().avformat_open_input(&format_, nullptr, nullptr, nullptr) < 0) return false;
    if (const int error = ffmpeg().avformat_find_stream_info(format_, nullptr); error < 0)
      refuse("is not a whole video: " + text_of(error));
    const AVCodec* decoder = nullptr;
    const int stream = ffmpeg().av_find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (stream == AVERROR_DECODER_NOT_FOUND) refuse("is a video that FFmpeg's libraries of this machine cannot decode");
    if (stream < 0) refuse("holds no pictures");
    stream_ = format_->streams[stream];
    open_decoder(decoder);
    orientation_ = orientation_of(*stream_);
    return true;
  }

  std::optional<VideoFrame> next() override {
    while (fault_.empty()) {
      const int got = ffmpeg().avcodec_receive_frame(codec_, frame_);
      if (got == 0) return shown_frame();
      if (got == AVERROR_EOF) return {};
      if (got != AVERROR(EAGAIN) || !feed()) {
        if (fault_.empty()) fault_ = "a frame cannot be decoded: " + text_of(got);
        return {};
      }
    }
    return {};
  }
  const std::string& fault() const override { return fault_; }
  int64_t stated_frames() const override { return stream_->nb_frames; }
  bool seek(int64_t time) override {
    ffmpeg().avcodec_flush_buffers(codec_);
    fault_.clear();
    packets_ = 0;
    return ffmpeg().av_seek_frame(format_, stream_->index, time, AVSEEK_FLAG_BACKWARD) >= 0;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    bad_input(path_, what, "convert it, for example with ffmpeg -i IN OUT.mp4");
  }

  void open_decoder(const AVCodec* decoder) {
    codec_ = ffmpeg().avcodec_alloc_context3(decoder);
    if (!codec_ || ffmpeg().avcodec_parameters_to_context(codec_, stream_->codecpar) < 0)
      refuse("is a video with a header that cannot be used");
    codec_->thread_count = 1;  // the other cores run the network
    codec_->max_pixels = kMostPixels;
    codec_->err_recognition |= AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
    if (const int error = ffmpeg().avcodec_open2(codec_, decoder, nullptr); error < 0)
      refuse("cannot be decoded: " + text_of(error));
  }
  /// Cameras that are held upright store their pictures lying. Quarters of a turn are honoured.
  static Orientation orientation_of(const AVStream& stream) {
    const uint8_t* matrix = ffmpeg().av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
    const double angle = matrix ? ffmpeg().av_display_rotation_get(reinterpret_cast<const int32_t*>(matrix)) : 0;
    if (!std::isfinite(angle)) return Orientation::as_stored;
    const long quarters = (std::lround(angle / 90) % 4 + 4) % 4;  // to the left
    constexpr Orientation kTurns[] = {Orientation::as_stored, Orientation::turn_left, Orientation::half_turn,
                                      Orientation::turn_right};
    return kTurns[quarters];
  }

  /// Gives the decoder one packet more of the stream, or the end. False: there is a fault.
  bool feed() {
    for (;;) {
      const int read = ffmpeg().av_read_frame(format_, packet_);
      if (read == AVERROR_EOF) {
        ffmpeg().avcodec_send_packet(codec_, nullptr);
        return true;
      }
      if (read < 0) return stop("it cannot be read behind packet " + std::to_string(packets_) + ": " + text_of(read));
      const bool ours = packet_->stream_index == stream_->index, damaged = packet_->flags & AV_PKT_FLAG_CORRUPT;
      const int sent = ours && !damaged ? ffmpeg().avcodec_send_packet(codec_, packet_) : 0;
      ffmpeg().av_packet_unref(packet_);
      if (!ours) continue;
      if (damaged) return stop("its packet " + std::to_string(packets_) + " is not whole");
      if (sent < 0) return stop("its packet " + std::to_string(packets_) + " cannot be decoded: " + text_of(sent));
      ++packets_;
      return true;
    }
  }
  bool stop(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }

  std::optional<VideoFrame> shown_frame() {
    if (frame_->flags & AV_FRAME_FLAG_CORRUPT || frame_->decode_error_flags) {
      fault_ = "a frame is damaged";
      return {};
    }
    VideoFrame shown{
        .header = {frame_->height, frame_->width, 3}, .is_key = frame_->key_frame != 0, .orientation = orientation_};
    check_picture_size(path_, frame_->height, frame_->width);
    if (swaps_sides(orientation_)) std::swap(shown.header.height, shown.header.width);
    if (frame_->best_effort_timestamp != AV_NOPTS_VALUE) shown.time = frame_->best_effort_timestamp;
    to_colours(shown.bytes);
    return shown;
  }
  /// Converts by the matrix and range that the frame states, as `ffmpeg` does; the bytes are the same on every
  /// processor.
  void to_colours(std::vector<uint8_t>& bytes) {
    const auto format = static_cast<AVPixelFormat>(frame_->format);
    const int width = frame_->width, height = frame_->height;
    scaler_ = ffmpeg().sws_getCachedContext(scaler_, width, height, format, width, height, AV_PIX_FMT_RGB24,
                                            SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT, nullptr, nullptr, nullptr);
    if (!scaler_) refuse("holds pictures in a form that cannot be converted");
    const int* matrix = ffmpeg().sws_getCoefficients(frame_->colorspace);
    ffmpeg().sws_setColorspaceDetails(scaler_, matrix, frame_->color_range == AVCOL_RANGE_JPEG,
                                      ffmpeg().sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
    const size_t row = static_cast<size_t>(width) * 3;
    // The library writes whole vectors: rows are apart and each has room behind it.
    const size_t stride = (row + 63) / 64 * 64 + 64;
    spread_.resize(stride * static_cast<size_t>(height));
    uint8_t* to[] = {spread_.data(), nullptr, nullptr, nullptr};
    const int strides[] = {static_cast<int>(stride), 0, 0, 0};
    if (ffmpeg().sws_scale(scaler_, frame_->data, frame_->linesize, 0, height, to, strides) != height)
      refuse("holds a picture that cannot be converted");
    bytes.resize(row * static_cast<size_t>(height));
    for (size_t y = 0; y < static_cast<size_t>(height); ++y)
      std::copy_n(spread_.data() + y * stride, row, bytes.data() + y * row);
  }

  std::string path_, fault_;
  ByteSource source_;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  AVCodecContext* codec_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;
  SwsContext* scaler_ = nullptr;
  std::vector<uint8_t> spread_;
  Orientation orientation_ = Orientation::as_stored;
  int64_t packets_ = 0;
};

}  // namespace

std::string lacked_for_video() {
  const std::string lacks = ffmpeg().lacks();
  const std::string packages = "libavformat" + std::to_string(LIBAVFORMAT_VERSION_MAJOR) + " libswscale" +
                               std::to_string(LIBSWSCALE_VERSION_MAJOR);
  return lacks.empty() ? std::string() : "no video is read: " + lacks + " (Debian: " + packages + ")";
}

std::unique_ptr<Video> Video::open(const std::string& path) {
  if (!ffmpeg().lacks().empty()) return nullptr;
  auto video = std::make_unique<FfmpegVideo>(path);
  if (!video->start()) return nullptr;
  return video;
}
#else
std::string lacked_for_video() {
  return "this build reads no video: it was made without libavformat-dev libavcodec-dev libswscale-dev";
}

std::unique_ptr<Video> Video::open(const std::string&) { return nullptr; }
#endif

}  // namespace stormcell
