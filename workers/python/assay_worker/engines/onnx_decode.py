"""An exported decoder with what it caches, as decoding wants it. What an input is for is told by its name."""
import re

import numpy as np

from ..decode import counted_positions, failed
from ..tensors import dtype_of

WHOLE = ("int64", "int32")
KEEP_NAMES = ("num_logits_to_keep", "logits_to_keep")
# Words that say only on which side of a step a tensor stands.
SIDES = set("past present in out input output old new next prev previous updated cache cached state".split())
# What an encoder made is no cache that begins empty.
ENCODED = re.compile(r"(^|[^a-z])(encoder|cross)", re.I)
MOST_LISTED = 6


class CachedGraph:
    """`run(feeds, names)` gives the logits, what is cached, which goes in again as it came, and how long it took;
    `empty(dtype, shape)` gives a cache with nothing in it."""

    def __init__(self, inputs, outputs, run, empty):
        self.run, self.empty = run, empty
        taken = {spec["name"]: spec for spec in inputs}
        self.logits = logits_of(outputs)
        self.ids = take(taken, ["input_ids"], WHOLE, (2,))
        if self.ids is None:
            raise failed(f'the model has no input "input_ids"; it takes {listed(inputs)}')
        self.mask = take(taken, ["attention_mask"], (*WHOLE, "float32", "bool"), (2,))
        self.positions = take(taken, ["position_ids"], WHOLE, (2,))
        self.branch = take(taken, ["use_cache_branch"], ("bool",), (0, 1))
        self.keep = take(taken, KEEP_NAMES, WHOLE, (0, 1))
        self.caches = pair_caches(taken.values(), [spec for spec in outputs if spec is not self.logits], outputs)
        self.cached = None

    @property
    def vocabulary(self):
        width = (self.logits["shape"] or [None])[-1]
        return width if isinstance(width, int) else None

    def compute(self, ids, mask, positions):
        first, batch = self.cached is None, len(ids)
        if first:
            self.refuse_unheard(mask, positions)
            self.cached = {past["name"]: self.empty(past["dtype"], empty_shape(past, batch)) for past, _ in self.caches}
        feeds = {spec["name"]: array.astype(spec["dtype"]) for spec, array in (
            (self.ids, ids), (self.mask, mask), (self.positions, positions),
            (self.branch, one_number(self.branch, not first)), (self.keep, one_number(self.keep, 1))) if spec is not None}
        names = [self.logits["name"], *(present["name"] for _, present in self.caches)]
        logits, cached, duration_ms = self.run({**feeds, **self.cached}, names)
        self.cached = {past["name"]: value for (past, _), value in zip(self.caches, cached)}
        return last_row(logits, batch), duration_ms

    def refuse_unheard(self, mask, positions):
        """What the model would silently not take into account."""
        if self.mask is None and not mask.all():
            raise failed('the model takes no "attention_mask", so no prompt may be padded; decode prompts of one length together')
        if self.positions is None and (positions != counted_positions(mask)).any():
            raise failed('the model takes no "position_ids", but positions other than 0, 1, 2 … were given')


def last_row(logits, batch):
    if len(logits.shape) != 3 or logits.shape[0] != batch or 0 in logits.shape:
        raise failed(f"the logits have shape {logits.shape}, expected ({batch}, positions, vocabulary)")
    dtype = dtype_of(logits)
    if dtype not in ("float16", "float32", "float64"):
        raise failed(f"the logits are {dtype}, expected float32, float16 or float64")
    # Half precision fits into float32 exactly.
    return logits[:, -1, :].astype(np.float32 if dtype == "float16" else logits.dtype)


def one_number(spec, value):
    return np.full(() if spec is None or not spec["shape"] else (1,), value)


def take(taken, names, dtypes, ranks):
    spec = next((taken.pop(name) for name in names if name in taken), None)
    if spec is None or (spec["dtype"] in dtypes and spec["shape"] is not None and len(spec["shape"]) in ranks):
        return spec
    expected = f"{' or '.join(dtypes)} with {' or '.join(map(str, ranks))} dimensions"
    raise failed(f'input "{spec["name"]}" is {described(spec)}, expected {expected}')


