"""Looks at pairs before any verdict: whether what an expectation says can be seen in the files."""
import json, struct, sys, pathlib
import numpy as np
def load(p):
    b = p.read_bytes(); n = struct.unpack("<Q", b[:8])[0]; h = json.loads(b[8:8+n]); h.pop("__metadata__")
    k = {"I32":"<i4","I64":"<i8","F32":"<f4","U8":"u1"}
    return {x: np.frombuffer(b, k[v["dtype"]], offset=8+n+v["data_offsets"][0], count=int(np.prod(v["shape"]))).reshape(v["shape"]) for x, v in h.items()}
for d in sorted((pathlib.Path("/work/h/blind/pairs")).iterdir()):
    e = json.loads((d/"expect.json").read_text())
    a, b = load(d/"a.safetensors"), load(d/"b.safetensors")
    key = lambda t: {(r, p): i for i, (r, p) in enumerate(zip(t["cell.request"], t["cell.position"]))}
    ka, kb = key(a), key(b); both = [x for x in ka if x in kb]
    ia, ib = np.array([ka[x] for x in both]), np.array([kb[x] for x in both])
    out = [d.name, f"cells {len(ka)}/{len(kb)}"]
    if e["cause"] in ("layer-shift",):
        L = sum(x.endswith("indices") for x in a)
        for l in range(L):
            out.append("b%d~a:" % l + " ".join(f"{np.mean([len(set(x)&set(y))/len(x) for x,y in zip(a[f'layer.{m}.indices'][ia][:200], b[f'layer.{l}.indices'][ib][:200])]):.2f}" for m in range(L)))
    if e["cause"] == "groups-ignored":
        for t in (a, b): out.append(str([round(float(np.mean([len(set(x//8))>4 for x in t[f'layer.{l}.indices']])),2) for l in range(5)]))
    if e["recorded"] in ("weights","scores"):
        L = sum(x.endswith("indices") for x in a)
        out.append("sums " + str([(round(float(a[f'layer.{l}.weights'].sum(1).mean()),3), round(float(b[f'layer.{l}.weights'].sum(1).mean()),3)) for l in range(L)]))
        m = "layer.0.margins"
        if m in a and e["cause"] in ("agree","router-precision","unlike"):
            for l in (0, L-1):
                f = [i for i,(x,y) in enumerate(zip(a[f'layer.{l}.indices'][ia], b[f'layer.{l}.indices'][ib])) if set(x)!=set(y)]
                mm = a[f'layer.{l}.margins'][ia]
                out.append(f"layer {l}: median margin {np.median(mm):.3f}, of flips max {mm[f].max() if f else 0:.4f} n {len(f)}")
        if "layer.0.scores" in a and e["cause"] in ("agree","router-precision","unlike","bias-in-weights"):
            d0 = np.abs(a['layer.0.scores'][ia]-b['layer.0.scores'][ib]); out.append(f"score std {a['layer.0.scores'].std():.2f}; |diff| layer 0 median {np.median(d0):.4f} max {d0.max():.4f}; on bf16 grid b {np.mean((b['layer.0.scores'].copy().view('u4')&0xffff)==0):.2f}")
    print("\n   ".join(out))
