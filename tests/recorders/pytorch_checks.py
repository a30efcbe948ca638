"""The recorders of gates and exits, against choices computed here."""
import numpy
import torch

from harness import Wrong, check, expect, load, quietly, read


class Gated(torch.nn.Module):
    def __init__(self, returns_choices):
        super().__init__()
        self.returns_choices = returns_choices
        self.embed = torch.nn.Embedding(30, 16)
        self.gate = torch.nn.Linear(16, 6)
        if returns_choices:
            self.gate = Chooser(self.gate)

    def forward(self, ids):
        return self.gate(self.embed(ids).reshape(-1, 16))


class Chooser(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        scores = self.linear(x)
        weight, index = scores.sigmoid().topk(2)
        return index, weight, scores


def gate_check(returns_choices):
    def run(folder):
        torch.manual_seed(3)
        module, model, path = load("pytorch"), Gated(returns_choices), folder / "gate.safetensors"
        batches = [torch.randint(0, 30, (3, 5)), torch.randint(0, 30, (2, 7))]

        def record():
            with module.Recorder(model, {"gate": 2}, str(path)), torch.no_grad():
                for batch in batches:
                    model(batch)
        quietly(record)
        tensors, about = read(path)
        linear = model.gate.linear if returns_choices else model.gate
        ids = torch.cat([b.reshape(-1) for b in batches])
        with torch.no_grad():
            scores = linear(model.embed(ids))
        share = scores.sigmoid() if returns_choices else scores.softmax(-1)
        weight, index = share.topk(2)
        expect(tensors["cell.token"].tolist() == ids.tolist(), "other tokens")
        expect(tensors["cell.request"].tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 7 + [4] * 7, "other requests")
        expect(tensors["layer.0.indices"].tolist() == index.tolist(), "other choices")
        expect(numpy.abs(tensors["layer.0.weights"] - weight.numpy()).max() < 1e-6, "other weights")
        best = scores.sort(-1, descending=True).values
        expect(numpy.abs(tensors["layer.0.margins"] - (best[:, 1] - best[:, 2]).numpy()).max() < 1e-6, "other margins")
        expect(about["cut"] == "" and about["layer.0.branches"] == "6", f"{about}")
    run.__name__ = "a_gate_that_returns_" + ("choices" if returns_choices else "scores") + "_is_recorded"
    return run


check(gate_check(False))
check(gate_check(True))


@check
def scores_of_all_branches_are_kept_on_request(folder):
    torch.manual_seed(3)
    module, model, path = load("pytorch"), Gated(False), folder / "scores.safetensors"
    ids = torch.randint(0, 30, (3, 5))

    def record(scores):
        def run():
            with module.Recorder(model, {"gate": 2}, str(path), scores=scores), torch.no_grad():
                model(ids)
        quietly(run)
        return read(path)
    expect("layer.0.scores" not in record(False)[0], "scores were kept that nobody asked for")
    tensors, about = record(True)
    with torch.no_grad():
        scores = model.gate(model.embed(ids.reshape(-1)))
    expect(numpy.abs(tensors["layer.0.scores"] - scores.numpy()).max() < 1e-6, "other scores")
    expect(about["cut"] == "", f"{about}")


@check
def scores_that_do_not_tell_the_choices_are_left_out(folder):
    torch.manual_seed(3)
    module, model, path = load("pytorch"), Gated(False), folder / "biased.safetensors"
    bias = torch.tensor([9.0, 0, 0, 0, 0, 9.0])

    def by_bias(scores):
        return (scores + bias).topk(2).indices, None, scores

    def record():
        with module.Recorder(model, {"gate": 2}, str(path), rule=by_bias, scores=True), torch.no_grad():
            model(torch.randint(0, 30, (3, 5)))
    quietly(record)
    tensors, about = read(path)
    expect("layer.0.scores" not in tensors and "layer.0.margins" not in tensors, "they were kept")
    expect("gate shows no scores" in about["cut"], f"{about}")


@check
def padding_and_decoding_that_are_told_are_kept(folder):
    torch.manual_seed(3)
    module, model, path = load("pytorch"), Gated(False), folder / "told.safetensors"

    def record():
        with module.Recorder(model, {"gate": 2}, str(path)) as recorder, torch.no_grad():
            recorder.next(mask=torch.tensor([[1, 1, 1], [1, 1, 0]]))
            model(torch.tensor([[3, 4, 5], [6, 7, 0]]))
            recorder.next(decoding=True)
            model(torch.tensor([[8], [9]]))
    quietly(record)
    tensors, _ = read(path)
    expect(tensors["cell.token"].tolist() == [3, 4, 5, 6, 7, 8, 9], "padding was kept")
    expect(tensors["cell.phase"].tolist() == [0] * 5 + [1] * 2, "other phases")
    expect(tensors["cell.position"].tolist() == [0, 1, 2, 0, 1, 3, 2], f"positions {tensors['cell.position'].tolist()}")


@check
def a_gate_that_is_not_there_is_named(folder):
    try:
        load("pytorch").Recorder(Gated(False), {"gaet": 2}, str(folder / "none.safetensors"))
    except SystemExit as refused:
        expect("gaet" in str(refused) and "gate" in str(refused), f"it said {refused}")
        return
    raise Wrong("it was not refused")


class Exits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(12, 12) for _ in range(3))
        self.heads = torch.nn.ModuleList(torch.nn.Linear(12, 4) for _ in range(3))

    def forward(self, x):
        logits = []
        for block, head in zip(self.blocks, self.heads):
            x = block(x).relu()
            logits.append(head(x))
        return logits


