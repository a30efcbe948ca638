#include "core/formats/torch_file.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"
#include "core/formats/whole_number.h"

namespace stormcell {
namespace {

constexpr std::string_view kPickle = "data.pkl";
constexpr size_t kMostPickle = size_t{1} << 28;

}  // namespace

int64_t TorchTensor::elements() const {
  // Otherwise the sizes beside a 0 might overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t all = 1;
  for (const int64_t n : shape) all *= n;
  return all;
}

int64_t TorchTensor::place(int64_t index) const {
  int64_t at = offset;
  for (size_t d = shape.size(); d-- > 0; index /= shape[d]) at += index % shape[d] * strides[d];
  return at;
}

int64_t TorchTensor::whole(int64_t index) const {
  return whole_number_at(bytes.data(), dtype, static_cast<size_t>(place(index)));
}

bool TorchFile::is_one(std::string_view content) {
  constexpr size_t kNameSizeAt = 26, kNameAt = 30;
  if (!ZipFile::is_one(content) || content.size() < kNameAt) return false;
  const size_t size =
      static_cast<uint8_t>(content[kNameSizeAt]) + size_t{256} * static_cast<uint8_t>(content[kNameSizeAt + 1]);
  return content.substr(kNameAt, size).ends_with(std::string("/") + std::string(kPickle));
}

TorchFile::TorchFile(std::shared_ptr<const MappedFile> file)
    : file_(std::move(file)), zip_(file_->bytes(), file_->path()) {
  std::span<const std::byte> pickle;
  for (const auto& [name, bytes] : zip_.entries()) {
    if (!name.ends_with(kPickle) || (name.size() > kPickle.size() && name[name.size() - kPickle.size() - 1] != '/'))
      continue;
    folder_ = name.substr(0, name.size() - kPickle.size());
    pickle = bytes;
    break;
  }
  if (pickle.empty()) wrong("has no data.pkl");
  if (pickle.size() > kMostPickle) wrong("its data.pkl is too large");
  const auto order = zip_.find(folder_ + "byteorder");
  if (!order.empty() && std::string_view(reinterpret_cast<const char*>(order.data()), order.size()) != "little")
    wrong("its numbers are not little-endian");
  pickle_ = std::make_unique<Pickle>(pickle, file_->path());
}

void TorchFile::wrong(const std::string& what) const { bad_input(path(), what, "write it with torch.save()"); }

TorchTensor TorchFile::tensor(const PickleValue* value, const std::string& name) const {
  if (!value || !value->is(PickleValue::Kind::tensor)) wrong(name + " is not a tensor");
  const PickleTensor& from = *value->node->tensor;
  TorchTensor tensor{from.dtype, from.shape, zip_.find(folder_ + "data/" + std::string(from.storage)), from.offset,
                     from.strides};
  if (!is_whole_type(from.dtype))
    wrong(name + " holds " + std::string(to_text(from.dtype)) + ", expected whole numbers");
  const int64_t held = tensor.bytes.size() / element_size(from.dtype);
  // A tensor without elements needs no storage, whatever its other sizes are.
  if (std::find(from.shape.begin(), from.shape.end(), 0) != from.shape.end())
    return {from.dtype, from.shape, {}, 0, from.strides};
  // The last element, computed without overflow: it must be within the storage.
  int64_t last = from.offset, all = 1;
  for (size_t d = 0; d < from.shape.size(); ++d) {
    const int64_t steps = from.shape[d] - 1;
    if (last >= held || (steps > 0 && from.strides[d] > (held - last) / steps) || from.shape[d] > held / all)
      wrong(name + " " + shape_text(from.shape) + " is larger than its storage");
    last += steps * from.strides[d];
    all *= from.shape[d];
  }
  if (last >= held) wrong(name + " " + shape_text(from.shape) + " is larger than its storage");
  return tensor;
}

}  // namespace stormcell
