"""A worker for Assay: standard library and NumPy, written from docs/worker-protocol.md.

It evaluates small ONNX graphs of the operators in OPERATORS:
    assay test model.onnx --target command:python3,arg=examples/python-worker/worker.py
"""
import json, os, platform, struct, sys, time
import numpy as np

# Whatever anybody prints goes to the log; frames have standard output for themselves.
frames_in, frames_out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
          9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}
CHUNK_BYTES = 1 << 20

# Frames
def read_frame():
    prefix = read_bytes(12)
    magic, header_bytes, payload_bytes = struct.unpack("<4sII", prefix)
    if magic != b"ASY1":
        sys.exit(f"expected a frame but found {prefix!r}")
    return json.loads(read_bytes(header_bytes)), read_bytes(payload_bytes)

def read_bytes(count):
    data = frames_in.read(count)
    if len(data) < count:
        sys.exit(0)  # the host has gone
    return data

def send(message, payload=b""):
    header = json.dumps({"jsonrpc": "2.0", **message}).encode()
    frames_out.write(struct.pack("<4sII", b"ASY1", len(header), len(payload)) + header)
    frames_out.write(payload)
    frames_out.flush()

# Tensors
def receive(method, request):
    parts = []
    while True:
        message, payload = read_frame()
        if message.get("method") != method or message["params"]["request"] != request:
            sys.exit(f"expected {method} of request {request}")
        parts.append(payload)
        if message["params"]["last"]:
            return message["params"], b"".join(parts)

def decode(dtype, shape, data):
    if dtype != "string":
        return np.frombuffer(data, dtype).reshape(shape)
    strings, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        strings.append(data[at + 4:at + 4 + length].decode())
        at += 4 + length
    return np.array(strings, dtype=object).reshape(shape)

def encode(array):
    if array.dtype != object:
        return str(array.dtype), array.tobytes()
    texts = [item.encode() for item in array.ravel()]
    return "string", b"".join(struct.pack("<I", len(item)) + item for item in texts)

def send_tensor(request, name, array):
    dtype, data = encode(array)
    for offset in range(0, max(1, len(data)), CHUNK_BYTES):
        part = data[offset:offset + CHUNK_BYTES]
        params = {"request": request, "name": name, "dtype": dtype, "shape": list(array.shape),
                  "offset": offset, "last": offset + len(part) == len(data)}
        send({"method": "tensor", "params": params}, part)

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

def text(message, number):
    return message.get(number, [b""])[0].decode()

def value_spec(data):
    info = fields(data)
    tensor = fields(fields(info[2][0])[1][0])
    dims = [fields(dim) for dim in fields(tensor.get(2, [b""])[0]).get(1, [])]
    # No shape at all means any; a shape without sizes is a scalar's.
    shape = [dim[1][0] if 1 in dim else text(dim, 2) or None for dim in dims] if 2 in tensor else None
    return {"name": text(info, 1), "kind": "tensor", "dtype": DTYPES.get(tensor[1][0]), "shape": shape}

def initializer(data):
    tensor = fields(data)
    if 9 not in tensor:
        raise ValueError(f"weight {text(tensor, 8)} is not stored as raw data")
    return text(tensor, 8), np.frombuffer(tensor[9][0], DTYPES[tensor[2][0]]).reshape(tensor.get(1, []))

def attributes(node):
    read = {2: lambda value: struct.unpack("<f", value[0])[0], 3: lambda value: value[0], 8: list}
    items = [fields(item) for item in node.get(5, [])]
    return {text(item, 1): read[kind](item[kind]) for item in items for kind in read if kind in item}

def gemm(at, a, b, c=0):
    a, b = (a.T if at.get("transA") else a), (b.T if at.get("transB") else b)
    return (at.get("alpha", 1) * (a @ b) + at.get("beta", 1) * c).astype(a.dtype)

