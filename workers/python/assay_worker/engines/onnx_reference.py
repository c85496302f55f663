"""ONNX's reference evaluator: NumPy code that was written from the definition of every operator."""
import os
import platform
import time

import numpy as np

from ..engine import Engine, NotHere, Outputs, Session, StageFailure, import_library
from ..onnx_model import input_specs, load_model, output_specs
from ..identity import build_identity, processor_identity
from ..tensors import PLAIN, ml_dtypes_here, with_ml_dtypes


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
        try:
            evaluator = reference.ReferenceEvaluator(proto)
        except Exception as error:
            raise StageFailure("compile", words_of(error)) from error
        # NumPy's matrix products; the host set it before NumPy was loaded.
        threads = os.environ.get("OPENBLAS_NUM_THREADS", "not set")
        return EvaluatorSession(evaluator, proto.graph, {**what_runs(onnx), "threads": threads})


def load():
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
