"""What goes into modules: as tensors that are sent, and as tensors of the host in their place."""
import copy
import dataclasses
from collections.abc import Mapping

import torch

from ..serve import INPUTS
from .torch_values import to_torch, walk


def walk_inputs(positional, keyword):
    """Every tensor among the arguments, by place or name."""
    yield from walk(positional)
    yield from walk(keyword)


class Feeds:
    """Tensors that modules get in place of what their callers give them: `name:in#0`, `name@1:in#mask#0` …"""

    def __init__(self, values):
        self.by_call, self.misfits = {}, {}
        for name, value in values.items():
            title, _, way = name.partition(f"{INPUTS}#")
            self.by_call.setdefault(title, {})[tuple(way.split("#"))] = to_torch(value)

    def put(self, title, positional, keyword):
        """The arguments of a call with these tensors in their places; None: nothing is there for it."""
        given = self.by_call.get(title)
        if given is None:
            return None
        found = [path for path, _ in walk_inputs(positional, keyword) if path in given]
        if not found:
            self.misfits[title] = f'"{title}" takes none of the tensors that it was given'
            return None
        wrong = next((text for path, own in walk_inputs(positional, keyword) if (text := misfit(own, given.get(path)))), None)
        if wrong is not None:
            self.misfits[title] = f'"{title}" {wrong}'
            return None
        return replaced(positional, given), replaced(keyword, given)

    def unused(self, calls):
        """`calls` has how often each module was entered."""
        return [f'"{title}" was not called with taps' for title in self.by_call if not is_called(title, calls)]


def is_called(title, calls):
    name, _, call = title.partition("@")
    return int(call or 0) < calls.get(name, 0)


def with_elements(value, elements):
    changed = copy.copy(value)
    for key, element in elements.items():
        changed[key] = element
    return changed


def misfit(own, given):
    if given is None or given.shape == own.shape:
        return None
    return f"takes a tensor of shape {tuple(own.shape)} here, and was given {tuple(given.shape)}"


def replaced(value, given, path=()):
    """The same structure, in the precision and place of the tensors that it has; what is given nothing stays itself."""
    if isinstance(value, torch.Tensor):
        tensor = given.get(path)
        return value if tensor is None else tensor.to(device=value.device, dtype=value.dtype)
    if not any(way[:len(path)] == path for way in given):
        return value
    if isinstance(value, Mapping):
        elements = {key: replaced(element, given, (*path, str(key))) for key, element in value.items()}
        return elements if type(value) is dict else with_elements(value, elements)
    if isinstance(value, (tuple, list)):
        elements = [replaced(element, given, (*path, str(i))) for i, element in enumerate(value)]
        return type(value)(*elements) if hasattr(value, "_fields") else type(value)(elements)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **{name: replaced(one, given, (*path, name)) for name, one in fields.items()})
    return value
