// The memory to make a weight is known before it is made: beside the bytes that are counted while it is.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>

#include "core/weights/recipe_weights.h"
#include "tests/testing/testing.h"

namespace {
std::atomic<int64_t> held{0}, most{0};

[[maybe_unused]] void* counted(void* p) {
  if (!p) std::abort();
  const int64_t now = held += static_cast<int64_t>(::malloc_usable_size(p));
  for (int64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
  }
  return p;
}
[[maybe_unused]] void forget(void* p) {
  if (p) held -= static_cast<int64_t>(::malloc_usable_size(p));
  std::free(p);
}
}  // namespace

// Sanitizers bring an operator new of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STORMCELL_COUNTS_BYTES 1
void* operator new(size_t size) { return counted(std::malloc(size ? size : 1)); }
void* operator new(size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  const auto to = static_cast<size_t>(align);
  return counted(std::aligned_alloc(to, (size + to - 1) / to * to));
}
void operator delete(void* p, std::align_val_t) noexcept { forget(p); }
void operator delete(void* p) noexcept { forget(p); }
void operator delete(void* p, size_t) noexcept { forget(p); }
#endif

namespace stormcell {
namespace {

/// Tensors of one value, made anew each time, in memory that is counted.
class CountedTensors final : public WeightSource {
 public:
  void add(const std::string& name, DType dtype, std::vector<int64_t> shape) {
    infos_.emplace(name, WeightInfo{name, dtype, std::move(shape)});
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = infos_.find(name);
    return at == infos_.end() ? nullptr : &at->second;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    return range(name, 0, find(name)->bytes());
  }
  std::shared_ptr<const std::byte> range(std::string_view, int64_t, int64_t count) const override {
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(count), std::byte{0x3c});
    return {memory, memory->data()};
  }

 private:
  std::map<std::string, WeightInfo, std::less<>> infos_;
};

}  // namespace

class RecipeMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_held_at_most_is_told_before_data() {
    QTest::addColumn<QString>("recipe");
    for (const char* recipe :
         {"a",
          "convert(\"a\", bf16)",
          "convert(\"a\", f32)",
          "index(\"stacked\", 2)",
          "index(transpose(\"stacked\", 0, 2, 1), 2)",
          "slice(\"a\", 10, 200)",
          "slice(\"a\", 10, 200, axis=1)",
          "slice(transpose(\"a\"), 3, 300)",
          "transpose(\"a\")",
          "stack(\"a\", \"b\", \"a\")",
          "concat(\"a\", transpose(\"c\"), slice(\"a\", 0, 200))",
          "convert(stack(\"a\", \"b\"), bf16)",
          "stack(convert(\"a\", bf16), convert(\"b\", bf16))",
          "scale(\"a\", \"long\")",
          "scale(convert(\"h\", f32), \"long\")",
          "block_scale(\"eight\", \"blocks\", height=2, width=2)",
          "mxfp4(\"codes\", \"scales\")",
          "index(\"quants\", 2)",
          "slice(\"quants\", 64, 192, axis=2)",
          "quantise(\"a\", bits=4, block=32)",
          "convert(quantise(transpose(\"a\"), bits=8, block=32), bf16)",
          "position_bias(\"pairs\", \"wide\", height=12, width=12)",
          "batch_norm_scale(\"very.long\", \"very.long\", eps=0.001)",
          "batch_norm_shift(\"very.long\", \"very.long\", \"very.long\", \"very.long\", eps=0.001)",
          "batch_norm_shift(\"very.long\", \"very.long\", \"very.long\", \"very.long\", \"very.long\", eps=0.001)"})
      QTest::newRow(recipe) << QString(recipe);
  }
  void what_is_held_at_most_is_told_before() {
#ifndef STORMCELL_COUNTS_BYTES
    QSKIP("sanitizers allocate by themselves: bytes are counted in the ordinary build");
#endif
    QFETCH(QString, recipe);
    const auto stored = std::make_shared<CountedTensors>();
    for (const char* name : {"a", "b"}) stored->add(name, DType::f32, {400, 300});
    stored->add("c", DType::f32, {300, 100});
    stored->add("h", DType::f16, {400, 300});
    stored->add("stacked", DType::f32, {4, 300, 200});
    stored->add("pairs", DType::f32, {20'000, 2});
    stored->add("wide", DType::f32, {24, 20'000});
    stored->add("eight", DType::f8_e4m3, {400, 600});
    stored->add("blocks", DType::f32, {200, 300});
    stored->add("codes", DType::u8, {400, 100, 16});
    stored->add("scales", DType::u8, {400, 100});
    stored->add("quants", DType::q8_0, {4, 300, 256});
    stored->add("long", DType::f32, {400});
    stored->add("very.long", DType::f32, {100'000});
    const auto source = make_recipe_weights(stored);
    const std::string text = recipe.toStdString();
    const int64_t told = source->bytes_while_read(text);
    QVERIFY(told >= source->find(text)->bytes());
    const int64_t before = held;
    most = before;
    const std::shared_ptr<const std::byte> made = source->bytes(text);
    const int64_t came = most - before;
    // Blocks are whole pages, and what names and shapes take is not counted.
    QVERIFY2(std::abs(came - told) <= 40 << 10, qPrintable(QString("told %1, held %2").arg(told).arg(came)));
  }
};
STORMCELL_TEST(RecipeMemoryTest)

}  // namespace stormcell
#include "recipe_memory_test.moc"