def exits_check(named):
    def run(folder):
        torch.manual_seed(9)
        module, model, path = load("exits"), Exits(), folder / "exits.safetensors"
        x, labels = torch.randn(40, 12) * 3, torch.randint(0, 4, (40,))
        with torch.no_grad():
            share = torch.stack([l.softmax(-1) for l in model(x)], 1)
        best = share.max(-1)
        threshold = [best.values[:, 0].median().item(), best.values[:, 1].median().item()]

        def record():
            names = ["heads.0", "heads.1", "heads.2"] if named else None
            with module.Recorder(model, names, str(path), threshold=threshold) as recorder, torch.no_grad():
                for part, told in zip(x.split(16), labels.split(16)):
                    recorder.labels(told)
                    model(part)
        quietly(record)
        tensors, about = read(path)
        expect(numpy.abs(tensors["exit.confidence"] - best.values.numpy()).max() < 1e-6, "other confidences")
        expect((tensors["exit.prediction"] == best.indices.numpy()).all(), "other predictions")
        expect(tensors["exit.label"].tolist() == labels.tolist(), "other labels")
        seconds = tensors["exit.seconds"]
        expect(seconds.shape == (3, 3), "other passes")
        expect(not named or (numpy.diff(seconds, axis=1) > 0).all(), "times do not ascend")
        first = best.values[:, 0].numpy() >= threshold[0]
        second = best.values[:, 1].numpy() >= threshold[1]
        expect((tensors["layer.0.indices"][:, 0] == numpy.where(first, 0, 1)).all(), "exit 1: other decisions")
        expect((tensors["layer.1.indices"][:, 0] == numpy.where(first, -2, numpy.where(second, 0, 1))).all(),
               "exit 2: other decisions")
        near = numpy.abs(best.values.numpy() - numpy.asarray([*threshold, 0]))
        expect(numpy.abs(tensors["layer.0.margins"] - near[:, 0]).max() < 1e-6, "exit 1: other margins")
        expect(numpy.abs(tensors["layer.1.margins"] - near[:, 1])[~first].max() < 1e-6, "exit 2: other margins")
        expect(0 < first.sum() < 40 and 0 < second[~first].sum(), "the case shows nothing")
        expect(about["layer.0.protocol"] == "exit-threshold" and about["cut"] == "", f"{about}")
    run.__name__ = "exits_that_are_" + ("modules" if named else "returned") + "_are_recorded"
    return run


check(exits_check(True))
check(exits_check(False))


@check
def gates_and_exits_of_a_distributed_run_have_its_rank(folder):
    torch.manual_seed(3)
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)

    def record():
        with load("pytorch").Recorder(Gated(False), {"gate": 2}, str(folder / "gate.safetensors")) as recorder, \
                torch.no_grad():
            recorder.model(torch.randint(0, 30, (2, 4)))
        with load("exits").Recorder(Exits(), None, str(folder / "exits.safetensors")) as recorder, torch.no_grad():
            recorder.model(torch.randn(5, 12))
    try:
        quietly(record)
    finally:
        torch.distributed.destroy_process_group()
    for name in ("gate", "exits"):
        tensors, _ = read(folder / f"{name}.safetensors")
        expect("cell.rank" in tensors and (tensors["cell.rank"] == 0).all(), f"{name}: another rank")
