"""Tokens and logits that aiu-fms-testing-utils saved: folders with a file for each prompt, `0.pt`, `1.pt` …

Each line of the standard input is a request in JSON; its answer is a line of the standard output that begins with `assay: `."""
import json
import os
import pickle
import re
import shutil
import sys

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

from assay_worker.decode import largest, log_sum_exp, read_row

NONE = -1


class Problem(Exception):
    """Why a folder cannot be used."""


def load(path):
    """Tensors and nothing else: a pickle may ask for any code to be run."""
    name = os.path.basename(path)
    try:
        return load_tensors(path)
    except pickle.UnpicklingError as error:
        wanted = re.search(r"GLOBAL:? ([\w.]+)", str(error))
        asks = f"asks for {wanted.group(1)} to be called" if wanted else "holds other things than tensors"
        raise Problem(f"{name} {asks}, which can run any code when it is read, so it is not read") from error
    except Exception as error:
        first = (str(error).splitlines() or [""])[0][:120]
        raise Problem(f"{name} is not what torch.save writes ({type(error).__name__}: {first})") from error


def load_tensors(path):
    options = {"map_location": "cpu", "weights_only": True}
    try:
        return torch.load(path, mmap=True, **options)
    except RuntimeError as error:
        # How torch wrote files before 1.6.
        if "mmap can only be used" not in str(error):
            raise
        return torch.load(path, **options)


def read_sequence(path):
    """(tokens, logits), the second None where only tokens were saved."""
    content, name = load(path), os.path.basename(path)
    if isinstance(content, torch.Tensor):
        content = {"tokens": content}
    if not isinstance(content, dict) or not isinstance(content.get("tokens"), torch.Tensor):
        raise Problem(f'{name} has no "tokens"; expected a tensor, or tokens and logits by name')
    tokens, logits = content["tokens"], content.get("logits")
    if tokens.dtype != torch.int64 or tokens.ndim != 1 or (tokens < 0).any():
        raise Problem(f"{name}: tokens are {describe(tokens)}, expected ids as int64 in one dimension")
    if logits is not None and not is_logits(logits, len(tokens)):
        raise Problem(f"{name}: logits are {describe(logits)}, expected floats, a row for each new token")
    return tokens, logits


def is_logits(logits, length):
    return isinstance(logits, torch.Tensor) and logits.is_floating_point() and logits.ndim == 2 and 0 < len(logits) < length


def describe(value):
    return f"{value.dtype} of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def paths_in(folder):
    stems = sorted(int(name[:-3]) for name in os.listdir(folder) if re.fullmatch(r"\d{1,6}\.pt", name))
    missing = next((i for i, stem in enumerate(stems) if i != stem), None)
    if missing is not None:
        raise Problem(f"it has {stems[missing]}.pt and no {missing}.pt")
    return [os.path.join(folder, f"{stem}.pt") for stem in stems]


def survey(folder):
    try:
        sequences = [read_sequence(path) for path in paths_in(folder)]
        return {"sequences": [
            {"tokens": tokens.tolist(), "logits": None if logits is None else list(logits.shape)}
            for tokens, logits in sequences]}
    except (Problem, OSError) as error:
        return {"problem": str(error)}


def numbers_of(logits, count):
    logits = logits[:count]
    return (logits if logits.dtype == torch.float64 else logits.float()).numpy()


def trace_of(request, folder, led_by=None):
    """A trace as the host keeps it; of a side that was led, with its logits at the other's largest."""
    batch, count, top_k = request["batch"], request["newTokens"], request["topK"]
    trace = empty_trace(batch, count, top_k, led_by is not None)
    full = []
    for i, path in enumerate(paths_in(folder)[:batch]):
        tokens, logits = read_sequence(path)
        rows, new = numbers_of(logits, count), tokens[request["promptLength"]:][:count].tolist()
        steps = steps_before_end(new, request["eos"]) if led_by is None else int(led_by["steps"][i])
        rows = rows[:steps]
        fill(trace, i, rows, new, top_k)
        if led_by is None:
            check_greedy(rows, new, os.path.basename(path))
        else:
            ids = led_by["top_ids"][i, :steps]
            found = np.take_along_axis(rows, np.maximum(ids, 0), axis=1)
            trace["at_logits"][i, :steps] = np.where(ids == NONE, np.nan, found)
        full.append(rows)
    if request["keep"] == "full":
        trace["logits"] = stacked(full, count)
    return trace


