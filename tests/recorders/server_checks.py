"""The recorders of vLLM and SGLang, with answers in their documented form; neither server is run."""
import sys
import types

import numpy

from harness import EXPERTS, K, Words, check, expect, load, quietly, read


LAYERS, DENSE = 4, 0  # layer 0 has no experts and is filled with zeros


def answers():
    """Prompts and answers as token ids, and the choices of all but the last token, [tokens, layers, k]."""
    generator = numpy.random.default_rng(5)
    made = []
    for prompt, answer in ((4, 3), (2, 5), (6, 1)):
        n = prompt + answer - 1
        routed = numpy.stack([[generator.permutation(EXPERTS)[:K] for _ in range(LAYERS)] for _ in range(n)])
        routed[:, DENSE] = 0
        made.append((list(range(3, 3 + prompt)), list(range(20, 20 + answer)), routed.astype("int32")))
    return made


def compare_answers(path, made, every=1):
    tensors, about = read(path)
    made = {i: m for i, m in enumerate(made) if i % every == 0}
    expect(about["layers"] == str(LAYERS - 1), f"{about['layers']} routers")
    expect([about[f"layer.{i}.layer"] for i in range(LAYERS - 1)] == ["1", "2", "3"], "other layers")
    expect(set(tensors["cell.request"].tolist()) == set(made), "other requests")
    for request, (prompt, answer, routed) in made.items():
        rows = tensors["cell.request"] == request
        expect(tensors["cell.token"][rows].tolist() == [*prompt, *answer][:-1], "other tokens")
        expect(tensors["cell.phase"][rows].tolist() == [0] * len(prompt) + [1] * (len(answer) - 1), "other phases")
        for i in range(LAYERS - 1):
            expect((tensors[f"layer.{i}.indices"][rows] == routed[:, i + 1]).all(), "other choices")
    expect("layer.0.weights" not in tensors, "weights that no server returned")


def as_program(name, modules, arguments):
    module = load(name)
    before = dict(sys.modules), sys.argv
    sys.modules.update(modules)
    sys.argv = ["record.py", *arguments]
    try:
        quietly(module.main)
    finally:
        sys.argv = before[1]
        for key in modules:
            sys.modules.pop(key)
            if key in before[0]:
                sys.modules[key] = before[0][key]


def vllm_check(split):
    def run(folder):
        made, box = answers(), types.SimpleNamespace
        config = box(num_hidden_layers=LAYERS, num_experts=EXPERTS, num_experts_per_tok=K)

        class LLM:
            def __init__(self, name, enable_return_routed_experts=False, **options):
                expect(enable_return_routed_experts, "the switch is off")
                expect(options == {"tensor_parallel_size": 4}, f"options {options}")
                self.llm_engine = box(model_config=box(hf_config=config))

            def generate(self, texts, sampling):
                expect(texts == ["one", "two", "three"], f"prompts {texts}")
                return [box(prompt_token_ids=p, prompt_routed_experts=r[:len(p)] if split else None,
                            outputs=[box(token_ids=a, routed_experts=r[len(p):] if split else r)]) for p, a, r in made]

            def get_tokenizer(self):
                return Words()
        prompts = folder / "prompts.txt"
        prompts.write_text("one\n\ntwo\nthree\n")
        fake = types.ModuleType("vllm")
        fake.LLM, fake.SamplingParams = LLM, lambda **options: options
        as_program("vllm", {"vllm": fake}, ["model", str(prompts), str(folder / "v.safetensors"), "--set",
                                            "tensor_parallel_size=4", *(["--every", "2"] if split else [])])
        compare_answers(folder / "v.safetensors", made, 2 if split else 1)
    run.__name__ = "answers_of_vllm_with_" + ("a_part_for_the_prompt" if split else "one_array") + "_are_recorded"
    return run


check(vllm_check(False))
check(vllm_check(True))


@check
def answers_of_sglang_are_recorded(folder):
    import base64
    made, box = answers(), types.SimpleNamespace

    class Engine:
        def __init__(self, model_path, enable_return_routed_experts=False, **options):
            expect(enable_return_routed_experts, "the switch is off")

        def generate(self, input_ids, sampling_params, return_routed_experts=False):
            expect(return_routed_experts, "the request does not ask")
            return [dict(output_ids=a, meta_info=dict(routed_experts=base64.b64encode(r.tobytes()).decode()))
                    for _, a, r in made]

        def shutdown(self):
            pass
    fake = types.ModuleType("sglang")
    fake.Engine = Engine

    class Tokens(Words):
        def __call__(self, text):
            return {"input_ids": made[["one", "two", "three"].index(text)][0]}
    library = types.ModuleType("transformers")
    config = box(num_hidden_layers=LAYERS, num_experts=EXPERTS, num_experts_per_tok=K)
    library.AutoConfig = box(from_pretrained=lambda *a, **o: config)
    library.AutoTokenizer = box(from_pretrained=lambda *a, **o: Tokens())
    (folder / "prompts.txt").write_text("one\ntwo\nthree\n")
    as_program("sglang", {"sglang": fake, "transformers": library},
               ["model", str(folder / "prompts.txt"), str(folder / "s.safetensors")])
    compare_answers(folder / "s.safetensors", made)
