// Files of torch.save(): plain values and tensors, read without running anything of them.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/mapped_file.h"
#include "core/formats/pickle.h"
#include "core/formats/zip_file.h"

namespace stormcell {

/// Whole numbers of a tensor, by their place in order. Its bytes are those of the file, which must outlive it.
class TorchTensor {
 public:
  DType dtype{};
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  ///< of the whole storage, unaligned
  int64_t offset = 0;                ///< elements
  std::vector<int64_t> strides;      ///< elements

  int64_t elements() const;
  /// The tensor must be of whole numbers.
  int64_t whole(int64_t index) const;

 private:
  int64_t place(int64_t index) const;
};

class TorchFile {
 public:
  /// Error(bad_input): no such file, damaged, or with a global other than those of tensors.
  explicit TorchFile(std::shared_ptr<const MappedFile> file);
  const std::string& path() const { return file_->path(); }
  const PickleValue& root() const { return pickle_->root(); }
  /// `name`: its name in errors. Error(bad_input) if the value is no tensor of whole numbers, or its storage does not
  /// hold it.
  TorchTensor tensor(const PickleValue* value, const std::string& name) const;

  /// A ZIP whose first entry is NAME/data.pkl, as torch.save() writes.
  static bool is_one(std::string_view content);

 private:
  [[noreturn]] void wrong(const std::string& what) const;
  std::shared_ptr<const MappedFile> file_;
  ZipFile zip_;
  std::string folder_;  ///< of the entries, with its slash
  std::unique_ptr<Pickle> pickle_;
};

}  // namespace stormcell
