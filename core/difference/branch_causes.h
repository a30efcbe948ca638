// Tests of causes that lie in the numbers of branches: permuted ids, shared experts, another k, groups.
#pragma once
#include <optional>

#include "core/difference/causes.h"
#include "core/difference/sampled_choices.h"

namespace stormcell {

std::optional<FoundCause> find_permuted_ids(const SampledChoices& sample);
/// Branches that nearly every cell has in one recording alone, beside which the choices agree.
std::optional<FoundCause> find_shared_experts(const SampledChoices& sample);
/// Cells have more choices in one recording. Its part explained is that of cells whose fewer choices are among the more.
std::optional<FoundCause> find_other_k(const SampledChoices& sample);
/// Choices of one recording stay within some groups of consecutive branches, and those of the other one do not.
std::optional<FoundCause> find_ignored_groups(const SampledChoices& sample);

}  // namespace stormcell
