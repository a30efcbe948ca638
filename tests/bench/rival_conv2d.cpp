#include "tests/bench/rival_conv2d.h"

#ifndef STORMCELL_WITH_ONEDNN
namespace stormcell::bench {
std::unique_ptr<RivalConv2d> make_rival_conv2d(const cpu::Conv2dShape&, RivalAlgorithm) { return nullptr; }
}  // namespace stormcell::bench
#else
#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>

namespace stormcell::bench {
namespace {

using dnnl::memory;

class OneDnnConv2d final : public RivalConv2d {
 public:
  /// Throws dnnl::error where there is no such algorithm.
  OneDnnConv2d(const cpu::Conv2dShape& s, dnnl::algorithm algorithm) {
    const auto any = [](const memory::dims& extents) {
      return memory::desc(extents, memory::data_type::f32, memory::format_tag::any);
    };
    const dnnl::convolution_forward::desc asked(
        dnnl::prop_kind::forward_inference, algorithm, any({s.images, s.in_channels, s.height, s.width}),
        any({s.out_channels, s.in_channels, s.kernel_height, s.kernel_width}),
        any({s.images, s.out_channels, s.out_height(), s.out_width()}), {s.stride_height, s.stride_width},
        {s.pad_height, s.pad_width}, {s.pad_height, s.pad_width});
    const dnnl::convolution_forward::primitive_desc chosen(asked, engine_);
    x_ = filled(chosen.src_desc()), w_ = filled(chosen.weights_desc()), y_ = filled(chosen.dst_desc());
    execute_ = dnnl::convolution_forward(chosen);
  }

  void run() override {
    omp_set_num_threads(1);
    execute_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  /// All values are 0.01: time does not depend on values, but on denormal ones. Layouts of Winograd's weights are
  /// opaque: bytes alone count.
  memory filled(const memory::desc& layout) {
    memory m(layout, engine_);
    auto* values = static_cast<float*>(m.get_data_handle());
    std::fill_n(values, layout.get_size() / sizeof(float), 0.01f);
    return m;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::convolution_forward execute_;
  memory x_, w_, y_;
};

}  // namespace

std::unique_ptr<RivalConv2d> make_rival_conv2d(const cpu::Conv2dShape& shape, RivalAlgorithm algorithm) {
  omp_set_num_threads(1);
  try {
    return std::make_unique<OneDnnConv2d>(shape, algorithm == RivalAlgorithm::winograd
                                                     ? dnnl::algorithm::convolution_winograd
                                                     : dnnl::algorithm::convolution_direct);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace stormcell::bench
#endif
