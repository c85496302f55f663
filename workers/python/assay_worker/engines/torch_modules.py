"""Inputs and outputs of submodules as they are computed, and whose fault an exception is."""
import dataclasses
import inspect
import sys
import time
import traceback

from ..engine import StageFailure
from ..frames import HostGone, ProtocolBroken
from .torch_folder import did_you_mean, one_line, refused, shortened
from .torch_inputs import INPUTS, Feeds, walk_inputs
from .torch_values import from_torch, walk

TRACEBACK_LINES = 24


class Taps:
    """Forward hooks, put on once; while a run listens, each sends what went into its module, or what it gave, at once.

    `name` is the first call in a run, `name@1` the second; `name#0#key` is an element of a tuple or dict, `name:in#0` and
    `name:in#mask` are arguments.
    """

    def __init__(self, model, asked):
        self.modules = choose(model, [name for name in asked if not name.endswith(INPUTS)])
        self.entered = choose(model, [name.removesuffix(INPUTS) for name in asked if name.endswith(INPUTS)])
        self.may_be_output = may_be_output(model)
        self.named = [name for name in asked if not name.startswith("*")]
        self.give, self.sent_ms = None, 0
        for name, module in {**self.modules, **self.entered}.items():
            module.register_forward_pre_hook(self.hook_before(name), with_kwargs=True)
        for name, module in self.modules.items():
            module.register_forward_hook(self.hook_after(name), with_kwargs=True)

    def hook_before(self, name):
        def hook(_module, positional, keyword):
            if self.give is None:
                return None
            title = numbered(name, self.entries)
            if name in self.entered:
                self.timed(lambda: self.send_inputs(title, positional, keyword))
            return self.feeds.put(title, positional, keyword)
        return hook

    def hook_after(self, name):
        def hook(_module, _positional, _keyword, output):
            if self.give is not None:
                self.timed(lambda: self.send(name, output))
        return hook

    def listen(self, give, fed=None):
        self.give, self.feeds = give, Feeds(fed or {})
        self.entries, self.calls, self.held = {}, {}, []
        # Time that sending took in the middle of computing.
        self.sent_ms = 0

    def timed(self, send):
        started = time.perf_counter()
        send()
        self.sent_ms += (time.perf_counter() - started) * 1e3

    def send_inputs(self, title, positional, keyword):
        for path, tensor in walk_inputs(positional, keyword):
            name = "#".join((f"{title}{INPUTS}", *path))
            self.give(name, from_torch(name, tensor))

    def send(self, name, output):
        call = numbered(name, self.calls)
        if call in self.feeds.misfits:
            return
        for path, tensor in walk(output):
            title = "#".join((call, *path))
            if title == name and self.may_be_output(name):
                self.held.append((title, tensor.detach().clone()))
            else:
                self.give(title, from_torch(title, tensor))

    def stop(self):
        self.give = None

    def finish(self, outputs):
        """Sends what was held back: an output's name is the output's, and a tap's then has its call."""
        give, held = self.give, self.held
        self.give, self.held = None, []
        for title, tensor in held:
            free = f"{title}@0" if title in outputs else title
            give(free, from_torch(free, tensor))
        asked = dict.fromkeys(name.removesuffix(INPUTS) for name in self.named)
        missed = [f'module "{name}" was not called' for name in asked if name not in self.entries]
        return [*missed, *self.feeds.unused(self.entries), *self.feeds.misfits.values()]


def numbered(name, counts):
    """The first call has the name alone."""
    call = counts.get(name, 0)
    counts[name] = call + 1
    return name if call == 0 else f"{name}@{call}"


def may_be_output(model):
    """Which names an output can have is known before the end only where forward says what it gives."""
    given = inspect.signature(model.forward).return_annotation
    fields = {field.name for field in dataclasses.fields(given)} if dataclasses.is_dataclass(given) else None
    return lambda name: "." not in name and (fields is None or name in fields)


def choose(model, asked):
    known = dict(model.named_modules())
    if "*" in asked:
        return {name: module for name, module in known.items() if name != ""}
    doubles = {name: module for name, module in model.named_modules(remove_duplicate=False) if name not in known}
    chosen = {}
    for name in asked:
        if name == "":
            raise refused('the tap "" is the model itself, whose outputs come anyway')
        if name in doubles:
            first = next(other for other, module in known.items() if module is doubles[name])
            raise refused(f'the module "{name}" is "{first}" under another name; ask for that')
        if name not in known:
            hint = did_you_mean(name, list(known)) or f'; it has {shortened([name for name in known if name])}'
            raise refused(f'{type(model).__name__} has no module "{name}"{hint}')
        chosen[name] = known[name]
    return chosen


class Blame:
    """Turns an exception in a forward pass into the failure of the innermost module that was at work."""

    def __init__(self, model):
        self.names = {id(module): (name, type(module).__name__) for name, module in model.named_modules()}

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (StageFailure, HostGone, ProtocolBroken)) or not isinstance(error, (Exception, SystemExit)):
            return False
        text = "".join(traceback.format_exception(error))
        print(text, file=sys.stderr)
        tail = "\n".join(text.rstrip().splitlines()[-TRACEBACK_LINES:])
        raise StageFailure("run", f"{self.culprit(trace)}{one_line(error)}", stderr=tail) from error

    def culprit(self, trace):
        found = None
        for frame, _ in traceback.walk_tb(trace):
            for variable in ("self", "module"):
                found = self.names.get(id(frame.f_locals.get(variable)), found)
        if found is None:
            return ""
        name, kind = found
        return f"{name} ({kind}): " if name else f"{kind}: "