OPERATORS = {
    "Identity": lambda at, x: x, "Add": lambda at, a, b: a + b, "Sub": lambda at, a, b: a - b,
    "Mul": lambda at, a, b: a * b, "MatMul": lambda at, a, b: a @ b, "Gemm": gemm, "Neg": lambda at, x: -x,
    "Relu": lambda at, x: np.maximum(x, x.dtype.type(0)), "Transpose": lambda at, x: x.transpose(at.get("perm")),
    "Reshape": lambda at, x, s: x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(s)]),
}

class Session:
    def __init__(self, model):
        graph = fields(fields(model)[7][0])
        self.weights = dict(map(initializer, graph.get(5, [])))
        self.inputs = [spec for spec in map(value_spec, graph.get(11, [])) if spec["name"] not in self.weights]
        self.outputs = [value_spec(value) for value in graph.get(12, [])]
        self.nodes = [fields(node) for node in graph.get(1, [])]
        unknown = {text(node, 4) for node in self.nodes} - set(OPERATORS)
        if unknown:
            raise ValueError(f"operators that this worker lacks: {', '.join(unknown)}")

    def run(self, inputs):
        if set(inputs) != {spec["name"] for spec in self.inputs}:
            raise ValueError(f"inputs {sorted(inputs)} were given, expected {[spec['name'] for spec in self.inputs]}")
        for spec in self.inputs:
            check(spec, inputs[spec["name"]])
        values = {**self.weights, **inputs}
        for node in self.nodes:
            operands = [values[name.decode()] for name in node.get(1, [])]
            values[node[2][0].decode()] = np.asarray(OPERATORS[text(node, 4)](attributes(node), *operands))
        return {spec["name"]: values[spec["name"]] for spec in self.outputs}

def check(spec, array):
    dtype = "string" if array.dtype == object else str(array.dtype)
    shape = array.shape if spec["shape"] is None else spec["shape"]
    fits = len(array.shape) == len(shape) and all(
        found == size for found, size in zip(array.shape, shape) if isinstance(size, int))
    if dtype != spec["dtype"] or not fits:
        raise ValueError(f"input {spec['name']}: found {dtype} {array.shape}, expected {spec['dtype']} {spec['shape']}")

# Requests
sessions = {}

def hello(request, params):
    return {"protocols": [1], "runtime": "python-worker", "version": "1", "accepts": ["onnx"],
            "dtypes": list(DTYPES.values()), "capabilities": {"kinds": ["tensor"]}, "limits": {},
            "detail": {"numpy": np.__version__, "python": platform.python_version()}, "fingerprint": None}

def open_model(request, params):
    model = params["model"]
    data = open(model["path"], "rb").read() if "path" in model else receive("bytes", request)[1]
    started = time.perf_counter()
    session = sessions[request] = Session(data)
    return {"session": request, "inputs": session.inputs, "outputs": session.outputs,
            "detail": {"library": f"NumPy {np.__version__}"}, "durationMs": (time.perf_counter() - started) * 1e3}

def run(request, params):
    inputs = {}
    for _ in params["values"]:  # each is one tensor, as hello said
        tensor, data = receive("tensor", request)
        inputs[tensor["name"]] = decode(tensor["dtype"], tensor["shape"], data)
    started = time.perf_counter()
    outputs = sessions[params["session"]].run(inputs)
    duration = (time.perf_counter() - started) * 1e3
    for name, array in outputs.items():
        send_tensor(request, name, array)
    return {"durationMs": duration, "values": [{"name": name, "kind": "tensor", "length": 1} for name in outputs]}

def close(request, params):
    sessions.pop(params["session"], None)
    return {}

METHODS = {"hello": hello, "open": open_model, "run": run, "close": close}

while True:
    message, _ = read_frame()
    if "id" not in message:
        continue
    method = METHODS.get(message["method"])
    try:
        answer = {"error": {"code": -32601, "message": f"unknown method {message['method']}"}}
        if method:
            answer = {"result": method(message["id"], message["params"])}
    except Exception as error:
        data = {"stage": "run" if method is run else "compile"}
        answer = {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}", "data": data}}
    send({"id": message["id"], **answer})
