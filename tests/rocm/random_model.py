#!/usr/bin/env python3
"""Writes a small language model with random weights (GGUF, f16) for llama.cpp.

    random_model.py FILE [--seed N] [--layers N] [--width N]

The format: docs/gguf.md of the ggml project. The vocabulary is the 256 bytes, and words of two letters. Each token has
one that follows it more readily than others (FOLLOWS), and what was before decides with it: with random weights alone
the best two tokens are often so close that the order of a sum, which no two back-ends share, decides.
"""
import argparse
import random
import struct

U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5  # types of metadata
TENSOR_F32, TENSOR_F16 = 0, 1
ALIGNMENT = 32
FOLLOWS = 0.14


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    if kind == STRING:
        return string(v)
    return struct.pack({U32: "<I", F32: "<f", I32: "<i"}[kind], v)


def entry(key, kind, v):
    return string(key) + struct.pack("<I", kind) + value(kind, v)


def array(key, kind, values):
    return string(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(value(kind, v) for v in values)


def vocabulary():
    tokens = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]  # text, score, kind: unknown, control
    tokens += [(f"<0x{b:02X}>", 0.0, 6) for b in range(256)]  # bytes
    letters = "\u2581etaoinshrdlucmfwypvbgkqjxz"
    tokens += [(c, -1.0, 1) for c in letters]
    tokens += [(a + b, -2.0, 1) for a in letters for b in letters if b != letters[0]]
    return tokens[: len(tokens) // 32 * 32]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("file")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--width", type=int, default=256)
    a = p.parse_args()
    random.seed(a.seed)
    tokens = vocabulary()
    heads, forward = a.width // 64, a.width * 2
    metadata = [
        entry("general.architecture", STRING, "llama"), entry("general.name", STRING, "random"),
        entry("llama.context_length", U32, 512), entry("llama.embedding_length", U32, a.width),
        entry("llama.block_count", U32, a.layers), entry("llama.feed_forward_length", U32, forward),
        entry("llama.attention.head_count", U32, heads), entry("llama.attention.head_count_kv", U32, heads),
        entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), entry("llama.rope.dimension_count", U32, a.width // heads),
        entry("llama.vocab_size", U32, len(tokens)), entry("general.file_type", U32, 1),
        entry("tokenizer.ggml.model", STRING, "llama"), array("tokenizer.ggml.tokens", STRING, [t[0] for t in tokens]),
        array("tokenizer.ggml.scores", F32, [t[1] for t in tokens]), array("tokenizer.ggml.token_type", I32, [t[2] for t in tokens]),
        entry("tokenizer.ggml.unknown_token_id", U32, 0), entry("tokenizer.ggml.bos_token_id", U32, 1),
        entry("tokenizer.ggml.eos_token_id", U32, 2)]
    # name, shape (the row's length first), standard deviation; None: ones, of f32
    tensors = [("token_embd.weight", (a.width, len(tokens)), 1.0), ("output_norm.weight", (a.width,), None),
               ("output.weight", (a.width, len(tokens)), 0.3)]
    deviation = 0.6 / a.width ** 0.5
    for layer in range(a.layers):
        b = f"blk.{layer}."
        tensors += [(b + "attn_norm.weight", (a.width,), None), (b + "ffn_norm.weight", (a.width,), None)]
        tensors += [(b + f"attn_{part}.weight", (a.width, a.width), deviation) for part in ("q", "k", "v", "output")]
        tensors += [(b + "ffn_gate.weight", (a.width, forward), deviation), (b + "ffn_up.weight", (a.width, forward), deviation),
                    (b + "ffn_down.weight", (forward, a.width), deviation)]
    after = random.sample(range(len(tokens)), len(tokens))  # the token that each one prefers
    embedding = []
    infos, data = b"", b""
    for name, shape, sigma in tensors:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        kind = TENSOR_F32 if sigma is None else TENSOR_F16
        infos += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        if sigma is None:
            data += struct.pack(f"<{count}f", *[1.0] * count)
        else:
            weights = [random.gauss(0, sigma) for _ in range(count)]
            if name == "token_embd.weight":
                embedding = weights
            if name == "output.weight":
                for token, next_token in enumerate(after):
                    for i in range(a.width):
                        weights[next_token * a.width + i] += FOLLOWS * embedding[token * a.width + i]
            data += struct.pack(f"<{count}e", *weights)
        data += b"\0" * (-len(data) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + b"".join(metadata) + infos
    with open(a.file, "wb") as out:
        out.write(head + b"\0" * (-len(head) % ALIGNMENT) + data)


if __name__ == "__main__":
    main()
