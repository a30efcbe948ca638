#include "tests/testing/torch_bytes.h"

#include "tests/testing/zip_bytes.h"

namespace stormcell::testing {
namespace {

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}

}  // namespace

std::string TorchBytes::whole(int32_t value) const {
  std::string out = "J";
  put(out, value);
  return out;
}

std::string TorchBytes::text(std::string_view value) const {
  std::string out = "X";
  put(out, static_cast<uint32_t>(value.size()));
  return out + std::string(value);
}

std::string TorchBytes::list(const std::vector<std::string>& items) const {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

std::string TorchBytes::dict(const std::vector<std::pair<std::string, std::string>>& items) const {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "u";
}

std::string TorchBytes::tensor(const std::vector<int64_t>& shape, const std::vector<int32_t>& values) {
  const std::string key = std::to_string(storages_.size());
  storages_.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t));
  std::string sizes = "(", strides = "(";
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t stride = 1;
    for (size_t behind = d + 1; behind < shape.size(); ++behind) stride *= shape[behind];
    sizes += whole(static_cast<int32_t>(shape[d])), strides += whole(static_cast<int32_t>(stride));
  }
  return global("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") + global("torch", "IntStorage") +
         text(key) + text("cpu") + whole(static_cast<int32_t>(values.size())) + "tQ" + whole(0) + sizes + "t" +
         strides + "t\x89" + global("collections", "OrderedDict") + ")RtR";
}

std::string TorchBytes::file(const std::string& root) const {
  std::vector<std::pair<std::string, std::string>> entries = {{"made/data.pkl", "\x80\x02" + root + "."}};
  for (size_t i = 0; i < storages_.size(); ++i) entries.push_back({"made/data/" + std::to_string(i), storages_[i]});
  return zip_bytes(entries);
}

}  // namespace stormcell::testing
