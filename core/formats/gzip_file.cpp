#include "core/formats/gzip_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/system_error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr const char* kPackAgain = "get the file again, or pack it again";
constexpr size_t kPiece = size_t{256} << 10;

/// Opens a file without a name in $TMPDIR.
int open_nameless(std::string& folder) {
  std::error_code error;
  folder = std::filesystem::temp_directory_path(error).string();
  if (error) folder = "/tmp";
  if (const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); descriptor >= 0)
    return descriptor;
  // Some file systems have no such files.
  std::string name = folder + "/stormcell-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0)
    failed(folder, std::string("no temporary file can be made: ") + std::strerror(errno),
           "set TMPDIR to a folder that may be written");
  ::unlink(name.c_str());
  return descriptor;
}

class Unpacking {
 public:
  Unpacking(const OpenFile& from, const GzipLimits& limits)
      : from_(from),
        most_(from.size() < limits.bytes / limits.times ? from.size() * limits.times : limits.bytes),
        limits_(limits) {
    constexpr int kGzipAlone = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzipAlone) != Z_OK)
      failed(from.path(), "cannot be unpacked: there is too little memory");
  }
  ~Unpacking() { ::inflateEnd(&stream_); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  void run(int to, const std::string& folder, const Progress& progress) {
    std::vector<Bytef> out(kPiece);
    bool ended = false;  // a member has ended and the next has not begun
    bool full = false;   // the input that was taken has more output
    for (;;) {
      progress.report("unpacking", static_cast<int64_t>(read_), std::ssize(from_));
      if (!full && stream_.avail_in < 2) read_more();
      if (!full && stream_.avail_in == 0) break;
      if (ended) {
        // Joined gzip files have several members one after another.
        if (stream_.avail_in < 2 || !is_gzip({reinterpret_cast<const char*>(stream_.next_in), 2}))
          wrong("has " + counted(static_cast<int64_t>(from_.size() - read_ + stream_.avail_in), "byte") +
                " after its end that are not packed");
        ::inflateReset(&stream_), ended = false;
      }
      stream_.next_out = out.data(), stream_.avail_out = static_cast<uInt>(out.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        wrong("is damaged near byte " + std::to_string(read_ - stream_.avail_in) +
              (stream_.msg ? std::string(": ") + stream_.msg : ""));
      put(to, folder, std::span(out).first(out.size() - stream_.avail_out));
      ended = result == Z_STREAM_END;
      full = !ended && stream_.avail_out == 0;
    }
    if (!ended) wrong("ends in the middle: it was cut");
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    bad_input(from_.path(), "is packed with gzip and " + what, kPackAgain);
  }

  /// Keeps the input that was not used.
  void read_more() {
    const size_t had = stream_.avail_in, more = std::min(in_.size() - had, from_.size() - read_);
    if (more == 0) return;
    std::memmove(in_.data(), stream_.next_in ? stream_.next_in : in_.data(), had);
    from_.read(read_, std::as_writable_bytes(std::span(in_).subspan(had, more)));
    read_ += more;
    stream_.next_in = in_.data(), stream_.avail_in = static_cast<uInt>(had + more);
  }

  void put(int to, const std::string& folder, std::span<const Bytef> bytes) {
    written_ += bytes.size();
    if (written_ > most_)
      wrong("unpacks to more than " +
            (most_ == limits_.bytes ? to_text(Bytes(static_cast<int64_t>(most_)))
                                    : with_commas(static_cast<int64_t>(limits_.times)) + " times its size") +
            ", more than any file that is read here");
    while (!bytes.empty()) {
      const ssize_t done = ::write(to, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        const int error = errno;
        failed(from_.path(), "cannot be unpacked into " + folder + ": " + std::strerror(error),
               "set TMPDIR to a folder with room");
      }
      bytes = bytes.subspan(done);
    }
  }

  const OpenFile& from_;
  const size_t most_;
  const GzipLimits limits_;
  z_stream stream_{};
  std::vector<Bytef> in_ = std::vector<Bytef>(kPiece);
  size_t read_ = 0, written_ = 0;
};

}  // namespace

bool is_gzip(std::string_view begin) { return begin.starts_with("\x1F\x8B"); }

bool is_gzip(const OpenFile& file) {
  std::array<char, 2> begin{};
  if (file.size() < begin.size()) return false;
  file.read(0, std::as_writable_bytes(std::span(begin)));
  return is_gzip({begin.data(), begin.size()});
}

OpenFile open_unpacked(const std::string& path, const Progress& progress, const GzipLimits& limits) {
  OpenFile packed = OpenFile::open_regular(path);
  if (!is_gzip(packed)) return packed;
  std::string folder;
  // Closes the descriptor also if something throws.
  OpenFile unpacked = OpenFile::take(path, open_nameless(folder));
  Unpacking unpacking(packed, limits);
  unpacking.run(unpacked.descriptor(), folder, progress);
  packed.expect_unchanged();
  unpacked.look_again();
  return unpacked;
}

std::string read_unpacked_text(const std::string& path, size_t limit, const Progress& progress) {
  if (path == "-") return read_file_text(path, limit);
  const OpenFile file = open_unpacked(path, progress);
  if (file.size() > limit)
    bad_input(path, "is larger than " + to_text(Bytes(static_cast<int64_t>(limit))),
              "no file of this kind is that large; check that it is the right one");
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string unpacked_name(const std::string& path) {
  constexpr std::string_view kSuffix = ".gz";
  std::error_code none;
  if (!path.ends_with(kSuffix) || !std::filesystem::is_regular_file(path, none) ||
      !is_gzip(OpenFile::open_regular(path)))
    return path;
  return path.substr(0, path.size() - kSuffix.size());
}

}  // namespace stormcell
