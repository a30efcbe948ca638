#include "tests/testing/random_graph.h"

#include <cmath>

#include "tests/testing/random_maps.h"

namespace stormcell::testing {
namespace {

class Generator : public RandomRouters {
 public:
  Generator(uint64_t seed, const RandomOptions& options)
      : RandomRouters(seed, options), ragged_(options.ragged), states_(options.states) {}

  RandomCase make() {
    if (states_) return decoding();
    if (ragged_) return random.chance(0.5) ? compacted() : sequence_router();
    const double kind = random.uniform();
    if (kind < 0.35) return tokens(false);
    if (kind < 0.6) return encoder_decoder();
    if (kind < 0.75) return images();
    if (kind < 0.9) return patches();
    return tokens(true);
  }

 private:
  ValueId embedded(std::string_view name, SpaceId space, int64_t width) {
    const int64_t vocabulary = 19;
    const ValueId ids = integers(name, space, vocabulary);
    return value("embedding", {ids, drawn("embedding", {vocabulary, width}, 1)}, {}, std::string(name) + ".embedded");
  }

  /// Attention of `x` among `memory`, which is x itself or another sequence's rows.
  ValueId attention(ValueId x, ValueId memory, ValueId mask, bool causal, const std::string& name) {
    const int64_t width = width_of(x), heads = random.chance(0.5) ? 2 : 4,
                  kv_heads = random.chance(0.5) ? heads : heads / 2;
    const int64_t head = 4;
    const bool self = x == memory;
    const ValueId from = norm(x, name + ".norm"), keys_from = self ? from : memory;
    ValueId q = linear(from, heads * head, name + ".q", "none", random.chance(0.5)),
            k = linear(keys_from, kv_heads * head, name + ".k", "none", false);
    const ValueId v = linear(keys_from, kv_heads * head, name + ".v", "none", random.chance(0.5));
    if (self && mask != kNone && random.chance(0.4)) {
      const ValueId places = value("positions", {mask}, {}, name + ".places");
      q = value("rotary", {q, places}, {{"heads", heads}, {"theta", 100.0}}, name + ".q.turned");
      k = value("rotary", {k, places}, {{"heads", kv_heads}, {"theta", 100.0}}, name + ".k.turned");
    }
    std::vector<ValueId> inputs{q, k, v};
    Attributes attributes{
        {"heads", heads}, {"kv_heads", kv_heads}, {"scale", 1 / std::sqrt(static_cast<double>(head))}};
    if (causal) attributes.set("causal", int64_t{1});
    if (causal && random.chance(0.2)) {
      attributes.set("window", int64_t{3});
      exact = false;
    }
    std::string extras;
    if (self && random.chance(0.5)) {
      const bool both = !causal;
      inputs.push_back(drawn(name + ".bias", {8, heads}, 0.5));
      attributes.set("buckets", int64_t{8});
      attributes.set("max_distance", int64_t{6});
      attributes.set("bidirectional", int64_t{both});
      extras = "bias";
    }
    if (mask != kNone && random.chance(0.8)) {
      inputs.push_back(mask);
      extras += extras.empty() ? "mask" : "+mask";
    }
    if (!extras.empty()) attributes.set("extras", extras);
    const ValueId mixed = value("attention", std::move(inputs), std::move(attributes), name);
    return residual(x, linear(mixed, width, name + ".o", "none", false), name);
  }

  /// A stack of blocks over dense cells.
  ValueId stack(ValueId x, ValueId mask, bool causal, bool attends, ValueId memory, ValueId memory_mask,
                const std::string& name) {
    const int64_t blocks = random.between(1, 3);
    for (int64_t i = 0; i < blocks; ++i) {
      const std::string block = name + "." + std::to_string(i);
      if (attends && random.chance(0.75)) x = attention(x, x, mask, causal, block + ".attention");
      if (memory != kNone && (i == 0 || random.chance(0.5)))
        x = attention(x, memory, memory_mask, false, block + ".cross");
      x = random.chance(0.8) ? mixture(x, 0, block + ".mlp") : dense_block(x, block + ".mlp");
      if (random.chance(0.15)) x = twins(x, block + ".twins");
    }
    if (random.chance(0.35)) x = exits(x, block_count(2), name + ".exits");
    return x;
  }
  int64_t block_count(int64_t most) { return random.between(1, most); }

  /// Nothing is asked of cells that a mask calls padding.
  void outputs(ValueId x, const std::string& name, ValueId mask = kNone) {
    const ValueId normed = norm(x, name + ".final");
    output(name, normed, mask);
    if (random.chance(0.3))
      output(name + ".choice", value("argmax", {linear(normed, 7, name + ".vocabulary")}, {}, name + ".argmax"), mask);
  }

