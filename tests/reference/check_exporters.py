#!/usr/bin/env python3
"""The exporters of docs/models.md, each on a network in the form that it expects, with the weights of ours: it must write what ours has.

torchvision's ResNet and transformers' BERT are the published ones; of the other networks only the attributes that an exporter asks for
stand here, by the names that the authors' programs have. Makes no fixtures.
"""
import copy
import os
import pathlib
import re
import tempfile
from types import SimpleNamespace as Has

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import BertGenerationConfig, BertGenerationDecoder

import fixture
import make_dynamic_routing
import make_livesr
import make_msdnet
import make_swin_moe
import make_task_moe
from dynamic_routing import DynamicRouting
from livesr import LiveSR
from msdnet import MSDNet
from swin_moe import SwinMoE
from task_moe import TaskMoE

MODELS = fixture.HERE.parent.parent / "docs" / "models.md"
IMAGENET = dict(mean=[0.485, 0.456, 0.406], deviation=[0.229, 0.224, 0.225])
RELU = nn.ReLU()


def exporters():
    """By family, the Python under its heading."""
    sections = re.split(r"^## (\w+)$", MODELS.read_text(), flags=re.MULTILINE)[1:]
    programs_in = lambda text: re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    found = {family: programs_in(text) for family, text in zip(sections[::2], sections[1::2])}
    assert all(len(programs) <= 1 for programs in found.values())
    return {family: programs[0] for family, programs in found.items() if programs}


def check(family, program, names, expected):
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path.cwd()
        os.chdir(folder)
        try:
            exec(compile(program, f"{MODELS.name}, {family}", "exec"), dict(names))
        finally:
            os.chdir(here)
        written = load_file(pathlib.Path(folder) / "model.safetensors")
    assert written.keys() == expected.keys(), sorted(written.keys() ^ expected.keys())
    for name, tensor in expected.items():
        torch.testing.assert_close(written[name], tensor.detach(), rtol=1e-6, atol=1e-7, msg=lambda why, n=name: f"{family}: {n}: {why}")
    print(f"{family}: {len(written)} tensors")


def layer_of(weight, bias=None):
    """A linear layer with these parameters."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    layer.load_state_dict({"weight": weight} if bias is None else {"weight": weight, "bias": bias})
    return layer


def msdnet(generator):
    """The form of MSDNet-PyTorch; the second one's stem is that for CIFAR, which adds no bias."""
    for more in (dict(stem="pooled"), dict(stem="plain", bottleneck=False)):
        model = MSDNet(dict(make_msdnet.SMALL, **IMAGENET, **more)).eval()
        make_msdnet.draw(model, generator)
        basic = lambda unit: Has(net=[unit["c"], unit["norm"], RELU])
        path = lambda p: Has(net=[x for unit in (p.reduce, p.convolution) if unit is not None for x in basic(unit).net])
        stem = basic(model.stem[0])
        if more["stem"] == "pooled":
            stem = nn.Sequential(*stem.net, nn.MaxPool2d(3, 2, 1))
        else:
            model.stem[0]["c"].bias.zero_()
            stem.net[0] = copy.deepcopy(stem.net[0])
            stem.net[0].bias = None
        blocks = [Has(layers=[stem] + [basic(unit) for unit in model.stem[1:]])]
        for steps in model.layers:
            steps = list(steps.values())
            parts = [Has(conv_normal=path(step.normal), **({} if step.down is None else {"conv_down": path(step.down)})) for step in steps]
            blocks.append(Has(inScales=len(steps), layers=parts))
            if steps[0].transition is not None:
                blocks.append(Has(layers=[basic(step.transition) for step in steps]))
        exits = [Has(m=[basic(unit) for unit in end["convolutions"]] + [nn.AvgPool2d(2)], linear=end["head"]) for end in model.exits]
        yield dict(model=Has(blocks=[blocks], classifier=exits), scales=len(model.stem)), model.export()


def livesr(generator):
    """torchvision's ResNet-18, narrow; networks in the form of EDSR, which see pixels from 0 to 255."""
    model = LiveSR(dict(make_livesr.SMALL, **IMAGENET, upscale=4, classifier_channels=[4, 5, 6, 8], classifier_blocks=[2] * 4)).eval()
    fixture.draw_norms_and_biases(model, generator, lambda _, tensor: fixture.normal_(tensor, 1, generator) if tensor.dim() in (2, 4) else None)

    def scaled(conv, weight, bias):
        conv = copy.deepcopy(conv)
        conv.weight.mul_(weight)
        conv.bias.mul_(bias)
        return conv

    networks = []
    for net in model.subnets:
        body = [Has(body=[block.first, RELU, block.second]) for block in net.body] + [net.end]
        up = [x for conv in net.up for x in (conv, nn.PixelShuffle(2))]
        networks.append(Has(head=[scaled(net.head, 1 / 255, 1)], body=body, tail=[up, scaled(net.tail, 255, 255)]))
    yield dict(resnet18=make_livesr.Published(model.classifier), centres=model.clusters, networks=networks), model.export()


