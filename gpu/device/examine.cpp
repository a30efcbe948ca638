#include "gpu/device/examine.h"

#include "core/base/error.h"
#include "gpu/device/cuda_device.h"
#include "gpu/device/module.h"

namespace stormcell::card {

ExaminedCards examine_cards(const std::vector<std::string>& folders) {
  const FoundModule found = find_module(folders);
  ExaminedCards all;
  if (found.calls) all = examine_cards(*found.calls);
  all.module = found.path;
  if (!found.reason.empty()) all.reason = found.reason;
  return all;
}

ExaminedCards examine_cards(const CardCalls& calls) {
  ExaminedCards all;
  all.architectures = calls.architectures;
  all.reason = why_no_card(calls, 0);
  int32_t count = 0;
  if (calls.count_cards(&count) != 0) return all;
  for (int32_t i = 0; i < count; ++i) {
    CardFacts facts = {};
    if (calls.describe(i, &facts) != 0) continue;
    ExaminedCard card{facts.name, facts.major, facts.minor};
    if (calls.count_memory(i, &card.free_bytes, &card.bytes) != 0) card.free_bytes = card.bytes = 0;
    card.reason = i == 0 ? all.reason : "this version runs on the first GPU alone";
    all.cards.push_back(std::move(card));
  }
  return all;
}

std::unique_ptr<Device> open_first_card(const std::vector<std::string>& folders, int host_threads) {
  const FoundModule found = find_module(folders);
  const std::string reason = found.calls ? why_no_card(*found.calls, 0) : found.reason;
  if (!reason.empty()) bad_input("--device", "\"cuda\": " + reason, "use --device cpu");
  return std::make_unique<CudaDevice>(*found.calls, 0, host_threads);
}

}  // namespace stormcell::card