def empty_trace(batch, count, top_k, is_led):
    def ids(*shape):
        return np.full((batch, count, *shape), NONE, np.int32)

    def floats(dtype, *shape):
        return np.full((batch, count, *shape), np.nan, dtype)

    trace = {"tokens": ids(), "chosen": ids(), "log_sum_exp": floats(np.float64), "non_finite": ids(3), "top_ids": ids(top_k),
             "top_logits": floats(np.float32, top_k), "steps": np.zeros(batch, np.int32)}
    return {**trace, "at_logits": floats(np.float32, top_k)} if is_led else trace


def steps_before_end(tokens, eos):
    """With the one that ends it."""
    return next((i + 1 for i, token in enumerate(tokens) if token in eos), len(tokens))


def fill(trace, i, rows, tokens, top_k):
    ids, values = largest(rows, top_k)
    count, width = ids.shape
    trace["steps"][i] = count
    trace["top_ids"][i, :count, :width], trace["top_logits"][i, :count, :width] = ids, values
    for j, row in enumerate(rows):
        read = read_row(row, tokens[j])
        trace["tokens"][i, j] = tokens[j]
        trace["chosen"][i, j] = NONE if read["chosen"] is None else read["chosen"]
        trace["log_sum_exp"][i, j] = log_sum_exp(row)
        trace["non_finite"][i, j] = read["nan"], read["positiveInfinity"], read["negativeInfinity"]


def check_greedy(rows, tokens, name):
    for j, row in enumerate(rows):
        token = tokens[j]
        if token >= len(row):
            raise Problem(f"{name}: token {token} at step {j} is beyond its {len(row)} logits")
        if not np.isnan(row).any() and row[token] != row.max():
            raise Problem(f"{name}: token {token} at step {j} has not the largest logit, so it was not decoded greedily")


def stacked(full, count):
    """(step, sequence, vocabulary), zeros after the end."""
    logits = np.zeros((count, len(full), full[0].shape[1]), np.float32)
    for i, rows in enumerate(full):
        logits[:len(rows), i] = rows
    return logits


def reduce(request):
    try:
        reference = trace_of(request, request["reference"])
        save_file(reference, request["output"])
        if request.get("follower") is not None:
            save_file(trace_of(request, request["follower"], reference), request["followerOutput"])
        return {}
    except (Problem, OSError) as error:
        return {"problem": str(error)}


def save(request):
    """Writes a trace as aiu-fms-testing-utils saves it: both sides of a pair have to have every step."""
    folder, draft = request["folder"], f"{request['folder']}.{os.getpid()}.tmp"
    try:
        os.mkdir(draft)
        for i, sequence in enumerate(sequences_of(request["trace"], request["prompts"])):
            torch.save(sequence, os.path.join(draft, f"{i}.pt"))
        place(draft, folder, request["replace"])
        return {}
    except (Problem, OSError) as error:
        return {"problem": str(error)}
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def sequences_of(path, prompts):
    """{tokens: prompt and new tokens (S + N), logits: (N, vocabulary)} of each prompt."""
    with safe_open(path, "numpy") as trace:
        if "logits" not in trace.keys():
            raise Problem("its trace has not all logits; decode again with --recompute")
        tokens, steps, logits = trace.get_tensor("tokens"), trace.get_tensor("steps"), trace.get_slice("logits")
        for i, prompt in enumerate(prompts):
            if steps[i] != tokens.shape[1] or (tokens[i] < 0).any():
                raise Problem(f"sequence {i} has {steps[i]} of {tokens.shape[1]} tokens")
            # Copies: torch.save writes all of the memory that a view looks at.
            yield {"tokens": torch.tensor([*prompt, *tokens[i].tolist()], dtype=torch.int64),
                   "logits": torch.tensor(np.ascontiguousarray(logits[:, i, :]))}


def place(draft, folder, replaces):
    """A folder appears whole. One that is read again stays, since the machine that gave it may be gone."""
    if not os.path.exists(folder):
        os.rename(draft, folder)
    elif not replaces and not is_equal(draft, folder):
        raise Problem("it is there already with other tokens or logits; remove it, or save into another folder")
    elif replaces:
        shutil.rmtree(folder)
        os.rename(draft, folder)


def is_equal(draft, folder):
    try:
        pairs = zip(paths_in(draft), paths_in(folder), strict=True)
        return all(is_equal_sequence(read_sequence(one), read_sequence(other)) for one, other in pairs)
    except (Problem, ValueError):
        return False


def is_equal_sequence(one, other):
    return all(b is not None and torch.equal(a.double().nan_to_num(), b.double().nan_to_num()) for a, b in zip(one, other))


def main():
    torch.set_num_threads(1)
    for line in sys.stdin:
        request = json.loads(line)
        print("\nassay: " + json.dumps(answer(request)), flush=True)


def answer(request):
    if "survey" in request:
        return [survey(folder) for folder in request["survey"]]
    return save(request["save"]) if "save" in request else reduce(request)


main()
