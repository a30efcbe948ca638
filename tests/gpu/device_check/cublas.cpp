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

// A library of this version where loaders look, in the toolkit's folder, or in that of Python's package. The functions
// used here are the same in versions 12 and 13.
void* open_cublas(const std::string& version, std::string& name) {
  const std::string file = "libcublas.so." + version;
  for (const std::string& candidate : {file, "/usr/local/cuda/lib64/" + file})
    if (void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      name = candidate;
      return library;
    }
  FILE* python =
      popen(("python3 -c 'import glob,sys; print([f for p in sys.path for f in glob.glob(p+\"/nvidia/*/lib/" + file +
             "\")][0])' 2>/dev/null")
                .c_str(),
            "r");
  if (!python) return nullptr;
  char path[4096] = {};
  const bool read = std::fgets(path, sizeof path, python) != nullptr;
  pclose(python);
  if (!read) return nullptr;
  name = path;
  if (!name.empty() && name.back() == '\n') name.pop_back();
  const std::string beside = name.substr(0, name.rfind('/')) + "/libcublasLt.so." + version;
  dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

void must_blas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Failure(std::string(what) + ": cuBLAS status " + std::to_string(static_cast<int>(status)));
}
}  // namespace

Cublas::Cublas(const Queue& queue, std::string& why) {
  for (const char* version : {"13", "12"})
    if (!library_) library_ = open_cublas(version, name_);
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  if (!library_ || !find(library_, "cublasCreate_v2", create) || !find(library_, "cublasSetStream_v2", set_stream) ||
      !find(library_, "cublasGemmEx", gemm_) || !find(library_, "cublasDestroy_v2", destroy_)) {
    why = "neither libcublas.so.13 nor libcublas.so.12 was found";
    return;
  }
  find(library_, "cublasGemmGroupedBatchedEx", grouped_);
  if (create(&handle_) != CUBLAS_STATUS_SUCCESS) {
    handle_ = nullptr;
    why = "cublasCreate failed";
    return;
  }
  must_blas(set_stream(handle_, queue.stream()), "cublasSetStream");
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  if (find(library_, "cublasSetWorkspace_v2", set_workspace)) {
    constexpr int64_t kWorkspace = int64_t{64} << 20;
    workspace_ = std::make_unique<Memory>(kWorkspace);
    must_blas(set_workspace(handle_, workspace_->as<void>(), kWorkspace), "cublasSetWorkspace");
  }
}
Cublas::~Cublas() {
  if (handle_) destroy_(handle_);
}

// cuBLAS counts columns first: our rows are its columns.
void Cublas::product(int rows, int n, int k, const void* x, const void* w, void* y) const {
  const float one = 1, zero = 0;
  must_blas(gemm_(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, rows, k, &one, w, CUDA_R_16BF, k, x, CUDA_R_16BF, k, &zero, y,
                  CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx");
}

void Cublas::Grouped::add(int rows_of_group) {
  rows.push_back(rows_of_group), n.push_back(n_), k.push_back(k_), sizes.push_back(1);
  transposed.push_back(CUBLAS_OP_T), plain.push_back(CUBLAS_OP_N);
  one.push_back(1), zero.push_back(0);
}
void Cublas::grouped(const Grouped& call) const {
  if (!grouped_) throw Failure(name_ + " has no cublasGemmGroupedBatchedEx");
  must_blas(grouped_(handle_, call.transposed.data(), call.plain.data(), call.n.data(), call.rows.data(), call.k.data(),
                     call.one.data(), call.w, CUDA_R_16BF, call.k.data(), call.x, CUDA_R_16BF, call.k.data(),
                     call.zero.data(), call.y, CUDA_R_16BF, call.n.data(), static_cast<int>(call.rows.size()),
                     call.sizes.data(), CUBLAS_COMPUTE_32F),
            "cublasGemmGroupedBatchedEx");
}

}  // namespace stormcell::device_check
