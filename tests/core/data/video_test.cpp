// Video as data: frames in their order whoever asks for which, videos that end early or change their size, and what is
// no video.
#include <cmath>
#include <filesystem>
#include <thread>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/formats/video.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"
#include "tests/testing/video_files.h"

using namespace stormcell;
using namespace stormcell::testing;

class VideoTest : public QObject {
  Q_OBJECT

  static bool is_read() { return lacked_for_video().empty(); }
  static std::shared_ptr<const Dataset> opened(const std::string& file, int64_t batch = 1, int64_t batches = -1,
                                               int64_t channels = 3) {
    DataOptions options;
    options.batch = batch, options.batches = batches;
    options.inputs = {
        {"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {32, 48, channels}, 0, PictureSizes{8, 100}}};
    return Dataset::open(file, nullptr, options);
  }
  /// Frame i is of the grey 6 i.
  static VideoToWrite of_frames(int count) {
    VideoToWrite video;
    for (int i = 0; i < count; ++i) video.greys.push_back(static_cast<uint8_t>(6 * i));
    return video;
  }
  static int number_of(const std::vector<float>& pixels) {
    return static_cast<int>(std::lround(pixels[(48 * 16 + 6) * 3] * 255 / 6));
  }
  static int number_of(const Dataset& data, int64_t frame) {
    return number_of(data.batch(frame).find_input("pixels")->reals);
  }

 private slots:
  /// This program is linked with them, so they are there: a name that is wrong would turn all other tests off.
  void libraries_that_the_build_knows_are_found() {
    if (!video_libraries().empty()) QCOMPARE(lacked_for_video(), std::string());
  }

  void what_is_lacked_is_said() {
    if (is_read()) return;
    const Scratch scratch;
    const std::string file = scratch.write("x.mp4", "....ftyp");
    VERIFY_BAD_INPUT(opened(file), file, lacked_for_video());
  }

  void frames_are_pictures_in_any_order_data() {
    QTest::addColumn<QString>("container");
    QTest::addColumn<int>("key_every");
    QTest::addColumn<int>("between");
    QTest::newRow("avi") << "avi" << 4 << 0;
    QTest::newRow("mp4") << "mp4" << 6 << 2;
    QTest::newRow("matroska") << "matroska" << 100 << 1;
    QTest::newRow("key frames alone") << "avi" << 1 << 0;
  }
  void frames_are_pictures_in_any_order() {
    if (!is_read()) return;
    QFETCH(QString, container);
    QFETCH(int, key_every);
    QFETCH(int, between);
    const Scratch scratch;
    VideoToWrite video = of_frames(40);
    video.container = container.toStdString(), video.key_every = key_every, video.between = between;
    write_video(scratch.path("v"), video);
    const auto data = opened(scratch.path("v"));
    QCOMPARE(data->items(), int64_t{40});
    QVERIFY2(data->warnings().empty(), data->warnings().empty() ? "" : data->warnings()[0].c_str());
    QCOMPARE(to_text(data->sizes().at(0).size), std::string("32x48"));
    std::vector<std::vector<float>> in_order;
    for (int i = 0; i < 40; ++i) {
      in_order.push_back(data->batch(i).find_input("pixels")->reals);
      QCOMPARE(number_of(in_order.back()), i);
    }
    // Bit for bit the same from wherever it was jumped to.
    for (const int i : {0, 39, 20, 21, 20, 19, 3, 38, 7, 8, 30, 30, 0})
      QVERIFY2(data->batch(i).find_input("pixels")->reals == in_order[static_cast<size_t>(i)],
               std::to_string(i).c_str());
  }

  void several_threads_may_ask() {
    if (!is_read()) return;
    const Scratch scratch;
    write_video(scratch.path("v.avi"), of_frames(30));
    const auto data = opened(scratch.path("v.avi"));
    std::vector<std::thread> threads;
    std::array<int, 4> wrong{};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const int frame = (i * (2 * t + 1) + 7 * t) % 30;
          wrong[static_cast<size_t>(t)] += number_of(*data, frame) != frame;
        }
      });
    for (std::thread& t : threads) t.join();
    QCOMPARE(wrong, (std::array<int, 4>{}));
  }

  void who_waits_for_a_frame_can_be_told_to_stop() {
    if (!is_read()) return;
    const Scratch scratch;
    VideoToWrite video = of_frames(0);
    video.greys.assign(100, 90), video.height = 480, video.width = 640, video.key_every = 1000;
    write_video(scratch.path("v.avi"), video);
    const InputSpec input{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {480, 640, 3}, 0, {}};
    const CancellationToken stopped;
    const auto frames = open_video(scratch.path("v.avi"), PictureForm(input), 100, stopped);
    stopped.cancel();
    const auto interrupts = [](const auto& call) {
      try {
        call();
      } catch (const Error& error) {
        return error.kind() == ErrorKind::interrupted;
      }
      return false;
    };
    // All frames before it have to be decoded first: 20 ms are not enough.
    QVERIFY(interrupts([&] { frames->await(99, stopped); }));
    QVERIFY(std::abs(frames->sequence(99).pixels[(640 * 240 + 100) * 3] - 90 / 255.0F) < 0.02F);
    frames->await(99, stopped);  // it is there
    QVERIFY(interrupts([&] { open_video(scratch.path("v.avi"), PictureForm(input), 100, stopped); }));
    // Who goes away does not wait for a walk either.
    QVERIFY(interrupts([&] { open_video(scratch.path("v.avi"), PictureForm(input), 100)->await(99, stopped); }));
  }

  void as_many_frames_as_batches_need_are_looked_at() {
    if (!is_read()) return;
    const Scratch scratch;
    write_video(scratch.path("v.avi"), of_frames(30));
    const auto data = opened(scratch.path("v.avi"), 3, 4);
    QCOMPARE(data->items(), int64_t{12});
    QCOMPARE(data->batch_count(), int64_t{4});
    QVERIFY(data->warnings().empty());
    QVERIFY(data->fingerprint() != opened(scratch.path("v.avi"), 3)->fingerprint());
  }

  void a_turned_video_is_shown_as_it_was_seen() {
    if (!is_read()) return;
    const Scratch scratch;
    for (const int degrees : {90, 180, 270}) {
      VideoToWrite video{.greys = {0, 0}, .container = "mp4", .degrees = degrees};
      write_video(scratch.path("v.mp4"), video);
      const Batch batch = opened(scratch.path("v.mp4"))->batch(0);
      QCOMPARE(to_text(batch.picture), std::string(degrees == 180 ? "32x48" : "48x32"));
      // The black half is the left one: turned to the left it lies below.
      const std::vector<float>& pixels = batch.find_input("pixels")->reals;
      const auto at = [&](int64_t y, int64_t x) {
        return pixels[static_cast<size_t>(y * batch.picture.width + x) * 3];
      };
      QVERIFY(degrees == 90    ? at(44, 4) < 0.1F && at(4, 4) > 0.9F
              : degrees == 180 ? at(4, 44) < 0.1F && at(4, 4) > 0.9F
                               : at(4, 4) < 0.1F && at(44, 4) > 0.9F);
    }
  }

  void a_video_that_ends_early_gives_the_frames_before() {
    if (!is_read()) return;
    const Scratch scratch;
    write_video(scratch.path("whole.avi"), of_frames(40));
    const std::string whole = Scratch::read(scratch.path("whole.avi"));
    const size_t frames = whole.find("movi");  // behind the header
    const std::string file = scratch.write("v.avi", whole.substr(0, (frames + whole.size()) / 2));
    const auto data = opened(file);
    QVERIFY2(data->items() > 5 && data->items() < 35, std::to_string(data->items()).c_str());
    QVERIFY2(data->warnings().at(0).starts_with(file + ": the video ends early, after its frame " +
                                                std::to_string(data->items())),
             data->warnings()[0].c_str());
    QCOMPARE(number_of(*data, data->items() - 1), static_cast<int>(data->items() - 1));
    // The table of an MP4's frames is at the end: without it there is none.
    VideoToWrite video = of_frames(10);
    video.container = "mp4";
    write_video(scratch.path("whole.mp4"), video);
    const std::string cut = scratch.write("v.mp4", Scratch::read(scratch.path("whole.mp4")).substr(0, 400));
    VERIFY_BAD_INPUT(opened(cut), cut, "without its table of frames");
  }

  void a_video_that_changes_its_size_gives_the_frames_before() {
    if (!is_read()) return;
    const Scratch scratch;
    const auto jpegs = [](int64_t height, int count) {
      JpegToWrite picture{.height = height, .width = 48};
      picture.bytes.assign(static_cast<size_t>(height * 48 * 3), 90);
      std::string all;
      for (int i = 0; i < count; ++i) all += jpeg_of(picture);
      return all;
    };
    if (jpegs(8, 1).empty()) return;
    // A row of JPEGs, which FFmpeg takes for a video; as data it would be its first picture.
    const std::string file = scratch.write("v.mjpeg", jpegs(32, 5) + jpegs(40, 3));
    const InputSpec input{"pixels",    DType::f32, InputRole::pixels,   "picture", "", 1,
                          {32, 48, 3}, 0,          PictureSizes{8, 100}};
    const auto frames = open_video(file, PictureForm(input), 100);
    QVERIFY(frames != nullptr);
    QCOMPARE(frames->size(), int64_t{5});
    QCOMPARE(
        frames->warnings(),
        (std::vector<std::string>{
            file + ": the video changes its size after frame 5, from 32x48 to 40x48; the frames before are taken"}));
    QVERIFY(std::abs(frames->sequence(4).pixels[7] - 90 / 255.0F) < 0.01F);
    QCOMPARE(open_video(file, PictureForm(input), 5)->warnings().size(), size_t{0});
  }

  void what_does_not_fit_is_one_line() {
    if (!is_read()) return;
    const Scratch scratch;
    VideoToWrite video = of_frames(3);
    write_video(scratch.path("v.avi"), video);
    VERIFY_BAD_INPUT(opened(scratch.path("v.avi"), 1, -1, 1), scratch.path("v.avi"),
                     "is a video of [32, 48, 3], the model takes");
    video.height = 128;
    write_video(scratch.path("large.avi"), video);
    VERIFY_BAD_INPUT(opened(scratch.path("large.avi")), scratch.path("large.avi"), "is a video of [128, 48, 3]");
    const std::string text = scratch.write("x.avi", "no video"),
                      list = scratch.write("x.m3u8", "#EXTM3U\n#EXTINF:1,\n" + scratch.path("v.avi") + "\n");
    VERIFY_BAD_INPUT(opened(text), text, "holds no pictures that this version reads");
    VERIFY_BAD_INPUT(opened(list), list, "holds no pictures that this version reads");
    // A file that changes after the opening is an error of the run.
    const auto data = opened(scratch.path("v.avi"));
    scratch.write("v.avi", "no video");
    VERIFY_BAD_INPUT(data->batch(2), scratch.path("v.avi"), "has changed while it was in use");
  }

  void one_picture_is_data_too() {
    const Scratch scratch;
    const std::string file = scratch.write("x.ppm", "P6 48 32 255 " + std::string(48 * 32 * 3, 51));
    QCOMPARE(opened(file)->batch(0).find_input("pixels")->reals[5], 0.2F);
    const std::string cut = scratch.write("y.ppm", "P6 48 32 255 abc");
    VERIFY_BAD_INPUT(opened(cut), cut, "is truncated");
  }
};
STORMCELL_TEST(VideoTest)
#include "video_test.moc"
