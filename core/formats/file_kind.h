// Every kind of file that a person may hand over, known by its content: what it is in words, and what to do with it here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/formats/json_outline.h"

namespace stormcell {

/// What a reader wants of a file.
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
  tensors = 1 << 13,       ///< safetensors of any use
  array = 1 << 14,         ///< .npy of any use
  picture = 1 << 15,       ///< a picture of a kind that may be read
  json = 1 << 16,          ///< JSON of any use
};
/// Several of them.
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
/// "a routing trace": what a refusal says that the file is not.
std::string_view to_text(FileUse use);

/// How much is looked at: so many bytes of its begin, and so many of its end.
inline constexpr size_t kLookedAt = 65536;

/// What is looked at of a file.
struct FileLook {
  /// Of a whole content, or of its first kLookedAt bytes, its last ones and its size.
  FileLook(std::string_view content, std::string_view path) : FileLook(content, {}, content.size(), path) {}
  FileLook(std::string_view first, std::string_view last, uint64_t bytes, std::string_view path);

  std::string_view head;  ///< at most kLookedAt bytes
  std::string_view tail;  ///< at most kLookedAt bytes that end the file, all of a small one
  uint64_t size = 0;      ///< of the file
  std::string name;       ///< without folders, in small letters
  JsonOutline json;
};

/// A row of the list.
struct FileKind {
  std::string_view id;      ///< "git-lfs-pointer"
  std::string_view name;    ///< "a Git LFS pointer": goes behind "is"
  std::string_view remedy;  ///< FILE stands for its path; empty: text, JSON or a table of no known form, so the reader says what it takes
  FileUses uses;            ///< readers that take it
  std::string_view begins;  ///< its first bytes; empty: `is` alone decides
  bool (*is)(const FileLook& look) = nullptr;             ///< null: its first bytes say it
  std::string (*detail)(const FileLook& look) = nullptr;  ///< more behind the name: " of mixtral"
};

/// The visible list, in the order in which kinds are tried.
std::span<const FileKind> file_kinds();

struct KnownFile {
  const FileKind* kind = nullptr;
  std::string name;    ///< with its detail
  std::string remedy;  ///< with the file's path, empty where the kind has none
};
/// Never throws. Nothing: no kind of the list.
std::optional<KnownFile> known_kind(const FileLook& look, const std::string& path);
/// The same of a file; nothing also where it cannot be read, or is none.
std::optional<KnownFile> known_file(const std::string& path);

/// For a reader before it complains about a content: throws Error(bad_input) "PATH: is a gzip file, not a routing trace (gunzip ...)" where
/// the file is of a kind that is not `wanted`. Returns where it is of the wanted kind, of no known one, or without a remedy.
void refuse_other_kind(const std::string& path, FileUse wanted);
/// The same of a content that was read already, as from a compressed file.
void refuse_other_kind(const std::string& path, std::string_view content, FileUse wanted);
/// For a reader that has failed to read the file. Throws Error(bad_input) in any case. A file of a known kind is named, even without a
/// remedy; for any other file the message is "PATH: WHAT (ADVICE)".
[[noreturn]] void refuse_file(const std::string& path, FileUse wanted, const std::string& what, const std::string& advice);
[[noreturn]] void refuse_file(const std::string& path, std::string_view content, FileUse wanted, const std::string& what,
                              const std::string& advice);

}  // namespace stormcell
