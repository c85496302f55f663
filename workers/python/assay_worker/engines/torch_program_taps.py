"""Taps of a program that torch.compile made: what modules give leaves it as further outputs."""
from .torch_inputs import INPUTS
from .torch_modules import Taps, numbered
from .torch_program import count_breaks, count_graphs
from .torch_values import walk


class ProgramTaps(Taps):
    """Hooks that are traced into the program. They only note what they see, so that it stays one graph; all is sent after
    the run, and the worker holds it until then."""

    def __init__(self, model, asked):
        # Of its own, as a function that changes with every run would be compiled anew with every run.
        self.is_listening, self.found, self.doubts = False, [], []
        super().__init__(model, asked)

    def hook_before(self, name):
        def hook(_module, positional, keyword):
            if not self.is_listening:
                return None
            title = numbered(name, self.entries)
            if name in self.entered:
                self.found.append((f"{title}{INPUTS}", (positional, keyword)))
            return self.feeds.put(title, positional, keyword)
        return hook

    def hook_after(self, name):
        def hook(_module, _positional, _keyword, output):
            if self.is_listening:
                self.found.append((name, output))
        return hook

    def listen(self, give, fed=None):
        super().listen(give, fed)
        self.is_listening, self.found = True, []

    def stop(self):
        super().stop()
        self.is_listening, self.found = False, []

    def finish(self, outputs):
        for name, value in self.found:
            if name.endswith(INPUTS):
                self.send_inputs(name.removesuffix(INPUTS), *value)
            else:
                self.send(name, value)
        return [*super().finish(outputs), *self.doubts]

    def warm(self, compute, fed):
        """Compiles the program with its taps, and sees whether it is the one without them, as far as nothing is fed."""
        plain, pieces = (None, None) if fed else counted(compute)
        self.listen(None, fed)
        try:
            tapped, tapped_pieces = counted(compute)
        finally:
            self.stop()
        if not fed:
            self.doubts = [*compare_pieces(pieces, tapped_pieces), *compare_outputs(plain, tapped)]


def counted(compute):
    graphs, breaks = count_graphs(), count_breaks()
    output, _ = compute()
    return output, (count_graphs() - graphs, count_breaks() - breaks)


def compare_pieces(plain, tapped):
    if tapped == plain:
        return []
    return [f"the program with taps has {tapped[0]} graphs and {tapped[1]} graph breaks, that without has {plain[0]} and "
            f"{plain[1]}; its layers may be computed in another way"]


def compare_outputs(plain, tapped):
    pairs = list(zip(walk(plain), walk(tapped), strict=True))
    other = [".".join(path) or "output" for (path, one), (_, two) in pairs if not same(one, two)]
    return [f'the program with taps gives other numbers in "{other[0]}" than that without'] if other else []


def same(one, two):
    return one.shape == two.shape and bool(((one == two) | ((one != one) & (two != two))).all())