  void spaces() {
    sequences_ = root_space("sequences", bound_symbol("N", random.between(1, 4)));
    tokens_ = dense_space("tokens", sequences_, bound_symbol("T", random.chance(0.1) ? 1 : random.between(2, 7)));
  }
  int64_t width() { return random.chance(0.5) ? 8 : 12; }

  RandomCase tokens(bool pooled) {
    spaces();
    ValueId x = embedded("ids", tokens_, width());
    const ValueId flags = random.chance(0.6) ? mask("mask", tokens_, random.chance(0.5)) : kNone;
    const bool causal = random.chance(0.5);
    x = stack(x, flags, causal, true, kNone, kNone, "encoder");
    if (pooled) {
      const bool last = random.chance(0.3);
      exact = exact && !last;
      ValueId whole = value("reduce", {x}, {{"mode", std::string(last ? "last" : "mean")}}, "pooled");
      whole = mixture(whole, 0, "sequence.mlp");
      output("sequence", whole);
      x = residual(x, value("broadcast", {whole}, {{"space", int64_t{tokens_}}}, "spread"), "spread");
      if (random.chance(0.5)) x = mixture(x, 0, "late.mlp");
    }
    outputs(x, "hidden", flags);
    return take(std::string(pooled ? "tokens, pooled" : "tokens") + (causal ? ", causal" : ""));
  }

  RandomCase encoder_decoder() {
    spaces();
    const SpaceId targets = dense_space("targets", sequences_, bound_symbol("U", random.between(1, 5)));
    const int64_t d = width();
    const ValueId flags = random.chance(0.6) ? mask("mask", tokens_, random.chance(0.5)) : kNone;
    ValueId x = stack(embedded("ids", tokens_, d), flags, false, true, kNone, kNone, "encoder");
    x = norm(x, "encoder.final");
    output("encoder_hidden", x, flags);
    outputs(stack(embedded("target_ids", targets, d), kNone, true, true, x, flags, "decoder"), "decoder_hidden");
    return take("encoder and decoder");
  }

  ValueId some_cells(const std::string& name, SpaceId space) {
    return value("compact", {random.chance(0.5) ? mask(name, space, true) : flags(name, space)}, {}, name + ".real");
  }

  /// Only the cells that a mask names, in an encoder and sometimes a decoder that attends to it.
  RandomCase compacted() {
    spaces();
    const bool causal = random.chance(0.5), decodes = random.chance(0.4);
    const ValueId real = some_cells("mask", tokens_);
    ValueId x = pack(embedded("ids", tokens_, width()), real, sequences_);
    x = stack(x, kNone, causal, true, kNone, kNone, "encoder");
    output("expanded", value("expand", {x, real}, {}, "expanded"));
    if (random.chance(0.5))
      output("pooled", value("reduce", {x}, {{"mode", std::string(random.chance(0.5) ? "mean" : "last")}}, "pooled"));
    if (decodes) {
      const SpaceId targets = dense_space("targets", sequences_, bound_symbol("U", random.between(1, 5)));
      const ValueId kept = random.chance(0.7) ? some_cells("target_mask", targets) : kNone;
      ValueId y = embedded("target_ids", targets, width_of(x));
      if (kept != kNone) y = pack(y, kept, sequences_);
      y = stack(y, kNone, true, true, x, kNone, "decoder");
      output("decoded", kept == kNone ? y : value("expand", {y, kept}, {}, "decoded.expanded"));
    }
    exact = false;
    return take("compacted");
  }

