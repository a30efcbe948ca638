"""What the fixture makers share: seeding, routing decisions, and the files of a case.

A case is a folder with the model (config.json, *.safetensors), input.safetensors and
expected.safetensors. The names in the latter are those of `stormcell run --outputs`, so a test
compares two files of one layout; README.md has the meaning of each.
"""
import json
import pathlib
import shutil
import zlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
SMALLEST_MARGIN = 1e-4        # between neighbouring router probabilities: well above f32 rounding
SMALLEST_LOGIT_MARGIN = 1e-3  # between the two best next tokens, in every case with `generated`
ATTEMPTS = 200
NO_BRANCH = -1
NO_TOKEN = -1


class Unsuitable(Exception):
    """A random model whose decisions hang on rounding, or that does not show what its case is for."""


def clear(name):
    """An empty folder beside the scripts: what a script makes is always made whole."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write_suitable(folder, make):
    """Calls make(folder, seed) with a fixed series of seeds until a model suits its case."""
    for attempt in range(ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            summary = make(folder, zlib.crc32(folder.name.encode()) + attempt)
        except Unsuitable:
            continue
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{folder.parent.name}/{folder.name}: {summary}, attempt {attempt + 1}, {size} bytes")
        return
    raise SystemExit(f"{folder.name}: no suitable model in {ATTEMPTS} attempts")


def random_generator(seed):
    return torch.Generator().manual_seed(seed)


def normal_(parameter, std, generator, mean=0.0):
    with torch.no_grad():
        parameter.copy_(mean + std * torch.randn(parameter.shape, generator=generator))


def decisions_of(probabilities, branches, weights):
    """One router's decisions on a batch, cells in row order, as `run --outputs` names them.

    probabilities [.., experts]; branches and weights [.., k]. The margin is the smallest step among
    the k + 1 largest probabilities: what separates the chosen from the others, and their order.
    """
    k = branches.shape[-1]
    flat = probabilities.reshape(-1, probabilities.shape[-1])
    largest = flat.topk(min(k + 1, flat.shape[-1]), dim=-1).values
    margin = (largest[:, :-1] - largest[:, 1:]).min(-1).values
    if margin.min() < SMALLEST_MARGIN:
        raise Unsuitable
    return {"branch": branches.reshape(-1, k).int(), "weight": weights.reshape(-1, k).float(),
            "margin": margin.float()}


def sides_of(config):
    """Height and width of a case's pictures."""
    size = config["image_size"]
    return size if isinstance(size, list) else [size] * 2


def draw_norms_and_biases(model, generator, draw_weight):
    """Random norms and biases; draw_weight(name, tensor) fills every other one, in the order of the state."""
    for name, tensor in model.state_dict().items():
        if name.endswith("running_var"):
            tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
        elif name.endswith("norm.weight"):
            tensor.copy_(1 + 0.2 * torch.randn(tensor.shape, generator=generator))
        elif name.endswith(("bias", "running_mean")):
            tensor.copy_(0.2 * torch.randn(tensor.shape, generator=generator))
        else:
            draw_weight(name, tensor)


def save_model(folder, model_type, config, weights):
    """Mean and deviation of the pixels are tensors of ours, not keys."""
    ours = {key: value for key, value in config.items() if key not in ("mean", "deviation")}
    (folder / "config.json").write_text(json.dumps(dict(model_type=model_type, **ours), indent=2) + "\n")
    save(folder / "model.safetensors", weights)


def save_pixels(folder, pixels):
    """[N, channels, height, width], written as [N, height, width, channels]."""
    save(folder / "input.safetensors", {"pixels": pixels.permute(0, 2, 3, 1)})


def save(path, tensors):
    save_file({name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}, path)


def save_expected(folder, outputs, decisions, generated=None):
    tensors = {f"b0.{name}": tensor for name, tensor in outputs.items()}
    for router, parts in decisions.items():
        tensors.update({f"b0.{router}.{part}": tensor for part, tensor in parts.items()})
    if generated is not None:
        tensors["generated"] = generated
    save(folder / "expected.safetensors", tensors)


def without_keys(path, keys):
    """Takes keys out of a JSON file."""
    content = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in content.items() if k not in keys}, indent=2) + "\n")


def new_tokens(rows, first, eos):
    """i32 [N, length]: the tokens after the first `first`, up to and with the end token, then -1."""
    tokens = torch.full((len(rows), rows.shape[1] - first), NO_TOKEN, dtype=torch.int32)
    for row, out in zip(rows[:, first:].tolist(), tokens):
        length = row.index(eos) + 1 if eos in row else len(row)
        out[:length] = torch.tensor(row[:length])
    return tokens


def greedy(model, first, count, inputs):
    """New tokens by the library's generate with its cache; Unsuitable where two tokens nearly tie."""
    result = model.generate(**inputs, max_new_tokens=count, do_sample=False, num_beams=1,
                            return_dict_in_generate=True, output_logits=True)
    tokens = new_tokens(result.sequences, first, model.config.eos_token_id)
    for step, logits in enumerate(result.logits):
        best = logits.float().topk(2, dim=-1).values
        alive = tokens[:, step] != NO_TOKEN
        if ((best[:, 0] - best[:, 1])[alive] < SMALLEST_LOGIT_MARGIN).any():
            raise Unsuitable
    return tokens


def require(condition):
    if not condition:
        raise Unsuitable
