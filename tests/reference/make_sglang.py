"""Makes sglang/: what SGLang's expert distribution recorder leaves in each of its modes, of a made-up model of 4 layers (0 is dense), 6
experts in 8 slots, k = 2, and expected.json, what is to be read of it. Fields are those of python/sglang/srt/eplb/expert_distribution.py."""
import json
import random
from pathlib import Path

import torch

FOLDER = Path(__file__).parent / "sglang"
LAYERS, EXPERTS, SLOTS, K, WIDTH = 4, 6, 8, 2, 8
MOE = range(1, LAYERS)
EXTEND, DECODE = 1, 2

draw = random.Random(7)
FOLDER.mkdir(exist_ok=True)


def save(value, name):
    torch.save(value, FOLDER / name)


def counts_of_step():
    return [[0] * EXPERTS] + [[draw.randrange(9) for _ in range(EXPERTS)] for _ in MOE]


# stat: 3 of 5 rows of the ring buffer are filled; and one that is full.
steps = [counts_of_step() for _ in range(3)]
empty = [[[0] * EXPERTS] * LAYERS] * 2
expected = {"stat": [[sum(s[l][e] for s in steps) for e in range(EXPERTS)] for l in MOE]}
save({"rank": 0, "logical_count": torch.tensor(steps + empty, dtype=torch.int32), "average_utilization_rate_over_window": None}, "stat.pt")
save({"rank": 0, "logical_count": torch.tensor(steps, dtype=torch.int32), "average_utilization_rate_over_window": 0.75}, "stat-full-ring.pt")

# per_pass and per_token: two ranks, passes 5 to 8, the second rank without pass 7.
layer_map = [[(s + l) % EXPERTS for s in range(SLOTS)] for l in range(LAYERS)]
map_tensor = torch.tensor(layer_map, dtype=torch.int64)
totals = [[0] * EXPERTS for _ in range(LAYERS)]
tokens_of_pass = {}
for rank in range(2):
    passes, tokens = [], []
    for number in range(5, 9):
        if rank == 1 and number == 7:
            continue
        extend = number == 5
        n = 5 if extend else 2
        ids = torch.full((LAYERS, n, WIDTH), -1, dtype=torch.int32)
        physical = torch.zeros((LAYERS, SLOTS), dtype=torch.int32)
        for l in MOE:
            for t in range(n):
                chosen = draw.sample(range(EXPERTS), K)
                for j, expert in enumerate(chosen):
                    slot = draw.choice([s for s in range(SLOTS) if layer_map[l][s] == expert])
                    ids[l, t, j] = slot
                    physical[l, slot] += 1
                    totals[l][expert] += 1
                tokens_of_pass.setdefault(f"{rank}.{number}", []).append(chosen)
        common = {"forward_pass_id": number, "rank": rank, "gatherer_key": "primary", "global_physical_count": physical}
        passes.append(dict(common))
        tokens.append(dict(common, input_ids=[draw.randrange(50000) for _ in range(n)],
                           positions=list(range(n)) if extend else [10 + number, 70000 + number],
                           extend_seq_lens=[3, 2] if extend else None, forward_mode=EXTEND if extend else DECODE,
                           topk_ids_of_layer=ids, misc_objects=[{"layer_id": 1, "num_tokens_per_rank": torch.tensor([n, 0])}]))
    save({"records": passes, "last_physical_to_logical_map": map_tensor}, f"per_pass_{rank}.pt")
    save({"records": tokens, "last_physical_to_logical_map": map_tensor}, f"per_token_{rank}.pt")

# The same tokens under the map of after a re-balance: two slots of a token come to hold one expert.
moved = map_tensor.clone()
moved[2] = torch.tensor([2, 3, 1, 0, 4, 1, 5, 0])  # the first token of pass 5 chose slots 5 and 2
save({"records": tokens, "last_physical_to_logical_map": moved}, "re-balanced.pt")

expected |= {"totals": totals[1:], "chosen": tokens_of_pass}
(FOLDER / "expected.json").write_text(json.dumps(expected) + "\n")


class Opens:
    def __reduce__(self):
        return (open, ("/nowhere/touched", "w"))


save({"logical_count": Opens()}, "runs-code.pt")
