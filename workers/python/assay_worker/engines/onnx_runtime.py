"""ONNX Runtime's Python build."""
import os
import platform
import re
import time

import numpy as np

from ..decode import Decodes
from ..engine import Engine, NotHere, Outputs, Session, StageFailure, import_library, options_of
from ..identity import build_identity, processor_identity
from ..tensors import BY_CODE, DTYPES, PLAIN, Raw, byte_length
from .onnx_decode import CachedGraph

DEFAULTS = {"threads": "1", "optimization": "all", "deterministic": "false"}

# ONNX Runtime's names of element types.
NAMES = {"float": "float32", "double": "float64"}

TAKES = [dtype for dtype in PLAIN if not dtype.startswith("complex")] + [
    "string", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]
GIVES = [*TAKES, "int4", "uint4"]


class OnnxRuntime(Engine):
    name = "onnxruntime"

    def probe(self, device):
        ort = load()
        devices = {device_of(provider): provider for provider in ort.get_available_providers()}
        # It sends models to a service and computes nothing here.
        devices.pop("azure", None)
        if device not in devices:
            raise NotHere(f'onnxruntime {ort.__version__} has no device "{device}", only {", ".join(sorted(devices))}')
        self.provider = devices[device]
        return {
            "version": ort.__version__,
            "accepts": ["onnx"],
            "dtypes": TAKES,
            "outputDtypes": GIVES,
            "capabilities": {"kinds": ["tensor", "sequence", "optional"], "decode": True, "forms": list(LEVELS)},
            "detail": {"library": f"onnxruntime {ort.__version__}", "python": platform.python_version(),
                       "devices": ", ".join(sorted(devices))},
            "fingerprint": f"onnxruntime(python) {ort.__version__} {build_identity(ort)} {processor_identity()}",
        }

    def open(self, model, target, taps):
        options = options_of(target, DEFAULTS)
        return RuntimeSession(create(model, session_options(options), self.provider), options, self.provider)

    def form(self, model, target, form, folder, weights):
        """Saves the model as it is after one optimisation level, if the target's own goes that far."""
        options = options_of(target, DEFAULTS)
        if not reaches(options["optimization"], form):
            return None
        settings = session_options({**options, "optimization": form})
        settings.optimized_model_filepath = os.path.join(folder, f"{form}.onnx")
        settings.add_session_config_entry("session.save_model_format", "ONNX")
        if weights == "absent":
            settings.add_session_config_entry("session.optimized_model_external_initializers_file_name", WEIGHTS)
            settings.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
        create(model, settings, self.provider)
        if weights == "absent" and os.path.exists(os.path.join(folder, WEIGHTS)):
            os.remove(os.path.join(folder, WEIGHTS))
        return f"{form}.onnx"


WEIGHTS = "weights.bin"

# In order, each on top of those before; `disabled` only loads.
LEVELS = {"disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED",
          "layout": "ORT_ENABLE_LAYOUT", "all": "ORT_ENABLE_ALL"}


def reaches(level, form):
    order = list(LEVELS)
    if "disabled" in (level, form):
        return level == form
    return order.index(form) <= order.index(level)


def load():
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    onnxruntime = import_library("onnxruntime")
    if not hasattr(onnxruntime, "InferenceSession"):
        raise NotHere("what is imported as onnxruntime is something else, without InferenceSession")
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def device_of(provider):
    return provider.replace("ExecutionProvider", "").lower()


def session_options(options):
    ort = load()
    settings = ort.SessionOptions()
    settings.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[options["optimization"]])
    settings.intra_op_num_threads = int(options["threads"])
    settings.inter_op_num_threads = 1
    settings.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    settings.log_severity_level = 3
    settings.use_deterministic_compute = options["deterministic"] == "true"
    return settings


def create(model, settings, provider):
    """A session on this provider; what it cannot take goes to the processor, as everywhere with ONNX Runtime."""
    ort = load()
    providers = [provider] if provider == "CPUExecutionProvider" else [provider, "CPUExecutionProvider"]
    if model.folder is not None:
        settings.add_session_config_entry("session.model_external_initializers_file_folder_path", model.folder)
    try:
        session = ort.InferenceSession(model.path or model.data, settings, providers=providers)
    except Exception as error:
        raise StageFailure("compile", explain_refusal(plain_words(error))) from error
    session.disable_fallback()
    if provider not in session.get_providers():
        raise StageFailure("compile", f"{provider} could not be used, only {', '.join(session.get_providers())}")
    return session


# The place in ONNX Runtime's own source and the signature of the function that threw.
SOURCE_PLACE = re.compile(r"/\S+\.(?:h|cc|cpp):\d+ .*?\([^()]*\)(?: const)? ", re.S)
CODE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ")


def plain_words(error):
    return " ".join(SOURCE_PLACE.sub("", CODE.sub("", str(error))).split())


TOO_NEW = re.compile(r"Opset (\d+) is under development.*support for domain (\S+) is till opset (\d+)")


def explain_refusal(message):
    newer = TOO_NEW.search(message)
    if not newer:
        return message
    opset, domain, known = newer.groups()
    return (f"the model imports opset {opset} of {domain}, expected at most {known}; "
            "export it for that opset or use a newer onnxruntime")


