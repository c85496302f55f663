"""Engine → its module here; a module is imported only when its engine is asked for."""
import importlib

ENGINES = {
    "onnxruntime": "onnx_runtime",
    "onnx-reference": "onnx_reference",
    "openvino": "open_vino",
    "iree": "iree",
    "torch": "torch_engine",
}


def load_engine(name):
    if name not in ENGINES:
        raise SystemExit(f'unknown engine "{name}"; known: {", ".join(sorted(ENGINES))}')
    return importlib.import_module(f"{__name__}.{ENGINES[name]}").ENGINE()
