"""PyTorch, on folders of Hugging Face's transformers."""
import os
import platform
import sys

from ..engine import Engine, StageFailure, import_library, options_of
from ..identity import build_identity, processor_identity
from ..imports import import_named

DEFAULTS = {"threads": "1", "dtype": "fp32", "compile": "eager", "attention": "eager", "seed": "0",
            "compile-option": None, "trust-code": "false", "task": None, "unfuse": "false"}

# Nothing is fetched and nothing is told, whatever the machine's own settings are.
QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1",
         "TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
         # cuBLAS gives the same bits twice only with a workspace of fixed size.
         "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "TORCHINDUCTOR_COMPILE_THREADS": "1"}

DTYPES = ["float32", "float64", "float16", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
          "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"]


class Torch(Engine):
    name = "torch"

    def probe(self, device):
        os.environ.update(QUIET)
        torch, transformers = import_library("torch"), import_library("transformers")
        import_library("safetensors")
        imported, identity = import_named(self.imports)
        self.imported = {"imports": imported} if imported else {}
        from .torch_devices import device_name, devices_here, find_device
        self.device = find_device(device)
        versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
        tiles = " without AMX, which ends processes here" if avoids_tiles(torch, self.device) else ""
        detail = {"library": versions, "python": platform.python_version(),
                  "device": f"{device_name(self.device)}{tiles}", "devices": ", ".join(devices_here()),
                  **self.imported}
        return {
            "version": torch.__version__,
            "accepts": ["huggingface"],
            "dtypes": DTYPES,
            "capabilities": {"kinds": ["tensor"], "taps": True, "replay": True, "decode": True, "weights": True},
            "detail": detail,
            "fingerprint": f"{versions} {build_identity(torch, transformers)} {detail['device']} {processor_identity()}"
                           f"{f' {identity}' if imported else ''}",
        }

    def open(self, model, target, taps):
        options = options_of(target, DEFAULTS)
        if model.format != "huggingface" or model.path is None:
            raise StageFailure("compile", "torch opens Hugging Face folders from the disk, and no bytes")
        # Our own modules leave nothing behind in the folder of the package.
        sys.dont_write_bytecode = True
        from .torch_session import open_session
        sys.dont_write_bytecode = False
        session = open_session(model.path, options, self.device, taps)
        session.detail = {**session.detail, **self.imported}
        return session


def avoids_tiles(torch, device):
    if device.type != "cpu" or sys.platform != "linux":
        return False
    from .matrix_tiles import avoid_forbidden_tiles
    return avoid_forbidden_tiles(torch)


ENGINE = Torch
