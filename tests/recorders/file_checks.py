"""The files of the recorders themselves."""
import ast

from harness import RECORDERS, check, expect


@check
def shared_parts_are_the_same_in_every_file(folder):
    for mark, names in (("# --- The trace file.", None), ("# --- The passes of", ("transformers-4", "transformers-5"))):
        found = {}
        for path in sorted(RECORDERS.glob("*.py")):
            text = path.read_text()
            if names and path.stem not in names:
                continue
            expect(mark in text, f"{path.name} has no part {mark}")
            found[path.name] = text[text.index(mark):].split("\n# --- ", 1)[0]
        expect(len(set(found.values())) == 1, f"{mark} differs among {', '.join(found)}")


@check
def every_file_says_how_it_is_used_and_what_it_costs(folder):
    for path in sorted(RECORDERS.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text()))
        for word in ("in three lines", "Cost:", "stormcell import", f"stormcell recorder {path.stem} > record.py"):
            expect(word in text, f"{path.name}: its head does not say {word!r}")
        expect(len(text.split("\n")[0]) <= 120, f"{path.name}: its first line is long")
