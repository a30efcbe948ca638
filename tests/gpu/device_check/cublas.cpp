#include "tests/gpu/device_check/cublas.h"

#include <dlfcn.h>

#include <cstdlib>

namespace stormcell::device_check {
namespace {
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Where loaders do not look: the toolkit's folder, and that of Python's package.
void* open_cublas() {
  for (const char* name : {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13", "libcublas.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  FILE* python = popen(
      "python3 -c 'import glob,sys; print([f for p in sys.path for f in glob.glob(p+\"/nvidia/*/lib/libcublas.so.13\")][0])' 2>/dev/null",
      "r");
  if (!python) return nullptr;
  char path[4096] = {};
  const bool read = std::fgets(path, sizeof path, python) != nullptr;
  pclose(python);
  if (!read) return nullptr;
  std::string file(path);
  if (!file.empty() && file.back() == '\n') file.pop_back();
  const std::string beside = file.substr(0, file.rfind('/')) + "/libcublasLt.so.13";
  dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

void must_blas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Failure(std::string(what) + ": cuBLAS status " + std::to_string(static_cast<int>(status)));
}
}  // namespace

Cublas::Cublas(const Queue& queue, std::string& why) : library_(open_cublas()) {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  if (!library_ || !find(library_, "cublasCreate_v2", create) || !find(library_, "cublasSetStream_v2", set_stream) ||
      !find(library_, "cublasGemmEx", gemm_) || !find(library_, "cublasDestroy_v2", destroy_)) {
    why = "libcublas.so.13 was not found";
    return;
  }
  find(library_, "cublasGemmGroupedBatchedEx", grouped_);
  if (create(&handle_) != CUBLAS_STATUS_SUCCESS) {
    handle_ = nullptr;
    why = "cublasCreate failed";
    return;
  }
  must_blas(set_stream(handle_, queue.stream()), "cublasSetStream");
}
Cublas::~Cublas() {
  if (handle_) destroy_(handle_);
}

// cuBLAS counts columns first: our rows are its columns.
void Cublas::product(int rows, int n, int k, const void* x, const void* w, void* y) const {
  const float one = 1, zero = 0;
  must_blas(gemm_(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, rows, k, &one, w, CUDA_R_16BF, k, x, CUDA_R_16BF, k, &zero, y, CUDA_R_16BF, n,
                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx");
}

cublasStatus_t Cublas::grouped(const Grouped& call) const {
  if (!grouped_) return CUBLAS_STATUS_NOT_SUPPORTED;
  const size_t groups = call.rows.size();
  const std::vector<cublasOperation_t> transposed(groups, CUBLAS_OP_T), plain(groups, CUBLAS_OP_N);
  const std::vector<int> n(groups, call.n), k(groups, call.k), sizes(groups, 1);
  const std::vector<float> one(groups, 1.0f), zero(groups, 0.0f);
  return grouped_(handle_, transposed.data(), plain.data(), n.data(), call.rows.data(), k.data(), one.data(), call.w, CUDA_R_16BF, k.data(),
                  call.x, CUDA_R_16BF, k.data(), zero.data(), call.y, CUDA_R_16BF, n.data(), static_cast<int>(groups), sizes.data(),
                  CUBLAS_COMPUTE_32F);
}

}  // namespace stormcell::device_check
