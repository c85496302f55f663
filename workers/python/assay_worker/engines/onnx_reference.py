"""ONNX's reference evaluator: NumPy code that was written from the definition of every operator."""
import os
import platform
import time

import numpy as np

from ..engine import Engine, NotHere, Outputs, Session, StageFailure, import_library, options_of
from ..onnx_model import input_specs, load_model, output_specs
from ..identity import build_identity, processor_identity
from ..tensors import PLAIN, ml_dtypes_here, with_ml_dtypes

DEFAULTS = {"corrected": "false"}


class OnnxReference(Engine):
    name = "onnx-reference"

    def probe(self, device):
        onnx, _ = load()
        if device != "cpu":
            raise NotHere(f'onnx-reference has no device "{device}", only cpu')
        return {
            "version": onnx.__version__,
            "accepts": ["onnx"],
            "dtypes": [*PLAIN, "string", *ml_dtypes_here()],
            "capabilities": {"kinds": ["tensor", "sequence", "optional"]},
            "detail": {**what_runs(onnx), "devices": "cpu"},
            "fingerprint": f"onnx-reference {onnx.__version__} {build_identity(onnx, np)} {processor_identity()}",
        }

    def open(self, model, target, taps):
        onnx, reference = load()
        proto = load_model(model)
        corrected = options_of(target, DEFAULTS)["corrected"] == "true" and needs_correction(proto)
        new_ops = [inference_batch_normalization(reference)] if corrected else []
        try:
            evaluator = reference.ReferenceEvaluator(proto, new_ops=new_ops)
        except Exception as error:
            raise StageFailure("compile", words_of(error)) from error
        # NumPy's matrix products; the host set it before NumPy was loaded.
        threads = os.environ.get("OPENBLAS_NUM_THREADS", "not set")
        detail = {**what_runs(onnx), "threads": threads, "corrected": "BatchNormalization" if corrected else "nothing"}
        return EvaluatorSession(evaluator, proto.graph, detail)


def needs_correction(proto):
    """Up to opset 13 a node with one output is for inference; onnx takes it for one in training."""
    opset = max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    return 7 <= opset < 14


def inference_batch_normalization(reference):
    """BatchNormalization as opsets 7 to 13 define it for a node with one output."""

    class BatchNormalization(reference.op_run.OpRun):
        op_domain = ""

        def _run(self, x, scale, bias, mean, var, epsilon=None, momentum=None, spatial=None, training_mode=None):
            if len(self.onnx_node.output) > 1 or spatial == 0:
                raise NotImplementedError("BatchNormalization in training, or without spatial, before opset 14")
            shape = (1, -1) + (1,) * (x.ndim - 2)
            scale, bias, mean, var = (value.reshape(shape) for value in (scale, bias, mean, var))
            divisor = np.sqrt(var + x.dtype.type(1e-5 if epsilon is None else epsilon))
            return ((scale * (x - mean) / divisor + bias).astype(x.dtype),)

    return BatchNormalization


def load():
    import_library("onnx.reference.op_run")
    return import_library("onnx"), import_library("onnx.reference")


def what_runs(onnx):
    return {"library": f"onnx {onnx.__version__}", "numpy": np.__version__, "python": platform.python_version()}


def words_of(error):
    return " ".join(f"{type(error).__name__}: {error}".split())


class EvaluatorSession(Session):
    def __init__(self, evaluator, graph, detail):
        self.evaluator, self.detail = evaluator, detail
        self.inputs, self.outputs = input_specs(graph), output_specs(graph)

    def run(self, inputs):
        feeds = {spec["name"]: to_feed(inputs.get(spec["name"])) for spec in self.inputs}
        started = time.perf_counter()
        # Overflow and NaN are results here, not news.
        with np.errstate(all="ignore"):
            try:
                values = self.evaluator.run(None, feeds)
            except Exception as error:
                raise StageFailure("run", words_of(error)) from error
        duration_ms = (time.perf_counter() - started) * 1e3
        return Outputs([(spec["name"], given(spec, value)) for spec, value in zip(self.outputs, values)], duration_ms)

    def close(self):
        self.evaluator = None


def to_feed(value):
    if isinstance(value, list):
        return [with_ml_dtypes(element) for element in value]
    return value if value is None else with_ml_dtypes(value)


def given(spec, value):
    """Some operators give a NumPy scalar in the place of an array of no dimensions."""
    if isinstance(value, (list, tuple)):
        return [np.asarray(element) for element in value]
    if value is None and spec["kind"] == "optional":
        return None
    if value is None or isinstance(value, dict):
        raise StageFailure("run", f'output "{spec["name"]}" is {type(value).__name__}, expected a {spec["kind"]}')
    return np.asarray(value)


ENGINE = OnnxReference
