"""Writes tests/reference/expert-layers/cases.json: of configurations of many families the layers with experts, as transformers has them.

The rule of a family is taken from its modelling file: the condition by which the decoder layer chooses between experts and a dense
layer is found in the syntax tree and evaluated on an instance of the configuration class. No model is built, and PyTorch is not needed.

    pip install transformers==5.24.0
    python tests/reference/make_expert_layers.py
"""
import ast
import importlib
import json
import pathlib
from types import SimpleNamespace

MODELS = "transformers.models."

# family: (module, class of the configuration, class of the layer or None: every layer, configurations)
FAMILIES = {
    "afmoe": ("afmoe", "AfmoeConfig", "AfmoeDecoderLayer", [{"num_dense_layers": 3}]),
    "aria_text": ("aria", "AriaTextConfig", None, []),
    "axk1": ("axk1", "AXK1Config", "AXK1DecoderLayer", [{"first_k_dense_replace": 2, "moe_layer_freq": 2}, {"mlp_layer_types": "mixed"}]),
    "axk2": ("axk2", "AXK2Config", "AXK2DecoderLayer", [{"first_k_dense_replace": 0}]),
    "bailing_hybrid": ("bailing_hybrid", "BailingHybridConfig", "BailingHybridDecoderLayer", [{"first_k_dense_replace": 1}]),
    "beam": ("beam", "BeamConfig", "BeamDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "cohere2_moe": ("cohere2_moe", "Cohere2MoeConfig", "Cohere2MoeDecoderLayer", [{"first_k_dense_replace": 2}]),
    "deepseek_ocr2_text": ("deepseek_ocr2", "DeepseekOcr2TextConfig", "DeepseekOcr2TextDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "deepseek_v2": ("deepseek_v2", "DeepseekV2Config", "DeepseekV2DecoderLayer", [{"first_k_dense_replace": 1}]),
    "deepseek_v3": ("deepseek_v3", "DeepseekV3Config", "DeepseekV3DecoderLayer", [{"first_k_dense_replace": 1}]),
    "deepseek_v32": ("deepseek_v32", "DeepseekV32Config", "DeepseekV32DecoderLayer",
                     [{"first_k_dense_replace": 2}, {"mlp_layer_types": "mixed", "first_k_dense_replace": 5}]),
    "deepseek_v4": ("deepseek_v4", "DeepseekV4Config", None, []),
    "doge": ("doge", "DogeConfig", "DogeDecoderLayer", [{"is_moe": True}]),
    "dots1": ("dots1", "Dots1Config", "Dots1DecoderLayer",
              [{"n_routed_experts": 12, "first_k_dense_replace": 2}, {"n_routed_experts": 12}]),
    "dots3_note_text": ("dots3_note", "Dots3NoteTextConfig", "Dots3NoteTextDecoderLayer",
                        [{"moe_layer_freq": [1, 1, 0, 1, 0, 1, 1, 1]}, {"moe_layer_freq": 3, "first_k_dense_replace": 2}]),
    "ernie4_5_moe": ("ernie4_5_moe", "Ernie4_5_MoeConfig", "Ernie4_5_MoeDecoderLayer",
                     [{"moe_layer_start_index": 2, "moe_layer_end_index": 5}, {"moe_layer_end_index": -1, "moe_layer_interval": 2}]),
    "ernie4_5_vl_moe_text": ("ernie4_5_vl_moe", "Ernie4_5_VLMoeTextConfig", "Ernie4_5_VLMoeDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "exaone_moe": ("exaone_moe", "ExaoneMoeConfig", "ExaoneMoeDecoderLayer", [{"first_k_dense_replace": 3}]),
    "flex_olmo": ("flex_olmo", "FlexOlmoConfig", None, []),
    "flint": ("flint", "FlintConfig", "FlintDecoderLayer", [{"mlp_only_layers": [1, 4]}, {"mlp_only_layers": [], "decoder_sparse_step": 3}]),
    "gemma4_text": ("gemma4", "Gemma4TextConfig", "Gemma4TextDecoderLayer",
                    [{"enable_moe_block": True, "num_experts": 16, "top_k_experts": 4, "moe_intermediate_size": 32}]),
    "glm4_moe": ("glm4_moe", "Glm4MoeConfig", "Glm4MoeDecoderLayer", [{"first_k_dense_replace": 3}]),
    "glm4_moe_lite": ("glm4_moe_lite", "Glm4MoeLiteConfig", "Glm4MoeLiteDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "glm4v_moe_text": ("glm4v_moe", "Glm4vMoeTextConfig", "Glm4vMoeTextDecoderLayer", [{"first_k_dense_replace": 0}]),
    "glm5_next_text": ("glm5_next", "Glm5NextTextConfig", "Glm5NextTextDecoderLayer", []),
    "glm_moe_dsa": ("glm_moe_dsa", "GlmMoeDsaConfig", "GlmMoeDsaDecoderLayer", [{"first_k_dense_replace": 1}]),
    "gpt_oss": ("gpt_oss", "GptOssConfig", None, []),
    "granitemoe": ("granitemoe", "GraniteMoeConfig", None, []),
    "granitemoehybrid": ("granitemoehybrid", "GraniteMoeHybridConfig", "GraniteMoeHybridDecoderLayer", []),
    "granitemoeshared": ("granitemoeshared", "GraniteMoeSharedConfig", None, []),
    "granitemoe_swa": ("granitemoe_swa", "GraniteMoeSWAConfig", None, []),
    "hunyuan_v1_moe": ("hunyuan_v1_moe", "HunYuanMoEV1Config", None, [{"num_experts": 16, "moe_topk": 3}]),
    "hy_v3": ("hy_v3", "HYV3Config", "HYV3DecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "hy_v4": ("hy_v4", "HYV4Config", "HYV4DecoderLayer", []),
    "hy_v4_vl_text": ("hy_v4_vl", "HYV4VLTextConfig", "HYV4VLDecoderLayer", []),
    "inkling_text": ("inkling", "InklingTextConfig", "InklingDecoderLayer", [{"dense_mlp_idx": 2}, {"mlp_layer_types": "mixed"}]),
    "inkling2_text": ("inkling2", "Inkling2TextConfig", None, []),
    "jamba": ("jamba", "JambaConfig", "JambaMambaDecoderLayer", [{"expert_layer_period": 3, "expert_layer_offset": 2}]),
    "jetmoe": ("jetmoe", "JetMoeConfig", None, []),
    "kimi_linear": ("kimi_linear", "KimiLinearConfig", "KimiLinearDecoderLayer", [{"first_k_dense_replace": 2}]),
    "kolibri1": ("kolibri1", "Kolibri1Config", None, []),
    "laguna": ("laguna", "LagunaConfig", "LagunaDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "lara_mini": ("lara_mini", "LaraMiniConfig", None, []),
    "lfm2_moe": ("lfm2_moe", "Lfm2MoeConfig", "Lfm2MoeDecoderLayer", [{"num_dense_layers": 4, "layer_types": ["conv"] * 8}]),
    "llama4_text": ("llama4", "Llama4TextConfig", "Llama4TextDecoderLayer",
                    [{"interleave_moe_layer_step": 3}, {"moe_layers": [0, 6], "interleave_moe_layer_step": 2}]),
    "longcat_flash": ("longcat_flash", "LongcatFlashConfig", None, []),
    "mellum": ("mellum", "MellumConfig", "MellumDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "mimo_v2_flash": ("mimo_v2_flash", "MiMoV2FlashConfig", "MiMoV2FlashDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "minimax": ("minimax", "MiniMaxConfig", None, []),
    "minimax_m2": ("minimax_m2", "MiniMaxM2Config", None, []),
    "minimax_m3_vl_text": ("minimax_m3_vl", "MiniMaxM3VLTextConfig", "MiniMaxM3VLDecoderLayer",
                           [{"moe_layer_freq": [0, 0, 1, 1, 1, 0, 1, 1]}]),
    "mistral4": ("mistral4", "Mistral4Config", "Mistral4DecoderLayer", [{"first_k_dense_replace": 3}]),
    "mistral_large4_text": ("mistral_large4", "MistralLarge4TextConfig", "MistralLarge4TextDecoderLayer", [{"first_k_dense_replace": 4}]),
    "mixtral": ("mixtral", "MixtralConfig", None, []),
    "muse_spark_text": ("muse_spark", "MuseSparkTextConfig", "MuseSparkTextDecoderLayer", [{"mlp_layer_types": "mixed"}]),
    "nemotron_h": ("nemotron_h", "NemotronHConfig", None, [{"hybrid_override_pattern": "MEM*E-ME"}]),
    "olmoe": ("olmoe", "OlmoeConfig", None, []),
    "phimoe": ("phimoe", "PhimoeConfig", None, []),
    "qwen2_moe": ("qwen2_moe", "Qwen2MoeConfig", "Qwen2MoeDecoderLayer", [{"decoder_sparse_step": 2, "mlp_only_layers": [3]}]),
    "qwen3_moe": ("qwen3_moe", "Qwen3MoeConfig", "Qwen3MoeDecoderLayer", [{"decoder_sparse_step": 3}, {"mlp_only_layers": [0, 7]}]),
    "qwen3_next": ("qwen3_next", "Qwen3NextConfig", "Qwen3NextDecoderLayer", [{"mlp_only_layers": [5]}]),
    "qwen3_omni_moe_text": ("qwen3_omni_moe", "Qwen3OmniMoeTextConfig", "Qwen3OmniMoeThinkerTextDecoderLayer", [{"decoder_sparse_step": 2}]),
    "qwen3_vl_moe_text": ("qwen3_vl_moe", "Qwen3VLMoeTextConfig", "Qwen3VLMoeTextDecoderLayer", [{"mlp_only_layers": [2]}]),
    "qwen3_5_moe_text": ("qwen3_5_moe", "Qwen3_5MoeTextConfig", None, []),
    "qwen4_exp_text": ("qwen4_exp", "Qwen4ExpTextConfig", None, []),
    "sarvam_mla": ("sarvam_mla", "SarvamMLAConfig", "deepseek_v3.DeepseekV3DecoderLayer", [{"first_k_dense_replace": 2}]),
    "sarvam_moe": ("sarvam_moe", "SarvamMoEConfig", "glm4_moe.Glm4MoeDecoderLayer", []),
    "solar_open": ("solar_open", "SolarOpenConfig", None, []),
    "step3p5": ("step3p7", "Step3p7TextConfig", "Step3p7DecoderLayer",
                [{"moe_layers_enum": "2,3, 5,7"}, {"moe_layers_enum": [1, 6]}, {"mlp_layer_types": "mixed"},
                 {"moe_layers_enum": "3,4,8", "num_nextn_predict_layers": 1}]),
    "unlimited_ocr_text": ("unlimited_ocr", "UnlimitedOcrTextConfig", "UnlimitedOcrTextDecoderLayer", [{"first_k_dense_replace": 2}]),
    "zaya": ("zaya", "ZayaConfig", None, []),
}
LAYERS = 8
MIXED = ["sparse", "dense", "sparse", "sparse", "dense", "dense", "sparse", "dense"]


def condition(module, layer):
    """(expression, experts where it is true) of the choice between experts and a dense layer in the class of a decoder layer."""
    source = pathlib.Path(importlib.import_module(MODELS + module).__file__).with_name(f"modeling_{module}.py")
    tree = ast.parse(source.read_text())
    cls = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == layer)
    init = next(n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    local = {n.targets[0].id: n.value for n in ast.walk(init) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
    members = {ast.unparse(n.targets[0]): n.value for n in ast.walk(init) if isinstance(n, ast.Assign)}
    for n in ast.walk(init):
        if not isinstance(n, (ast.If, ast.IfExp)):
            continue
        body = n.body if isinstance(n.body, list) else [n.body]
        other = n.orelse if isinstance(n.orelse, list) else [n.orelse]
        yes, no = any(map(holds_experts, body)), any(map(holds_experts, other))
        if yes == no:
            continue
        return ast.unparse(n.test), yes, local, members
    raise SystemExit(f"{module}.{layer}: no condition found")


def holds_experts(node):
    """Whether a class with experts is named in this branch."""
    ends = ("MoE", "Moe", "Experts", "MoeBlock", "MoEBlock", "TextMoE")
    return any(isinstance(n, ast.Name) and n.id.endswith(ends) for n in ast.walk(node))


def layers_of(module, layer, config, count):
    if layer is None:
        return list(range(count))
    if "." in layer:
        module, layer = layer.split(".")
    test, where_true, local, members = condition(module, layer)
    found = []
    for index in range(count):
        names = {"config": config, "layer_idx": index, "self": SimpleNamespace(config=config, layer_idx=index)}
        for name, value in local.items():
            try:
                names[name] = eval(ast.unparse(value), {}, names)
            except Exception:
                pass
        for name, value in members.items():
            if name.startswith("self."):
                try:
                    setattr(names["self"], name[5:], eval(ast.unparse(value), {}, names))
                except Exception:
                    pass
        if bool(eval(test, {}, names)) == where_true:
            found.append(index)
    return found


def first(config, names):
    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return value
    return None


def main():
    cases = []
    for family, (module, name, layer, variants) in FAMILIES.items():
        cls = getattr(importlib.import_module(f"{MODELS}{module}.configuration_{module}"), name)
        for change in ([] if family in ("deepseek_ocr2_text", "doge", "dots1", "gemma4_text", "nemotron_h") else [{}]) + variants:
            given = {"model_type": family, "num_layers" if family == "longcat_flash" else "num_hidden_layers": LAYERS} | change
            if given.get("mlp_layer_types") == "mixed":
                given["mlp_layer_types"] = MIXED
            config = cls(**{k: v for k, v in json.loads(json.dumps(given)).items() if k != "model_type"})
            layers = layers_of(module, layer, config, LAYERS)
            if family == "nemotron_h":
                layers = [i for i, kind in enumerate(config.layers_block_type) if kind == "moe"]
            cases.append({"class": name, "config": given, "layers": LAYERS, "with_experts": layers,
                          "experts": first(config, ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")),
                          "per_token": first(config, ("num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k",
                                                      "top_k_experts")) or 0})
    folder = pathlib.Path(__file__).parent / "expert-layers"
    folder.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(c) for c in cases)
    (folder / "cases.json").write_text(f"[\n{lines}\n]\n")
    print(len(cases), "cases of", len({c["class"] for c in cases}), "classes")


if __name__ == "__main__":
    main()