def logits_of(outputs):
    named = [spec for spec in outputs if spec["name"] == "logits"] or [spec for spec in outputs if spec["name"].endswith("logits")]
    if len(named) == 1:
        return named[0]
    what = "several outputs could be" if named else "no output is"
    raise failed(f"{what} the logits; the model gives {listed(outputs)}")


def pair_caches(inputs, candidates, outputs):
    """Every cached input with the output that the next step takes in its place."""
    pairs, rest, used = [], [], set()
    for past in inputs:
        fitting = [present for present in candidates if continues(past, present)]
        if len(fitting) != 1 or fitting[0]["name"] in used:
            rest.append(past)
            continue
        used.add(fitting[0]["name"])
        empty_shape(past, 1)
        pairs.append((past, fitting[0]))
    if any(ENCODED.search(spec["name"]) for spec in rest):
        raise failed(f"the model goes on from what an encoder made ({listed(rest)}); only models that are a decoder alone can "
                     "be decoded step by step")
    if rest:
        names = ", ".join(f'"{spec["name"]}" {described(spec)}' for spec in rest)
        raise failed(f"the model cannot be decoded: nothing is known to fill {names} with, and no output fits as what is "
                     f"cached for it; the model gives {listed(outputs)}")
    return pairs


def part_of(name):
    """`past_key_values.3.key` and `present.3.key` are both `3 key`."""
    words = re.split(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])", re.sub(r"(past|present)_key_values?", "", name, flags=re.I), flags=re.I)
    return [word for word in words if word and word.lower() not in SIDES]


def continues(past, present):
    is_cache = past["kind"] == present["kind"] == "tensor" and len(past["shape"] or ()) >= 3 and not ENCODED.search(past["name"])
    return is_cache and part_of(past["name"]) == part_of(present["name"]) and fits(past, present)


def fits(past, present):
    if past["dtype"] != present["dtype"] or present["shape"] is None:
        return past["dtype"] == present["dtype"]
    same = (not isinstance(a, int) or not isinstance(b, int) or a == b for a, b in zip(past["shape"], present["shape"]))
    return len(past["shape"]) == len(present["shape"]) and all(same)


def empty_shape(past, batch):
    """Of the sizes that are open, one counts sequences and one counts positions."""
    shape = past["shape"]
    opened = [axis for axis, dim in enumerate(shape) if not isinstance(dim, int)]
    names = [re.sub(r"past\w* *\+ *\w+", "", shape[axis] or "") for axis in opened]
    is_plain = not any(re.search(r"[*+/]| x ", name) for name in names)
    counts_batch = [re.search("batch", name, re.I) is not None for name in names]
    if is_plain and len(opened) == 1 and not counts_batch[0]:
        sizes = {opened[0]: 0}
    elif is_plain and len(opened) == 2:
        sizes = dict(zip(opened, (0, batch) if counts_batch == [False, True] else (batch, 0)))
    else:
        told = ", ".join("?" if dim is None else str(dim) for dim in shape)
        raise failed(f'input "{past["name"]}" has shape ({told}), expected a cache in which only the number of sequences and '
                     "that of positions are open; export the model with fixed heads and a cache that grows")
    return tuple(sizes.get(axis, dim) for axis, dim in enumerate(shape))


def described(spec):
    if spec["kind"] != "tensor":
        return f"a {spec['kind']}"
    shape = "" if spec["shape"] is None else "(" + ", ".join("?" if dim is None else str(dim) for dim in spec["shape"]) + ")"
    return f"{spec['dtype'] or 'unknown'} {shape}".strip()


def listed(specs):
    names = ", ".join(f'"{spec["name"]}"' for spec in specs[:MOST_LISTED]) or "nothing"
    return names + (f" and {len(specs) - MOST_LISTED} more" if len(specs) > MOST_LISTED else "")
