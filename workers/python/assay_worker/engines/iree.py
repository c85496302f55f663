"""IREE: imported from ONNX, compiled by iree-compile, run on one thread of the processor."""
import hashlib
import io
import os
import platform
import re
import signal
import subprocess
import tempfile
import time

import numpy as np

from ..engine import Engine, NotHere, Outputs, Session, StageFailure, import_library, options_of
from ..onnx_model import input_specs, load_model, output_specs
from ..identity import build_identity, processor_identity
from ..tensors import PLAIN, ml_dtypes_here, with_ml_dtypes

DEVICES = ("llvm-cpu", "vmvx")
DEFAULTS = {"optimization": None}

# The importer knows operators as they are from here on; its documentation raises older models to it.
OPSET = 17

# Of the places where --compile-to can stop, those that differ most.
PHASES = ["input", "global-optimization", "flow", "stream", "hal", "vm"]

KEPT_MODULES = 16
KEPT_BYTES = 8 << 20

MOST_STDERR = 64 << 10
MOST_MESSAGE = 400


class Iree(Engine):
    name = "iree"

    def __init__(self):
        self.kept = {}

    def probe(self, device):
        runtime, version = load()
        if device not in DEVICES:
            raise NotHere(f'iree has no device "{device}", only {", ".join(DEVICES)}')
        self.runtime, self.version, self.device = runtime, version, device
        onnx = import_library("onnx")
        small = [dtype for dtype in ml_dtypes_here() if dtype == "bfloat16" or "8e4" in dtype or "8e5" in dtype]
        return {
            "version": version,
            "accepts": ["onnx"],
            "dtypes": [*PLAIN, *small],
            "capabilities": {"kinds": ["tensor"], "forms": PHASES},
            "detail": {**self.what_runs(), "onnx": onnx.__version__},
            "fingerprint": f"iree {version} onnx {onnx.__version__} {self.build()} {processor_identity()}",
        }

    def build(self):
        return build_identity(import_library("iree.compiler"), self.runtime, import_library("iree._runtime"))

    def what_runs(self):
        return {"library": f"IREE {self.version}", "python": platform.python_version()}

    def open(self, model, target, taps):
        given = load_model(model)
        inputs, outputs = input_specs(given.graph), output_specs(given.graph)
        proto, opset = prepare(given)
        options = options_of(target, DEFAULTS)
        settings = compiler_settings(self.device, options)
        module = self.compiled(import_module(proto), settings)
        detail = {**self.what_runs(), "backend": self.device, "driver": DRIVER, "threads": "1", "opset": opset,
                  "optimization": options["optimization"] or "the compiler's default"}
        arguments = [spec["name"] for spec in input_specs(proto.graph)]
        return ModuleSession(self.runtime, module, arguments, inputs, outputs, detail)

    def compiled(self, imported, settings):
        """Small modules are kept for equal models that come later."""
        key = hashlib.sha256(imported + "\0".join(settings).encode()).digest()
        if key in self.kept:
            return self.kept[key]
        with tempfile.TemporaryDirectory(prefix="assay-iree-") as folder:
            with open(compile_module(imported, folder, "model.vmfb", settings), "rb") as file:
                module = file.read()
        if len(module) <= KEPT_BYTES:
            self.kept[key] = module
            if len(self.kept) > KEPT_MODULES:
                del self.kept[next(iter(self.kept))]
        return module

    def form(self, model, target, form, folder, weights):
        """The module as it is after one phase of the compiler."""
        proto, _ = prepare(load_model(model))
        settings = [*compiler_settings(self.device, options_of(target, DEFAULTS)), f"--compile-to={form}"]
        if weights == "absent":
            settings += ["--mlir-elide-elementsattrs-if-larger=16", "--mlir-elide-resource-strings-if-larger=64"]
        compile_module(import_module(proto), folder, f"{form}.mlir", settings)
        return f"{form}.mlir"


DRIVER = "local-sync"


def load():
    """The runtime, and the version of the compiler; both are in packages of their own."""
    from importlib.metadata import version
    runtime = import_library("iree.runtime")
    import_library("iree.compiler")
    return runtime, version("iree-base-compiler")


