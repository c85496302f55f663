"""A transformers model with its key-value cache, as decoding wants it."""
import torch

from ..decode import failed
from .torch_program import count_graphs
from .torch_values import to_torch

# A cache that grows is compiled for its first size, and then for any.
WARM_STEPS = 6


class CachedModel:
    caches = True

    def __init__(self, session):
        refuse(session)
        self.session, self.cache = session, None
        self.vocabulary = session.model.get_input_embeddings().num_embeddings

    def compute(self, ids, mask, positions):
        session, takes = self.session, self.session.parameters
        ids, mask, positions = (to_torch(array).to(session.device) for array in (ids, mask, positions))
        fed = {"input_ids": ids, "attention_mask": mask, "past_key_values": self.cache, "use_cache": True}
        if "position_ids" in takes:
            fed["position_ids"] = positions
        if "logits_to_keep" in takes:
            fed["logits_to_keep"] = 1
        torch.manual_seed(session.seed)
        output, duration_ms = session.compute(fed)
        self.cache = getattr(output, "past_key_values", None)
        if self.cache is None:
            raise failed(f"{type(session.model).__name__} gave no key-value cache")
        # Half precision fits into float32 exactly.
        logits = output.logits[:, -1, :]
        logits = logits if logits.dtype == torch.float64 else logits.float()
        return logits.detach().cpu().numpy(), duration_ms


def refuse(session):
    model, name = session.model, type(session.model).__name__
    if getattr(model.config, "is_encoder_decoder", False):
        raise failed(f"{name} has an encoder and a decoder; only models that are a decoder alone can be decoded step by step")
    lacks = [word for word in ("input_ids", "attention_mask", "past_key_values", "use_cache") if word not in session.parameters]
    if lacks or model.get_output_embeddings() is None:
        why = f"its forward takes no {lacks[0]}" if lacks else "it gives no logits"
        raise failed(f"{name} cannot be decoded: {why}")


def warm_decoding(decoding, most, taps=None):
    """Steps on a cache of their own, until one has all it needs. With taps it is another program."""
    for step in range(most):
        graphs = count_graphs()
        if taps:
            taps.listen(None)
        decoding.step({"step": step}, lambda _name, _tensor: None)
        if decoding.is_done or (step > 0 and count_graphs() == graphs):
            return
