"""Element types, and tensors as they travel: row-major, little endian, 4-bit types packed, strings with their lengths."""
import struct
import sys
from math import prod

import numpy as np

CHUNK_BYTES = 1 << 20

# name on the wire: bits, code in ONNX
DTYPES = {
    "float32": (32, 1), "uint8": (8, 2), "int8": (8, 3), "uint16": (16, 4), "int16": (16, 5), "int32": (32, 6),
    "int64": (64, 7), "string": (0, 8), "bool": (8, 9), "float16": (16, 10), "float64": (64, 11), "uint32": (32, 12),
    "uint64": (64, 13), "complex64": (64, 14), "complex128": (128, 15), "bfloat16": (16, 16), "float8e4m3fn": (8, 17),
    "float8e4m3fnuz": (8, 18), "float8e5m2": (8, 19), "float8e5m2fnuz": (8, 20), "uint4": (4, 21), "int4": (4, 22),
    "float4e2m1": (4, 23), "float8e8m0": (8, 24), "uint2": (2, 25), "int2": (2, 26),
}
BY_CODE = {code: name for name, (_, code) in DTYPES.items()}

# Those that NumPy has itself.
PLAIN = ("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16", "float64", "uint32",
         "uint64", "complex64", "complex128")

# Names in ml_dtypes, which onnx brings along.
ML_DTYPES = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz",
             "float8_e5m2": "float8e5m2", "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0fnu": "float8e8m0",
             "uint4": "uint4", "int4": "int4", "float4_e2m1fn": "float4e2m1", "uint2": "uint2", "int2": "int2"}


class Raw:
    """A tensor of a type that NumPy lacks, as the bytes that travel."""

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, tuple(shape), data


def byte_length(dtype, shape):
    """None for strings, whose size is not in their shape, and for what decode will refuse."""
    return None if dtype == "string" or dtype not in DTYPES else -(-prod(shape) * bits_of(dtype) // 8)


def bits_of(dtype):
    if dtype not in DTYPES:
        raise ValueError(f"unknown dtype {dtype}")
    return DTYPES[dtype][0]


def decode(dtype, shape, data):
    """A NumPy array, of objects for strings; Raw where NumPy lacks the type."""
    if dtype == "string":
        return decode_strings(shape, data)
    if bits_of(dtype) and dtype not in PLAIN:
        return Raw(dtype, shape, data)
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).astype(dtype, copy=False).reshape(shape)


def decode_strings(shape, data):
    strings, at = np.empty(prod(shape), object), 0
    for i in range(len(strings)):
        (length,) = struct.unpack_from("<I", data, at)
        strings[i] = bytes(data[at + 4:at + 4 + length]).decode()
        at += 4 + length
    return strings.reshape(shape)


def dtype_of(value):
    """The name on the wire of an array's or Raw's element type."""
    if isinstance(value, Raw):
        return value.dtype
    kind, name = value.dtype.kind, value.dtype.name
    if kind in "OUS":
        return "string"
    if name in PLAIN:
        return name
    if name in ML_DTYPES:
        return ML_DTYPES[name]
    raise ValueError(f"an array of {value.dtype}, which has no name in the protocol")


def encode(value):
    """The bytes that travel."""
    if isinstance(value, Raw):
        return value.data
    dtype = dtype_of(value)
    if dtype == "string":
        return encode_strings(value)
    if bits_of(dtype) < 8:
        return pack(value, bits_of(dtype))
    if sys.byteorder == "big" and value.dtype.itemsize > 1:
        value = value.byteswap()
    # reshape copies only where memory is in another order.
    return memoryview(np.ascontiguousarray(value).reshape(-1).view(np.uint8))


def encode_strings(array):
    texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel().tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def pack(array, bits):
    """Small elements, one a byte, side by side with the first in the low bits."""
    per_byte = 8 // bits
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    padded = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.uint8)]).reshape(-1, per_byte)
    shifted = padded << (np.arange(per_byte, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8).tobytes()


def unpack(data, count, bits):
    """One byte for each element, its upper bits 0."""
    packed = np.frombuffer(data, np.uint8).reshape(-1, 1)
    spread = (packed >> (np.arange(8 // bits, dtype=np.uint8) * bits)) & ((1 << bits) - 1)
    return spread.reshape(-1)[:count].astype(np.uint8)


def with_ml_dtypes(value):
    """The same tensor as a NumPy array whose type comes from ml_dtypes."""
    if not isinstance(value, Raw):
        return value
    numpy_dtype, bits = ml_dtype(value.dtype), bits_of(value.dtype)
    if bits >= 8:
        return np.frombuffer(value.data, numpy_dtype).reshape(value.shape)
    small = unpack(value.data, prod(value.shape), bits)
    if value.dtype.startswith("int"):
        # ml_dtypes wants the sign in all upper bits.
        small = ((small.astype(np.int8) ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.int8).view(np.uint8)
    return small.view(numpy_dtype).reshape(value.shape)


def ml_dtype(dtype):
    import ml_dtypes
    name = next(name for name, wire in ML_DTYPES.items() if wire == dtype)
    return np.dtype(getattr(ml_dtypes, name))


def ml_dtypes_here():
    """The names on the wire of what ml_dtypes, if it is installed, adds to NumPy."""
    try:
        import ml_dtypes
    except ImportError:
        return []
    return [wire for name, wire in ML_DTYPES.items() if hasattr(ml_dtypes, name)]


def send_tensor(channel, request, name, value):
    dtype, data = dtype_of(value), encode(value)
    shape = [int(dim) for dim in value.shape]
    for offset in range(0, max(1, len(data)), CHUNK_BYTES):
        part = data[offset:offset + CHUNK_BYTES]
        params = {"request": request, "name": name, "dtype": dtype, "shape": shape, "offset": offset,
                  "last": offset + len(part) == len(data)}
        channel.notify("tensor", params, part)
