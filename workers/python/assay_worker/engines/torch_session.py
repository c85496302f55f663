"""One model, opened: what it takes, and runs of it."""
import dataclasses
import gc
import inspect
import re
import time
from collections.abc import Mapping

import torch
import transformers

from ..decode import TAP, Decodes, Decoding
from ..engine import Session, StageFailure
from .torch_decode import WARM_STEPS, CachedModel, warm_decoding
from .torch_devices import synchronize
from .torch_folder import TASKS, Folder, load_model, one_line, refused, whole_number
from .torch_modules import Blame, Taps
from .torch_program import check_compile, compile_model
from .torch_program_taps import ProgramTaps
from .torch_unfuse import unfuse
from .torch_values import from_torch, to_torch, walk
from .torch_weights import list_weights

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}

TEXT, DECODED = ["batch", "sequence"], ["batch", "decoder_sequence"]
# dtype and shape of inputs that many models share; of others the annotation says the dtype.
KNOWN_INPUTS = {
    "input_ids": ("int64", TEXT), "attention_mask": ("int64", TEXT), "token_type_ids": ("int64", TEXT),
    "position_ids": ("int64", TEXT), "decoder_input_ids": ("int64", DECODED), "decoder_attention_mask": ("int64", DECODED),
    "inputs_embeds": ("float32", [*TEXT, "hidden"]), "pixel_values": ("float32", ["batch", "channels", "height", "width"]),
    "input_features": ("float32", ["batch", "features", "frames"]), "input_values": ("float32", ["batch", "samples"]),
}
ANNOTATED = {"LongTensor": "int64", "IntTensor": "int32", "BoolTensor": "bool", "FloatTensor": "float32",
             "DoubleTensor": "float64", "HalfTensor": "float16", "Tensor": None}
# No tensor, although the annotation may have one in it, such as a list of them.
SETTING = re.compile(r"\b(int|float|bool|str|list|tuple|dict|List|Tuple|Dict|Sequence|Cache|Callable)\b")
# A cache is neither an input nor an output of the whole model.
CACHES = ("past_key_values", "cache_params", "mems", "past_buckets_states", "encoder_outputs")


def open_session(path, options, device, taps):
    prepare(options)
    folder = Folder(path, options)
    model, origin = load_model(folder, options, PRECISIONS[options["dtype"]])
    if options["unfuse"] == "true":
        unfuse(model)
    move(model.eval().requires_grad_(False), device)
    # Otherwise outputs have no names.
    model.config.return_dict = True
    return TorchSession(model, options, device, taps, origin)


def move(model, device):
    try:
        model.to(device)
    except Exception as error:
        raise refused(f"the weights cannot be moved to {device}: {one_line(error)}") from error


def prepare(options):
    """Settings of the whole process; targets that differ in threads never share one."""
    for name, known in (("dtype", PRECISIONS), ("task", TASKS)):
        if options[name] is not None and options[name] not in known:
            raise refused(f"{name}={options[name]}; expected one of {', '.join(known)}")
    torch.set_num_threads(whole_number(options["threads"], "threads"))
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_float32_matmul_precision("highest")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    check_compile(options)


