"""Frames: magic, sizes, a JSON-RPC message, payload."""
import json
import os
import struct

MAGIC = b"ASY1"
PREFIX = struct.Struct("<4sII")


class HostGone(Exception):
    """The host closed its end."""


class ProtocolBroken(Exception):
    """The host sent something else than the protocol says."""


class Channel:
    def __init__(self, frames_in, frames_out):
        self._in = os.fdopen(frames_in, "rb", buffering=1 << 16)
        self._out = os.fdopen(frames_out, "wb", buffering=1 << 16)

    def read(self):
        """The next message with its payload."""
        message, payload_bytes = self.read_message()
        payload = bytearray(payload_bytes)
        self.read_into(memoryview(payload))
        return message, payload

    def read_message(self):
        """The next message and how many bytes of payload are to be read after it."""
        prefix = self._exactly(PREFIX.size)
        magic, header_bytes, payload_bytes = PREFIX.unpack(prefix)
        if magic != MAGIC:
            raise ProtocolBroken(f"expected a frame but found {bytes(prefix)!r}")
        return json.loads(self._exactly(header_bytes)), payload_bytes

    def read_into(self, view):
        filled = 0
        while filled < len(view):
            count = self._in.readinto(view[filled:])
            if not count:
                raise HostGone()
            filled += count

    def write(self, message, payload=b""):
        header = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._out.write(PREFIX.pack(MAGIC, len(header), len(payload)) + header)
            self._out.write(payload)
            self._out.flush()
        except BrokenPipeError:
            raise HostGone() from None

    def notify(self, method, params, payload=b""):
        self.write({"method": method, "params": params}, payload)

    def _exactly(self, count):
        data = bytearray(count)
        self.read_into(memoryview(data))
        return data


def receive(channel, method, request, whole_bytes):
    """Reads the notifications of one request up to its last, and gives the first's params with all bytes.

    whole_bytes(params) says how many bytes there will be, or None where that shows only in the end.
    """
    first, whole, filled, parts = None, None, 0, []
    while True:
        message, count = channel.read_message()
        params = message.get("params") or {}
        if message.get("method") != method or params.get("request") != request:
            raise ProtocolBroken(f"expected {method} of request {request}, but {str(message)[:200]} came")
        if first is None:
            first, total = params, whole_bytes(params)
            whole = None if total is None else bytearray(total)
        if params["offset"] != filled or (whole is not None and filled + count > len(whole)):
            raise ProtocolBroken(f"{method} of request {request}: {count} bytes at {params['offset']}, expected {filled}")
        place = memoryview(bytearray(count)) if whole is None else memoryview(whole)[filled:filled + count]
        channel.read_into(place)
        parts.append(place)
        filled += count
        if params["last"]:
            break
    if whole is None:
        return first, b"".join(parts)
    if filled != len(whole):
        raise ProtocolBroken(f"{method} of request {request} ended after {filled} of {len(whole)} bytes")
    return first, whole
