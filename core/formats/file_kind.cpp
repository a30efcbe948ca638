#include "core/formats/file_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {

struct UseName {
  FileUse use;
  std::string_view name;
};
constexpr std::array kUseNames = {
    UseName{FileUse::trace, "a routing trace"},
    UseName{FileUse::model, "a model that this version reads"},
    UseName{FileUse::model_config, "a model's config.json"},
    UseName{FileUse::data, "data for a model"},
    UseName{FileUse::session, "a session"},
    UseName{FileUse::placement, "a placement"},
    UseName{FileUse::calls, "a table of measured calls"},
    UseName{FileUse::calibration, "a calibration, which calibrate CALLS.csv -o CAL.json writes"},
    UseName{FileUse::cluster, "a cluster"},
    UseName{FileUse::configuration, "a configuration that optimize wrote"},
    UseName{FileUse::jobs, "a list of jobs"},
    UseName{FileUse::tokenizer, "a tokenizer that this version reads"},
    UseName{FileUse::index, "an index of weights"},
    UseName{FileUse::tensors, "a safetensors file"},
    UseName{FileUse::array, "a NumPy array"},
    UseName{FileUse::picture, "a picture that this version reads"},
    UseName{FileUse::json, "JSON"},
    UseName{FileUse::labels, "a table of labels"},
};

std::string name_of(std::string_view path) {
  std::string name(path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string with_path(std::string_view remedy, const std::string& path) {
  constexpr std::string_view kFile = "FILE";
  std::string text(remedy);
  const std::string word = shell_word(path);
  for (size_t at = 0; (at = text.find(kFile, at)) != std::string::npos; at += word.size())
    text.replace(at, kFile.size(), word);
  return text;
}

/// Opens a regular file without waiting for a pipe; -1: it cannot be read.
class Opened {
 public:
  explicit Opened(const std::string& path) {
    if (path.find('\0') != std::string::npos) return;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
    regular_ = true, size_ = static_cast<uint64_t>(status.st_size);
  }
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  bool is_regular() const { return regular_; }
  uint64_t size() const { return size_; }
  std::string read(uint64_t at) const {
    std::string bytes(std::min<uint64_t>(kLookedAt, size_ - at), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

 private:
  int descriptor_ = -1;
  bool regular_ = false;
  uint64_t size_ = 0;
};

/// Recognises a file of `size` bytes. `read(at)` gives at most kLookedAt bytes from there on.
std::optional<KnownFile> look_at(const auto& read, uint64_t size, const std::string& path) {
  const std::string head = read(0), tail = size > kLookedAt ? read(size - kLookedAt) : std::string();
  return known_kind({head, tail, size, path}, path);
}

void refuse_known(const std::string& path, const std::optional<KnownFile>& known, FileUse wanted) {
  if (known && !known->remedy.empty() && !known->kind->uses.has(wanted))
    bad_input(path, "is " + known->name + ", not " + std::string(to_text(wanted)), known->remedy_as(wanted));
}

[[noreturn]] void refuse(const std::string& path, const std::optional<KnownFile>& known, FileUse wanted,
                         const std::string& what, const std::string& advice) {
  if (!known) bad_input(path, what, advice);
  if (known->kind->uses.has(wanted)) bad_input(path, what + ": it is " + known->name, advice);
  bad_input(path, "is " + known->name + ", not " + std::string(to_text(wanted)),
            known->remedy.empty() ? advice : known->remedy_as(wanted));
}

}  // namespace

std::string_view to_text(FileUse use) {
  return std::find_if(kUseNames.begin(), kUseNames.end(), [&](const UseName& u) { return u.use == use; })->name;
}

FileLook::FileLook(std::string_view first, std::string_view last, uint64_t bytes, std::string_view path)
    : head(first.substr(0, kLookedAt)),
      tail(last.empty() ? first.substr(first.size() - std::min(first.size(), kLookedAt)) : last),
      size(bytes),
      name(name_of(path)),
      json(outline_json(head)) {}

std::string KnownFile::remedy_as(FileUse wanted) const {
  return wanted == FileUse::data && !kind->remedy_as_data.empty() ? std::string(kind->remedy_as_data) : remedy;
}

std::optional<KnownFile> known_kind(const FileLook& look, const std::string& path) {
  for (const FileKind& kind : file_kinds()) {
    if (!look.head.starts_with(kind.begins) || (kind.is && !kind.is(look))) continue;
    KnownFile known{&kind, std::string(kind.name), with_path(kind.remedy, path)};
    if (kind.detail) known.name += kind.detail(look);
    return known;
  }
  return std::nullopt;
}

std::optional<KnownFile> known_file(const std::string& path) {
  const Opened file(path);
  if (!file.is_regular()) return std::nullopt;
  return look_at([&](uint64_t at) { return file.read(at); }, file.size(), path);
}

void refuse_other_kind(const std::string& path, FileUse wanted) { refuse_known(path, known_file(path), wanted); }

void refuse_other_kind(const std::string& path, std::string_view content, FileUse wanted) {
  refuse_known(path, known_kind({content, path}, path), wanted);
}

void refuse_other_kind(const OpenFile& file, FileUse wanted) {
  const auto read = [&](size_t at) {
    std::string bytes(std::min(kLookedAt, file.size() - at), '\0');
    file.read(at, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  };
  refuse_known(file.path(), look_at(read, file.size(), file.path()), wanted);
}

void refuse_file(const std::string& path, FileUse wanted, const std::string& what, const std::string& advice) {
  refuse(path, known_file(path), wanted, what, advice);
}

void refuse_file(const std::string& path, std::string_view content, FileUse wanted, const std::string& what,
                 const std::string& advice) {
  refuse(path, known_kind({content, path}, path), wanted, what, advice);
}

}  // namespace stormcell