class TorchSession(Decodes, Session):
    def __init__(self, model, options, device, taps, origin):
        self.model, self.device, self.blame = model, device, Blame(model)
        self.dtype = PRECISIONS[options["dtype"]]
        self.seed = whole_number(options["seed"], "seed")
        self.parameters = inspect.signature(model.forward).parameters
        self.inputs = input_specs(model, self.parameters)
        self.program = compile_model(model, options)
        hooks = ProgramTaps if self.program else Taps
        self.taps = hooks(model, taps) if taps is not None else None
        self.forward = self.program.forward if self.program else model
        self.detail = {
            "library": f"torch {torch.__version__}", "transformers": transformers.__version__, "device": str(device),
            "class": type(model).__name__, "precision": str(self.dtype).removeprefix("torch."),
            "threads": str(torch.get_num_threads()), "compile": options["compile"],
            **({"compileOptions": options["compile-option"]} if options["compile-option"] else {}),
            "attention": str(getattr(model.config, "_attn_implementation", None)), **origin,
        }

    @property
    def replays(self):
        return self.taps is not None

    def stream(self, inputs, give, replayed):
        """Sends outputs while they are computed; gives the duration and what is to be said against the run."""
        fed = self.feed(inputs)
        if self.taps:
            self.taps.listen(give, replayed)
        try:
            output, duration_ms = self.compute(fed)
            named = name_outputs(output)
            warnings = self.taps.finish(named) if self.taps else []
        finally:
            if self.taps:
                self.taps.stop()
        if not named:
            raise StageFailure("run", f"{type(self.model).__name__} gave no tensor, but a {type(output).__name__}")
        for name, tensor in named.items():
            give(name, from_torch(name, tensor))
        return {"durationMs": duration_ms, "warnings": [*warnings, *self.doubts()]}

    def feed(self, inputs):
        fed = {name: self.place(value) for name, value in inputs.items()}
        if "use_cache" in self.parameters:
            fed["use_cache"] = False
        torch.manual_seed(self.seed)
        return fed

    @property
    def warms(self):
        return self.program is not None

    def warm(self, inputs, replayed):
        """Compiles for the shapes of these inputs, by a run whose outputs nobody gets."""
        fed = self.feed(inputs)
        named = {**fed, **replayed}
        shapes = tuple((name, tuple(value.shape)) for name, value in named.items() if hasattr(value, "shape"))
        compute = lambda: self.compute(fed)
        return self.program.warm_up(shapes, (lambda: self.taps.warm(compute, replayed)) if self.taps else compute)

    def decode_warm(self, inputs, params):
        """The same for a prompt and the steps after it."""
        decoding, steps = Decoding(self.decoder(), inputs, params), min(params["newTokens"], WARM_STEPS)
        return self.program.warm_up((decoding.ids.shape, steps), lambda: self.warm_steps(decoding, steps))

    def warm_steps(self, decoding, steps):
        try:
            warm_decoding(decoding, steps, self.taps)
        finally:
            if self.taps:
                self.taps.stop()

    def place(self, value):
        """On the device; numbers with a fraction in the precision that is computed in."""
        tensor = to_torch(value).to(self.device)
        return tensor.to(self.dtype) if tensor.dtype == torch.float32 else tensor

    def compute(self, fed):
        if self.program:
            self.program.begin()
        with torch.no_grad(), self.blame:
            started = time.perf_counter()
            output = self.forward(**fed)
            synchronize(self.device)
            duration_ms = (time.perf_counter() - started) * 1e3 - (self.taps.sent_ms if self.taps else 0)
        if self.program:
            self.program.end()
        return output, duration_ms

    def weights(self):
        return list_weights(self.model)

    def doubts(self):
        return self.program.doubts() if self.program else []

    def decoder(self):
        return CachedModel(self)

    def decode_step(self, params, give):
        if self.taps is None:
            return {**super().decode_step(params, give), "warnings": self.doubts()}
        self.taps.listen(lambda name, value: give(f"{TAP}{name}", value))
        try:
            answer = super().decode_step(params, give)
            # Logits have names of their own, so that no tap can have one of theirs.
            return {**answer, "warnings": self.taps.finish({})}
        finally:
            self.taps.stop()

    def close(self):
        self.model = self.forward = self.program = self.taps = self.decoding = self.blame = None
        # Modules and their hooks refer to each other, and weights are large.
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def input_specs(model, parameters):
    main = getattr(model, "main_input_name", None)
    config = getattr(model, "config", None)
    required = {main, *(["decoder_input_ids"] if getattr(config, "is_encoder_decoder", False) else [])}
    specs = [spec_of(parameter, parameter.name in required) for parameter in parameters.values() if takes_tensor(parameter)]
    return [spec for spec in specs if spec["name"] not in CACHES]


def takes_tensor(parameter):
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    return parameter.name in KNOWN_INPUTS or annotated_dtype(parameter) is not False


def annotated_dtype(parameter):
    """False where the annotation names no tensor, such as a number or a cache."""
    if parameter.annotation is parameter.empty:
        is_setting = parameter.default not in (parameter.empty, None) or parameter.name.startswith(("use_", "output_", "return_"))
        return False if is_setting else None
    text = parameter.annotation if isinstance(parameter.annotation, str) else inspect.formatannotation(parameter.annotation)
    # A tensor that may also be a number (logits_to_keep), or a list of them, is a setting.
    if "Tensor" not in text or SETTING.search(text):
        return False
    return next(dtype for name, dtype in ANNOTATED.items() if name in text)


def spec_of(parameter, is_main):
    dtype, shape = KNOWN_INPUTS.get(parameter.name) or (annotated_dtype(parameter), None)
    is_optional = parameter.default is not parameter.empty and not is_main
    spec = {"name": parameter.name, "kind": "tensor", "dtype": dtype, "shape": shape}
    return {**spec, "optional": True} if is_optional else spec


def name_outputs(output):
    """`logits`, `hidden_states.0`; `output`, `output.0` where the model gives no names."""
    has_names = isinstance(output, Mapping) or dataclasses.is_dataclass(output)
    named = {}
    for path, tensor in walk(output):
        name = ".".join(path if has_names else ("output", *path))
        if name in named:
            raise StageFailure("run", f'two outputs are named "{name}"')
        if not (has_names and path[0] in CACHES):
            named[name] = tensor
    return named
