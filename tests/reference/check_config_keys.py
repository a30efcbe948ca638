"""Holds the tables of keys (core/models) to transformers' configuration classes: prints what differs, and ends with 1 where something does.

Every field of a class must have a row. A row with a value must have the default of the class.

    pip install transformers==5.24.0
    python tests/reference/check_config_keys.py
"""
import json
import pathlib
import re
import sys

from transformers import (GenerationConfig, MixtralConfig, PretrainedConfig, Qwen2MoeConfig, Qwen3MoeConfig,
                          SwitchTransformersConfig)

MODELS = pathlib.Path(__file__).parents[2] / "core" / "models"
FAMILIES = [("decoder_mixture_keys.cpp", MixtralConfig), ("decoder_mixture_keys.cpp", Qwen2MoeConfig),
            ("decoder_mixture_keys.cpp", Qwen3MoeConfig),
            ("switch_transformer.cpp", SwitchTransformersConfig)]
# The class computes a value where the file has none, or has it for models that it does not build here.
ELSEWHERE = {"rope_parameters": "by key"}


def rows(text):
    """key: (use, value)"""
    found = {}
    for use, key, value in re.findall(r'(?:KeyUse::)?\b(fixed|defaulted|harmless|alias|group), "([^"]+)"(?:, "((?:[^"\\]|\\.)*)")?', text):
        found.setdefault(key, (use, value.replace('\\"', '"')))
    for call in re.findall(r"keys_read\((.*?)\);", text, re.S):
        for key in re.findall(r'"([^"]+)"', call):
            found[key] = ("read", "")
    return found


def main():
    wrong = []
    shared = (MODELS / "config_keys.cpp").read_text()
    for name, cls in FAMILIES:
        table = rows(shared) | rows((MODELS / name).read_text())
        defaults = cls().to_dict() | {a: None for a in cls.attribute_map}
        for key in sorted(defaults):
            if key not in table and key not in ELSEWHERE:
                wrong.append(f"{name}: no row for {key}")
        for key, (use, value) in table.items():
            if use in ("fixed", "defaulted") and key in defaults and json.loads(value) != defaults[key]:
                wrong.append(f"{name}: {key} is {value}, the class has {defaults[key]!r}")
    for key, default in GenerationConfig._get_default_generation_params().items():
        row = rows(shared).get(key)
        if row and row[0] == "defaulted" and json.loads(row[1]) != default:
            wrong.append(f"generation: {key} is {row[1]}, transformers has {default!r}")
    for key in PretrainedConfig().to_dict():
        if key not in rows(shared) and key not in ELSEWHERE and key != "is_encoder_decoder":
            wrong.append(f"every class: no row for {key}")
    print("\n".join(wrong) or "the tables agree with the classes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
