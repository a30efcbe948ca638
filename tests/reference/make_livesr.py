#!/usr/bin/env python3
"""LiveSR: small models with random weights, their pixels, enlarged pictures and routing.

A router's cells are the patches of all pictures, row by row of the grid; `b0.router.weight` is the
score of the network that took the patch. The classifier is held to torchvision's ResNet-18, which computes the features
of one case itself.
"""
import torch
from torchvision.models import resnet

import fixture
from livesr import Classifier, LiveSR, Subnet, counts

SMALL = dict(num_channels=3, patch_size=12, patch_stride=10, border="shift", upscale=2, num_subnets=3, subnet_channels=4,
             subnet_blocks=2, normalization="standardize", classifier_stem="pooled", classifier_channels=[6, 8],
             classifier_blocks=[2, 1], batch_norm_eps=1e-5, mean=[0.4, 0.5, 0.6], deviation=[0.2, 0.25, 0.3])
CASES = {
    "two-frames": (dict(SMALL, image_size=[30, 41]), 2),
    "cut-at-the-border": (dict(SMALL, image_size=[24, 33], border="cut", upscale=4), 2),
    "one-patch": (dict(SMALL, image_size=12, classifier_channels=[5, 7, 9], classifier_blocks=[1, 1, 1]), 1),
    "unlike-networks": (dict(SMALL, image_size=[24, 20], num_subnets=4, subnet_channels=[2, 3, 5, 8], subnet_blocks=[0, 1, 3, 2],
                             classifier_stem="plain", patch_size=8, patch_stride=8), 2),
    "grey-not-standardized": (dict(SMALL, image_size=[25, 25], num_channels=1, mean=[0.1], deviation=[0.3], normalization="none",
                                   upscale=1, batch_norm_eps=1e-3), 4),
    "narrow-resnet-18-of-torchvision": (dict(SMALL, image_size=[16, 44], patch_size=16, patch_stride=14, upscale=1,
                                             classifier_channels=[4, 5, 6, 8], classifier_blocks=[2, 2, 2, 2]), 1),
}


class Published(resnet.ResNet):
    """torchvision's ResNet of basic blocks, of any four widths, with the weights of a classifier of ours; no last layer."""

    def __init__(self, classifier):
        torch.nn.Module.__init__(self)
        stem, widths = classifier.stem, [stage[0].first.c.out_channels for stage in classifier.layers]
        self._norm_layer, self.inplanes, self.dilation, self.groups, self.base_width = torch.nn.BatchNorm2d, widths[0], 1, 1, 64
        self.conv1, self.bn1, self.relu, self.maxpool = stem.c, stem.norm, torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1)
        for s, (width, stage) in enumerate(zip(widths, classifier.layers)):
            setattr(self, f"layer{s + 1}", self._make_layer(resnet.BasicBlock, width, len(stage), 2 if s else 1))
        self.avgpool, self.fc = torch.nn.AdaptiveAvgPool2d(1), torch.nn.Identity()
        take_weights(self, classifier)


def take_weights(published, classifier):
    """By the names of torchvision's attributes."""
    words = {"first.c.": "conv1.", "first.norm.": "bn1.", "second.c.": "conv2.", "second.norm.": "bn2.",
             "shortcut.c.": "downsample.0.", "shortcut.norm.": "downsample.1.", "stem.c.": "conv1.", "stem.norm.": "bn1."}
    state = {}
    for name, tensor in classifier.state_dict().items():
        for ours, word in words.items():
            name = name.replace(ours, word)
        for s in range(4):
            name = name.replace(f"layers.{s}.", f"layer{s + 1}.") if name.startswith(f"layers.{s}.") else name
        state[name] = tensor
    missing, unknown = published.load_state_dict(state, strict=False)
    assert not unknown and all(m.startswith("fc.") for m in missing), (missing, unknown)


def place_clusters(model, pixels, generator):
    """Centres at the features of patches that lie apart, a little beside them."""
    features = model.features(model.patches(pixels)[0].flatten(0, 1))
    chosen = [0]
    while len(chosen) < len(model.clusters):
        apart = torch.cdist(features, features[chosen]).min(1).values
        chosen.append(int(apart.argmax()))
    spread = features.std(0).mean() if len(features) > 1 else features.abs().mean()
    model.clusters.copy_(features[chosen] + 0.5 * spread * torch.randn(model.clusters.shape, generator=generator))


@torch.no_grad()
def make(config, pictures, folder, seed):
    generator = fixture.random_generator(seed)
    model = LiveSR(config).eval()
    fixture.draw_norms_and_biases(model, generator, lambda _, tensor: fixture.normal_(tensor, (2 / tensor[0].numel()) ** 0.5, generator)
                                  if tensor.dim() == 4 else None)
    weights = model.export()
    if "torchvision" in folder.name:
        model.classifier = Published(model.classifier).eval()
    pixels = torch.rand(pictures, config["num_channels"], *fixture.sides_of(config), generator=generator)
    place_clusters(model, pixels, generator)
    result, scores = model(pixels)
    branch = scores.argmax(1, keepdim=True)
    loads = branch.flatten().bincount(minlength=config["num_subnets"])
    fixture.require(len(scores) == pictures or (loads > 0).all())
    decision = fixture.decisions_of(scores, branch, scores.gather(1, branch))
    fixture.save_model(folder, "livesr", config, weights)
    fixture.save_pixels(folder, pixels)
    fixture.save_expected(folder, {"picture": result.permute(0, 2, 3, 1)}, {"router": decision})
    return f"{loads.tolist()} of {len(scores)} patches"


def check_paper():
    """The counts of the network of Brainstorm (OSDI'23), which this definition must give."""
    for channels, thousands, giga in ((8, 99, 0.1105), (12, 222, 0.2458), (16, 393, 0.4346), (20, 613, 0.6766)):
        convolutions, parameters, multiplications = counts(Subnet(3, channels, 80, 4), 32)
        print(f"paper, F = {channels}: {convolutions} convolutions, {parameters} parameters, {multiplications / 1e9:.4f} GMAC")
        assert convolutions == 165 and round(parameters / 1000) == thousands and round(multiplications / 1e9, 4) == giga
    frame = dict(SMALL, patch_size=32, patch_stride=28, border="cut")
    assert LiveSR(frame).patches(torch.zeros(1, 3, 240, 320))[0].shape[1] == 88


@torch.no_grad()
def check_published():
    """The classifier of the paper's network against torchvision's ResNet-18."""
    classifier, theirs = Classifier(dict(SMALL, classifier_channels=[64, 128, 256, 512], classifier_blocks=[2] * 4)).eval(), resnet.resnet18().eval()
    generator = fixture.random_generator(0)
    fixture.draw_norms_and_biases(classifier, generator, lambda _, tensor: fixture.normal_(tensor, (2 / tensor[0].numel()) ** 0.5, generator)
                                  if tensor.dim() == 4 else None)
    take_weights(theirs, classifier)
    theirs.fc = torch.nn.Identity()
    patches = torch.rand(8, 3, 32, 32, generator=generator)
    expected = theirs(patches)
    difference = float((classifier(patches) - expected).abs().max() / expected.abs().max())
    print(f"published: ResNet-18 of torchvision, {difference:.1e} of the largest feature")
    assert difference < 1e-6


def main():
    torch.set_num_threads(1)
    check_paper()
    check_published()
    folder = fixture.clear("livesr")
    for name, (config, pictures) in CASES.items():
        fixture.write_suitable(folder / name, lambda path, seed, c=config, n=pictures: make(c, n, path, seed))


if __name__ == "__main__":
    main()
