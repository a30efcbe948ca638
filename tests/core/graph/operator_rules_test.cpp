// Every operator's shape rule says what it expected and what came.
#include <algorithm>

#include "core/graph/builder.h"
#include "core/graph/text.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using stormcell::testing::complaint;

namespace {

/// Spaces, inputs, weights, a state and a decision that the rows below use.
const std::string kCommon =
    "stormcell.graph/1\n"
    "symbols N T\n"
    "space sequences = root N\n"
    "space tokens = sequences x T\n"
    "space targets = sequences x 3\n"
    "input %x : f32 tokens [8]\n"
    "input %y : f32 targets [8]\n"
    "input %s : f32 sequences [8]\n"
    "input %ids : i32 tokens\n"
    "input %target_ids : i32 targets\n"
    "input %p : i32 []\n"
    "input %maps : f32 tokens [6,6,3]\n"
    "weight %w : f32 [4,8]\n"
    "weight %g : f32 [8]\n"
    "weight %k : f32 [5,3,3,3]\n"
    "state %h : f32 tokens [8]\n"
    "%scores : f32 tokens [4] = linear(%x, %w)\n"
    "%d : decision tokens 4x1 = route(%scores) protocol=\"top-k\"\n"
    "space d/0 = tokens by %d branch 0 at most N*T\n"
    "space d/s = tokens by %d slots at most N*T\n"
    "%b : f32 d/0 [8] = scatter(%x, %d) spaces=[@d/0]\n"
    "input %levels : f32 tokens\n"
    "input %pairs : i32 tokens [2]\n"
    "weight %low : bf16 [4,8]\n"
    "weight %each : f32 [3,3,3,1]\n"
    "weight %one : f32 [5,1,1,3]\n"
    "%part : i32 d/0 = scatter(%ids, %d) spaces=[@d/0]\n"
    "space grid = tokens x 4\n"
    "space below = d/0 x 4\n"
    "input %pieces : f32 grid [3,3,2]\n"
    "input %kinds : i32 grid\n"
    "input %few_rows : f32 grid [8]\n"
    "%kept : ragged grid x1 = compact(%kinds)\n"
    "space some = tokens ragged %kept at most 4*N*T\n"
    "%few : f32 some [3,3,2] = pack(%pieces, %kept) spaces=[@some]\n"
    "%spread : f32 below [8] = broadcast(%b) space=@below\n"
    "%gates : f32 below [4] = linear(%spread, %w)\n";

}  // namespace

class OperatorRulesTest : public QObject {
  Q_OBJECT
 private slots:
  void an_exit_is_of_as_many_classes_as_there_are() {
    GraphBuilder b;
    const SpaceId pictures = b.root_space("pictures", b.symbol("N"));
    const ValueId logits = b.input("logits", DType::f32, pictures, {21841});
    Protocol rule;
    rule.kind = ProtocolKind::exit_threshold;
    const ValueId d = b.route(logits, rule, "exit");
    QCOMPARE(b.graph().value(d).branches, 2);
    // There may be fewer if each score is of a branch.
    QVERIFY(complaint([&] { b.route(logits, {}, "experts"); }).find("1 to 4096 branches") != std::string::npos);
  }

