"""ONNX models for engines that read them with the onnx package."""
import os

from .engine import StageFailure, import_library
from .tensors import BY_CODE


def load_model(model):
    """The ModelProto with its external data inside."""
    proto = read_proto(model)
    folder = model.folder if model.path is None else os.path.dirname(os.path.abspath(model.path))
    try:
        import_library("onnx").load_external_data_for_model(proto, folder)
    except Exception as error:
        raise StageFailure("compile", f"cannot read the model's external data: {' '.join(str(error).split())}") from error
    return proto


def read_proto(model):
    """The ModelProto alone."""
    onnx = import_library("onnx")
    try:
        proto = onnx.load_model(model.path, load_external_data=False) if model.path else parse(onnx, model.data)
    except Exception as error:
        raise StageFailure("compile", f"cannot read the model: {' '.join(str(error).split())}") from error
    # A text in the place of a model may be read as one that is empty.
    if not proto.graph.output:
        raise StageFailure("compile", "cannot read the model: it has no outputs, so it is no ONNX model")
    return proto


def parse(onnx, data):
    proto = onnx.ModelProto()
    proto.ParseFromString(data)
    return proto


def input_specs(graph):
    """Inputs without those that have an initializer."""
    given = {tensor.name for tensor in graph.initializer} | {sparse.values.name for sparse in graph.sparse_initializer}
    return [spec_of(value) for value in graph.input if value.name not in given]


def output_specs(graph):
    return [spec_of(value) for value in graph.output]


def spec_of(value):
    return {"name": value.name, **content_of(value.type)}


UNKNOWN = {"kind": "tensor", "dtype": None, "shape": None}


def content_of(type_proto):
    """Sequences and optionals tell the element type of the tensors inside."""
    case = type_proto.WhichOneof("value")
    if case == "tensor_type":
        tensor = type_proto.tensor_type
        return {"kind": "tensor", "dtype": BY_CODE.get(tensor.elem_type), "shape": shape_of(tensor)}
    if case in ("sequence_type", "optional_type"):
        inner = content_of(getattr(type_proto, case).elem_type)
        kind = inner["kind"] if inner["kind"] == "map" else case[:-len("_type")]
        return {"kind": kind, "dtype": inner["dtype"], "shape": None}
    return {"kind": "map", "dtype": None, "shape": None} if case == "map_type" else UNKNOWN


def shape_of(tensor):
    return [dimension(dim) for dim in tensor.shape.dim] if tensor.HasField("shape") else None


def dimension(dim):
    """Exporters write -1 and the like for a size they do not know."""
    if dim.WhichOneof("value") == "dim_value":
        return dim.dim_value if dim.dim_value >= 0 else None
    return dim.dim_param or None
