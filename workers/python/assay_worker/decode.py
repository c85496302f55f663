"""Greedy decoding, one step at a time, whatever computes the logits."""
import numpy as np

from .engine import StageFailure

# Comes before the names of taps, which may be those of logits.
TAP = "tap:"


def failed(message):
    return StageFailure("run", message)


class Decoding:
    """A batch on its way. What computes is given: `vocabulary` (or None), `caches`, `compute(ids, mask, positions)`, which
    gives the logits of the last position, (batch, vocabulary) in float32 or float64, and how long it took."""

    def __init__(self, model, inputs, params):
        self.model = model
        self.ids, self.mask, self.positions = (inputs.get(name) for name in ("ids", "mask", "positions"))
        check_prompt(self.ids, self.mask, self.positions)
        check_range(self.ids.ravel().tolist(), model.vocabulary, "ids")
        if self.positions is None:
            self.positions = counted_positions(self.mask)
        self.eos, self.keep, self.new_tokens = set(params["eos"]), params["keep"], params["newTokens"]
        self.ended, self.count = [False] * len(self.ids), 0

    @property
    def is_done(self):
        return self.count >= self.new_tokens or all(self.ended)

    def step(self, params, give):
        if params["step"] != self.count:
            raise failed(f"step {params['step']} was asked for, expected {self.count}")
        forced, at = params.get("force"), params.get("at")
        check_forced(forced, len(self.ids), self.model.vocabulary)
        logits, duration_ms = self.model.compute(self.ids, self.mask, self.positions)
        # Not every model says beforehand how many tokens it knows.
        width = logits.shape[-1]
        if self.count == 0:
            check_range(self.ids.ravel().tolist(), width, "ids")
        check_forced(forced, len(self.ids), width)
        self.count += 1
        send_logits(logits, self.keep, at, give)
        rows = [None if ended else read_row(row, forced and forced[i]) for i, (ended, row) in enumerate(zip(self.ended, logits))]
        self.append(rows)
        return {"durationMs": duration_ms, "sequences": rows}

    def append(self, rows):
        """What has ended goes on with its last token, which nobody reads."""
        last = self.ids[:, -1:].copy()
        for i, row in enumerate(rows):
            if row is None:
                continue
            row["ended"] = row["token"] is None or row["token"] in self.eos
            self.ended[i] = row["ended"]
            if row["token"] is not None:
                last[i] = row["token"]
        self.mask = np.concatenate([self.mask, np.ones_like(last)], axis=1)
        after = self.positions[:, -1:] + 1
        # Without a cache the whole sequence goes in again.
        self.ids = last if self.model.caches else np.concatenate([self.ids, last], axis=1)
        self.positions = after if self.model.caches else np.concatenate([self.positions, after], axis=1)


def counted_positions(mask):
    """0 for padding, then 0, 1, 2 …"""
    return np.maximum(mask.cumsum(axis=-1) - 1, 0)


def check_prompt(ids, mask, positions):
    for name, array in (("mask", mask), ("positions", positions)):
        if array is None and name == "positions":
            continue
        if array is None or array.shape != ids.shape:
            raise failed(f"{name} has shape {'none' if array is None else array.shape}, the ids have {ids.shape}")
    if ids.ndim != 2 or 0 in ids.shape:
        raise failed(f"ids have shape {ids.shape}, expected (batch, prompt length), neither of them 0")
    if not (mask[:, -1] == 1).all():
        raise failed("the mask ends with 0; prompts are padded on the left")


def check_forced(forced, batch, vocabulary):
    if forced is None:
        return
    if len(forced) != batch:
        raise failed(f"force has {len(forced)} entries for {batch} sequences")
    check_range([token for token in forced if token is not None], vocabulary, "force")


def check_range(ids, vocabulary, what):
    wrong = None if vocabulary is None else next((token for token in ids if not 0 <= token < vocabulary), None)
    if wrong is not None:
        raise failed(f"{what} has the token {wrong}; the model's vocabulary has {vocabulary}")


def send_logits(logits, keep, at, give):
    give("log_sum_exp", np.array([log_sum_exp(row) for row in logits], np.float64))
    if keep == "full":
        give("logits", logits)
    else:
        ids, values = largest(logits, keep["topK"])
        give("top_ids", ids)
        give("top_logits", values)
    if at is not None:
        give("at_logits", logits_at(logits, at))


def log_sum_exp(row):
    """In float64. NaN stays NaN, and an infinity is one."""
    most = row.max()
    if not np.isfinite(most):
        return most
    return float(most) + np.log(np.exp(row.astype(np.float64) - float(most)).sum())


def logits_at(logits, at):
    if len(at) != len(logits):
        raise failed(f"at has {len(at)} lists for {len(logits)} sequences")
    wrong = next((token for ids in at for token in ids if not 0 <= token < logits.shape[-1]), None)
    if wrong is not None:
        raise failed(f"at has the token {wrong}; there are {logits.shape[-1]} logits")
    return np.concatenate([row[np.array(ids, np.int64)] for row, ids in zip(logits, at)])


def largest(logits, count):
    """(batch, count); id −1 and NaN where fewer logits are numbers."""
    count = min(count, logits.shape[-1])
    ids = np.full((len(logits), count), -1, np.int64)
    values = np.full((len(logits), count), np.nan, logits.dtype)
    for i, row in enumerate(logits):
        found = largest_of(row, count)
        ids[i, :len(found)] = found
        values[i, :len(found)] = row[found]
    return ids, values


def largest_of(row, count):
    """Ids of the largest, largest first, the lowest id first among equals."""
    numbers = np.flatnonzero(~np.isnan(row))
    count = min(count, len(numbers))
    if count == 0:
        return numbers[:0]
    limit = np.partition(row[numbers], len(numbers) - count)[len(numbers) - count]
    candidates = np.flatnonzero(row >= limit)
    return candidates[np.argsort(-row[candidates], kind="stable")][:count]


def read_row(row, forced):
    nan = np.isnan(row)
    chosen = None if nan.all() else int(np.argmax(row) if not nan.any() else largest_of(row, 1)[0])
    return {"chosen": chosen, "token": chosen if forced is None else forced, "ended": False,
            "nan": int(nan.sum()), "positiveInfinity": int(np.isposinf(row).sum()),
            "negativeInfinity": int(np.isneginf(row).sum())}


class Decodes:
    """Sessions that decode; `decoder()` gives what computes, fresh for every batch."""

    decoding = None

    def decode_start(self, inputs, params):
        self.decoding = None
        self.decoding = Decoding(self.decoder(), inputs, params)
        return {}

    def decode_step(self, params, give):
        if self.decoding is None:
            raise failed("decode.step without decode.start, or after its last step")
        result = self.decoding.step(params, give)
        if self.decoding.is_done:
            self.decoding = None
        return result
