#!/usr/bin/env python3
"""count_sass.py FOLDER DOCUMENT [--update] [--show]: counts in the machine code of the kernels (sm_90a) that were built below FOLDER, against the table
"Counted, not measured" of DOCUMENT. What counts is instructions; nothing here is a time. Exit: 0 as in the table; 1 not, or where a kernel of the
table is gone or the lower bounds (device_check/bounds_table.cpp) go by other numbers than it; 77 without the disassembler (cuobjdump and nvdisasm, by
PATH or NVDISASM=folder; docs/benchmarks/gpu.md says where they come from), without objects, or with another compiler than the table's.

Regions are found by what stands in them, so the kernels carry no marks:
  code          the whole kernel
  rows          a loop that copies rows (LDGSTS): a producer warp, a stage
  weights       a loop that asks the copy engine (UTMALDG), a stage; the same loop where one warp does both
  multiply      a loop with products (HGMMA): a consumer warp, a stage
                of a kernel with tiles of both regimes: "of large" is the first of the innermost loops with copies, and products 128 wide or more;
                "of swapped" the others
  store         from a wait for all products (WARPGROUP.DEPBAR 0x0) to the next code of another kind: what stores tiles, of every narrow side
  body          a straight piece of code that stores a tile, no branch within; without special functions (MUFU), without and with weights of
                slots (FMUL); with a gate those with special functions, whose divisions go the way of numbers of usual size (a branch round a call
                is no branch, but counts): of all such pieces the one of most instructions a pair
Of several loops of a kind (one a narrow side, or one a depth that is whole and one that is not) the one of fewest instructions a stage counts.
Counts: instructions, branches, divisions (of integers: I2F), pairs (words of bf16 pairs stored a thread), loads (LDG, LDC excluded),
arrivals, fences, products (HGMMA), and of these quotients as "instructions a pair"."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
LABEL = re.compile(r"^(\.L_x_\d+):")
PAIRS = {"": 1, "32": 1, "64": 2, "128": 4}


def tool(name):
    folder = os.environ.get("NVDISASM")
    for place in [folder, "/usr/local/cuda/bin"]:
        if place and os.access(Path(place) / name, os.X_OK):
            return str(Path(place) / name)
    return shutil.which(name)


def skip(why):
    print(f"not counted: {why}")
    sys.exit(77)


def said(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def short(name):
    name = re.sub(r"stormcell::gpu::|^void ", "", name)
    name = name.split("(")[0].strip()
    run = re.fullmatch(r"run_kernel<(.*)>", name)
    return (run.group(1) if run else name).replace(" >", ">").strip()


def kernels(folder):
    """{kernel: [(address, predicate, opcode, operands)], with labels as (address, None, label, '')}, each kernel of sm_90a once; and registers."""
    found, registers = {}, {}
    objects = sorted(p for p in Path(folder).rglob("*") if p.suffix == ".cubin" or (p.suffix == ".o" and p.name.endswith(".cu.o") and "stormcell_gpu.dir" in str(p)))
    if not objects:
        skip(f"no objects below {folder}")
    for path in objects:
        with tempfile.TemporaryDirectory() as scratch:
            cubin = path
            if path.suffix == ".o":
                said([tool("cuobjdump"), "-xelf", "sm_90a", str(path.resolve())], cwd=scratch)
                cubins = sorted(Path(scratch).glob("*.cubin"))
                if not cubins:
                    continue
                cubin = cubins[0]
            text = said([tool("nvdisasm"), "-c", str(cubin)])
            usage = said([tool("cuobjdump"), "-res-usage", str(cubin)])
        names = {}
        for mangled in re.findall(r"^\.text\.(\S+):", text, re.M):
            names[mangled] = short(said(["c++filt", mangled]).strip())
        for mangled, count in re.findall(r"Function (\S+):\s+REG:(\d+)", usage):
            registers[names.get(mangled, mangled)] = int(count)
        lines = None
        for line in text.splitlines():
            if line.startswith(".text."):
                lines = found.setdefault(names[line[6:-1]], [])
                lines.clear()
            elif lines is not None:
                if match := LINE.match(line):
                    lines.append((int(match[1], 16), match[2], match[3], match[4]))
                elif match := LABEL.match(line):
                    lines.append((None, None, match[1], ""))
                elif line.startswith("//-----"):
                    lines = None
    return found, registers


def is_branch(line):
    return line[2] in ("BRA", "BRX", "BRXU", "JMP", "EXIT", "RET", "CALL.REL.NOINC", "BREAK", "BSYNC") or line[2].startswith(("BRA", "CALL", "RET"))


def instructions(lines):
    return [l for l in lines if l[0] is not None and l[2] != "NOP"]


def starts(lines, *opcodes):
    return sum(l[2].startswith(opcodes) for l in instructions(lines))


def loops_with(lines, opcode):
    """[(first, last line)] of each loop, in the order of its end."""
    at = {l[2]: i for i, l in enumerate(lines) if l[0] is None}
    for i, line in enumerate(lines):
        target = re.search(r"\.L_x_\d+", line[3]) if line[0] is not None and line[2].startswith("BRA") and ".ANY" not in line[2] else None
        if target and at.get(target[0], i + 1) <= i and starts(lines[at[target[0]]:i + 1], opcode):
            yield at[target[0]], i


def loop_with(lines, opcode, regime=None):
    loops = list(loops_with(lines, opcode))
    if regime:
        loops = [(a, b) for a, b in loops if not any(a <= c and d <= b and (a, b) != (c, d) for c, d in loops)]  # the innermost
        wide = [(a, b) for a, b in loops if starts(lines[a:b], "HGMMA.64x128", "HGMMA.64x256")] if opcode == "HGMMA" else loops[:1]
        loops = wide if regime == "large" else [l for l in loops if l not in wide]
    return min((lines[a:b + 1] for a, b in loops), key=lambda loop: len(loop) / stages(loop), default=[])


def store_code(lines):
    """From the last wait for products before a store to the next code of another kind."""
    region, inside = [], False
    for line in lines:
        op = line[2]
        if op.startswith("WARPGROUP.DEPBAR") and "0x0" in line[3]:
            inside = True
        elif op.startswith(("HGMMA", "UTMA", "LDGSTS", "WARPGROUP.ARRIVE")):
            inside = False
        if inside:
            region.append(line)
    return region


def pairs(lines):
    n = 0
    for line in lines:
        if line[0] is not None and line[2].startswith("STG.E"):
            n += PAIRS.get(line[2].split(".")[-1] if line[2].split(".")[-1].isdigit() else "", 1)
    return n


def bodies(lines):
    """Straight pieces: between labels that something jumps to and branches."""
    piece, out = [], []
    for line in lines:
        if line[0] is None or is_branch(line):
            if line[0] is not None:
                piece.append(line)
            out.append(piece)
            piece = []
        else:
            piece.append(line)
    out.append(piece)
    return [p for p in out if p]


def stages(loop):
    """Stages that a loop does a turn, where the compiler has unrolled it: groups of copies or products that it commits (or whose copies
    arrive by themselves), else bytes expected."""
    committed = sum(l[2] == "LDGDEPBAR" or (l[2].startswith("HGMMA") and "gsb" in l[3]) for l in loop)
    return max(1, committed or sum(l[2] == "SYNCS.ARRIVE.TRANS64" for l in loop))


def rounded(lines):
    """Pairs that are rounded to a word (the compiler may put the last store behind a branch)."""
    return sum(l[0] is not None and l[2].startswith("F2FP") for l in lines)


def without_calls(lines):
    """Straight where a branch leads round a call within a few instructions (a division's way for numbers of unusual size): the call left out, the
    branch and where both ways meet (ROUND, BSSY, MEET) kept."""
    at = {l[2]: i for i, l in enumerate(lines) if l[0] is None}
    out, i, met = [], 0, set()
    while i < len(lines):
        line = lines[i]
        target = re.search(r"\.L_x_\d+", line[3]) if line[0] is not None and line[2] in ("BRA", "BSSY") else None
        end = at.get(target[0], -1) if target else -1
        if line[2] == "BRA" and i < end < i + 12 and starts(lines[i:end], "CALL"):
            out.append((*line[:2], "ROUND", line[3]))
            i = end
            met.add(target[0])
        elif line[2] == "BSSY" and i < end < i + 48 and starts(lines[i:end], "CALL") == 1 and starts(lines[i:end], "BRA") == 1:
            out.append(line)
            met.add(target[0])
        else:
            out.append((*line[:2], "MEET", line[3]) if line[2] == "BSYNC" else line)
        i += 1
    others = {t for l in out if l[0] is not None and l[2] != "ROUND" and l[2].startswith("BR") for t in re.findall(r"\.L_x_\d+", l[3])}
    return [l for l in out if l[0] is not None or l[2] not in met or l[2] in others]


def gated_store(lines):
    mine = [b for b in bodies(without_calls(store_code(lines))) if rounded(b) >= 8 and any(l[2].startswith("MUFU") for l in b)]
    return max(mine, key=lambda b: len(b) / rounded(b), default=[])


def straight_store(lines, of_slots):
    plain = [b for b in bodies(store_code(lines)) if rounded(b) >= 8 and not any(l[2].startswith("MUFU") for l in b)]
    mine = [b for b in plain if any(l[2].startswith("FMUL") for l in b) == of_slots]
    return max(mine, key=lambda b: len(b) / rounded(b), default=[])


def quotient(a, b):
    return "-" if b == 0 else f"{a / b:.1f}".removesuffix(".0")


def count(lines, registers, what):
    """One cell of the table."""
    code = instructions(lines)
    regime = re.search(r" of (large|swapped)\b", what)
    what = re.sub(r" of (large|swapped)\b", "", what)
    store, body, of_slots, gated = store_code(lines), straight_store(lines, False), straight_store(lines, True), gated_store(lines)
    rows, weights, multiply = (loop_with(lines, o, regime and regime[1]) for o in ("LDGSTS", "UTMALDG", "HGMMA"))
    counts = {
        "registers": lambda: str(registers),
        "instructions": lambda: str(len(code)),
        "divisions": lambda: str(starts(lines, "I2F")),
        "loads": lambda: str(starts(lines, "LDG")),
        "barriers of the block": lambda: str(starts(lines, "BAR")),
        "rows: instructions a stage": lambda: quotient(len(instructions(rows)), stages(rows)),
        "rows: arrivals and fences a stage": lambda: quotient(starts(rows, "SYNCS.ARRIVE", "FENCE", "MEMBAR", "LDGDEPBAR", "DEPBAR"), stages(rows)),
        "weights: instructions a stage": lambda: quotient(len(instructions(weights)), stages(weights)),
        "multiply: instructions a stage": lambda: quotient(len(instructions(multiply)), stages(multiply)),
        "multiply: arrivals and fences a stage": lambda: quotient(starts(multiply, "SYNCS.ARRIVE", "FENCE", "MEMBAR", "CCTL"), stages(multiply)),
        "multiply: products a stage": lambda: quotient(starts(multiply, "HGMMA"), stages(multiply)),
        "store: instructions of code": lambda: str(len(instructions(store))),
        "store: branches of code": lambda: str(sum(is_branch(l) for l in instructions(store))),
        "store: instructions of code a pair": lambda: quotient(len(instructions(store)), pairs(store)),
        "body: instructions a pair": lambda: quotient(len(instructions(body)), rounded(body)),
        "body with slots: instructions a pair": lambda: quotient(len(instructions(of_slots)), rounded(of_slots)),
        "body with a gate: instructions a pair": lambda: quotient(len(instructions(gated)), rounded(gated)),
    }
    return counts[what]()


def rows_of(text):
    """{line: [kernel, what, before, now]} of the section's tables."""
    rows, inside = {}, False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("## "):
            inside = line == "## Counted, not measured"
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if inside and line.startswith("|") and len(cells) == 4 and re.fullmatch("`[^`]+`", cells[0]):
            rows[number] = [cells[0].strip("`")] + cells[1:]
    return rows


def lines_of_bounds(text):
    """The constants of bounds_table.cpp by the table: what four warps of producers and one for weights do a stage, a consumer, a pair stored."""
    now = {(kernel, what): count for kernel, what, _, count in rows_of(text).values()}
    without_look_up = re.search(r"\((\d+) instructions without\)", text)[1]
    pair, pair_of_many = (now[kernel, "body: instructions a pair"] for kernel in ("swapped_kernel<1>", "joined_kernel<1>"))

    def both(name, counts):
        return f"constexpr KernelCounts {name}[] = {{{counts(1)}, {counts(2)}}};"

    def swapped(panels):
        of = lambda what: now[f"swapped_kernel<{panels}>", what + ": instructions a stage"]
        return f"{{4 * {of('rows')} + {of('weights')}, {of('multiply')}, {pair}}}"

    def joined(panels, regime, multiply, stored):
        rows = now[f"joined_kernel<{panels}>", f"rows of {regime}: instructions a stage"]
        return f"{{4 * {rows}, {multiply or now[f'joined_kernel<{panels}>', f'multiply of {regime}: instructions a stage']}, {stored}}}"

    return [
        both("kSwappedCounts", swapped),
        both("kNarrowCounts", lambda panels: joined(panels, "swapped", None, pair)),
        both("kLargeCounts", lambda panels: joined(panels, "large", without_look_up, pair_of_many)),
    ]


def wrong_bounds(text):
    source = (Path(__file__).parent / "device_check" / "bounds_table.cpp").read_text(encoding="utf-8")
    missing = [line for line in lines_of_bounds(text) if line not in source]
    for line in missing:
        print(f"bounds_table.cpp, by the table: {line}")
    return len(missing)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) != 2:
        print(__doc__)
        return 2
    folder, document = arguments
    text = Path(document).read_text(encoding="utf-8")
    if "--update" not in sys.argv and wrong_bounds(text):
        return 1
    if not tool("nvdisasm") or not tool("cuobjdump"):
        skip("nvdisasm and cuobjdump are not there (NVDISASM=folder names theirs)")
    pinned = re.search(r"by ptxas of CUDA ([\d.]+)", text)
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc")
    release = re.search(r"release ([\d.]+),", said([nvcc, "--version"])) if nvcc else None
    if not pinned or not release or pinned[1] != release[1]:
        skip(f"the table is of CUDA {pinned[1] if pinned else '?'}, the compiler here of {release[1] if release else '?'}")
    found, registers = kernels(folder)
    rows, out = rows_of(text), text.splitlines()
    wrong = 0
    for number, (name, what, before, kept) in rows.items():
        if name not in found:
            wrong += 1
            print(f"{name}, {what}: no such kernel")
            continue
        now = count(found[name], registers.get(name, 0), what)
        if "--show" in sys.argv:
            print(name, what, now, sep="\t")
        if now != kept:
            wrong += 1
            print(f"{name}, {what}: {now}, in the table {kept}")
            out[number] = f"| `{name}` | {what} | {before} | {now} |"
    if not any(name in found for name, *_ in rows.values()):
        skip(f"{tool('cuobjdump')} found no kernel of the table (one that is older than the compiler cannot read its objects)")
    if "--update" in sys.argv:
        Path(document).write_text("\n".join(out) + "\n", encoding="utf-8")
        return 1 if wrong_bounds("\n".join(out)) else 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
