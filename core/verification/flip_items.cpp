#include "core/verification/flip_items.h"

#include "core/bench/record_plan.h"

namespace stormcell {
namespace {

void name_items(const Dataset& data, const Model* decodes, std::vector<Flip>& flips) {
  Batch batch;
  std::vector<int32_t> first;
  for (Flip& flip : flips) {
    if (batch.index != flip.batch || batch.items.empty()) {
      batch = data.batch(flip.batch);
      if (decodes) first = first_positions(*decodes, batch);
    }
    if (flip.item < 0 || flip.item >= batch.size()) {
      flip.item = -1;
      continue;
    }
    const size_t place = flip.item;
    if (decodes && flip.turn >= 0) flip.position += first[place] + flip.turn;
    flip.item = batch.items[place];
  }
}

}  // namespace

void name_items(const Dataset& data, std::vector<Flip>& flips) { name_items(data, nullptr, flips); }
void name_decoded_items(const Dataset& data, const Model& model, std::vector<Flip>& flips) {
  name_items(data, &model, flips);
}

}  // namespace stormcell
