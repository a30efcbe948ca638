// A counter-based generator: element i is a sum of the four 16-bit parts of a mixed (key + i), which is close enough to
// a normal distribution (Irwin-Hall of four) and costs two multiplications: 1.6 GB/s of f32 a thread into mapped
// memory, 0.7 GB/s into fresh pages (a Xeon whose two cores were busy otherwise, too).
#include "core/models/seeded_weights.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/reused_memory.h"

namespace stormcell {
namespace {

// splitmix64's mixer.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
// FNV-1a of the name, mixed with the seed.
uint64_t key_of(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return mix(hash + mix(seed + 0x9e3779b97f4a7c15ull));
}

// GCC makes vectors of the 64-bit multiplications, which without AVX-512 is slower: 1.15 instead of 1.6 GB/s.
#if defined(__GNUC__) && !defined(__clang__)
#define STORMCELL_SCALAR_LOOP __attribute__((optimize("no-tree-vectorize")))
#else
#define STORMCELL_SCALAR_LOOP
#endif

template <class Store>
STORMCELL_SCALAR_LOOP void draw(uint64_t key, int64_t first, int64_t n, float mean, float factor, Store store) {
  const uint64_t begin = key + static_cast<uint64_t>(first) * 0x9e3779b97f4a7c15ull;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = mix(begin + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ull);
    const int32_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48);
    store(i, mean + factor * static_cast<float>(sum - 131070));
  }
}

}  // namespace

Initialisation kaiming(int64_t inputs, double gain) { return {0, std::sqrt(gain / static_cast<double>(inputs))}; }

std::optional<Initialisation> neutral_initialisation(std::string_view weight) {
  if (weight == "pixels.mean") return Initialisation{0.5, 0};
  if (weight == "pixels.deviation") return Initialisation{0.29, 0};
  if (weight.ends_with(".norm.weight") || weight.ends_with(".norm.running_var")) return Initialisation{1, 0};
  if (weight.ends_with("bias") || weight.ends_with(".norm.running_mean")) return Initialisation{0, 0};
  return std::nullopt;
}

int64_t number_at(std::string_view weight, int point) {
  size_t begin = 0;
  for (int i = 0; i < point; ++i) begin = weight.find('.', begin) + 1;
  return std::stoll(std::string(weight.substr(begin, weight.find('.', begin) - begin)));
}

const WeightInfo* SeededWeights::find(std::string_view name) const {
  const auto at = drawn_.find(name);
  return at == drawn_.end() ? nullptr : &at->second.info;
}

const SeededWeights::Drawn& SeededWeights::drawn(std::string_view name) const {
  const auto at = drawn_.find(name);
  if (at == drawn_.end()) bad_input(name, "no such weight");
  return at->second;
}

std::shared_ptr<const std::byte> SeededWeights::bytes(std::string_view name) const {
  const Drawn& from = drawn(name);
  return draw_elements(from, 0, from.info.elements());
}

std::shared_ptr<const std::byte> SeededWeights::range(std::string_view name, int64_t first, int64_t count) const {
  const Drawn& from = drawn(name);
  const int64_t element = element_size(from.info.dtype);
  if (first % element != 0 || count % element != 0) failed(name, "a range that begins or ends within an element");
  return draw_elements(from, first / element, count / element);
}

std::shared_ptr<const std::byte> SeededWeights::draw_elements(const Drawn& from, int64_t first, int64_t count) const {
  const WeightInfo& info = from.info;
  const auto size = static_cast<size_t>(count) * element_size(info.dtype);
  const std::shared_ptr<std::byte> held = reusable_block(static_cast<int64_t>(size) + 64, info.name);
  std::byte* const memory = held.get();
  if (!from.stated.empty()) {
    from_f32(from.stated.data() + first, memory, info.dtype, static_cast<size_t>(count));
    return held;
  }
  // Four uniform numbers of 16 bits: variance 4 (2^32 - 1) / 12.
  const float mean = from.initialisation.mean;
  const auto factor = static_cast<float>(from.initialisation.deviation / std::sqrt((4294967296.0 - 1) / 3));
  const uint64_t key = key_of(seed_, info.name);
  auto* half = reinterpret_cast<uint16_t*>(memory);
  auto* whole = reinterpret_cast<float*>(memory);
  switch (info.dtype) {
    case DType::f32:
      draw(key, first, count, mean, factor, [=](int64_t i, float x) { whole[i] = x; });
      break;
    case DType::bf16:
      draw(key, first, count, mean, factor, [=](int64_t i, float x) { half[i] = f32_to_bf16(x); });
      break;
    case DType::f16:
      draw(key, first, count, mean, factor, [=](int64_t i, float x) { half[i] = f32_to_f16(x); });
      break;
    default:
      failed(info.name, "seeded weights are " + engine_float_names());
  }
  return held;
}

const WeightInfo& SeededCatalog::need(const std::string& name, const std::vector<int64_t>& shape) {
  if (const WeightInfo* known = weights_->find(name)) return *known;
  WeightInfo info{name, dtype_, shape};
  const auto stated = stated_.find(name);
  if (stated != stated_.end() && std::ssize(stated->second) != info.elements())
    failed(name, "as many stated elements as it has");
  weights_->add(std::move(info), initialisation_(name),
                stated == stated_.end() ? std::vector<float>() : stated->second);
  return *weights_->find(name);
}

}  // namespace stormcell
