"""Tensors of torch ↔ values of the protocol, and the walk through what modules give."""
import dataclasses
from collections.abc import Mapping

import numpy as np
import torch

from ..engine import StageFailure
from ..tensors import PLAIN, Raw

# Those that NumPy lacks, by the integers of their size.
HIDDEN = {torch.bfloat16: "bfloat16", torch.float8_e4m3fn: "float8e4m3fn", torch.float8_e4m3fnuz: "float8e4m3fnuz",
          torch.float8_e5m2: "float8e5m2", torch.float8_e5m2fnuz: "float8e5m2fnuz"}
BY_NAME = {name: dtype for dtype, name in HIDDEN.items()}


def to_torch(value):
    if isinstance(value, Raw):
        flat = torch.frombuffer(bytearray(value.data), dtype=torch.uint8) if value.data else torch.empty(0, dtype=torch.uint8)
        return flat.view(BY_NAME[value.dtype]).reshape(value.shape)
    # What came over the channel may be read-only memory.
    return torch.from_numpy(np.array(value, copy=True))


def from_torch(name, tensor):
    """A value that travels; it shares the tensor's memory where it can."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
        raise StageFailure("run", f'"{name}" is a {tensor.layout} tensor, which has no plain form in the protocol')
    here = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if here.dtype in HIDDEN:
        data = here.reshape(-1).view(torch.uint8).numpy()
        return Raw(HIDDEN[here.dtype], tensor.shape, memoryview(data))
    array = here.numpy() if str(here.dtype).removeprefix("torch.") in PLAIN else None
    if array is None:
        raise StageFailure("run", f'"{name}" is a tensor of {here.dtype}, which has no name in the protocol')
    return array


def walk(value, path=()):
    """Every tensor in what a module gives, with the keys on the way to it; what is None or no tensor is left out."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping):
        for key, element in value.items():
            yield from walk(element, (*path, str(key)))
    elif isinstance(value, (tuple, list)):
        for i, element in enumerate(value):
            yield from walk(element, (*path, str(i)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from walk(getattr(value, field.name), (*path, field.name))
