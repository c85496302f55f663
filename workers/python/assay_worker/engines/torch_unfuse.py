"""Projections that lie in one weight, each computed on its own."""
import torch
from transformers.pytorch_utils import Conv1D

from .torch_folder import refused

# Module → of how many projections it is made.
FUSED = {"c_attn": 3, "qkv_proj": 3, "query_key_value": 3, "Wqkv": 3, "qkv": 3, "gate_up_proj": 2}


def unfuse(model):
    fused = [(name, module) for name, module in model.named_modules() if is_fused(name, module)]
    if not fused:
        raise refused(f"unfuse=true: no projections of {type(model).__name__} lie in one weight; known are {', '.join(FUSED)}")
    for name, module in fused:
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, Apart(module, FUSED[child]))


def is_fused(name, module):
    return name.rpartition(".")[2] in FUSED and isinstance(module, (torch.nn.Linear, Conv1D))


class Apart(torch.nn.Module):
    """The same numbers in the same order, wherever one projection ends and the next begins."""

    def __init__(self, whole, count):
        super().__init__()
        # Conv1D keeps its weight the other way round.
        weight = whole.weight.t() if isinstance(whole, Conv1D) else whole.weight
        weights = torch.tensor_split(weight.detach(), count)
        biases = torch.tensor_split(whole.bias.detach(), count) if whole.bias is not None else [None] * count
        self.parts = torch.nn.ModuleList(projection(*pair) for pair in zip(weights, biases))

    def forward(self, given):
        return torch.cat([part(given) for part in self.parts], dim=-1)


def projection(weight, bias):
    part = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    part.weight = torch.nn.Parameter(weight.clone(memory_format=torch.contiguous_format), requires_grad=False)
    if bias is not None:
        part.bias = torch.nn.Parameter(bias.clone(), requires_grad=False)
    return part
