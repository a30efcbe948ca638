#include "app/cli/structure_text.h"

#include "app/cli/numbers_text.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"
#include "core/summary/sheet_text.h"
#include "core/summary/weights_text.h"

namespace stormcell::cli {
namespace {

/// Steps and segments of a plan, or that it runs without the host. The tree of segments is long; --segments writes it.
std::string plan_text(const PlanStructure& p) {
  std::string text = "\nplan of one " + std::string(p.phase == WorkPhase::decode ? "decoding" : "forward pass");
  if (p.weight_budget > 0) text += " with " + bytes_text(p.weight_budget) + " for the weights of branches";
  text += ": " + counted(p.steps, "step") + ", ";
  if (p.ends == 0) return text + "resident on the device: it runs without the host\n";
  return text + counted(p.leaves, "segment") + "; a submission may end with " + count_text(p.ends) + " of them\n";
}

std::string mflop_text(double flops) { return number_text(flops / 1e6) + " MFLOP"; }

/// Operations are unknown before a run: with exits this gives both ends, for other routers it states its assumptions.
std::string operations_text(const ModelStructure& s) {
  std::string assumed;
  if (!s.item_flops && !s.routers.empty())
    add_to_list(assumed, "each cell takes as many branches as it may and all branches get equally many cells");
  if (s.operators.contains("guard")) add_to_list(assumed, "guards hold");
  if (s.operators.contains("repeat")) add_to_list(assumed, "decoding takes all its turns");
  const std::string operations = s.item_flops ? number_text(s.item_flops->first_exit / 1e6) + " to " +
                                                    mflop_text(s.item_flops->whole) +
                                                    " an item, from the first exit to the whole network"
                                              : mflop_text(s.flops_per_cell) + " a cell";
  return operations + (assumed.empty() ? "" : " where " + assumed);
}

/// The kind of the model, its routers and operations, and whether this version runs it.
std::vector<std::string> structure_conclusions(const ModelStructure& s) {
  int64_t branches = 0;
  for (const RouterStructure& r : s.routers) branches += r.branches;
  std::vector<std::string> sentences = {
      s.name + " is a model of the family " + s.family + " with " + parameters_text(s.parameters) + ".",
      s.routers.empty() ? "It has no routers, so there is nothing to record."
                        : "Its " + counted(std::ssize(s.routers), "router") + " choose among " +
                              counted(branches, "branch") + ", and it takes " + operations_text(s) + "."};
  if (s.routers.size() == 1)
    sentences.back() =
        "Its router chooses among " + counted(branches, "branch") + ", and it takes " + operations_text(s) + ".";
  if (!s.unsupported.empty()) {
    sentences.push_back("This version does not run it: " + s.unsupported.front() + ".");
    return sentences;
  }
  const bool demo = s.name.starts_with("demo:");
  sentences.push_back(next_command({"optimize", s.name, "--data",
                                    demo        ? s.name + "-sample"
                                    : s.picture ? "random:16"
                                                : "random:16x16"}));
  return sentences;
}

std::string structure_details(const ModelStructure& s, bool verbose) {
  std::string text = s.name + ": " + s.family + ", " + parameters_text(s.parameters) + ", " +
                     stored_text(s.weight_bytes) + ", " + weights_text(s.weights, s.weights_stated) + ", " +
                     operations_text(s) + "\n";
  if (s.least_budget > 0)
    text += "weights of branches as they are laid out: " + bytes_text(s.expert_bytes) + ", the largest of them " +
            bytes_text(s.least_budget) + "; --weight-budget from " + std::to_string(s.least_budget) + " bytes on\n";
  if (s.picture) {
    const PictureStructure& p = *s.picture;
    text += "pictures of " + std::to_string(p.height) + " x " + std::to_string(p.width) + " pixels, " +
            counted(p.channels, "channel");
    if (p.least > 0)
      text += "; other heights and widths of " + count_text(p.least) + " to " + std::to_string(p.most) + " too";
    text += "\n";
    for (const GridStructure& g : s.grids)
      text += "each is cut into " + count_text(g.rows) + " rows of " + count_text(g.columns) + " cells (" +
              g.cell_space + "), " + count_text(g.patch_height) + " x " + count_text(g.patch_width) + " pixels, " +
              count_text(g.stride) + " apart\n";
  }
  Rows inputs;
  for (const InputStructure& i : s.inputs) {
    std::string content;
    for (const int64_t extent : i.content) content += ", " + std::to_string(extent);
    inputs.push_back({i.name, i.role == i.name ? "" : "the " + i.role, "[" + i.cell_space + content + "]"});
  }
  if (!inputs.empty()) text += "\nthe data bring\n" + table_text(inputs, {});
  if (!s.routers.empty()) {
    Rows rows = {{"router", "branches", "protocol", "cells of", "hoistable", "mixes until the next router"}};
    if (s.item_flops) rows[0].emplace_back("operations of an item that answers there");
    for (const RouterStructure& r : s.routers) {
      std::string mixes;
      for (const std::string& m : r.mixes) add_to_list(mixes, m, "; ");
      rows.push_back({r.name, count_text(r.branches), r.protocol, r.cell_space,
                      r.hoistable_bytes > 0 || r.hoistable_flops > 0
                          ? bytes_text(static_cast<int64_t>(r.hoistable_bytes)) + ", " + mflop_text(r.hoistable_flops)
                          : "nothing",
                      mixes.empty() ? "nothing" : mixes});
      if (s.item_flops)
        rows.back().push_back(r.exit_cost ? mflop_text(*r.exit_cost * s.item_flops->whole) + ", " +
                                                share_text(*r.exit_cost) + " of the whole network's"
                                          : "-");
    }
    text += "\n" + table_text(rows, {1});
    for (const RouterStructure& r : s.routers) {
      if (!verbose) break;
      text += "\non " + r.name + " depend\n";
      for (const std::string& d : r.depends) text += "  " + d + "\n";
    }
  }
  Rows operators;
  const auto kernels_of = [&](const std::string& op) {
    std::string list;
    for (const KernelsOfOperator& k : s.kernels)
      if (k.op == op) add_to_list(list, (k.devices.empty() ? "" : joined(k.devices) + ": ") + joined(k.names), "; ");
    return list;
  };
  for (const auto& [name, count] : s.operators) operators.push_back({name, count_text(count), kernels_of(name)});
  if (!operators.empty())
    text += "\noperators, and their kernels, the first one that fits is used (--annotate NODE.kernel=KERNEL)\n" +
            table_text(operators, {1});
  if (!s.annotations.empty()) text += "\nannotations\n";
  for (const std::string& a : s.annotations) text += "  " + a + "\n";
  if (s.plan) text += plan_text(*s.plan);
  for (const std::string& u : s.unsupported) text += "not in this version: " + u + "\n";
  return text;
}

}  // namespace

Page page_of(const ModelStructure& s, bool verbose) {
  return {structure_conclusions(s), structure_details(s, verbose)};
}

}  // namespace stormcell::cli
