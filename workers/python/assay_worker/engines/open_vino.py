"""OpenVINO on the processor."""
import os
import platform
import time
from contextlib import contextmanager
from math import prod

import numpy as np

from ..decode import Decodes
from ..engine import Engine, NotHere, Outputs, Session, StageFailure, import_library, options_of
from ..onnx_model import input_specs, output_specs, read_proto
from ..identity import build_identity, processor_identity
from ..tensors import PLAIN, Raw, byte_length
from .onnx_decode import CachedGraph

DEFAULTS = {"threads": "1", "precision": "f32"}

# Names of element types in OpenVINO: ours.
NAMES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16",
         "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
         "boolean": "bool", "f8e4m3": "float8e4m3fn", "f8e5m2": "float8e5m2", "f8e8m0": "float8e8m0", "u4": "uint4",
         "i4": "int4", "f4e2m1": "float4e2m1"}


class OpenVino(Engine):
    name = "openvino"

    def probe(self, device):
        openvino = load()
        # It tells the names of inputs and outputs, some of which OpenVINO loses.
        import_library("onnx")
        core = openvino.Core()
        devices = {name.lower(): name for name in core.available_devices}
        if device not in devices:
            raise NotHere(f'OpenVINO {version(openvino)} has no device "{device}", only {", ".join(sorted(devices))}')
        self.core, self.device = core, devices[device]
        return {
            "version": version(openvino),
            "accepts": ["onnx"],
            "dtypes": list(NAMES.values()),
            "capabilities": {"kinds": ["tensor"], "decode": True},
            "detail": {**what_runs(openvino), "devices": ", ".join(sorted(devices)),
                       "processor": core.get_property(self.device, "FULL_DEVICE_NAME")},
            "fingerprint": f"openvino {openvino.__version__} {build_identity(openvino)} {processor_identity()}",
        }

    def open(self, model, target, taps):
        options = options_of(target, DEFAULTS)
        try:
            compiled = self.core.compile_model(self.read(model), self.device, settings_of(options, self.device))
        except StageFailure:
            raise
        except Exception as error:
            raise StageFailure("compile", plain_words(error)) from error
        return CompiledSession(compiled, read_proto(model).graph, load())

    def read(self, model):
        if model.path is not None:
            return self.core.read_model(model.path)
        # External data of bytes is looked for in the current folder.
        with inside(model.folder):
            return self.core.read_model(model.data)


def load():
    return import_library("openvino")


def version(openvino):
    return openvino.__version__.split("-")[0]


def what_runs(openvino):
    return {"library": f"OpenVINO {version(openvino)}", "build": openvino.__version__, "python": platform.python_version()}


