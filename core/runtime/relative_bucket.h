// Buckets of relative positions, as T5 learns its attention bias for.
#pragma once

namespace stormcell {

/// The bucket of key position minus query position: exact for near keys, logarithmic up to max_distance, the last
/// bucket beyond. Reproduces
/// `_relative_position_bucket` of transformers for every value, including its f32 arithmetic.
int relative_bucket(int relative_position, bool bidirectional, int buckets, int max_distance);

}  // namespace stormcell