  void operators_say_what_they_expected_and_what_came_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const char* line, const char* expected) {
      QTest::newRow(name) << line << expected;
    };
    row("too few inputs", "%z : f32 tokens [8] = add(%x)", "add \"z\": expected 2 inputs, got 1");
    row("no input", "%z : f32 tokens [8] = scale() factor=2.0", "scale \"z\": expected 1 input, got 0");
    row("other cells", "%z : f32 tokens [8] = add(%x, %y)",
        "add \"z\": expected input 1 over cells of tokens, got f32 targets [8]");
    row("other width", "%z : f32 tokens [8] = multiply(%x, %scores)",
        "multiply \"z\": expected input 1 as f32 tokens [8], got f32 tokens [4]");
    row("weights that do not fit", "%z : f32 d/0 [4] = linear(%b, %k)",
        "linear \"z\": expected weights [n, 8], got f32 [5,3,3,3]");
    row("integers as rows", "%z : f32 tokens [4] = linear(%ids, %w)",
        "linear \"z\": expected input 0 over cells with 1 content extents, got i32 tokens");
    row("an extra that nobody knows", "%z : f32 tokens [4] = linear(%x, %w, %g) extras=\"gian\"",
        "linear \"z\": expected extras among gain bias multiply residual, got \"gian\"");
    row("an extra twice", "%z : f32 tokens [4] = linear(%x, %w, %g, %g) extras=\"gain+gain\"",
        "linear \"z\": expected each extra once, got \"gain\" twice");
    row("extras of an operator without", "%z : f32 tokens [8] = scale(%x) factor=2.0 extras=\"bias\"",
        "scale \"z\": expected no attribute but factor, got extras");
    row("a bias over cells", "%z : f32 tokens [4] = linear(%x, %w, %scores) extras=\"bias\"",
        "linear \"z\": expected input 2 over cells of no space, got f32 tokens [4]");
    row("a norm's gain", "%z : f32 tokens [8] = rms_norm(%x, %w) eps=1e-6",
        "rms_norm \"z\": expected input 1 as f32 [8], got f32 [4,8]");
    row("no eps", "%z : f32 tokens [8] = rms_norm(%x, %g)",
        "rms_norm \"z\": expected attribute eps, a number, got none");
    row("an unknown activation", "%z : f32 tokens [8] = activation(%x) kind=\"tan\"",
        "activation \"z\": expected kind as relu, gelu, gelu_tanh, silu, tanh or sigmoid, got \"tan\"");
    row("ids that are none", "%z : f32 tokens [8] = embedding(%x, %w)",
        "embedding \"z\": expected input 0 as i32, got f32 tokens [8]");
    row("no table", "%z : f32 tokens [8] = embedding(%ids, %g)",
        "embedding \"z\": expected a table [V, d], got f32 [8]");
    row("attention among strangers", "%z : f32 tokens [8] = attention(%x, %s, %s) heads=2 kv_heads=2",
        "attention \"z\": expected queries and keys below one space, got f32 tokens [8] and f32 sequences [8]");
    row("heads that do not divide", "%z : f32 tokens [8] = attention(%x, %x, %x) heads=3 kv_heads=3",
        "attention \"z\": expected widths that divide into 3 heads of 3 key heads, got f32 tokens [8], f32 tokens [8], "
        "f32 tokens [8]");
    row("a mask of other cells",
        "%z : f32 tokens [8] = attention(%x, %x, %x, %target_ids) heads=2 kv_heads=2 extras=\"mask\"",
        "attention \"z\": expected input 3 over cells of tokens, got i32 targets");
    row("sinks of each column", "%z : f32 tokens [8] = attention(%x, %x, %x, %g) heads=2 kv_heads=2 extras=\"sinks\"",
        "attention \"z\": expected input 3 as f32 [2], got f32 [8]");
    row("odd rotations", "%z : f32 tokens [8] = rotary(%x, %ids) heads=3 theta=100.0",
        "rotary \"z\": expected a width of 3 even heads, got 8");
    row("positions of scalars", "%z : i32 [] = positions(%p)",
        "positions \"z\": expected flags over cells that have parents, got i32 []");
    row("a kernel that does not fit", "%z : f32 tokens [1,1,5] = conv2d(%maps, %k) groups=2",
        "conv2d \"z\": expected a kernel that fits f32 tokens [6,6,3], got f32 [5,3,3,3]");
    row("a residual of another size", "%z : f32 tokens [4,4,5] = conv2d(%maps, %k, %maps) extras=\"residual\"",
        "conv2d \"z\": expected input 2 as f32 tokens [4,4,5], got f32 tokens [6,6,3]");
    row("a window too large", "%z : f32 tokens [1,1,3] = pool(%maps) kind=\"max\" size=7 stride=1",
        "pool \"z\": expected a window inside f32 tokens [6,6,3], got 7");
    row("a reduction of roots", "%z : f32 [8] = reduce(%s) mode=\"mean\"",
        "reduce \"z\": expected cells that have parents, got f32 sequences [8]");
    row("an unknown reduction", "%z : f32 sequences [8] = reduce(%x) mode=\"most\"",
        "reduce \"z\": expected mode as mean, last or sum, got \"most\"");
    row("a broadcast to strangers", "%z : f32 tokens [8] = broadcast(%x) space=@targets",
        "broadcast \"z\": expected a space of cells below those of x, got space 2");
    row("draws without a temperature", "%z : i32 tokens = sample(%scores, %ids, %ids) temperature=0.0",
        "sample \"z\": expected a temperature above 0, got 0.0");
    row("draws among no token", "%z : i32 tokens = sample(%scores, %ids, %ids) top_p=0.0",
        "sample \"z\": expected top_p above 0 and at most 1, got 0.0");
    row("draws of strangers", "%z : i32 tokens = sample(%scores, %target_ids, %ids)",
        "sample \"z\": expected input 1 over cells of tokens, got i32 targets");
    row("an unknown protocol", "%z : decision tokens 4x1 = route(%scores) protocol=\"lottery\"",
        "attribute protocol: unknown protocol \"lottery\" (one of top-k, switch-top1, batch-prioritized, "
        "sigmoid-groups, threshold, "
        "residual-threshold, "
        "exit-threshold, hash, label)");
    row("more choices than branches", "%z : decision tokens 4x5 = route(%scores) protocol=\"top-k\" k=5",
        "route \"z\": expected 1 to 4096 branches and a fan-out of at most 64 among them, got 4 branches, fan-out 5");
    row("groups that do not divide", "%z : decision tokens 4x1 = route(%scores) protocol=\"sigmoid-groups\" groups=3",
        "route \"z\": expected groups that divide the branches and hold k choices, got 3");
    row("a residual branch out of reach", "%z : decision tokens 4x4 = route(%scores) protocol=\"threshold\" residual=4",
        "route \"z\": expected a residual branch below 4, got 4");
    row("a correction of another width",
        "%z : decision tokens 4x1 = route(%scores, %g) protocol=\"sigmoid-groups\" extras=\"bias\"",
        "route \"z\": expected input 1 as f32 [4], got f32 [8]");
    row("a parameter of another protocol", "%z : decision tokens 4x1 = route(%scores) capacity=4 protocol=\"top-k\"",
        "route \"z\": expected parameters that top-k takes, k, softmax, off, renormalize, scale, supported_capacities, "
        "capacity_padding "
        "and path_wise_padding, got capacity");
    row("a correction that is not read",
        "%z : decision tokens 4x1 = route(%scores, %g) extras=\"bias\" protocol=\"top-k\"",
        "route \"z\": expected parameters that top-k takes, k, softmax, off, renormalize, scale, supported_capacities, "
        "capacity_padding "
        "and path_wise_padding, got bias");
    row("a scatter by no decision", "%z : f32 d/0 [8] = scatter(%x, %ids) spaces=[@d/0]",
        "scatter \"z\": expected a decision as input 1, got i32 tokens");
    row("a scatter of other cells", "%z : f32 d/0 [8] = scatter(%y, %d) spaces=[@d/0]",
        "scatter \"z\": expected x over the cells of its decision, tokens, got f32 targets [8]");
    row("a scatter to dense cells", "%z : f32 tokens [8] = scatter(%x, %d) spaces=[@tokens]",
        "scatter \"z\": expected routed spaces of its decision, got space 1");
    row("a gather of nobody", "%z : f32 tokens [8] = gather() mode=\"sum\" space=@tokens",
        "gather \"z\": expected 1 to 1,048,576 inputs, got 0");
    row("a gather in an unknown way", "%z : f32 tokens [8] = gather(%b) mode=\"mean\" space=@tokens",
        "gather \"z\": expected mode as sum, weighted or place, got \"mean\"");
    row("a gather from elsewhere", "%z : f32 targets [8] = gather(%b) mode=\"sum\" space=@targets",
        "gather \"z\": expected cells below targets, got f32 d/0 [8]");
    row("a gather over dense steps", "%z : f32 sequences [8] = gather(%b) mode=\"sum\" space=@sequences",
        "gather \"z\": expected only routed and ragged spaces between, got tokens");
    row("weights of no choice", "%z : f32 tokens [8] = gather(%x) mode=\"weighted\" space=@tokens",
        "gather \"z\": expected direct branches to weigh, got f32 tokens [8]");
    row("a factor of other cells", "%z : f32 tokens [8] = gather(%b, %levels) factors=[0] mode=\"sum\" space=@tokens",
        "gather \"z\": expected input 1 over cells of d/0, got f32 tokens");
    row("a factor of several numbers a row",
        "%z : f32 tokens [8] = gather(%x, %scores) factors=[0] mode=\"sum\" space=@tokens",
        "gather \"z\": expected input 1 with one number a row, got f32 tokens [4]");
    row("a factor of integers", "%z : f32 tokens [8] = gather(%x, %ids) factors=[0] mode=\"sum\" space=@tokens",
        "gather \"z\": expected input 1 as f32, got i32 tokens");
    row("a factor of nothing", "%z : f32 tokens [8] = gather(%x, %levels) factors=[1] mode=\"sum\" space=@tokens",
        "gather \"z\": expected factors of some of its 1 value, in their order, got 1");
    row("factors in another order",
        "%z : f32 tokens [8] = gather(%x, %x, %levels, %levels) factors=[1,0] mode=\"sum\" space=@tokens",
        "gather \"z\": expected factors of some of its 2 values, in their order, got 0");
    row("factors that are not there", "%z : f32 tokens [8] = gather(%x) factors=[0] mode=\"sum\" space=@tokens",
        "gather \"z\": expected 2 to 1,048,576 inputs, got 1");
    row("factors of what is placed",
        "%z : f32 tokens [8] = gather(%x, %levels) factors=[0] mode=\"place\" space=@tokens",
        "gather \"z\": expected mode sum with factors, got place");
    row("a grouped product of no branch", "%z : f32 d/s [4] = grouped_linear(%x, %d) branches=[] slots=@d/s",
        "grouped_linear \"z\": expected at least one branch, got none");
    row("a grouped product over a branch", "%z : f32 d/s [4] = grouped_linear(%x, %d, %w) branches=[0] slots=@d/0",
        "grouped_linear \"z\": expected the slots of its decision, got space 3");
    row("a grouped product's unknown branch", "%z : f32 d/s [4] = grouped_linear(%x, %d, %w) branches=[4] slots=@d/s",
        "grouped_linear \"z\": expected branches below 4, got 4");
    row("empty branches out of reach", "%z : i32 [] = branches_empty(%d) branches=[4]",
        "branches_empty \"z\": expected branches of the decision, got 4");
    row("full branches out of reach", "%z : i32 [] = branches_full(%d) branches=[0,4]",
        "branches_full \"z\": expected branches of the decision, got 4");
    row("an extent of nothing known", "%z : i32 [] = extent() extent=\"Q\"",
        "extent \"z\": unknown symbol \"Q\" in an extent (declare it first)");
    row("a fill of no state", "state_fill(%x) value=0.0 as \"f\"",
        "state_fill \"f\": expected a state, got f32 tokens [8]");
    row("a write of another type", "state_write(%h, %scores) as \"k\"",
        "state_write \"k\": expected f32 tokens [8], got f32 tokens [4]");
    row("a put of other rows", "state_put(%h, %s) as \"k\"",
        "state_put \"k\": expected rows alike below one space, the state's dense, got f32 tokens [8] and f32 sequences "
        "[8]");
    row("ends of other cells", "%a : i32 tokens, %c : i32 tokens = end_sequences(%ids, %target_ids) end=1 pad=0",
        "end_sequences \"a\": expected input 1 over cells of tokens, got i32 targets");
    row("a guard on cells", "guard(%ids) as \"g\" {\n yield\n} {\n yield\n}",
        "guard \"g\": expected a scalar i32 as predicate, got i32 tokens");
    row("a guard with one body", "guard(%p) as \"g\" {\n yield\n}",
        "guard \"g\": expected two bodies that give as many values, got 1 body");
    row("bodies that differ", "%z : f32 tokens [8] = guard(%p) {\n yield %x\n} {\n yield %scores\n}",
        "guard \"z\": expected bodies that give the same types, f32 tokens [8], got f32 tokens [4]");
    row("an exchange among nobody",
        "%z : decision sequences 4x1 = exchange_decision(%d) arrived=@sequences owners=[0,0,0,0] ranks=0",
        "exchange_decision \"z\": expected 1 to 4096 ranks, got 0");
    row("an exchange to dense cells",
        "%z : decision tokens 4x1 = exchange_decision(%d) arrived=@tokens owners=[0,0,0,0] ranks=1",
        "exchange_decision \"z\": expected a root space for the cells that arrive, got space 1");
    row("branches without owner",
        "%z : decision sequences 4x1 = exchange_decision(%d) arrived=@sequences owners=[0] ranks=1",
        "exchange_decision \"z\": expected an owner for each of 4 branches, got 1");
    row("rows that are not slots", "%z : f32 d/s [8] = exchange_rows(%b, %d, %d) slots=@d/s",
        "exchange_rows \"z\": expected rows over the slots of %d, got f32 d/0 [8]");
    row("reals and integers added", "%z : f32 tokens = add(%levels, %ids)",
        "add \"z\": expected input 1 as f32, got i32 tokens");
    row("integers multiplied", "%z : i32 tokens = multiply(%ids, %ids)",
        "multiply \"z\": expected input 0 as f32, got i32 tokens");
    row("integers scaled", "%z : i32 tokens = scale(%ids) factor=2.0",
        "scale \"z\": expected input 0 as f32, got i32 tokens");
    row("integers activated", "%z : i32 tokens = activation(%ids) kind=\"relu\"",
        "activation \"z\": expected input 0 as f32, got i32 tokens");
    row("integers summed", "%z : i32 tokens = gather(%part) mode=\"sum\" space=@tokens",
        "gather \"z\": expected input 0 as f32, got i32 d/0");
    row("integers weighed", "%z : i32 tokens = gather(%part) mode=\"weighted\" space=@tokens",
        "gather \"z\": expected input 0 as f32, got i32 d/0");
    row("reals where no integer came",
        "%z : i32 tokens = gather(%part, %levels) extras=\"otherwise\" mode=\"place\" space=@tokens",
        "gather \"z\": expected input 1 as i32, got f32 tokens");
    row("a residual in integers",
        "%z : i32 tokens = gather(%part, %ids) extras=\"residual\" mode=\"place\" space=@tokens",
        "gather \"z\": expected input 1 as f32, got i32 tokens");
    row("a weight as an activation", "%z : f32 [4,8] = scale(%w) factor=2.0",
        "scale \"z\": expected an activation as input 0, got weight f32 [4,8]");
    row("an activation as a weight", "%z : f32 tokens [4] = linear(%x, %p)",
        "linear \"z\": expected weights [n, 8], got i32 []");
    row("a decision as numbers", "%z : i32 tokens = add_constant(%d) value=1",
        "add_constant \"z\": expected an activation as input 0, got decision i32 tokens");
    row("a decision scattered", "%z : i32 d/0 = scatter(%d, %d) spaces=[@d/0]",
        "scatter \"z\": expected an activation as input 0, got decision i32 tokens");
    row("several numbers a cell as positions", "%z : f32 tokens [8] = rotary(%x, %pairs) heads=2 theta=100.0",
        "rotary \"z\": expected input 1 with one number a cell, got i32 tokens [2]");
    row("several numbers a cell as a mask",
        "%z : f32 tokens [8] = attention(%x, %x, %x, %pairs) heads=2 kv_heads=2 extras=\"mask\"",
        "attention \"z\": expected input 3 with one number a cell, got i32 tokens [2]");
    row("grouped weights of two formats",
        "%z : f32 d/s [4] = grouped_linear(%x, %d, %w, %low) branches=[0,1] slots=@d/s",
        "grouped_linear \"z\": expected weights of one format, f32 [4,8], got bf16 [4,8]");
    row("biases of some branches",
        "%z : f32 d/s [4] = grouped_linear(%x, %d, %w, %w, %g) biases=1 branches=[0,1] slots=@d/s",
        "grouped_linear \"z\": expected 6 inputs, got 5");
    row("a grouped bias of another width",
        "%z : f32 d/s [4] = grouped_linear(%x, %d, %w, %w) biases=1 branches=[0] slots=@d/s",
        "grouped_linear \"z\": expected input 3 as f32 [4], got f32 [4,8]");
    row("a guard that gives a decision", "%z : i32 tokens = guard(%p) {\n yield %d\n} {\n yield %d\n}",
        "guard \"z\": expected bodies that give activations, got a decision");
    row("the weight of no choice", "%z : f32 tokens = choice_weight(%d) space=@tokens",
        "choice_weight \"z\": expected a routed space of its decision, got space 1");
    row("weights by no decision", "%z : f32 d/0 = choice_weight(%ids) space=@d/0",
        "choice_weight \"z\": expected a decision as input 0, got i32 tokens");
    row("the weight of a branch over other cells", "%z : f32 d/0 = choice_weight(%d) branch=0 space=@d/0",
        "choice_weight \"z\": expected the cells of its decision, tokens, got d/0");
    row("the weight of a branch that there is not", "%z : f32 tokens = choice_weight(%d) branch=7 space=@tokens",
        "choice_weight \"z\": expected a branch of its decision, got 7");
    row("zeros of nothing", "%z : f32 tokens [1] = zeros() shape=[0] space=@tokens",
        "zeros \"z\": expected extents of 1 or more, got 0");
    row("a branch left without a number",
        "%z : decision tokens 4x1 = route(%scores) protocol=\"top-k\" within=\"a=1 b\"",
        "route \"z\": expected within as ROUTER=BRANCH, one after the other, got a=1 b");
    row("a size in an unknown way", "%z : f32 tokens [3,3,3] = resize(%maps) mode=\"cubic\" height=3 width=3",
        "resize \"z\": expected mode as nearest or bilinear, got \"cubic\"");
    row("a size of nothing", "%z : f32 tokens [3,3,3] = resize(%maps) mode=\"nearest\" height=0 width=3",
        "resize \"z\": expected extents of 1 to 1048576, got 0 x 3 of f32 tokens [6,6,3]");
    row("rows resized", "%z : f32 tokens [3] = resize(%x) mode=\"nearest\" height=3 width=3",
        "resize \"z\": expected input 0 over cells with 3 content extents, got f32 tokens [8]");
    row("patches of others", "%z : f32 targets [3,3,3] = unfold(%maps) space=@targets height=3 width=3 stride=3",
        "unfold \"z\": expected a space of cells below those of x, got space 2");
    row("patches larger than the picture",
        "%z : f32 grid [7,3,3] = unfold(%maps) space=@grid height=7 width=3 stride=3",
        "unfold \"z\": expected patches inside f32 tokens [6,6,3] and a stride of 1 or more, got 7 x 3, stride 3");
    row("patches without end", "%z : f32 grid [3,3,3] = unfold(%maps) space=@grid height=3 width=3 stride=0",
        "unfold \"z\": expected patches inside f32 tokens [6,6,3] and a stride of 1 or more, got 3 x 3, stride 0");
    row("another number of patches", "%z : f32 grid [3,3,3] = unfold(%maps) space=@grid height=3 width=3 stride=2",
        "unfold \"z\": expected 3 x 3 patches below each picture of 6 x 6, got 4 cells in grid");
    row("patches of which some are left out", "%z : f32 tokens [6,6,2] = fold(%few) height=6 width=6 stride=3",
        "fold \"z\": expected a space with equally many patches below each picture, got some");
    row("patches with gaps", "%z : f32 tokens [8,8,2] = fold(%pieces) height=8 width=8 stride=5",
        "fold \"z\": expected a picture that patches f32 grid [3,3,2] cover, got 8 x 8, stride 5");
    row("another picture", "%z : f32 tokens [7,6,2] = fold(%pieces) height=7 width=6 stride=3",
        "fold \"z\": expected 3 x 2 patches below each picture of 7 x 6, got 4 cells in grid");
    row("roots folded", "%z : f32 tokens [6,6,3] = fold(%maps) height=12 width=6 stride=6",
        "fold \"z\": expected 2 x 1 patches below each picture of 12 x 6, got T cells in tokens");
    row("channels that do not divide", "%z : f32 tokens [12,12,1] = pixel_shuffle(%maps) factor=2",
        "pixel_shuffle \"z\": expected a factor whose square divides the channels of f32 tokens [6,6,3], got 2");
    row("maps joined with rows", "%z : f32 tokens [11] = concat(%x, %maps)",
        "concat \"z\": expected input 1 as f32 tokens [8], got f32 tokens [6,6,3]");
    row("rows joined with others'", "%z : f32 tokens [16] = concat(%x, %y)",
        "concat \"z\": expected input 1 over cells of tokens, got f32 targets [8]");
    row("integers joined", "%z : i32 tokens [4] = concat(%pairs, %pairs)",
        "concat \"z\": expected input 0 as f32, got i32 tokens [2]");
    row("as many means as there are channels", "%z : f32 tokens [6,6,3] = standardize(%maps, %g, %g)",
        "standardize \"z\": expected input 1 as f32 [3], got f32 [8]");
    row("a standardized integer", "%z : i32 tokens = standardize(%ids, %g, %g)",
        "standardize \"z\": expected input 0 as f32, got i32 tokens");
    row("a number without channels", "%z : f32 tokens = standardize(%levels, %g, %g)",
        "standardize \"z\": expected rows of numbers over cells, got f32 tokens");
    row("centres of other features", "%z : f32 tokens [5] = squared_distance(%x, %k)",
        "squared_distance \"z\": expected centres [k, 8], got f32 [5,3,3,3]");
    row("distances of maps", "%z : f32 tokens [4] = squared_distance(%maps, %w)",
        "squared_distance \"z\": expected input 0 over cells with 1 content extents, got f32 tokens [6,6,3]");
    row("centres that are computed", "%z : f32 tokens [4] = squared_distance(%x, %y)",
        "squared_distance \"z\": expected centres [k, 8], got f32 targets [8]");
    row("patches with another border",
        "%z : f32 grid [3,3,3] = unfold(%maps) space=@grid height=3 width=3 stride=3 border=\"pad\"",
        "unfold \"z\": expected border as shift or cut, got \"pad\"");
    row("a norm with another bias", "%z : f32 tokens [8] = layer_norm(%x, %g, %w) eps=1e-5",
        "layer_norm \"z\": expected input 2 as f32 [8], got f32 [4,8]");
    row("a grid of odd sides", "%z : f32 grid [32] = merge_cells(%few_rows) space=@grid height=1 width=4",
        "merge_cells \"z\": expected a grid of even sides, got 1 x 4");
    row("a grid of other cells", "%z : f32 grid [32] = merge_cells(%few_rows) space=@grid height=4 width=2",
        "merge_cells \"z\": expected 4 x 2 cells below each parent, got f32 grid [8]");
    row("cells merged into as many", "%z : f32 grid [32] = merge_cells(%few_rows) space=@grid height=2 width=2",
        "merge_cells \"z\": expected a space of 1 cells below each cell of tokens, got space 5");
    row("windows that do not divide the grid",
        "%z : f32 grid [8] = window_attention(%few_rows, %few_rows, %few_rows) heads=1 height=1 width=4 "
        "window_height=1 window_width=3",
        "window_attention \"z\": expected windows that divide the grid and shifts below their sides, got 1 x 4 in "
        "windows of "
        "1 x 3, shifted by 0 x 0");
    row("windows over another grid",
        "%z : f32 grid [8] = window_attention(%few_rows, %few_rows, %few_rows) heads=1 height=2 width=4 "
        "window_height=2 window_width=2",
        "window_attention \"z\": expected 2 x 4 cells below each parent, got f32 grid [8]");
    row("heads that do not divide the widths of windows",
        "%z : f32 grid [8] = window_attention(%few_rows, %few_rows, %few_rows) heads=3 height=2 width=2 "
        "window_height=2 window_width=2",
        "window_attention \"z\": expected widths that divide into 3 heads, got f32 grid [8], f32 grid [8], f32 grid "
        "[8]");
    row("cosine without scales",
        "%z : f32 grid [8] = window_attention(%few_rows, %few_rows, %few_rows) heads=1 height=2 width=2 "
        "window_height=2 window_width=2 "
        "cosine=1",
        "window_attention \"z\": expected scales with cosine, and with it alone, got cosine");
    row("a grouped convolution of another kernel",
        "%z : f32 d/s [4,4,5] = grouped_conv2d(%maps, %d, %k, %w) branches=[0,1] slots=@d/s",
        "grouped_conv2d \"z\": expected input 3 as f32 [5,3,3,3], got f32 [4,8]");
    row("a grouped convolution of a kernel that does not fit",
        "%z : f32 d/s [4,4,5] = grouped_conv2d(%maps, %d, %k) branches=[0] slots=@d/s groups=2",
        "grouped_conv2d \"z\": expected a kernel that fits f32 tokens [6,6,3], got f32 [5,3,3,3]");
    row("a grouped convolution's biases of another width",
        "%z : f32 d/s [4,4,5] = grouped_conv2d(%maps, %d, %k, %g) biases=1 branches=[0] slots=@d/s",
        "grouped_conv2d \"z\": expected input 3 as f32 [5], got f32 [8]");
    row("a grouped convolution of cells that are not routed",
        "%z : f32 d/s [1,1,5] = grouped_conv2d(%pieces, %d, %k) branches=[0] slots=@d/s",
        "grouped_conv2d \"z\": expected x over the decision's slots or cells, got f32 grid [3,3,2]");
    row("a grouped convolution of an unknown branch",
        "%z : f32 d/s [4,4,5] = grouped_conv2d(%maps, %d, %k) branches=[7] slots=@d/s",
        "grouped_conv2d \"z\": expected branches below 4, got 7");
    row("a sum to the maps that came, where slots are asked for",
        "%z : f32 d/s [4,4,5] = grouped_conv2d(%maps, %d, %k, %maps) branches=[0] slots=@d/s extras=\"residual\"",
        "grouped_conv2d \"z\": expected input 3 over cells of d/s, got f32 tokens [6,6,3]");
    row("grouped blocks of some branches",
        "%z : f32 d/s [6,6,3] = grouped_residual_blocks(%maps, %d, %k, %k, %g, %g, %k, %k, %g) branches=[0,1] "
        "slots=@d/s",
        "grouped_residual_blocks \"z\": expected four weights of each branch for each block, got 9 inputs");
    row("grouped blocks of other channels",
        "%z : f32 d/s [6,6,3] = grouped_residual_blocks(%maps, %d, %k, %g, %k, %g) branches=[0] slots=@d/s",
        "grouped_residual_blocks \"z\": expected weights [C, k, k, C] with an odd k, of C = 3, got f32 [5,3,3,3]");
    row("grouped norms without biases",
        "%z : f32 d/s [8] = grouped_layer_norm(%x, %d, %g, %g) branches=[0,1] slots=@d/s eps=1e-05",
        "grouped_layer_norm \"z\": expected 6 inputs, got 4");
    row("branches of cells that no decision sent",
        "%z : f32 tokens [3,3,2] = gather(%few) mode=\"sum\" space=@grid branches=[0]",
        "gather \"z\": expected the slots of one decision, to sum or to weigh, with branches, got f32 some [3,3,2]");
    row("blocks of other channels", "%z : f32 tokens [6,6,3] = residual_blocks(%maps, %k, %g, %k, %g)",
        "residual_blocks \"z\": expected weights [C, k, k, C] with an odd k, of C = 3, got f32 [5,3,3,3]");
    row("half a block", "%z : f32 tokens [6,6,3] = residual_blocks(%maps, %k, %g, %k, %g, %k)",
        "residual_blocks \"z\": expected four weights for each block, got 5");
    row("a separable convolution of one kernel for several channels",
        "%z : f32 tokens [4,4,5] = separable_conv2d(%maps, %k, %one)",
        "separable_conv2d \"z\": expected a kernel that fits f32 tokens [6,6,3], got f32 [5,3,3,3]");
    row("a separable convolution that ends in 3 x 3", "%z : f32 tokens [4,4,5] = separable_conv2d(%maps, %each, %k)",
        "separable_conv2d \"z\": expected weights [O, 1, 1, C] of C = 3, got f32 [5,3,3,3]");
    row("a separable convolution's bias of another width",
        "%z : f32 tokens [4,4,5] = separable_conv2d(%maps, %each, %one, %g) extras=\"bias\"",
        "separable_conv2d \"z\": expected input 3 as f32 [5], got f32 [8]");
    row("an activation behind no residual", "%z : f32 tokens [4] = linear(%x, %w) activation=\"relu\" residual_first=1",
        "linear \"z\": expected residual_first with a residual, an activation and no factor, got no extras and "
        "activation relu");
    row("a residual before no activation",
        "%z : f32 tokens [4] = linear(%x, %w, %scores) extras=\"residual\" residual_first=1",
        "linear \"z\": expected residual_first with a residual, an activation and no factor, got residual and "
        "activation none");
    row("a factor between a residual and its activation",
        "%z : f32 tokens [4] = linear(%x, %w, %scores, %scores) activation=\"relu\" extras=\"multiply+residual\" "
        "residual_first=1",
        "linear \"z\": expected residual_first with a residual, an activation and no factor, got multiply+residual and "
        "activation relu");
    row("a convolution's activation behind no residual",
        "%z : f32 tokens [4,4,5] = conv2d(%maps, %k) activation=\"relu\" residual_first=1",
        "conv2d \"z\": expected residual_first with a residual, an activation and no factor, got no extras and "
        "activation relu");
    row("a grouped product's activation behind no residual",
        "%z : f32 d/s [4] = grouped_linear(%x, %d, %w) activation=\"relu\" branches=[0] residual_first=1 slots=@d/s",
        "grouped_linear \"z\": expected residual_first with a residual, an activation and no factor, got no extras and "
        "activation relu");
    row("a window of padding", "%z : f32 tokens [8,8,3] = pool(%maps) kind=\"max\" size=2 stride=1 padding=2",
        "pool \"z\": expected a padding of at most half the window, got 2");
    row("a router over dense cells below a branch", "%z : decision below 4x1 = route(%gates) protocol=\"top-k\"",
        "route \"z\": expected cells of a space that is there before any decision, or members of one (operator "
        "members), got the dense "
        "cells of below below cells that a decision defines");
    row("a stop that is not a scalar", "repeat() most=\"3\" as \"r\" {\n yield %ids\n}",
        "repeat \"r\": expected a scalar i32 as stop, got i32 tokens");
  }
  void operators_say_what_they_expected_and_what_came() {
    QFETCH(QString, line);
    QFETCH(QString, expected);
    const std::string text = complaint([&] { parse_graph(kCommon + line.toStdString() + "\n", "g"); });
    const int lines = static_cast<int>(std::count(kCommon.begin(), kCommon.end(), '\n')) + 1;
    QCOMPARE(QString::fromStdString(text), "g:" + QString::number(lines) + ": " + expected);
  }
  void the_common_lines_are_right() {
    QCOMPARE(complaint([] { parse_graph(kCommon, "g"); }), std::string());
  }
};
STORMCELL_TEST(OperatorRulesTest)
#include "operator_rules_test.moc"