class RuntimeSession(Decodes, Session):
    def __init__(self, session, options, provider):
        self.session = session
        self.told = [[spec_of(node) for node in nodes] for nodes in (session.get_inputs(), session.get_outputs())]
        self.inputs, self.outputs = ([without_empty_shape(spec) for spec in specs] for specs in self.told)
        self.detail = {
            "library": f"onnxruntime {load().__version__}", "python": platform.python_version(),
            "executionProvider": ", ".join(session.get_providers()), "threads": options["threads"],
            "optimization": options["optimization"], "deterministic": options["deterministic"],
        }

    def run(self, inputs):
        run = self.run_as_ort_values if any(hides_from_numpy(spec) for spec in self.outputs) else self.run_with_arrays
        started = time.perf_counter()
        try:
            values = run(inputs)
        except StageFailure:
            raise
        except Exception as error:
            raise StageFailure("run", plain_words(error)) from error
        duration_ms = (time.perf_counter() - started) * 1e3
        names = [spec["name"] for spec in self.outputs]
        return Outputs(zip(names, map(from_ort, values)), duration_ms)

    def run_with_arrays(self, inputs):
        feeds = {name: to_feed(name, value) for name, value in inputs.items()}
        return self.session.run(None, feeds)

    def run_as_ort_values(self, inputs):
        """Outputs that NumPy has no type for are read from their memory."""
        for name, value in inputs.items():
            if isinstance(value, list) or value is None or value.dtype == object:
                raise StageFailure("run", f'input "{name}" is no tensor of numbers, which onnxruntime\'s Python interface '
                                          f"cannot combine with outputs of a type that NumPy lacks")
        feeds = {name: to_ort_value(value) for name, value in inputs.items()}
        return self.session.run_with_ort_values(None, feeds)

    def decoder(self):
        return CachedGraph(*self.told, self.run_cached, empty_ort_value)

    def run_cached(self, feeds, names):
        """What is cached stays in the memory that onnxruntime gave it."""
        feeds = {name: value if hasattr(value, "data_ptr") else to_ort_value(value) for name, value in feeds.items()}
        started = time.perf_counter()
        try:
            values = self.session.run_with_ort_values(names, feeds)
        except Exception as error:
            raise StageFailure("run", plain_words(error)) from error
        duration_ms = (time.perf_counter() - started) * 1e3
        logits, *cached = values
        return from_ort(logits), cached, duration_ms

    def close(self):
        self.session = self.decoding = None


def empty_ort_value(dtype, shape):
    if dtype in PLAIN:
        return to_ort_value(np.empty(shape, dtype))
    bits, code = DTYPES[dtype]
    return load().OrtValue.ortvalue_from_numpy_with_onnx_type(np.empty(shape, np.uint16 if bits == 16 else np.uint8), code)


def spec_of(node):
    kind, dtype = type_of(node.type)
    shape = None if kind != "tensor" or node.shape is None else [known_dim(dim) for dim in node.shape]
    return {"name": node.name, "kind": kind, "dtype": dtype, "shape": shape}


def without_empty_shape(spec):
    """onnxruntime tells an input of no declared shape and a scalar alike, and takes any shape for both."""
    return spec if spec["shape"] else {**spec, "shape": None}


def type_of(text):
    """tensor(float), seq(tensor(int64)), optional(seq(tensor(string))), map(…)"""
    kinds = {"tensor": "tensor", "seq": "sequence", "optional": "optional"}
    kind = "map" if "map(" in text else kinds.get(text.split("(")[0], "map")
    inner = re.fullmatch(r"(?:optional\()?(?:seq\()?tensor\((\w+)\)+", text)
    name = inner and NAMES.get(inner.group(1), inner.group(1))
    return kind, name if name in DTYPES else None


def known_dim(dim):
    if isinstance(dim, int):
        return dim if dim >= 0 else None
    return dim or None


def hides_from_numpy(spec):
    return spec["dtype"] is not None and spec["dtype"] != "string" and spec["dtype"] not in PLAIN


def to_feed(name, value):
    if isinstance(value, list):
        return [refuse_raw(name, element) for element in value]
    return to_ort_value(value) if isinstance(value, Raw) else value


def refuse_raw(name, element):
    if isinstance(element, Raw):
        raise StageFailure("run", f'input "{name}" is a sequence of {element.dtype}, which onnxruntime\'s Python interface cannot carry')
    return element


def to_ort_value(value):
    ort = load()
    if not isinstance(value, Raw):
        return ort.OrtValue.ortvalue_from_numpy(np.asarray(value, order="C"))
    bits, code = DTYPES[value.dtype]
    array = np.frombuffer(value.data, np.uint16 if bits == 16 else np.uint8).reshape(value.shape)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, code)


def from_ort(value):
    if not hasattr(value, "element_type"):
        return value
    dtype = BY_CODE.get(value.element_type()) if value.is_tensor() else None
    if dtype is None or dtype == "string" or dtype in PLAIN:
        return value.numpy()
    return Raw(dtype, value.shape(), memory_of(value, byte_length(dtype, value.shape())))


def memory_of(value, length):
    import ctypes
    return ctypes.string_at(value.data_ptr(), length) if length else b""


ENGINE = OnnxRuntime
