"""torch.compile: which backends there are, and the programs that one makes of a model."""
import os
import shutil
import time

import torch

from ..engine import StageFailure
from .torch_folder import did_you_mean, one_line, refused

# The model as it is, without torch.compile.
EAGER = "eager"


def check_compile(options):
    """Before weights are read, which may take long."""
    if options["compile"] != EAGER:
        check_backend(options["compile"])
    elif options["compile-option"]:
        raise refused("compile-option= is for a backend; name it with compile=")


def compile_model(model, options):
    """The model's program; None where it runs as it is."""
    backend = options["compile"]
    if backend == EAGER:
        return None
    try:
        return Program(torch.compile(model, backend=backend, options=read_options(options["compile-option"])))
    except Exception as error:
        raise refused(f"compile={backend}: {one_line(error)}") from error


def check_backend(name):
    known = sorted({EAGER, *torch._dynamo.list_backends(exclude_tags=())})
    if name not in known:
        useful = ", ".join(other for other in known if not other.endswith("TESTING_ONLY"))
        raise refused(f'torch.compile knows no backend "{name}"{did_you_mean(name, known) or ";"} '
                      f"known: {useful}; import= names modules that register more")
    if name == "inductor" and compiler() is None:
        raise refused("compile=inductor needs a C++ compiler, and there is no g++, clang++ or $CXX here")


def compiler():
    return next((found for name in (os.environ.get("CXX"), "g++", "clang++") if name and (found := shutil.which(name))), None)


def read_options(text):
    """`key=value,key=value`, with values as torch.compile takes them."""
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    return {key: typed(value) for key, _, value in pairs} or None


def typed(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Program:
    """What torch.compile makes of a model: a graph for every kind of shapes, when it is called with them."""

    # Of this process: a reset forgets the graphs of all sessions.
    resets = 0
    # Who reset last, by its number.
    owner, made = None, 0

    def __init__(self, forward):
        self.forward, self.has_compiled = forward, False
        # What it was warmed up for, and after which reset.
        self.warmed, self.warmed_after = set(), None
        Program.made += 1
        self.number = Program.made

    def begin(self):
        """Programs of other sessions would be taken over, and not be counted."""
        if self.has_compiled or Program.owner == self.number:
            return
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        Program.resets, Program.owner = Program.resets + 1, self.number

    def end(self):
        self.has_compiled = self.has_compiled or count_graphs() > 0

    def warm_up(self, shapes, call):
        """Makes a call that compiles, and says how long both took; nothing if it was made before."""
        self.begin()
        if self.warmed_after != Program.resets:
            self.warmed, self.warmed_after = set(), Program.resets
        if shapes in self.warmed:
            return {}
        compiled_before, started = compile_seconds(), time.perf_counter()
        try:
            call()
        except StageFailure as failure:
            failure.stage = "compile"
            raise
        self.warmed.add(shapes)
        return {"durationMs": (time.perf_counter() - started) * 1e3,
                "compileMs": (compile_seconds() - compiled_before) * 1e3}

    def doubts(self):
        """torch.compile says nothing when it gives up, and runs the model as it is."""
        return [] if self.has_compiled else ["torch.compile compiled nothing of this model; all of it ran as it is"]


def count_breaks():
    return sum(torch._dynamo.utils.counters["graph_break"].values())


def count_graphs():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def compile_seconds():
    return torch._dynamo.utils.calculate_time_spent().get("total_wall_time", 0)
