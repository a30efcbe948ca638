"""The recorder of llama.cpp: tensors laid out as llama.cpp does, and, where llama-cpp-python is installed, a model."""
import importlib.util
import sys
import types

import numpy
import torch
import transformers

from harness import EXPERTS, K, VOCABULARY, check, expect, load, quietly, read
from transformers_checks import reference


def as_llama_cpp(passes):
    """A llama_cpp that computes nothing: its llama_decode shows tensors to the callback as llama.cpp lays them out, the
    choices as a view of whole sorted rows. passes: {tokens: [layers] of (sorted experts, weights, logits)}."""
    import ctypes
    fake = types.ModuleType("llama_cpp")
    fake.__file__ = __file__
    state = {}

    class Settings(types.SimpleNamespace):
        pass
    fake.llama_model_default_params = lambda: Settings(n_gpu_layers=0)
    fake.llama_context_default_params = lambda: Settings(n_threads=1, n_threads_batch=1)
    fake.llama_model_load_from_file = lambda path, options: 1
    fake.llama_model_get_vocab = lambda model: 1
    fake.ggml_backend_sched_eval_callback = lambda function: function
    fake.llama_token = ctypes.c_int32

    def make(model, options):
        state["see"] = options.cb_eval
        return 1
    fake.llama_init_from_model = make

    def tokenize(vocabulary, text, size, room, most, special, parse):
        for i, byte in enumerate(text):
            room[i] = byte
        return len(text)
    fake.llama_tokenize = tokenize
    fake.llama_memory_clear = lambda *a: None
    fake.llama_get_memory = lambda context: 1
    fake.llama_vocab_n_tokens = lambda vocabulary: VOCABULARY
    fake.llama_vocab_is_eog = lambda vocabulary, token: False
    fake.llama_vocab_get_text = lambda vocabulary, token: f"t{token}".encode()
    fake.llama_free = fake.llama_model_free = fake.llama_batch_free = lambda *a: None

    def batch(n, embeddings, sequences):
        return types.SimpleNamespace(n_tokens=0, token=[0] * n, pos=[0] * n, n_seq_id=[0] * n, logits=[0] * n,
                                     seq_id=[[0] for _ in range(n)])
    fake.llama_batch_init = batch

    def decode(context, given):
        module = sys.modules["recorder_llama_cpp"]
        expect(all(given.logits), "logits of some tokens alone: llama.cpp leaves the others out of its last layer")
        state["tokens"] = tuple(given.token)
        for layer, (order, weight, logits) in enumerate(passes(tuple(given.token))):
            for name, values, shown in (("ffn_moe_logits", logits, EXPERTS), ("ffn_moe_argsort", order, EXPERTS),
                                        ("ffn_moe_topk", order, K), ("ffn_moe_weights", weight[:, :, None], 1)):
                values = numpy.ascontiguousarray(values, "int32" if values.dtype.kind == "i" else "float32")
                tensor = module.Tensor(type=26 if values.dtype.kind == "i" else 0, data=values.ctypes.data,
                                       name=f"{name}-{layer}".encode())
                shape = [shown, *values.shape[::-1][1:]] + [1] * (4 - values.ndim)
                strides = list(values.strides[::-1]) + [values.nbytes] * (4 - values.ndim)
                tensor.ne, tensor.nb = (ctypes.c_int64 * 4)(*shape), (ctypes.c_size_t * 4)(*strides)
                at = ctypes.addressof(tensor)
                if state["see"](at, True, None):
                    state["see"](at, False, None)
        return 0
    fake.llama_decode = decode

    def logits(context, row):
        values = (ctypes.c_float * VOCABULARY)(*([0.0] * VOCABULARY))
        values[(sum(state["tokens"]) + row) % VOCABULARY] = 1.0
        state["logits"] = values
        return ctypes.cast(values, ctypes.POINTER(ctypes.c_float))
    fake.llama_get_logits_ith = logits
    return fake


@check
def tensors_of_llama_cpp_are_read_as_they_lie(folder):
    import ctypes
    generator, made = numpy.random.default_rng(8), {}

    def passes(tokens):
        logits = generator.normal(size=(2, len(tokens), EXPERTS)).astype("float32")
        order = numpy.argsort(-logits, 2).astype("int32")
        weight = numpy.take_along_axis(numpy.exp(logits), order, 2)[:, :, :K].astype("float32")
        made.setdefault("passes", []).append((tokens, logits, order, weight))
        return list(zip(order, weight, logits))
    sys.modules["llama_cpp"] = as_llama_cpp(passes)
    try:
        module = load("llama-cpp")
        sys.modules["recorder_llama_cpp"] = module

        def get(address, raw, offset, size):
            ctypes.memmove(raw, module.Tensor.from_address(address).data + offset, size)
        module.library_of_ggml = lambda: get

        def record():
            recorder = module.Recorder("tiny.gguf", str(folder / "l.safetensors"), batch=3, scores=True)
            for text in ("abcde", "xy"):
                recorder.run(text, 2)
            recorder.save()
        quietly(record)
    finally:
        del sys.modules["llama_cpp"]
    tensors, about = read(folder / "l.safetensors")
    tokens = [t for p in made["passes"] for t in p[0]]
    expect(tensors["cell.token"].tolist() == tokens, "other tokens")
    expect(tensors["cell.request"].tolist() == [0] * 7 + [1] * 4, "other requests")
    expect(tensors["cell.position"].tolist() == [*range(7), *range(4)], "other positions")
    expect(tensors["cell.phase"].tolist() == [0] * 5 + [1] * 2 + [0] * 2 + [1] * 2, "other phases")
    for layer in range(2):
        order = numpy.concatenate([p[2][layer] for p in made["passes"]])
        logits = numpy.concatenate([p[1][layer] for p in made["passes"]])
        weight = numpy.concatenate([p[3][layer] for p in made["passes"]])
        best = numpy.take_along_axis(logits, order, 1)
        expect((tensors[f"layer.{layer}.indices"] == order[:, :K]).all(), f"layer {layer}: other choices")
        expect((tensors[f"layer.{layer}.weights"] == weight).all(), f"layer {layer}: other weights")
        expect(numpy.abs(tensors[f"layer.{layer}.margins"] - best[:, K - 1] + best[:, K]).max() < 1e-6, "margins")
        expect(numpy.abs(tensors[f"layer.{layer}.scores"] - logits).max() < 1e-6, "scores")
    expect(about["cut"] == "" and about["layer.1.layer"] == "1", f"{about}")


