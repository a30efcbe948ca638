// Recognises by its content every kind of file that a user may pass: a name in words, and advice what to do with the
// file.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/formats/json_outline.h"

namespace stormcell {

class OpenFile;

/// The use that a reader makes of a file.
enum class FileUse : uint32_t {
  trace = 1 << 0,          ///< import TRACE
  model = 1 << 1,          ///< MODEL: weights as a file
  model_config = 1 << 2,   ///< a model's config.json
  data = 1 << 3,           ///< --data
  session = 1 << 4,        ///< SESSION
  placement = 1 << 5,      ///< place --from, simulate --placement
  calls = 1 << 6,          ///< calibrate CALLS
  calibration = 1 << 7,    ///< --calibration
  cluster = 1 << 8,        ///< --cluster
  configuration = 1 << 9,  ///< run --config
  jobs = 1 << 10,          ///< batch JOBS
  tokenizer = 1 << 11,     ///< tokenizer.json, spiece.model
  index = 1 << 12,         ///< model.safetensors.index.json
  tensors = 1 << 13,       ///< safetensors for any use
  array = 1 << 14,         ///< .npy for any use
  picture = 1 << 15,       ///< a picture of a kind that this version reads
  json = 1 << 16,          ///< JSON for any use
  labels = 1 << 17,        ///< labels.csv of a folder of pictures
};
/// A set of uses.
struct FileUses {
  constexpr FileUses() = default;
  constexpr FileUses(FileUse use) : bits(static_cast<uint32_t>(use)) {}  // NOLINT(google-explicit-constructor)
  constexpr bool has(FileUse use) const { return (bits & static_cast<uint32_t>(use)) != 0; }
  uint32_t bits = 0;
};
constexpr FileUses operator|(FileUses a, FileUses b) {
  FileUses both;
  both.bits = static_cast<uint32_t>(a.bits | b.bits);
  return both;
}
/// The words for a use in a refusal: "a routing trace".
std::string_view to_text(FileUse use);

/// The number of bytes that are read from the beginning and from the end of a file.
inline constexpr size_t kLookedAt = 65536;

/// The parts of a file that decide its kind.
struct FileLook {
  /// Takes a whole content, or its first kLookedAt bytes, its last ones and its size.
  FileLook(std::string_view content, std::string_view path) : FileLook(content, {}, content.size(), path) {}
  FileLook(std::string_view first, std::string_view last, uint64_t bytes, std::string_view path);

  std::string_view head;  ///< the first bytes, at most kLookedAt
  std::string_view tail;  ///< the last bytes, at most kLookedAt; the whole of a small file
  uint64_t size = 0;      ///< size of the file
  std::string name;       ///< name of the file without folders, in small letters
  JsonOutline json;
};

/// A row of the list.
struct FileKind {
  std::string_view id;    ///< "git-lfs-pointer"
  std::string_view name;  ///< "a Git LFS pointer": follows the word "is"
  /// advice; FILE becomes the path. Empty: a form of any content, so the reader gives the advice
  std::string_view remedy;
  FileUses uses;                                          ///< readers that take it
  std::string_view begins;                                ///< its first bytes; empty: `is` alone decides
  bool (*is)(const FileLook& look) = nullptr;             ///< null: recognised by its first bytes
  std::string (*detail)(const FileLook& look) = nullptr;  ///< a detail after the name: " of mixtral"
  std::string_view remedy_as_data = {};                   ///< advice to who named it as data; empty: `remedy`
};

/// The list of kinds, in the order in which they are tried.
std::span<const FileKind> file_kinds();

struct KnownFile {
  const FileKind* kind = nullptr;
  std::string name;    ///< the name with its detail
  std::string remedy;  ///< the advice with the file's path; empty: the kind has none
  /// The advice to who named it for this use.
  std::string remedy_as(FileUse wanted) const;
};
/// Recognises a content. Never throws. Nothing: no kind of the list.
std::optional<KnownFile> known_kind(const FileLook& look, const std::string& path);
/// The same for a file; also nothing if it cannot be read or is not a regular file.
std::optional<KnownFile> known_file(const std::string& path);

/// A reader calls this before it complains about a content. Throws Error(bad_input) "PATH: is a gzip file, not a
/// routing trace (gunzip ...)" if the file is of a kind that is not `wanted`. Returns if its kind is wanted, not known,
/// or has no advice.
void refuse_other_kind(const std::string& path, FileUse wanted);
/// The same for a content that was read already, for example from a compressed file.
void refuse_other_kind(const std::string& path, std::string_view content, FileUse wanted);
/// The same for an open file: for its unpacked bytes if open_unpacked() opened it.
void refuse_other_kind(const OpenFile& file, FileUse wanted);
/// A reader calls this after it failed to read the file. Always throws Error(bad_input). The message names a file of a
/// known kind, even one without advice; for any other file it is "PATH: WHAT (ADVICE)".
[[noreturn]] void refuse_file(const std::string& path, FileUse wanted, const std::string& what,
                              const std::string& advice);
[[noreturn]] void refuse_file(const std::string& path, std::string_view content, FileUse wanted,
                              const std::string& what, const std::string& advice);

}  // namespace stormcell
