#!/usr/bin/env python3
"""One network of a preset in PyTorch, its routing written as its users write it; a process of its own, as pytorch_compare.py starts it.

    pytorch_networks.py FOLDER ITEMS VARIANT PASSES THREADS

FOLDER holds what build/bench/write_model left. ITEMS is what follows `random:`; pictures are the program's, to the last bit, so that
the same exits, patches and paths are taken. Prints {"ms": [passes][batches], "routing": ..., "largest": ...}; "routing" is what was
decided, "largest" the largest difference from eager as a share of the largest answer.

VARIANT: eager; kept (channels_last; the environment tells the allocator to keep memory); onednn (kept, and products by oneDNN on packed
weights); compiled (kept, and whatever holds no routing through torch.compile with frozen weights).
"""
import json
import pathlib
import sys
import time

import numpy
import torch
from safetensors.torch import load_file
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import dynamic_routing  # noqa: E402
import livesr  # noqa: E402
import msdnet  # noqa: E402
import seeded  # noqa: E402
import swin_moe  # noqa: E402
import task_moe  # noqa: E402


# What docs/models.md says where config.json says nothing.
DEFAULTS = {
    "msdnet": dict(bottleneck=True, prune="max", reduction=0.5, stem="pooled", classifier_channels=0, batch_norm_eps=1e-5),
    "livesr": dict(border="shift", upscale=4, normalization="standardize", classifier_stem="pooled", batch_norm_eps=1e-5),
    "dynamic_routing": dict(gate="small", unreached="skip", threshold=1e-4, batch_norm_eps=1e-5),
    "swinv2_moe": dict(window_sizes=[12, 12, 12, 6], merge_order="columns", relative_place="query_minus_key", position_limit=0),
    "task_moe": dict(max_position_embeddings=512, layer_norm_eps=1e-12, mask="none", hash_table="one", hash_seed=0),
}


class Images:
    """Convolutions stored [outputs, height, width, inputs], names without the `c` of a unit."""

    batch = 1
    channels_last = True  # its pictures come so where its maps do
    dynamic = False       # sizes that torch.compile must take for unknown; None: as it finds them

    def __init__(self, config, stored):
        colours = config["num_channels"]
        self.config, self.colours = config, colours
        self.model = self.make(dict(config, mean=[0.0] * colours, deviation=[1.0] * colours))
        state = {}
        for name, tensor in self.model.state_dict().items():
            short = name.replace(".c.", ".")
            if short in stored:
                ours = stored[short]
                state[name] = (ours.permute(0, 3, 1, 2) if ours.dim() == 4 else ours).contiguous()
            elif not name.endswith("num_batches_tracked") and name not in self.made(stored):
                sys.exit(f"pytorch_networks.py: the model has no {short}")
        self.model.load_state_dict(state | self.made(stored), strict=False)
        self.model.eval()

    def made(self, stored):
        """What the reference holds otherwise than the file does."""
        return {name: stored["pixels." + name] for name in ("mean", "deviation") if "pixels." + name in stored}

    def inputs(self, text):
        parts = [int(n) for n in text.split("x")]
        side = self.config["image_size"]
        height, width = parts[1:] or (side if isinstance(side, list) else [side] * 2)
        with numpy.errstate(over="ignore"):
            pictures = [seeded.picture(i, height, width) for i in range(parts[0])]
        return [torch.cat(pictures[i:i + self.batch]) for i in range(0, len(pictures), self.batch)]


class Msdnet(Images):
    """One picture at a time: whoever is sure at an exit goes no further."""

    make = staticmethod(msdnet.MSDNet)

    def run(self, pixels, seen):
        model, number = self.model, 0
        x = (pixels - model.mean[:, None, None]) / model.deviation[:, None, None]
        maps = {}
        for s, unit in enumerate(model.stem):
            x = msdnet.run(unit, x)
            if s == 0 and self.config["stem"] == "pooled":
                x = nn.functional.max_pool2d(x, 3, 2, 1)
            maps[s] = x
        for i, (block, end) in enumerate(zip(self.config["block_layers"], model.exits)):
            for steps in model.layers[number:number + block]:
                maps = {int(s): step(maps.get(int(s) - 1), maps[int(s)]) for s, step in steps.items()}
            number += block
            y = maps[len(model.stem) - 1]
            for unit in end["convolutions"]:
                y = msdnet.run(unit, y)
            logits = end["head"](y.mean((2, 3)))
            if i + 1 == len(model.exits) or logits.softmax(1).max() >= self.config["exit_thresholds"][i]:
                seen.append(i)
                return logits

    def dense_parts(self):
        return [step for layer in self.model.layers for step in layer.values()]


class LiveSR(Images):
    make = staticmethod(livesr.LiveSR)

    dynamic = None

    def made(self, stored):
        return super().made(stored) | {"clusters": torch.stack([stored[f"clusters.{k}"] for k in range(self.config["num_subnets"])])}

    def run(self, pixels, seen):
        answer, scores = self.model(pixels)
        seen.append(torch.bincount(scores.argmax(1), minlength=scores.shape[1]).tolist())
        return answer

    def dense_parts(self):
        return [self.model.classifier, *self.model.subnets]