def write_gguf(model, path):
    """An OLMoE as llama.cpp reads it, with a vocabulary of bytes."""
    import gguf
    config, weights = model.config, {k: v.float().numpy() for k, v in model.state_dict().items()}
    writer = gguf.GGUFWriter(str(path), "olmoe")
    writer.add_context_length(128)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_expert_count(config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_rope_freq_base(10000.0)
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), "\u2581"]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([0.0] * len(pieces))
    writer.add_token_types([2, 3, 3, *[6] * 256, 1])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight"}
    for name, tensor in names.items():
        writer.add_tensor(tensor, numpy.ascontiguousarray(weights[name]))
    of_layer = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
                "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
                "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate": "ffn_gate_inp"}
    for layer in range(config.num_hidden_layers):
        for name, tensor in of_layer.items():
            writer.add_tensor(f"blk.{layer}.{tensor}.weight",
                              numpy.ascontiguousarray(weights[f"model.layers.{layer}.{name}.weight"]))
        fused = weights.get(f"model.layers.{layer}.mlp.experts.gate_up_proj")
        for part in ("gate_proj", "up_proj", "down_proj"):
            if fused is None:
                value = numpy.stack([weights[f"model.layers.{layer}.mlp.experts.{e}.{part}.weight"]
                                     for e in range(config.num_experts)])
            elif part == "down_proj":
                value = weights[f"model.layers.{layer}.mlp.experts.down_proj"]
            else:
                half = fused.shape[1] // 2
                value = fused[:, :half] if part == "gate_proj" else fused[:, half:]
            writer.add_tensor(f"blk.{layer}.ffn_{part[:-5]}_exps.weight", numpy.ascontiguousarray(value))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def choices_of_llama_cpp_are_the_references(folder):
    torch.manual_seed(7)
    t = transformers
    model = t.OlmoeForCausalLM(t.OlmoeConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4,
        vocab_size=260, max_position_embeddings=128, num_experts=EXPERTS, num_experts_per_tok=K, bos_token_id=1,
        eos_token_id=2, pad_token_id=0)).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() > 1:
                p.mul_(6.0)
    write_gguf(model, folder / "tiny.gguf")
    module = load("llama-cpp")

    def record():
        recorder = module.Recorder(str(folder / "tiny.gguf"), str(folder / "tiny.safetensors"), context=128, batch=16,
                                   threads=1)
        for text in ("Where do the tokens go?", "Seven words are a very short text."):
            recorder.run(text, 9)
        recorder.save()
    quietly(record)
    tensors, about = read(folder / "tiny.safetensors")
    expect(about["cut"] == "" and about["layers"] == "3", f"{about}")
    far = cells = 0
    for request in (0, 1):
        rows = numpy.flatnonzero(tensors["cell.request"] == request)
        ids = tensors["cell.token"][rows].tolist()
        expect(len(ids) > 24 and tensors["cell.position"][rows].tolist() == list(range(len(ids))), "other positions")
        for i, logits in enumerate(reference(model, ids)):
            best = numpy.argsort(-logits, axis=1, kind="stable")
            ordered = numpy.take_along_axis(logits, best, 1)
            # Keys and values are kept as f16 there: logits differ in the third digit.
            clear = (ordered[:, :K] - ordered[:, 1:K + 1]).min(1) > 0.02
            far, cells = far + int(clear.sum()), cells + len(clear)
            expect((tensors[f"layer.{i}.indices"][rows] == best[:, :K])[clear].all(), f"layer {i}: other choices")
            share = numpy.exp(ordered - ordered[:, :1])
            share = (share / share.sum(1, keepdims=True))[:, :K]
            expect(numpy.abs(tensors[f"layer.{i}.weights"][rows] - share)[clear].max() < 0.02, f"layer {i}: weights")
            margin = ordered[:, K - 1] - ordered[:, K]
            expect(numpy.abs(tensors[f"layer.{i}.margins"][rows] - margin)[clear].max() < 0.05, f"layer {i}: margins")
    expect(far > 0.7 * cells, f"{far} of {cells} cells are clear: the case shows nothing")
    print(f"      llama.cpp: {far} of {cells} cells compared, the others are near ties")


if importlib.util.find_spec("llama_cpp") and importlib.util.find_spec("gguf"):
    check(choices_of_llama_cpp_are_the_references)
else:
    print("llama-cpp-python or gguf is not installed: the recorder llama-cpp meets made-up tensors alone")