  /// Sequences are routed, with all their tokens or with those that a mask names; attention and routers of tokens
  /// inside the branches.
  RandomCase sequence_router() {
    spaces();
    ValueId x = embedded("ids", tokens_, width());
    SpaceId base = tokens_;
    ValueId real = kNone;
    if (random.chance(0.5)) {
      real = some_cells("mask", tokens_);
      x = pack(x, real, sequences_);
      base = space_of(x);
    }
    const ValueId whole = value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
    Protocol protocol;
    const int64_t branches = random.between(2, 4);
    protocol.k = static_cast<int32_t>(random.between(1, 2));
    if (random.chance(0.3)) protocol.kind = ProtocolKind::switch_top1, protocol.k = 1, protocol.capacity = 1;
    const ValueId decision = route(linear(whole, branches, "router", "none", true, 2), protocol, "sequences");
    const bool slots = random.chance(0.2);
    std::vector<int32_t> all;
    for (int32_t b = 0; b < branches; ++b) all.push_back(b);
    if (slots) all = {kAllBranches};
    std::vector<ValueId> told{decision};
    if (real != kNone) told.push_back(real);
    const ValueId members = value("members", std::move(told), {{"base", int64_t{base}}}, "members");
    std::vector<ValueId> parts = pack_branches(x, members, decision, all);
    const std::vector<ValueId> summaries = scatter(whole, decision, all);
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string name = "task." + std::to_string(i);
      ValueId y = parts[i];
      if (random.chance(0.7)) y = attention(y, y, kNone, random.chance(0.5), name + ".attention");
      if (random.chance(0.5))
        y = residual(y, value("broadcast", {summaries[i]}, {{"space", int64_t{space_of(y)}}}, name + ".spread"), name);
      parts[i] = random.chance(0.5) && !slots ? mixture(y, 1, name + ".mlp") : dense_block(y, name + ".mlp");
    }
    const std::string mode = random.chance(0.5) ? "weighted" : random.chance(0.5) ? "sum" : "place";
    // A cell that comes in two slots has no one row to take its place.
    const bool otherwise = random.chance(0.4);
    x = gather(std::move(parts), base, slots && mode == "place" ? "sum" : mode, otherwise ? x : kNone, "joined");
    x = random.chance(0.5) ? mixture(x, 0, "late.mlp") : x;
    output("hidden", real == kNone ? x : value("expand", {x, real}, {}, "hidden.expanded"));
    exact = false;
    return take("sequence router");
  }

  /// Describes the caches of decoding().
  struct Caches {
    int64_t heads = 2, kv_heads = 2, window = 0;
    bool bias = false, turned = false;
    ValueId k = kNone, v = kNone, place = kNone;
  };
  /// x among what its sequence has, itself included: kept first, attended to then. `places`: of its cells.
  ValueId cached(ValueId x, ValueId places, const Caches& c, const std::string& name) {
    constexpr int64_t kHead = 4;
    const ValueId from = norm(x, name + ".norm");
    ValueId q = linear(from, c.heads * kHead, name + ".q"),
            k = linear(from, c.kv_heads * kHead, name + ".k", "none", false);
    if (c.turned) {
      q = value("rotary", {q, places}, {{"heads", c.heads}, {"theta", 100.0}}, name + ".q.turned");
      k = value("rotary", {k, places}, {{"heads", c.kv_heads}, {"theta", 100.0}}, name + ".k.turned");
    }
    const ValueId v = linear(from, c.kv_heads * kHead, name + ".v");
    const auto keep = [&](ValueId state, ValueId rows, const char* what) {
      GraphBuilder::add("state_put", {state, rows, c.place}, {{"extras", std::string("at")}}, name + what);
    };
    keep(c.k, k, ".k.keep");
    keep(c.v, v, ".v.keep");
    std::vector<ValueId> inputs{q, c.k, c.v};
    Attributes attributes{{"heads", c.heads}, {"kv_heads", c.kv_heads}, {"scale", 0.5}, {"causal", int64_t{1}}};
    if (c.window > 0) attributes.set("window", c.window);
    if (c.bias) {
      inputs.push_back(drawn(name + ".bias", {8, c.heads}, 0.5));
      attributes.set("buckets", int64_t{8});
      attributes.set("max_distance", int64_t{6});
      attributes.set("bidirectional", int64_t{0});
    }
    inputs.push_back(c.place);
    attributes.set("extras", std::string(c.bias ? "bias+step" : "step"));
    const ValueId mixed = value("attention", std::move(inputs), std::move(attributes), name);
    return residual(x, linear(mixed, width_of(x), name + ".o", "none", false), name);
  }

