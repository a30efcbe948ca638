#include "tests/bench/rival_linear.h"

#ifndef STORMCELL_WITH_ONEDNN
namespace stormcell::bench {
std::unique_ptr<RivalLinear> make_rival_linear(ThreadTeam&, int64_t, int64_t, int64_t, DType, const float*, int) {
  return nullptr;
}
}  // namespace stormcell::bench
#else
#include <omp.h>

#include <cstring>
#include <dnnl.hpp>
#include <vector>

#include "tests/bench/huge_pages.h"

namespace stormcell::bench {
namespace {

using dnnl::memory;

class OneDnnLinear final : public RivalLinear {
 public:
  OneDnnLinear(ThreadTeam& team, int64_t rows, int64_t n, int64_t k, DType dtype, const float* weights, int sets)
      : rounds_(dtype == DType::bf16) {
    slices_.resize(static_cast<size_t>(team.size()));
    team.run([&](int member) {
      omp_set_num_threads(1);
      Slice& s = slices_[static_cast<size_t>(member)];
      const int64_t first = n / 64 * member / team.size() * 64,
                    columns = n / 64 * (member + 1) / team.size() * 64 - first;
      const auto type = rounds_ ? memory::data_type::bf16 : memory::data_type::f32;
      const memory::desc plain({rows, k}, memory::data_type::f32, memory::format_tag::ab),
          x({rows, k}, type, memory::format_tag::ab);
      const memory::desc y({rows, columns}, memory::data_type::f32, memory::dims{n, 1});
      s.product = dnnl::matmul::primitive_desc(dnnl::matmul::desc(x, {{k, columns}, type, memory::format_tag::any}, y),
                                               engine_);
      s.execute = dnnl::matmul(s.product);
      s.stream = dnnl::stream(engine_);
      s.plain = memory(plain, engine_, nullptr), s.y = memory(y, engine_, nullptr);
      s.x = rounds_ ? memory(x, engine_) : s.plain;
      if (rounds_) s.convert = dnnl::reorder(s.plain, s.x);
      s.bytes = s.product.weights_desc().get_size();
      s.weights = HugePages(s.bytes * static_cast<size_t>(sets));
      s.w = memory(s.product.weights_desc(), engine_, s.weights.data());
      s.first = first;
      memory source({{k, columns}, memory::data_type::f32, memory::dims{1, k}}, engine_,
                    const_cast<float*>(weights + first * k));
      dnnl::reorder(source, s.w).execute(s.stream, source, s.w);
      s.stream.wait();
      for (int set = 1; set < sets; ++set)
        std::memcpy(s.weights.data() + static_cast<size_t>(set) * s.bytes, s.weights.data(), s.bytes);
    });
  }

  void run(ThreadTeam& team, const float* x, int set, float* y) override {
    team.run([&](int member) {
      Slice& s = slices_[static_cast<size_t>(member)];
      s.plain.set_data_handle(const_cast<float*>(x));
      s.y.set_data_handle(y + s.first);
      s.w.set_data_handle(s.weights.data() + static_cast<size_t>(set) * s.bytes);
      if (rounds_) s.convert.execute(s.stream, s.plain, s.x);
      s.execute.execute(s.stream, {{DNNL_ARG_SRC, s.x}, {DNNL_ARG_WEIGHTS, s.w}, {DNNL_ARG_DST, s.y}});
      s.stream.wait();
    });
  }

 private:
  struct Slice {
    dnnl::matmul::primitive_desc product;
    dnnl::matmul execute;
    dnnl::reorder convert;
    dnnl::stream stream;
    memory plain, x, y, w;
    HugePages weights;
    size_t bytes = 0;
    int64_t first = 0;
  };
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  bool rounds_;
  std::vector<Slice> slices_;
};

}  // namespace

std::unique_ptr<RivalLinear> make_rival_linear(ThreadTeam& team, int64_t rows, int64_t n, int64_t k, DType dtype,
                                               const float* weights, int sets) {
  return std::make_unique<OneDnnLinear>(team, rows, n, k, dtype, weights, sets);
}

}  // namespace stormcell::bench
#endif
