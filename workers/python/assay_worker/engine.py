"""What every engine gives. An engine's module has one class, ENGINE, and imports its library when it is probed.

A value is a NumPy array (of objects for strings), a tensors.Raw where NumPy lacks the type, a list of those for a
sequence, or None for an optional that is empty.
"""
import importlib
import sys


class NotHere(Exception):
    """The engine cannot work here; the reason says what to do."""


class NotInstalled(NotHere):
    """A library is missing in this Python, or broken; how to install it is the host's to say."""


def import_library(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0]:
            raise NotInstalled(f"{name} cannot be imported: {error}") from None
        raise NotInstalled(f"{error.name} is not installed in {sys.executable}") from None
    except Exception as error:
        raise NotInstalled(f"{name} cannot be imported: {type(error).__name__}: {error}") from None


class StageFailure(Exception):
    """A failure that knows more than where it was raised: its stage, and the tool that failed."""

    def __init__(self, stage, message, **detail):
        super().__init__(message)
        self.stage, self.detail = stage, detail


class Model:
    """A file (`path`), or edited bytes (`data`) whose external data lies in `folder`."""

    def __init__(self, format, path=None, data=None, folder=None):
        self.format, self.path, self.data, self.folder = format, path, data, folder


class Outputs:
    """Names and values in order, from any iterable; duration_ms is read when all of it was taken."""

    def __init__(self, values, duration_ms):
        self.values, self.duration_ms = values, duration_ms


class Session:
    # As on the wire: name, kind, dtype (or None), shape (or None).
    inputs = []
    outputs = []
    # What really runs, for the record.
    detail = {}
    # Whether the first run of every shape compiles, so that warm(inputs, replayed), and decode_warm(inputs, params) where it decodes,
    # are called before it; they give durationMs and compileMs, or nothing if there was nothing to do.
    warms = False
    # Whether a run may have tensors for the inputs of modules, such as `name:in#0`.
    replays = False

    def run(self, inputs):
        """Outputs of checked inputs, a value by name."""
        raise NotImplementedError

    # Optional, in place of run: stream(inputs, give, replayed) sends outputs while they are computed, by give(name, value),
    # and gives the answer's durationMs and warnings. `replayed` are the tensors for inputs of modules.
    # Optional: weights(), which lists name, dtype, shape and sha256 of each, where the capabilities have "weights".
    # Optional: decode_start(inputs, params) and decode_step(params, give), which give the answers of the protocol.

    def close(self):
        pass


class Engine:
    name = ""
    # Modules that the target names with import=.
    imports = ()

    def probe(self, device):
        """version, accepts, dtypes, outputDtypes, capabilities, detail, fingerprint; raises NotHere."""
        raise NotImplementedError

    def open(self, model, target, taps):
        raise NotImplementedError


def options_of(target, defaults):
    return {**defaults, **target.get("options", {})}
