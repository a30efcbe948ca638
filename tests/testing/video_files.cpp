#include "tests/testing/video_files.h"

#include <stdexcept>

#ifdef STORMCELL_WITH_VIDEO
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libswscale/swscale.h>
}
#endif

namespace stormcell::testing {

#ifdef STORMCELL_WITH_VIDEO
namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("no video can be written: ") + what);
}

/// Luminance of MPEG's range: 16 is black, 235 white.
void paint(AVFrame* frame, const VideoToWrite& video, uint8_t grey) {
  const auto luminance = [](int value) { return static_cast<uint8_t>(16 + (value * 219 + 127) / 255); };
  for (int y = 0; y < frame->height; ++y)
    for (int x = 0; x < frame->width; ++x)
      frame->data[0][y * frame->linesize[0] + x] = luminance(x < video.width / 2 ? grey : 255 - grey);
  for (int plane : {1, 2})
    for (int y = 0; y < frame->height / 2; ++y)
      for (int x = 0; x < frame->width / 2; ++x) frame->data[plane][y * frame->linesize[plane] + x] = 128;
}

void write_packets(AVFormatContext* format, AVCodecContext* codec, AVPacket* packet, const AVFrame* frame) {
  expect(avcodec_send_frame(codec, frame) == 0, "a frame is not taken");
  while (avcodec_receive_packet(codec, packet) == 0) {
    packet->duration = 1;
    av_packet_rescale_ts(packet, codec->time_base, format->streams[0]->time_base);
    packet->stream_index = 0;
    expect(av_interleaved_write_frame(format, packet) == 0, "a packet is not written");
  }
}

AVCodecContext* encoder_for(const VideoToWrite& video, const AVFormatContext* format) {
  const AVCodec* encoder = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
  expect(encoder, "there is no encoder");
  AVCodecContext* codec = avcodec_alloc_context3(encoder);
  codec->height = static_cast<int>(video.height), codec->width = static_cast<int>(video.width);
  codec->pix_fmt = AV_PIX_FMT_YUV420P;
  codec->time_base = {1, 25}, codec->framerate = {25, 1};
  codec->gop_size = video.key_every, codec->max_b_frames = video.between;
  codec->flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT;
  codec->global_quality = 2 * FF_QP2LAMBDA;
  if (format->oformat->flags & AVFMT_GLOBALHEADER) codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  expect(avcodec_open2(codec, encoder, nullptr) == 0, "the encoder does not start");
  return codec;
}

}  // namespace

void write_video(const std::string& path, const VideoToWrite& video) {
  av_log_set_level(AV_LOG_QUIET);
  AVFormatContext* format = nullptr;
  expect(avformat_alloc_output_context2(&format, nullptr, video.container.c_str(), path.c_str()) >= 0,
         "there is no such container");
  format->flags |= AVFMT_FLAG_BITEXACT;
  AVCodecContext* codec = encoder_for(video, format);
  AVStream* stream = avformat_new_stream(format, nullptr);
  stream->time_base = codec->time_base;
  avcodec_parameters_from_context(stream->codecpar, codec);
  if (video.degrees != 0)
    av_display_rotation_set(
        reinterpret_cast<int32_t*>(av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof(int32_t) * 9)),
        -video.degrees);  // it takes degrees to the right
  expect(avio_open(&format->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0, "the file cannot be written");
  expect(avformat_write_header(format, nullptr) >= 0, "the header is not written");
  AVFrame* frame = av_frame_alloc();
  frame->format = codec->pix_fmt, frame->height = codec->height, frame->width = codec->width;
  expect(av_frame_get_buffer(frame, 0) == 0, "there is no memory");
  AVPacket* packet = av_packet_alloc();
  for (size_t i = 0; i < video.greys.size(); ++i) {
    av_frame_make_writable(frame);
    paint(frame, video, video.greys[i]);
    frame->pts = static_cast<int64_t>(i);
    write_packets(format, codec, packet, frame);
  }
  write_packets(format, codec, packet, nullptr);
  av_write_trailer(format);
  avio_closep(&format->pb);
  av_packet_free(&packet);
  av_frame_free(&frame);
  avcodec_free_context(&codec);
  avformat_free_context(format);
}
std::vector<std::string> video_libraries() {
  return {"libavutil.so." + std::to_string(LIBAVUTIL_VERSION_MAJOR),
          "libavcodec.so." + std::to_string(LIBAVCODEC_VERSION_MAJOR),
          "libavformat.so." + std::to_string(LIBAVFORMAT_VERSION_MAJOR),
          "libswscale.so." + std::to_string(LIBSWSCALE_VERSION_MAJOR)};
}
#else
std::vector<std::string> video_libraries() { return {}; }
void write_video(const std::string&, const VideoToWrite&) { throw std::runtime_error("this build has no FFmpeg"); }
#endif

}  // namespace stormcell::testing
