"""A small compiler for ONNX models: Python's standard library and NumPy.

    tinycc.py compile model.onnx --chip=chips/a.json --dump=ir -o model.plan
    tinycc.py run model.plan --input=x.npy --output=y.npy

`compile` reads the model, folds constants, fuses MatMul+Add+Relu and writes a plan: steps as JSON, weights as arrays.
`run` follows the plan the way the chip would: matrix products in tiles, sums in the chip's accumulator.
"""
import argparse, json, os, struct, sys
import numpy as np

VERSION = "1.0"
DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "str",
          9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}

# ONNX: just enough protobuf to read a graph
def fields(data):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}.get(key & 7, len(data)), at)
            value, at = data[at:at + size], at + size
            if len(value) < size:
                raise ValueError("the file is no ONNX model, or it is cut off")
        found.setdefault(key >> 3, []).append(value)
    return found

def varint(data, at):
    value = shift = 0
    while data[at] > 127:
        value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
    return value | data[at] << shift, at + 1

def varints(parts):
    for part in parts:
        at = 0
        while isinstance(part, bytes) and at < len(part):
            value, at = varint(part, at)
            yield value - (1 << 64 if value >> 63 else 0)
        if not isinstance(part, bytes):
            yield part - (1 << 64 if part >> 63 else 0)

def text(message, number):
    return message.get(number, [b""])[0].decode()

def constant(data, folder):
    tensor = fields(data)
    name, dtype = text(tensor, 8), np.dtype(DTYPES[tensor[2][0]])
    shape = list(varints(tensor.get(1, [])))
    if tensor.get(14) == [1]:
        return name, np.frombuffer(external(tensor, folder), dtype).reshape(shape)
    if 9 in tensor:
        return name, np.frombuffer(tensor[9][0], dtype).reshape(shape)
    if 4 in tensor:
        return name, np.frombuffer(b"".join(tensor[4]), "float32").reshape(shape)
    return name, np.array(list(varints(tensor.get(5, tensor.get(7, [])))), dtype).reshape(shape)

def external(tensor, folder):
    entries = {text(entry, 1): text(entry, 2) for entry in map(fields, tensor[13])}
    path = os.path.realpath(os.path.join(folder, entries["location"]))
    if os.path.dirname(path) != os.path.realpath(folder):
        raise ValueError(f"weights at {entries['location']!r} are not beside the model")
    with open(path, "rb") as file:
        file.seek(int(entries.get("offset", 0)))
        return file.read(int(entries.get("length", -1)))

def attributes(node, folder):
    read = {2: lambda value: struct.unpack("<f", value[0])[0], 3: lambda value: next(varints(value)),
            4: lambda value: value[0].decode(), 5: lambda value: constant(value[0], folder)[1],
            8: lambda value: list(varints(value))}
    items = [fields(item) for item in node.get(5, [])]
    return {text(item, 1): read[kind](item[kind]) for item in items for kind in read if kind in item}

def read_model(path):
    with open(path, "rb") as file:
        graph = fields(fields(file.read())[7][0])
    folder = os.path.dirname(os.path.abspath(path))
    weights = dict(constant(data, folder) for data in graph.get(5, []))
    nodes = [fields(node) for node in graph.get(1, [])]
    steps = [{"op": text(node, 4), "inputs": [name.decode() for name in node.get(1, [])],
              "outputs": [name.decode() for name in node.get(2, [])], "attributes": attributes(node, folder)}
             for node in nodes]
    names = lambda number: [text(fields(value), 1) for value in graph.get(number, [])]
    return {"inputs": [name for name in names(11) if name not in weights], "outputs": names(12), "steps": steps}, weights

# The chip
def matmul(chip, a, b):
    """(…, m, k) · (…, k, n): tiles of k, summed in the chip's accumulator."""
    if a.dtype.kind != "f" or a.shape[-1] == 0:
        return a @ b
    total = None
    for start in range(0, a.shape[-1], chip["tile"]):
        rows = slice(start, start + chip["tile"])
        part = (a[..., rows] @ (b[rows] if b.ndim == 1 else b[..., rows, :])).astype(chip["accumulate"])
        total = part if total is None else (total + part).astype(chip["accumulate"])
    return total.astype(a.dtype)

def gemm(chip, at, a, b, c=None):
    a, b = (a.T if at.get("transA") else a), (b.T if at.get("transB") else b)
    product = matmul(chip, a, b) * a.dtype.type(at.get("alpha", 1))
    return product if c is None else product + c * c.dtype.type(at.get("beta", 1))

def softmax(chip, at, x):
    powers = np.exp(x - x.max(at.get("axis", -1), keepdims=True))
    return powers / powers.sum(at.get("axis", -1), keepdims=True)

def argmax(chip, at, x):
    found = x.argmax(at.get("axis", 0))
    return np.expand_dims(found, at.get("axis", 0)) if at.get("keepdims", 1) else found

def relu(chip, at, x):
    return np.maximum(x, x.dtype.type(0))

def fused_matmul(chip, at, a, b, c):
    return relu(chip, at, matmul(chip, a, b) + c)

