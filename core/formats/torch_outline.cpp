#include "core/formats/torch_outline.h"

#include <algorithm>
#include <span>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/pickle.h"
#include "core/formats/safetensors_header.h"
#include "core/formats/zip_directory.h"

namespace stormcell {
namespace {

using Value = PickleValue;

constexpr uint64_t kMostOutlinedPickle = uint64_t{64} << 20, kFirstPart = uint64_t{4} << 20;
constexpr int kDeepestPart = 8;
constexpr int64_t kMostVisited = 1'000'000;
constexpr size_t kMostListed = 16, kMostTensorName = 512;

/// Keys of checkpoints under which no model is.
constexpr std::string_view kNoModel[] = {
    "optimizer", "optimizer_state_dict", "optim",     "lr_scheduler", "scheduler",
    "scaler",    "loss_scaler",          "rng_state", "args",         "hyper_parameters"};
/// Keys of modules that hold their tensors and parts; they are no part of a name.
constexpr std::string_view kModuleKeys[] = {"_parameters", "_buffers", "_modules"};

bool is_among(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string joined_name(const std::string& path, std::string_view key) {
  if (is_among(kModuleKeys, key)) return path;
  std::string name = path.empty() ? std::string(key) : path + "." + std::string(key);
  return name.substr(0, kMostTensorName);
}

/// Walks everything below a value, each container once a path, up to a number of values.
class PickleWalk {
 public:
  PickleWalk(const SeeTensor* see, int64_t& left) : see_(see), left_(left) {}

  void walk(const Value& value, const std::string& path, int depth) {
    if (--left_ < 0 || depth > kDeepestPart) return;
    if (value.is(Value::Kind::tensor)) {
      ++tensors;
      if (see_) describe(*value.node->tensor, path);
    } else if (value.is(Value::Kind::dict)) {
      const auto items = value.items();
      for (size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].is(Value::Kind::text) && !is_among(kNoModel, items[i].text()))
          walk(items[i + 1], joined_name(path, items[i].text()), depth + 1);
    } else if (value.is(Value::Kind::object)) {
      ++objects;
      if (classes.size() < kMostListed && std::find(classes.begin(), classes.end(), value.node->name) == classes.end())
        classes.emplace_back(value.node->name);
      for (const Value& item : value.items())
        if (item.is(Value::Kind::dict) || item.is(Value::Kind::tuple)) walk(item, path, depth + 1);
    } else if (value.is(Value::Kind::list) || value.is(Value::Kind::tuple)) {
      int64_t place = 0;
      for (const Value& item : value.items()) walk(item, joined_name(path, std::to_string(place++)), depth + 1);
    }
  }

  int64_t tensors = 0, objects = 0;
  std::vector<std::string> classes;

 private:
  void describe(const PickleTensor& from, const std::string& name) const {
    DescribedTensor tensor{name, std::string(safetensors_dtype_name(from.dtype)), from.shape, 0};
    constexpr int64_t kMostBytes = int64_t{1} << 62;
    const int64_t elements = elements_of(from.shape), size = format_of(from.dtype).block_bytes;
    tensor.bytes = elements > kMostBytes / size ? kMostBytes : elements * size;
    (*see_)(tensor);
  }

  const SeeTensor* see_;
  int64_t& left_;  ///< values that may still be visited
};

int64_t tensors_in(const Value& value, int64_t& left) {
  PickleWalk walk(nullptr, left);
  walk.walk(value, "", 0);
  return walk.tensors;
}

/// The member of a dictionary that has most tensors, as long as it has more than half of them: a checkpoint keeps its
/// model beside other things.
const Value* largest_member(const Value& root, std::string& key, int64_t& left) {
  const auto items = root.items();
  const Value* best = nullptr;
  int64_t most = 0, all = 0;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].is(Value::Kind::text) || is_among(kNoModel, items[i].text())) continue;
    const int64_t here = tensors_in(items[i + 1], left);
    all += here;
    const bool holds_others = items[i + 1].is(Value::Kind::dict) || items[i + 1].is(Value::Kind::object);
    if (holds_others && here > most) most = here, best = &items[i + 1], key = items[i].text();
  }
  return 2 * most > all && most > 1 ? best : nullptr;
}

TorchOutline outline_root(const Value& root, const SeeTensor& see) {
  constexpr int kMostSteps = 3;
  // Names as "model" or "state_dict" are no part of the names of tensors; "layers" would be.
  constexpr std::string_view kParts[] = {
      "state_dict", "model_state_dict", "model", "net",   "network",   "module", "params",  "params_ema",
      "weights",    "model_ema",        "ema",   "state", "generator", "g_ema",  "student", "teacher"};
  TorchOutline outline;
  const Value* from = &root;
  int64_t left = kMostVisited;
  for (int step = 0; step < kMostSteps && from->is(Value::Kind::dict); ++step) {
    std::string key;
    const Value* part = largest_member(*from, key, left);
    if (!part || !is_among(kParts, key)) break;
    if (step == 0)
      for (size_t i = 0; i + 1 < root.items().size() && outline.others.size() < kMostListed; i += 2)
        if (const std::string_view other = root.items()[i].text(); !other.empty() && other != key)
          outline.others.emplace_back(other);
    outline.part += (outline.part.empty() ? "" : ".") + key;
    from = part;
  }
  left = kMostVisited;
  PickleWalk walk(&see, left);
  walk.walk(*from, "", 0);
  outline.tensors = walk.tensors, outline.classes = std::move(walk.classes);
  outline.whole_module = from->is(Value::Kind::object);
  return outline;
}

std::span<const std::byte> pickle_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Four pickles: a magic number, a version, facts of the system, and the saved object. The storages follow.
TorchOutline outline_old(std::string_view bytes, const std::string& where, const SeeTensor& see) {
  constexpr int kPicklesBefore = 3;
  for (int i = 0; i < kPicklesBefore; ++i)
    bytes.remove_prefix(Pickle(pickle_bytes(bytes), where, UnknownGlobals::kept).size());
  return outline_pickle(bytes, where, see);
}

}  // namespace

TorchOutline outline_pickle(std::string_view pickle, const std::string& where, const SeeTensor& see) {
  return outline_root(Pickle(pickle_bytes(pickle), where, UnknownGlobals::kept).root(), see);
}

TorchOutline outline_torch(const OpenFile& file, const SeeTensor& see) {
  HeaderBytes bytes(file);
  constexpr std::string_view kZip = "PK\3\4";
  if (bytes.size() < kZip.size() || bytes.take_text(kZip.size(), kZip.size()) != kZip) {
    bytes.go_to(0);
    const std::string first = bytes.take_text(std::min(bytes.size(), kFirstPart), kFirstPart);
    if (bytes.rest() == 0) return outline_old(first, file.path(), see);
    try {
      return outline_old(first, file.path(), see);
    } catch (const Error&) {  // its pickle may be longer
      bytes.go_to(0);
      return outline_old(bytes.take_text(std::min(bytes.size(), kMostOutlinedPickle), kMostOutlinedPickle), file.path(),
                         see);
    }
  }
  const ZipDirectory directory(bytes);
  const ZipEntry* pickle = directory.find_ending("data.pkl");
  if (!pickle) bad_input(file.path(), "has no data.pkl", "write it with torch.save()");
  if (pickle->method != 0) bad_input(file.path(), "its data.pkl is compressed", "write it with torch.save()");
  directory.go_to_data(bytes, *pickle);
  return outline_pickle(bytes.take_text(pickle->size, kMostOutlinedPickle), file.path(), see);
}

}  // namespace stormcell
