"""Refuses inputs that a session does not declare, or declares otherwise."""
from .engine import StageFailure
from .tensors import dtype_of


def check_inputs(specs, values, inputs):
    """values: what the request announced, name and kind; inputs: the values themselves."""
    kinds = {value["name"]: value["kind"] for value in values}
    known = [spec["name"] for spec in specs]
    for name in kinds:
        if name not in known:
            raise wrong(f'there is no input "{name}"; {listed(known)}')
    for spec in specs:
        name, kind = spec["name"], kinds.get(spec["name"])
        if kind is None:
            if spec["kind"] == "optional" or spec.get("optional"):
                continue
            raise wrong(f'input "{name}" is missing; {listed(known)}')
        # An optional that holds a sequence comes as that sequence.
        if kind != spec["kind"] and (spec["kind"], kind) != ("optional", "sequence"):
            raise wrong(f'input "{name}" is a {kind}, expected a {spec["kind"]}')
        for tensor in tensors_in(inputs[name]):
            check_tensor(spec, tensor)


def check_tensor(spec, tensor):
    found = dtype_of(tensor)
    if spec["dtype"] is not None and found != spec["dtype"]:
        raise wrong(f'input "{spec["name"]}" has dtype {found}, expected {spec["dtype"]}')
    if spec["kind"] != "tensor" or spec["shape"] is None or fits(spec["shape"], tensor.shape):
        return
    raise wrong(f'input "{spec["name"]}" has shape {shape_text(tensor.shape)}, expected {shape_text(spec["shape"])}')


def tensors_in(value):
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def fits(declared, shape):
    return len(declared) == len(shape) and all(
        found == dim for dim, found in zip(declared, shape) if isinstance(dim, int))


def shape_text(shape):
    return f"({', '.join('?' if dim is None else str(dim) for dim in shape)})"


def listed(names):
    return "the model takes " + (", ".join(f'"{name}"' for name in names) or "no inputs")


def wrong(message):
    return StageFailure("run", message)
