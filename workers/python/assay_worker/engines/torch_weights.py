"""What weights a model has, without their numbers."""
import hashlib

import torch

from ..engine import StageFailure


def list_weights(model):
    """In the precision that is computed in; buffers that are saved with a model are among them."""
    return [facts_of(name, tensor) for name, tensor in model.state_dict().items()]


def facts_of(name, tensor):
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or tensor.is_quantized:
        raise StageFailure("run", f"{name} has no plain numbers")
    data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return {"name": name, "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
            "sha256": hashlib.sha256(memoryview(data)).hexdigest()}
