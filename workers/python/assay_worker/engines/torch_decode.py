"""Greedy decoding with a key-value cache, one step at a time."""
import torch

from ..engine import StageFailure
from .torch_values import from_torch, to_torch


def failed(message):
    return StageFailure("run", message)


class Decoding:
    def __init__(self, session, inputs, params):
        self.session = session
        refuse(session)
        self.ids, self.mask, self.positions = (place(session, inputs, name) for name in ("ids", "mask", "positions"))
        check_prompt(session.model, self.ids, self.mask, self.positions)
        if self.positions is None:
            # 0 for padding, then 0, 1, 2 …
            self.positions = (self.mask.cumsum(-1) - 1).clamp(min=0)
        self.eos, self.keep, self.new_tokens = set(params["eos"]), params["keep"], params["newTokens"]
        self.ended = [False] * len(self.ids)
        self.count, self.cache = 0, None

    @property
    def is_done(self):
        return self.count >= self.new_tokens or all(self.ended)

    def step(self, params, give):
        if params["step"] != self.count:
            raise failed(f"step {params['step']} was asked for, expected {self.count}")
        forced = params.get("force")
        check_ids(forced, len(self.ids), self.session.model, "force")
        logits, duration_ms = self.compute()
        self.count += 1
        send_logits(logits, self.keep, params.get("at"), give)
        rows = [None if ended else read_row(row, forced and forced[i]) for i, (ended, row) in enumerate(zip(self.ended, logits))]
        self.append(rows)
        return {"durationMs": duration_ms, "sequences": rows}

    def compute(self):
        session, takes = self.session, self.session.parameters
        fed = {"input_ids": self.ids, "attention_mask": self.mask, "past_key_values": self.cache, "use_cache": True}
        if "position_ids" in takes:
            fed["position_ids"] = self.positions
        if "logits_to_keep" in takes:
            fed["logits_to_keep"] = 1
        torch.manual_seed(session.seed)
        output, duration_ms = session.compute(fed)
        self.cache = getattr(output, "past_key_values", None)
        if self.cache is None:
            raise failed(f"{type(session.model).__name__} gave no key-value cache")
        # Half precision fits into float32 exactly.
        logits = output.logits[:, -1, :]
        return logits if logits.dtype == torch.float64 else logits.float(), duration_ms

    def append(self, rows):
        """What has ended goes on with its last token, which nobody reads."""
        last = self.ids[:, -1].tolist()
        for i, row in enumerate(rows):
            if row is None:
                continue
            row["ended"] = row["token"] is None or row["token"] in self.eos
            self.ended[i] = row["ended"]
            last[i] = last[i] if row["token"] is None else row["token"]
        self.ids = torch.tensor(last, dtype=torch.int64, device=self.ids.device).unsqueeze(1)
        self.mask = torch.cat([self.mask, torch.ones_like(self.ids)], dim=1)
        self.positions = self.positions[:, -1:] + 1


def refuse(session):
    model, name = session.model, type(session.model).__name__
    if getattr(model.config, "is_encoder_decoder", False):
        raise failed(f"{name} has an encoder and a decoder; only models that are a decoder alone can be decoded step by step")
    lacks = [word for word in ("input_ids", "attention_mask", "past_key_values", "use_cache") if word not in session.parameters]
    if lacks or model.get_output_embeddings() is None:
        why = f"its forward takes no {lacks[0]}" if lacks else "it gives no logits"
        raise failed(f"{name} cannot be decoded: {why}")


def place(session, inputs, name):
    return to_torch(inputs[name]).to(session.device) if name in inputs else None


def check_prompt(model, ids, mask, positions):
    for name, tensor in (("mask", mask), ("positions", positions)):
        if tensor is None and name == "positions":
            continue
        if tensor is None or tensor.shape != ids.shape:
            raise failed(f"{name} has shape {'none' if tensor is None else tuple(tensor.shape)}, the ids have {tuple(ids.shape)}")
    if ids.dim() != 2 or 0 in ids.shape:
        raise failed(f"ids have shape {tuple(ids.shape)}, expected (batch, prompt length), neither of them 0")
    if not bool((mask[:, -1] == 1).all()):
        raise failed("the mask ends with 0; prompts are padded on the left")
    check_range(ids.flatten().tolist(), model, "ids")


def check_ids(given, batch, model, what):
    if given is None:
        return
    if len(given) != batch:
        raise failed(f"{what} has {len(given)} entries for {batch} sequences")
    check_range([token for token in given if token is not None], model, what)


def check_range(ids, model, what):
    size = model.get_input_embeddings().num_embeddings
    wrong = next((token for token in ids if not 0 <= token < size), None)
    if wrong is not None:
        raise failed(f"{what} has the token {wrong}; the model's vocabulary has {size}")


def send_logits(logits, keep, at, give):
    # NaN stays NaN, and an infinity is one.
    give("log_sum_exp", from_torch("log_sum_exp", logits.double().logsumexp(-1)))
    if keep == "full":
        give("logits", from_torch("logits", logits))
    else:
        ids, values = largest(logits, keep["topK"])
        give("top_ids", from_torch("top_ids", ids))
        give("top_logits", from_torch("top_logits", values))
    if at is not None:
        give("at_logits", from_torch("at_logits", logits_at(logits, at)))


def logits_at(logits, at):
    if len(at) != len(logits):
        raise failed(f"at has {len(at)} lists for {len(logits)} sequences")
    wrong = next((token for ids in at for token in ids if not 0 <= token < logits.shape[-1]), None)
    if wrong is not None:
        raise failed(f"at has the token {wrong}; there are {logits.shape[-1]} logits")
    rows = [row[torch.tensor(ids, dtype=torch.int64, device=row.device)] for row, ids in zip(logits, at)]
    return torch.cat(rows) if rows else logits.new_empty(0)


def largest(logits, count):
    """(batch, count); id −1 and NaN where fewer logits are numbers."""
    count = min(count, logits.shape[-1])
    ids = torch.full((len(logits), count), -1, dtype=torch.int64)
    values = torch.full((len(logits), count), float("nan"), dtype=logits.dtype)
    for i, row in enumerate(logits):
        found = largest_of(row, count)
        ids[i, :len(found)] = found.cpu()
        values[i, :len(found)] = row[found].cpu()
    return ids, values


def largest_of(row, count):
    """Ids of the largest, largest first, the lowest id first among equals, which topk does not promise."""
    numbers = (~row.isnan()).nonzero().flatten()
    count = min(count, len(numbers))
    if count == 0:
        return numbers[:0]
    limit = row[numbers].topk(count).values[-1]
    candidates = (row >= limit).nonzero().flatten()
    order = row[candidates].sort(descending=True, stable=True).indices
    return candidates[order[:count]]


def read_row(row, forced):
    best = largest_of(row, 1).tolist()
    chosen = best[0] if best else None
    return {"chosen": chosen, "token": chosen if forced is None else forced, "ended": False,
            "nan": int(row.isnan().sum()), "positiveInfinity": int(row.isposinf().sum()),
            "negativeInfinity": int(row.isneginf().sum())}
