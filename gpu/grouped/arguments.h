// A call as the kernels take it.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/grouped.h"

namespace stormcell::gpu {

template <class T>
ProductArgs<T> args_of(const GroupedCall& call, int32_t* map) {
  ProductArgs<T> args;
  args.offsets = call.offsets;
  args.map = map;
  args.n = call.n, args.k = call.k;
  args.x = static_cast<const T*>(call.x), args.gather = call.gather;
  args.w = static_cast<const T*>(call.w), args.bias = call.bias;
  args.activation = call.activation;
  args.y = static_cast<T*>(call.y), args.scatter = call.scatter, args.weight = call.weight;
  return args;
}

}  // namespace stormcell::gpu