def dynamic_routing(generator):
    """The attributes that the text above the exporter names; pixels in BGR."""
    colours = dict(mean=[123.675 / 255, 116.28 / 255, 103.53 / 255], deviation=[1 / 255] * 3)
    model = DynamicRouting(dict(make_dynamic_routing.SMALL, **colours, image_size=[32, 48], num_levels=4, num_layers=5)).eval()
    make_dynamic_routing.draw(model, generator)
    unit = lambda u: (u.c, u.norm)
    separable = lambda s: (s.depthwise, s.pointwise.c, s.pointwise.norm)

    def gate(g):
        ways = [getattr(g, way) for way in g.ways]
        last = nn.Conv2d(ways[0].in_features, len(ways), 1)
        last.weight.copy_(torch.cat([way.weight for way in ways])[:, :, None, None])
        last.bias.copy_(torch.cat([way.bias for way in ways]))
        return [*unit(g.convolution), last]

    ways_of = lambda cell: {way: unit(getattr(cell, way)) for way in ("up", "down") if hasattr(cell, way)}
    layers = [[Has(gate=gate(cell.gate), cell_ops=[separable(s) for s in cell.cell], **ways_of(cell)) for cell in cells]
              for cells in model.cells]
    first = copy.deepcopy(model.stem[0].c)
    first.weight.copy_(model.stem[0].c.weight.flip(1))
    stem = [(first, model.stem[0].norm)] + [separable(s) for s in model.stem[1:]]
    yield dict(stem=stem, layers=layers, head=[unit(model.head[str(i)]) for i in range(4)], predictor=model.head["predictor"]), model.export()


def swinv2_moe(generator):
    """The form of SwinTransformerMoE, experts as Tutel has them: both weights [experts, hidden, width]."""
    for more in ({}, dict(expert_bias="both", mlp_bias="both")):
        model = SwinMoE(dict(make_swin_moe.SMALL, **IMAGENET, **more)).eval()
        make_swin_moe.draw(model, generator)

        def mixture(mlp):
            experts = nn.Module()
            for part, layer in (("fc1", "up"), ("fc2", "down")):
                weights = torch.stack([getattr(e, layer).weight for e in mlp.experts])
                setattr(experts, f"batched_{part}_w", nn.Parameter(weights if part == "fc1" else weights.transpose(1, 2)))
                if getattr(mlp.experts[0], layer).bias is not None:
                    setattr(experts, f"batched_{part}_bias", nn.Parameter(torch.stack([getattr(e, layer).bias for e in mlp.experts])[:, None]))
            return Has(_moe_layer=Has(gates=[Has(wg=mlp.gate)], experts=experts))

        def attention(a):
            three = (a.query, a.key, a.value)
            qkv = layer_of(torch.cat([x.weight for x in three]), torch.cat([x.bias for x in three]))
            return Has(qkv=qkv, proj=a.output, cpb_mlp=[a.position[0], RELU, a.position[1]])

        block = lambda b: Has(norm1=b.attention_norm, norm2=b.mlp_norm, attn=attention(b.attention),
                              mlp=mixture(b.mlp) if hasattr(b.mlp, "experts") else Has(fc1=b.mlp.up, fc2=b.mlp.down))
        following = [*model.stages[1:], None]
        layers = [Has(blocks=[block(b) for b in stage.blocks], downsample=after.merge if after is not None else None)
                  for stage, after in zip(model.stages, following)]
        size, channels = model.config["patch_size"], model.config["num_channels"]
        ours = model.patch["projection"]
        proj = nn.Conv2d(channels, ours.out_features, size, size)
        proj.weight.copy_(ours.weight.unflatten(1, (size, size, channels)).permute(0, 3, 1, 2))
        proj.bias.copy_(ours.bias)
        theirs = Has(patch_embed=Has(proj=proj, norm=model.patch["norm"]), norm=model.norm, head=model.head, layers=layers)
        yield dict(model=theirs), model.state_dict()


def task_moe(generator):
    """transformers' BertGenerationDecoder, with experts in place of what follows its attention."""
    c = make_task_moe.SMALL
    model = TaskMoE(c).eval()
    make_task_moe.draw(model, generator)
    theirs = BertGenerationDecoder(BertGenerationConfig(
        vocab_size=c["vocab_size"], hidden_size=c["hidden_size"], num_hidden_layers=c["num_hidden_layers"], is_decoder=True,
        num_attention_heads=c["num_attention_heads"], intermediate_size=c["intermediate_size"],
        max_position_embeddings=c["max_position_embeddings"], tie_word_embeddings=False))
    take = lambda layer, ours: layer.load_state_dict(ours.state_dict())
    embeddings = theirs.bert.embeddings
    take(embeddings.word_embeddings, model.embeddings["word"])
    take(embeddings.position_embeddings, model.embeddings["position"])
    take(embeddings.LayerNorm, model.embeddings["norm"])
    for layer, ours in zip(theirs.bert.encoder.layer, model.layers):
        for part in ("query", "key", "value"):
            take(getattr(layer.attention.self, part), getattr(ours["attention"], part))
        take(layer.attention.output.dense, ours["attention"].output)
        take(layer.attention.output.LayerNorm, ours["attention"].norm)
        layer.experts = []
        for expert in ours["moe"].experts:
            intermediate, output = copy.deepcopy(layer.intermediate), copy.deepcopy(layer.output)
            take(intermediate.dense, expert.up)
            take(output.dense, expert.down)
            take(output.LayerNorm, expert.norm)
            layer.experts.append((intermediate, output))
    theirs.lm_head.decoder.weight.copy_(model.head.weight)
    theirs.lm_head.bias.copy_(model.head.bias)
    yield dict(model=theirs), model.state_dict()


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    forms = dict(msdnet=msdnet, livesr=livesr, dynamic_routing=dynamic_routing, swinv2_moe=swinv2_moe, task_moe=task_moe)
    programs = exporters()
    assert programs.keys() == forms.keys(), programs.keys()
    for family, program in programs.items():
        for names, expected in forms[family](fixture.random_generator(0)):
            check(family, program, names, expected)


if __name__ == "__main__":
    main()
