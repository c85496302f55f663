"""PyTorch, on folders of Hugging Face's transformers."""
import os
import platform
import sys

from ..engine import Engine, NotHere, StageFailure, import_library, options_of
from ..identity import build_identity, processor_identity

DEFAULTS = {"threads": "1", "dtype": "fp32", "compile": "eager", "attention": "eager", "seed": "0",
            "trust-code": "false", "task": None}

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
        self.device = find_device(torch, device)
        versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
        tiles = " without AMX, which ends processes here" if avoids_tiles(torch, self.device) else ""
        detail = {"library": versions, "python": platform.python_version(),
                  "device": f"{device_name(torch, self.device)}{tiles}", "devices": ", ".join(devices_here(torch))}
        return {
            "version": torch.__version__,
            "accepts": ["huggingface"],
            "dtypes": DTYPES,
            "capabilities": {"kinds": ["tensor"], "taps": True, "decode": True},
            "detail": detail,
            "fingerprint": f"{versions} {build_identity(torch, transformers)} {detail['device']} {processor_identity()}",
        }

    def open(self, model, target, taps):
        options = options_of(target, DEFAULTS)
        if model.format != "huggingface" or model.path is None:
            raise StageFailure("compile", "torch opens Hugging Face folders from the disk, and no bytes")
        # Our own modules leave nothing behind in the folder of the package.
        sys.dont_write_bytecode = True
        from .torch_session import open_session
        sys.dont_write_bytecode = False
        return open_session(model.path, options, self.device, taps)


def find_device(torch, device):
    try:
        found = torch.device(device)
    except RuntimeError:
        found = None
    here = devices_here(torch)
    if found is None or found.type not in here or (found.index or 0) >= here[found.type]:
        raise NotHere(f'torch {torch.__version__} has no device "{device}" here, only {listed(here)}')
    return found


def devices_here(torch):
    """Kind of device → how many there are."""
    found = {"cpu": 1}
    if torch.accelerator.is_available():
        found[torch.accelerator.current_accelerator().type] = torch.accelerator.device_count()
    return found


def listed(here):
    return ", ".join(kind if count == 1 else f"{kind}:0 to {kind}:{count - 1}" for kind, count in here.items())


def avoids_tiles(torch, device):
    if device.type != "cpu" or sys.platform != "linux":
        return False
    from .matrix_tiles import avoid_forbidden_tiles
    return avoid_forbidden_tiles(torch)


def device_name(torch, device):
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    return str(device)


ENGINE = Torch
