// cuBLAS, loaded if it is there: the limit of bf16 products, and two rivals.
#pragma once
#include <cublas_v2.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/device_check/card.h"

namespace stormcell::device_check {

class Cublas {
 public:
  /// Empty `why` where it was found.
  explicit Cublas(const Queue& queue, std::string& why);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  bool found() const { return handle_ != nullptr; }

  /// y [rows, n] = x [rows, k] . w [n, k]^T, bf16, sums in f32.
  void product(int rows, int n, int k, const void* x, const void* w, void* y) const;
  /// One product a group: rows[g] rows of x with an expert's weights. Pointers lie on the card, and so do those that
  /// they point to; the other lists are made once, so that a call does nothing but call.
  struct Grouped {
    Grouped(int columns, int depth) : n_(columns), k_(depth) {}
    void add(int rows_of_group);
    std::vector<int> rows;
    const void* const* x = nullptr;
    const void* const* w = nullptr;
    void* const* y = nullptr;

   private:
    friend class Cublas;
    int n_, k_;
    std::vector<int> n, k, sizes;
    std::vector<cublasOperation_t> transposed, plain;
    std::vector<float> one, zero;
  };
  /// Throws Failure where cuBLAS cannot.
  void grouped(const Grouped& call) const;
  /// The library's file.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  void* library_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  std::unique_ptr<Memory> workspace_;  // else cuBLAS allocates within a graph that captures it
  // cublasGemmEx, which has an overload in C++.
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                  const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                  cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  Gemm gemm_ = nullptr;
  decltype(&cublasGemmGroupedBatchedEx) grouped_ = nullptr;
  decltype(&cublasDestroy_v2) destroy_ = nullptr;
};

}  // namespace stormcell::device_check
