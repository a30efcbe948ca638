// The fields of structures and sheets of models (fields.h).
#pragma once
#include "core/base/run_kind.h"
#include "core/figures/figure.h"
#include "core/summary/field_of.h"
#include "core/summary/structure_figures.h"

namespace stormcell {

void fields(auto& v, Of<RouterStructure> auto& r) {
  v("name", r.name);
  v("branches", r.branches);
  v("cell_space", r.cell_space);
  v("protocol", r.protocol);
  v("depends", r.depends);
  v.group("hoistable", [&](auto& work) {
    work("bytes", r.hoistable_bytes,
         Figure::counted("", "Bytes of the weights that could be moved before the decision.", Unit::bytes));
    work("flops", r.hoistable_flops, Figure::counted("", "Operations that could be moved before the decision."));
  });
  v("mixes", r.mixes);
  v("exit_cost", r.exit_cost,
    Figure::counted("", "Operations if all items answer there, as a share of the whole network.", Unit::share));
}

void fields(auto& v, Of<PictureStructure> auto& p) {
  v("height", p.height);
  v("width", p.width);
  v("channels", p.channels);
  v.positive_or_null("least", p.least);
  v.positive_or_null("most", p.most);
}

void fields(auto& v, Of<GridStructure> auto& g) {
  v("cell_space", g.cell_space);
  v("rows", g.rows);
  v("columns", g.columns);
  v("patch_height", g.patch_height);
  v("patch_width", g.patch_width);
  v("stride", g.stride);
}

void fields(auto& v, Of<InputStructure> auto& i) {
  v("name", i.name);
  v("role", i.role);
  v("cell_space", i.cell_space);
  v("content", i.content);
}

void fields(auto& v, Of<ItemFlops> auto& f) {
  v("first_exit", f.first_exit, Figure::counted("", "Operations of an item that answers at the first exit."));
  v("whole", f.whole, Figure::counted("", "Operations through the whole network."));
}

void fields(auto& v, Of<SegmentStructure> auto& s) {
  v("kind", s.kind);
  v.text_or_null("of", s.of);
  v("leaf", s.leaf);
  v("begin", s.begin);
  v("end", s.end);
  v("kernels", s.kernels);
  v("branches", s.branches);
  v("guards", s.guards);
  v("repeats", s.repeats);
  v.text_or_null("ends", s.ends);
  v.text_or_null("at", s.at);
  v("children", s.children);
}

void fields(auto& v, Of<PlanStructure> auto& p) {
  v.word("phase", p.phase, work_phase);
  v.positive_or_null("weight_budget", p.weight_budget);
  v("steps", p.steps);
  v("leaves", p.leaves);
  v("ends", p.ends);
  v.derived("resident", p.ends == 0);
  v("program", p.program);
}

void fields(auto& v, Of<KernelsOfOperator> auto& k) {
  v("operator", k.op);
  v.left_out_if_empty("devices", k.devices);
  v("names", k.names);
}

void fields(auto& v, Of<SheetLack> auto& l) {
  v("what", l.what);
  v.text_or_null("where", l.where);
  v.positive_or_null("count", l.count);
}

void fields(auto& v, Of<SheetFormat> auto& f) {
  v("tensors", f.tensors);
  v("parameters", f.parameters);
  v("bytes", f.bytes, Figure::counted("", "Bytes of these tensors.", Unit::bytes));
}

void fields(auto& v, Of<SheetMemory> auto& m) {
  v.positive_or_null("total_bytes", m.total_bytes);
  v.positive_or_null("available_bytes", m.available_bytes);
  v("expert_bytes", m.expert_bytes,
    Figure::counted("weights of branches, all", "All weights of branches as they are stored.", Unit::bytes));
  v("rest_bytes", m.rest_bytes);
  v.positive_or_null("token_bytes", m.token_bytes);
  v.word("fits", m.fits, memory_fit);
}

void fields(auto& v, Of<SheetRate> auto& r) {
  v("low", r.low, Figure::worked("", "The lower end of the rate that this machine allows.", Unit::none));
  v("high", r.high, Figure::worked("", "The upper end of the rate that this machine allows.", Unit::none));
}

void fields(auto& v, Of<ModelSheet> auto& s) {
  v.schema("sheet", s.version);
  v("kind", s.kind);
  v("name", s.name);
  v.text_or_null("family", s.family);
  v.text_or_null("routing", s.routing);
  v("runnable", s.runnable);
  v("lacks", s.lacks);
  v.positive_or_null("parameters", s.parameters);
  v.positive_or_null("active_parameters", s.active_parameters);
  v.positive_or_null("layers", s.layers);
  v.positive_or_null("layers_with_experts", s.layers_with_experts);
  v.positive_or_null("experts", s.experts);
  v.positive_or_null("k", s.k);
  v("files", s.files);
  v.positive_or_null("bytes", s.bytes);
  v("formats", s.formats);
  v.text_or_null("tokenizer", s.tokenizer);
  v.text_or_null("template", s.chat_template);
  v("memory", s.memory);
  v("tokens_per_s", s.tokens_per_s);
  v.text_or_null("recorder", s.recorder);
  v("warnings", s.warnings);
}

void fields(auto& v, Of<ModelStructure> auto& s) {
  v.schema("inspect", s.version);
  v("name", s.name);
  v("family", s.family);
  v("weights", s.weights);
  v.true_unless_said("weights_stated", s.weights_stated);
  v("parameters", s.parameters);
  v("weight_bytes", s.weight_bytes,
    Figure::counted("weights of the model", "Weights as they are stored.", Unit::bytes));
  v("expert_bytes", s.expert_bytes,
    Figure::counted("weights of branches, all", "All weights of branches as they are laid out.", Unit::bytes));
  v.positive_or_null("least_weight_budget", s.least_budget);
  v("flops_per_cell", s.flops_per_cell, Figure::counted("", "Operations of a cell."));
  v("item_flops", s.item_flops);
  v("inputs", s.inputs);
  v("picture", s.picture);
  v("grids", s.grids);
  v("routers", s.routers);
  v("operators", s.operators);
  v("kernels", s.kernels);
  v("annotations", s.annotations);
  v("plan", s.plan);
  v("unsupported", s.unsupported);
  v("warnings", s.warnings);
  v("sheet", s.sheet);
}

}  // namespace stormcell
