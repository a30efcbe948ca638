// The kernels' instances, each compiled in a file of its own.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/grouped.h"
#include "gpu/launch/device.h"

namespace stormcell::gpu {

template <class T, int kPanels>
Status launch_plain(const Device& device, const ProductArgs<T>& args, const char* sizes, Stream stream);
template <class T, int kPanels>
Status launch_gemv(const Device& device, const ProductArgs<T>& args, const char* sizes, Stream stream);
/// `experts` is needed to describe the weights to the copy engine.
template <int kPanels>
Status launch_swapped(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes,
                      Stream stream);
template <int kPanels>
Status launch_joined(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes,
                     Stream stream);

}  // namespace stormcell::gpu