@contextmanager
def inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def settings_of(options, device):
    """Left alone, OpenVINO computes in the precision that it thinks fastest here, and weights of 4 bits with int8."""
    settings = {"PERFORMANCE_HINT": "LATENCY"}
    if device == "CPU":
        # Workers that pin their threads all pin them to the same cores.
        settings.update({"INFERENCE_NUM_THREADS": int(options["threads"]), "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False})
    if options["precision"] != "auto":
        settings["INFERENCE_PRECISION_HINT"] = options["precision"]
    if options["precision"] == "f32":
        settings["EXECUTION_MODE_HINT"] = "ACCURACY"
    return settings


def plain_words(error):
    """Without the places in OpenVINO's own source."""
    lines = [line.strip() for line in str(error).splitlines()]
    kept = [line for line in lines if line and not line.startswith(("Exception from ", "Check '"))]
    return " ".join(kept or lines)


class CompiledSession(Decodes, Session):
    def __init__(self, compiled, graph, openvino):
        self.openvino, self.request = openvino, compiled.create_infer_request()
        self.inputs = input_specs(graph)
        self.ports = match_inputs([spec["name"] for spec in self.inputs], compiled.inputs)
        self.outputs = match_outputs([spec["name"] for spec in output_specs(graph)], compiled.outputs)
        self.detail = {**what_runs(openvino), **properties(compiled)}

    def run(self, inputs):
        tensors = {self.ports[name]: self.tensor_of(value) for name, value in inputs.items() if name in self.ports}
        started = time.perf_counter()
        try:
            for index, tensor in tensors.items():
                self.request.set_input_tensor(index, tensor)
            self.request.infer()
        except Exception as error:
            raise StageFailure("run", plain_words(error)) from error
        duration_ms = (time.perf_counter() - started) * 1e3
        values = [(spec["name"], value_of(self.request.get_output_tensor(i))) for i, spec in enumerate(self.outputs)]
        return Outputs(values, duration_ms)

    def tensor_of(self, value):
        if not isinstance(value, Raw):
            return self.openvino.Tensor(np.asarray(value, order="C"))
        name = next(theirs for theirs, ours in NAMES.items() if ours == value.dtype)
        data = np.frombuffer(value.data, np.uint8)
        return self.openvino.Tensor(data, self.openvino.Shape(value.shape), getattr(self.openvino.Type, name))

    def decoder(self):
        return CachedGraph(self.inputs, self.outputs, self.run_cached, lambda dtype, shape: np.empty(shape, dtype))

    def run_cached(self, feeds, names):
        outputs = self.run(feeds)
        values = dict(outputs.values)
        logits, *cached = (values[name] for name in names)
        return logits, cached, outputs.duration_ms

    def close(self):
        self.request = self.decoding = None


def spec_of(port, name):
    return {"name": name, "kind": "tensor", "dtype": NAMES.get(type_name(port)), "shape": shape_of(port.partial_shape)}


def type_name(port):
    return port.get_element_type().get_type_name()


def match_inputs(names, ports):
    """Input → place of its port. Those that the graph does not need are gone, and some have lost their name."""
    places = {name: i for name in names for i, port in enumerate(ports) if name in port.get_names()}
    nameless = [i for i in range(len(ports)) if i not in places.values()]
    rest = [name for name in names if name not in places]
    if nameless and len(nameless) != len(rest):
        raise StageFailure("compile", f"OpenVINO renamed inputs, and it cannot be told which of {', '.join(rest)} is which")
    return {**places, **dict(zip(rest, nameless))}


SINK = "/sink_port_0"


def match_outputs(names, ports):
    """By what OpenVINO calls the ends of the graph; a tensor that several outputs share has the name of one of them."""
    ends = [port.get_node().get_friendly_name() for port in ports]
    if ends != [f"{name}{SINK}" for name in names]:
        raise StageFailure("compile", f"OpenVINO ends the graph in {', '.join(ends)}, expected {', '.join(names)}")
    return [spec_of(port, name) for port, name in zip(ports, names)]


def shape_of(partial):
    if partial.rank.is_dynamic:
        return None
    return [None if dim.is_dynamic else dim.get_length() for dim in partial]


def properties(compiled):
    wanted = {"device": "EXECUTION_DEVICES", "threads": "INFERENCE_NUM_THREADS", "precision": "INFERENCE_PRECISION_HINT",
              "mode": "EXECUTION_MODE_HINT", "isa": "RUNTIME_REQUIREMENTS"}
    known = compiled.get_property("SUPPORTED_PROPERTIES")
    return {name: text_of(compiled.get_property(key)) for name, key in wanted.items() if key in known}


def text_of(value):
    if isinstance(value, str) and ";isa=" in value:
        return value.split(";isa=")[1]
    if isinstance(value, (list, set, tuple)):
        return ", ".join(map(str, value))
    return value.get_type_name() if hasattr(value, "get_type_name") else str(value).replace("ExecutionMode.", "")


def value_of(tensor):
    """A copy: the next run writes into the same memory."""
    dtype = NAMES[type_name(tensor)]
    if dtype in PLAIN:
        return np.array(tensor.data, copy=True)
    shape = tuple(tensor.shape)
    data = np.ascontiguousarray(tensor.data).view(np.uint8).tobytes() if prod(shape) else b""
    return Raw(dtype, shape, data[:byte_length(dtype, shape)])


ENGINE = OpenVino