OPERATORS = {
    "Identity": lambda chip, at, x: x, "Constant": lambda chip, at: at["value"],
    "Add": lambda chip, at, a, b: a + b, "Sub": lambda chip, at, a, b: a - b, "Mul": lambda chip, at, a, b: a * b,
    "Div": lambda chip, at, a, b: a / b if a.dtype.kind == "f" else a // b, "Neg": lambda chip, at, x: -x,
    "MatMul": lambda chip, at, a, b: matmul(chip, a, b), "Gemm": gemm, "FusedMatMul": fused_matmul, "Relu": relu,
    "Sigmoid": lambda chip, at, x: (1 / (1 + np.exp(-x))).astype(x.dtype), "Tanh": lambda chip, at, x: np.tanh(x),
    "Exp": lambda chip, at, x: np.exp(x), "Sqrt": lambda chip, at, x: np.sqrt(x),
    "Softmax": softmax, "ArgMax": argmax,
    "Transpose": lambda chip, at, x: x.transpose(at.get("perm")),
    "Reshape": lambda chip, at, x, s: x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(s)]),
    "Concat": lambda chip, at, *parts: np.concatenate(parts, at["axis"]),
}

def execute(step, values, chip):
    operands = [values[name] for name in step["inputs"] if name]
    values[step["outputs"][0]] = np.asarray(OPERATORS[step["op"]](chip, step["attributes"], *operands))

# Passes
def check(plan):
    lacking = sorted({step["op"] for step in plan["steps"]} - set(OPERATORS))
    if lacking:
        raise ValueError(f"this compiler has no {', '.join(lacking)}")

def fold_constants(plan, weights, chip):
    rest = []
    for step in plan["steps"]:
        if all(name in weights for name in step["inputs"]):
            execute(step, weights, chip)
        else:
            rest.append(step)
    return {**plan, "steps": rest}

def fuse(plan):
    """MatMul, Add, Relu in a row, with nobody else looking at what is between them."""
    steps = list(plan["steps"])
    readers = lambda name: [step for step in steps if name in step["inputs"]]
    for first in [step for step in steps if step["op"] == "MatMul"]:
        chain, follows = [first], {"MatMul": "Add", "Add": "Relu"}
        while chain[-1]["op"] in follows:
            result = chain[-1]["outputs"][0]
            after = readers(result)
            if len(after) != 1 or after[0]["op"] != follows[chain[-1]["op"]] or result in plan["outputs"]:
                break
            chain.append(after[0])
        if len(chain) == 3:
            bias = [name for name in chain[1]["inputs"] if name != first["outputs"][0]]
            whole = {"op": "FusedMatMul", "inputs": first["inputs"] + bias, "outputs": chain[2]["outputs"], "attributes": {}}
            steps[steps.index(chain[2])] = whole
            steps = [step for step in steps if step is not first and step is not chain[1]]
    return {**plan, "steps": steps}

def listing(plan, weights):
    lines = [f"inputs {', '.join(plan['inputs'])}"]
    lines += [f"{', '.join(s['outputs'])} = {s['op']}({', '.join(s['inputs'])})" for s in plan["steps"]]
    lines += [f"constant {name} {value.dtype} {list(value.shape)}" for name, value in weights.items()]
    return "\n".join([*lines, f"outputs {', '.join(plan['outputs'])}"]) + "\n"

# The command line
def compile_model(options):
    with open(options.chip) as file:
        chip = json.load(file)
    plan, weights = read_model(options.model)
    dump(options, "imported", plan, weights)
    check(plan)
    plan = fold_constants(plan, weights, chip)
    dump(options, "folded", plan, weights)
    plan = fuse(plan)
    dump(options, "fused", plan, weights)
    names = list(weights)
    with open(options.output, "wb") as file:
        arrays = {f"weight_{i}": weights[name] for i, name in enumerate(names)}
        np.savez(file, plan=np.array(json.dumps({**plan, "weights": names, "chip": chip})), **arrays)

def dump(options, phase, plan, weights):
    if options.dump:
        with open(os.path.join(options.dump, f"{phase}.txt"), "w") as file:
            file.write(listing(plan, weights))

def run_plan(options):
    with np.load(options.plan, allow_pickle=False) as file:
        plan = json.loads(str(file["plan"]))
        values = {name: file[f"weight_{i}"] for i, name in enumerate(plan["weights"])}
    for name, path in zip(plan["inputs"], options.input, strict=True):
        values[name] = np.load(path, allow_pickle=False)
    for step in plan["steps"]:
        execute(step, values, plan["chip"])
    for name, path in zip(plan["outputs"], options.output, strict=True):
        np.save(path, values[name])

def main():
    parser = argparse.ArgumentParser(prog="tinycc.py")
    parser.add_argument("--version", action="version", version=f"tinycc {VERSION}, NumPy {np.__version__}")
    commands = parser.add_subparsers(required=True)
    compiling = commands.add_parser("compile")
    compiling.add_argument("model")
    compiling.add_argument("--chip", required=True)
    compiling.add_argument("--dump")
    compiling.add_argument("-o", dest="output", required=True)
    compiling.set_defaults(work=compile_model)
    running = commands.add_parser("run")
    running.add_argument("plan")
    running.add_argument("--input", action="append", default=[])
    running.add_argument("--output", action="append", default=[])
    running.set_defaults(work=run_plan)
    options = parser.parse_args()
    try:
        options.work(options)
    except (ValueError, KeyError, OSError) as error:
        sys.exit(f"error: {error}")

if __name__ == "__main__":
    main()
