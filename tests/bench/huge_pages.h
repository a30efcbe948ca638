// Memory on huge pages where the system gives them, so that benchmarks measure kernels and not page walks.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace stormcell::bench {

class HugePages {
 public:
  HugePages() = default;
  explicit HugePages(size_t bytes) {
    bytes = (bytes + kPage - 1) / kPage * kPage;
    data_ = static_cast<std::byte*>(std::aligned_alloc(kPage, bytes));
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 0, bytes);
  }
  HugePages(HugePages&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  HugePages& operator=(HugePages&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~HugePages() { std::free(data_); }
  std::byte* data() { return data_; }
  float* floats() { return reinterpret_cast<float*>(data_); }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  std::byte* data_ = nullptr;
};

}  // namespace stormcell::bench