def prepare(proto):
    """Raised to the opset that the importer knows, with the shapes that it needs; and what was done, in words."""
    onnx = import_library("onnx")
    proto.graph.name = FUNCTION
    opset = max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    said = str(opset)
    try:
        if 0 < opset < OPSET:
            proto, said = onnx.version_converter.convert_version(proto, OPSET), f"{OPSET}, converted from {opset}"
    except Exception as error:
        said = f"{opset}; it cannot be converted: {' '.join(str(error).split())[:200]}"
    try:
        return onnx.shape_inference.infer_shapes(proto, data_prop=True), said
    except Exception as error:
        raise StageFailure("compile", f"onnx cannot infer the shapes: {' '.join(str(error).split())}") from error


FUNCTION = "main_graph"


def import_module(proto):
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context
    try:
        info = onnx_importer.ModelInfo(proto)
        module = info.create_module(context=Context()).operation
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
        module.verify()
        buffer = io.BytesIO()
        module.write_bytecode(buffer)
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise StageFailure("compile", f"the importer refused the model: {words}", tool="iree-import-onnx") from error
    return buffer.getvalue()


def compiler_settings(device, options):
    settings = ["--iree-input-type=onnx", f"--iree-hal-target-backends={device}", "--mlir-print-op-on-diagnostic=false",
                # Its default computes float64 in float32, and then takes the caller's float64 for float32.
                "--iree-input-demote-f64-to-f32=false"]
    if device == "llvm-cpu":
        settings.append("--iree-llvmcpu-target-cpu=host")
    if options["optimization"]:
        settings.append(f"--iree-opt-level={options['optimization']}")
    return settings


def compile_module(imported, folder, name, settings):
    from iree.compiler.tools.binaries import find_tool
    path = os.path.join(folder, name)
    argv = [find_tool("iree-compile"), "-", *settings, f"-o={path}"]
    done = subprocess.run(argv, input=imported, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0 and os.path.exists(path):
        return path
    text = done.stdout.decode(errors="replace")
    raise StageFailure("compile", f"iree-compile: {first_error(text, done.returncode)}", tool="iree-compile",
                       argv=argv[1:], stderr=text[:MOST_STDERR], **ending(done.returncode))


def first_error(text, code):
    lines = [line for line in text.splitlines() if "error:" in line]
    if lines:
        return re.sub(r'^loc\("[^"]*"\): ', "", lines[0].split("error:", 1)[1].strip())[:MOST_MESSAGE]
    return f"ended with {code} and no error of its own" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def ending(code):
    return {"exitCode": code} if code >= 0 else {"signal": signal.Signals(-code).name}


class ModuleSession(Session):
    def __init__(self, runtime, module, arguments, inputs, outputs, detail):
        config = runtime.Config(DRIVER)
        self.context = runtime.SystemContext(config=config)
        loaded = runtime.VmModule.copy_buffer(config.vm_instance, module)
        self.context.add_vm_module(loaded)
        self.function = self.context.modules[loaded.name][FUNCTION]
        self.arguments, self.inputs, self.outputs, self.detail = arguments, inputs, outputs, detail

    def run(self, inputs):
        arguments = [np.asarray(with_ml_dtypes(inputs[name]), order="C") for name in self.arguments]
        started = time.perf_counter()
        try:
            returned = self.function(*arguments)
        except Exception as error:
            raise StageFailure("run", " ".join(str(error).split())) from error
        duration_ms = (time.perf_counter() - started) * 1e3
        values = returned if isinstance(returned, tuple) else (returned,)
        return Outputs([(spec["name"], given(spec, value)) for spec, value in zip(self.outputs, values)], duration_ms)

    def close(self):
        self.function = self.context = None


def given(spec, value):
    """Integers have no sign in IREE, so those of an unsigned type come as signed ones with the same bits."""
    array = np.array(value.to_host())
    declared = spec["dtype"] or ""
    is_unsigned = declared.startswith("uint") and array.dtype.name == declared[1:]
    return array.view(declared) if is_unsigned else array


ENGINE = Iree