  /// Prompts of unlike length, some of them empty, then turns of a cell or two.
  RandomCase decoding() {
    spaces();
    const int64_t d = width(), turns = random.between(1, 4), each = random.between(1, 2);
    const SpaceId step = dense_space("step", sequences_, Dim(each));
    // Sometimes of several pages.
    const int64_t before = random.chance(0.3) ? random.between(60, 140) : 0;
    const SpaceId room =
        dense_space("room", sequences_, graph().space(tokens_).per_parent + Dim(before + turns * each));
    Caches c;
    c.kv_heads = random.between(1, 2), c.bias = random.chance(0.4), c.turned = random.chance(0.5);
    if (random.chance(0.3)) c.window = random.between(1, 5);
    c.place = state("place", DType::i32, sequences_);
    c.k = state("cache.k", weight_dtype, room, {c.kv_heads * 4}),
    c.v = state("cache.v", weight_dtype, room, {c.kv_heads * 4});
    const ValueId carried = state("carried", DType::f32, sequences_, {d});
    const ValueId real = random.chance(0.5) ? mask("mask", tokens_, true) : flags("mask", tokens_);
    const ValueId cells = value("compact", {real}, {}, "real"), ones = pack(real, cells, sequences_);
    if (random.chance(0.3)) GraphBuilder::add("state_fill", {c.place}, {{"value", 0.0}}, "begin");
    if (before > 0) {
      const SpaceId earlier = dense_space("earlier", sequences_, Dim(before));
      const ValueId x = embedded("earlier_ids", earlier, d);
      cached(x, value("broadcast", {c.place}, {{"space", int64_t{earlier}}}, "earlier.places"), c, "earlier");
      const ValueId next = value("add_constant", {c.place}, {{"value", before}}, "earlier.next");
      GraphBuilder::add("state_write", {c.place, next}, {}, "earlier.keep");
    }
    ValueId x = pack(embedded("ids", tokens_, d), cells, sequences_);
    x = cached(x, value("positions", {ones, c.place}, {{"extras", std::string("from")}}, "places"), c,
               "prompt.attention");
    x = mixture(x, 1, "prompt.mlp");
    GraphBuilder::add("state_write", {carried, value("reduce", {x}, {{"mode", std::string("last")}}, "prompt.last")},
                      {}, "prompt.keep");
    const ValueId length = value("reduce", {ones}, {{"mode", std::string("sum")}}, "length");
    GraphBuilder::add("state_write", {c.place, add(c.place, length, "prompt.next")}, {}, "prompt.place");

    begin_body();
    ValueId y = value("broadcast", {carried}, {{"space", int64_t{step}}}, "turn.begin");
    y = cached(y, value("broadcast", {c.place}, {{"space", int64_t{step}}}, "turn.places"), c, "turn.attention");
    y = random.chance(0.7) ? mixture(y, 1, "turn.mlp") : dense_block(y, "turn.mlp");
    GraphBuilder::add("state_write", {carried, value("reduce", {y}, {{"mode", std::string("last")}}, "turn.last")}, {},
                      "turn.keep");
    const ValueId next = value("add_constant", {c.place}, {{"value", each}}, "turn.next");
    GraphBuilder::add("state_write", {c.place, next}, {}, "turn.place");
    end_body({value("extent", {}, {{"extent", std::string("0")}}, "go.on")});
    add_region("repeat", {}, {{"most", std::to_string(turns)}}, "turns");
    output("carried", norm(carried, "carried.norm"));
    output("place", value("add_constant", {c.place}, {{"value", int64_t{0}}}, "place.now"));
    exact = false;
    return take("decoding");
  }

  RandomCase images() {
    const SpaceId images = root_space("images", bound_symbol("N", random.between(1, 6)));
    ValueId maps = conv(floats("pixels", images, {8, 8, 3}), 6, 3, 1, "stem", "silu");
    maps = value("pool", {maps}, {{"kind", std::string("average")}, {"size", int64_t{2}}, {"stride", int64_t{2}}},
                 "stem.pool");
    if (random.chance(0.7)) maps = conv_mixture(maps, "conv");
    ValueId x = value("pool", {maps}, {{"kind", std::string("global_average")}}, "pooled");
    x = mixture(linear(x, 8, "features"), 0, "mlp");
    if (random.chance(0.6)) x = exits(x, block_count(3), "exits");
    outputs(x, "features.last");
    return take("images");
  }

  RandomCase patches() {
    const SpaceId images = root_space("images", bound_symbol("N", random.between(1, 3)));
    const SpaceId patches = dense_space("patches", images, Dim(random.between(2, 6)));
    ValueId maps = conv(floats("patch_pixels", patches, {6, 6, 3}), 6, 3, 2, "stem", "gelu");
    if (random.chance(0.6)) maps = conv_mixture(maps, "conv");
    ValueId x = linear(value("pool", {maps}, {{"kind", std::string("global_average")}}, "pooled"), 8, "features");
    x = stack(x, kNone, false, random.chance(0.7), kNone, kNone, "mixer");
    const ValueId whole = value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
    output("patch_features", x);
    outputs(whole, "image_features");
    return take("patches");
  }

  bool ragged_, states_;
  SpaceId sequences_ = kNone, tokens_ = kNone;
};

}  // namespace

RandomCase make_random_case(uint64_t seed, const RandomOptions& options) {
  RandomCase made = options.maps ? RandomMaps(seed, options).make() : Generator(seed, options).make();
  made.name += ", seed " + std::to_string(seed);
  return made;
}

}  // namespace stormcell::testing