class DynamicRouting(Images):
    make = staticmethod(dynamic_routing.DynamicRouting)

    def run(self, pixels, seen):
        opened = [0]

        def count(router, branches, *_):
            opened[0] += router.endswith(".ways") and sum(b >= 0 for b in branches)

        answer = self.model.picture(pixels, count)
        seen.append(opened[0])
        return answer

    def dense_parts(self):
        cells = [cell for layer in self.model.cells for cell in layer]
        return [part for cell in cells for part in (cell.gate, *cell.cell)]


class SwinMoE(Images):
    make = staticmethod(swin_moe.SwinMoE)
    batch = 8
    channels_last = False  # pictures lie so already
    dynamic = None

    def __init__(self, config, stored):
        self.config, self.colours = config, config["num_channels"]
        self.model = swin_moe.SwinMoE(dict(config, mean=[0.0] * 3, deviation=[1.0] * 3))
        self.model.load_state_dict(stored)
        self.model.eval()

    def inputs(self, text):
        return [pixels.permute(0, 2, 3, 1).contiguous() for pixels in super().inputs(text)]

    def run(self, pixels, seen):
        answer = self.model(pixels)
        served = [int((router.decision[1] >= 0).sum()) for router in self.model.routers().values()]
        seen.append(sum(served))
        return answer

    def dense_parts(self):
        blocks = [block for stage in self.model.stages for block in stage.blocks]
        experts = [e for block in blocks if isinstance(block.mlp, swin_moe.Experts) for e in block.mlp.experts]
        return [block.attention for block in blocks] + experts + [b.mlp for b in blocks if isinstance(b.mlp, swin_moe.MLP)]


class TaskMoE:
    channels_last = False
    dynamic = False

    def __init__(self, config, stored):
        self.config, self.model = config, task_moe.TaskMoE(config).eval()
        self.model.load_state_dict(stored)

    def inputs(self, text):
        n, t = (int(x) for x in text.split("x"))
        draw = torch.Generator().manual_seed(0)
        ids = torch.randint(self.config["vocab_size"], (n, t), generator=draw)
        return [(ids, torch.ones_like(ids), torch.arange(n) % self.config["num_experts"])]

    def run(self, batch, seen):
        seen.append(len(batch[2]))
        return self.model(*batch)[1]

    def dense_parts(self):
        return [layer["attention"] for layer in self.model.layers] + [e for layer in self.model.layers for e in layer["moe"].experts]


class Switch:
    """transformers' own; the encoder's ids are the decoder's too, as in the paper."""

    channels_last = False
    dynamic = False

    def __init__(self, config, folder):
        from transformers import SwitchTransformersModel
        self.config, self.model = config, SwitchTransformersModel.from_pretrained(folder, attn_implementation="eager").eval()

    def inputs(self, text):
        draw = torch.Generator().manual_seed(0)
        return [torch.randint(3, self.config["vocab_size"], tuple(int(x) for x in text.split("x")), generator=draw)]

    def run(self, ids, seen):
        return self.model(input_ids=ids, decoder_input_ids=ids, use_cache=False).last_hidden_state

    def dense_parts(self):
        stacks = (self.model.encoder, self.model.decoder)
        return [part for stack in stacks for block in stack.block for part in (block.layer[:-1] if block.is_sparse else block.layer)]


NETWORKS = {"msdnet": Msdnet, "livesr": LiveSR, "dynamic_routing": DynamicRouting, "swinv2_moe": SwinMoE, "task_moe": TaskMoE}


class PackedLinear(nn.Module):
    """A product by oneDNN on weights packed for it."""

    def __init__(self, linear):
        super().__init__()
        self.weight, self.bias = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach()), linear.bias

    def forward(self, x):
        return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")


def pack(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, PackedLinear(child))
        else:
            pack(child)


def prepare(network, variant):
    if variant != "eager":
        network.model.to(memory_format=torch.channels_last)
    if variant == "onednn":
        pack(network.model)
    if variant == "compiled":
        import torch._inductor.config as settings
        settings.freezing = True
        torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096
        for part in network.dense_parts():
            part.compile(dynamic=network.dynamic)


@torch.no_grad()
def main():
    folder, items, variant, passes, threads = pathlib.Path(sys.argv[1]), *sys.argv[2:4], *map(int, sys.argv[4:6])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    config = json.loads((folder / "config.json").read_text())
    config = {**DEFAULTS.get(config["model_type"], {}), **config}
    if config["model_type"] == "switch_transformers":
        network = Switch(config, folder)
    else:
        network = NETWORKS[config["model_type"]](config, load_file(folder / "model.safetensors"))
    batches = network.inputs(items)
    eager = network.run(batches[0], []) if variant != "eager" else None
    prepare(network, variant)
    if variant != "eager" and network.channels_last:
        batches = [b.contiguous(memory_format=torch.channels_last) for b in batches]
    result, routing, largest = [], [], 0.0
    for number in range(passes + 1):
        times, routing = [], []
        for i, batch in enumerate(batches):
            begin = time.perf_counter()
            answer = network.run(batch, routing)
            times.append((time.perf_counter() - begin) * 1e3)
            if number == 0 and i == 0 and eager is not None:
                largest = float((answer - eager).abs().max() / eager.abs().max())
        if number > 0:  # the first warms up
            result.append(times)
    print(json.dumps(dict(ms=result, routing=routing, largest=largest)))


if __name__ == "__main__":
    main()
