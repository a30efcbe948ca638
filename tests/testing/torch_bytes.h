// Makes files of torch.save() byte by byte: dictionaries, lists, whole numbers, texts and tensors of whole numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stormcell::testing {

class TorchBytes {
 public:
  std::string none() const { return "N"; }
  std::string whole(int32_t value) const;
  std::string text(std::string_view value) const;
  std::string list(const std::vector<std::string>& items) const;
  std::string dict(const std::vector<std::pair<std::string, std::string>>& items) const;
  /// A tensor of int32; each has its own storage.
  std::string tensor(const std::vector<int64_t>& shape, const std::vector<int32_t>& values);

  /// The file whose pickle is this value.
  std::string file(const std::string& root) const;

 private:
  std::vector<std::string> storages_;
};

}  // namespace stormcell::testing
