"""What lies in a Hugging Face folder: the model's class, and where its weights come from."""
import difflib
import glob
import json
import os

import torch
import transformers
from transformers.dynamic_module_utils import get_class_from_dynamic_module

from ..engine import StageFailure

TASKS = {"base": "AutoModel", "causal-lm": "AutoModelForCausalLM", "masked-lm": "AutoModelForMaskedLM",
         "seq2seq-lm": "AutoModelForSeq2SeqLM", "sequence-classification": "AutoModelForSequenceClassification",
         "token-classification": "AutoModelForTokenClassification", "question-answering": "AutoModelForQuestionAnswering",
         "image-classification": "AutoModelForImageClassification", "audio-classification": "AutoModelForAudioClassification",
         "speech-seq2seq": "AutoModelForSpeechSeq2Seq"}

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.bin.index.json")


def refused(message):
    return StageFailure("compile", message)


class Folder:
    """A folder with a config.json, or such a file alone."""

    def __init__(self, path, options):
        is_folder = os.path.isdir(path)
        self.path = path if is_folder else os.path.dirname(path)
        self.config_file = os.path.join(path, "config.json") if is_folder else path
        self.has_weights = is_folder and self.find_weights()
        if is_folder and os.path.exists(os.path.join(path, "adapter_config.json")):
            raise refused("the folder has an adapter (adapter_config.json), which is not applied here; merge it into the weights")
        self.trusts = options["trust-code"] == "true"
        self.settings = read_settings(self.config_file)

    def find_weights(self):
        if any(os.path.exists(os.path.join(self.path, name)) for name in WEIGHTS):
            return True
        others = sorted(glob.glob(os.path.join(glob.escape(self.path), "*.safetensors")))
        if others:
            raise refused(f"{names_of(others)} has no place in this folder: expected {WEIGHTS[0]}, or {WEIGHTS[1]} with its parts")
        pickles = sorted({file for pattern in PICKLES for file in glob.glob(os.path.join(glob.escape(self.path), pattern))})
        if pickles:
            raise refused(f"the weights are in {names_of(pickles)}, a pickle, which can run any code when it is read and so is not; "
                          f"save them as {WEIGHTS[0]} (save_pretrained of transformers does that)")
        return False

    def load_config(self):
        elsewhere = next((entry.split("--")[0] for entry in self.own_code.values() if "--" in entry), None)
        if self.trusts and elsewhere is not None:
            raise refused(f"the model's code lies in another repository ({elsewhere}), and nothing is fetched; "
                          f"copy it into the folder and name it without \"{elsewhere}--\" in config.json")
        # By its folder, so that code in it is found.
        is_usual = os.path.basename(self.config_file) == "config.json"
        try:
            return transformers.AutoConfig.from_pretrained(
                self.path if is_usual else self.config_file, trust_remote_code=self.trusts, local_files_only=True)
        except Exception as error:
            raise refused(self.explain(error)) from error

    def explain(self, error):
        kind = self.settings.get("model_type")
        if self.own_code and not self.trusts:
            return (f"the model brings its own code ({', '.join(sorted(set(self.own_code.values())))}), which runs only if "
                    f"you say so: read it, then add trust-code=true to the target")
        if kind is None:
            return 'config.json has no "model_type", so nothing says what kind of model this is'
        known = sorted(transformers.CONFIG_MAPPING.keys())
        if kind not in known and not self.own_code:
            return f'transformers {transformers.__version__} has no model_type "{kind}"{did_you_mean(kind, known)}'
        return one_line(error)

    @property
    def own_code(self):
        """Auto class → class in a file of the folder, as config.json names it."""
        found = self.settings.get("auto_map") or {}
        pairs = {name: entry[0] if isinstance(entry, list) else entry for name, entry in found.items()}
        return {name: entry for name, entry in pairs.items() if isinstance(entry, str) and not name.startswith("AutoTokenizer")}

    def find_class(self, task):
        if task is not None:
            return getattr(transformers, TASKS[task])
        names = self.settings.get("architectures") or []
        if not names:
            return transformers.AutoModel
        name = str(names[0])
        own = self.class_of_own_code(name)
        if own:
            return own
        known = getattr(transformers, name, None) if name.isidentifier() else None
        if isinstance(known, type) and issubclass(known, transformers.PreTrainedModel):
            return known
        if self.own_code and not self.trusts:
            raise refused(self.explain(None))
        near = did_you_mean(name, [other for other in dir(transformers) if "For" in other or other.endswith("Model")])
        raise refused(f'config.json names the architecture "{name}", which transformers {transformers.__version__} does not have{near}')

    def class_of_own_code(self, name):
        """A model_type that transformers knows itself runs its own code only where it is trusted."""
        if not self.trusts:
            return None
        entry = next((entry for entry in self.own_code.values() if entry.rsplit(".", 1)[-1] == name), None)
        if entry is None:
            return None
        try:
            return get_class_from_dynamic_module(entry, self.path, local_files_only=True)
        except Exception as error:
            raise refused(f"{entry}: {one_line(error)}") from error


def load_model(folder, options, dtype):
    """The model, and in words where its weights come from."""
    config = folder.load_config()
    model_class = folder.find_class(options["task"])
    if folder.has_weights:
        return load_weights(folder, model_class, config, options, dtype)
    seed = whole_number(options["seed"], "seed")
    try:
        model = make_weights(folder, model_class, config, options, dtype, seed)
    except Exception as error:
        raise refused(one_line(error)) from error
    return model, {"weights": f"random, from seed {seed}"}


def make_weights(folder, model_class, config, options, dtype, seed):
    """The same numbers for every precision: made in float32, then converted as those of a file are."""
    torch.manual_seed(seed)
    attention = options["attention"]
    if hasattr(model_class, "from_config"):
        model = model_class.from_config(
            config, trust_remote_code=folder.trusts, attn_implementation=attention, dtype=torch.float32)
    else:
        model = model_class._from_config(config, attn_implementation=attention, dtype=torch.float32)
    if dtype == torch.float32:
        return model
    # Not model.to(dtype), which would round what transformers keeps in float32, such as the frequencies of positions.
    return type(model).from_pretrained(
        None, config=config, state_dict=model.state_dict(), dtype=dtype, attn_implementation=attention)


def load_weights(folder, model_class, config, options, dtype):
    try:
        model, info = model_class.from_pretrained(
            folder.path, config=config, dtype=dtype, use_safetensors=True, weights_only=True, local_files_only=True,
            attn_implementation=options["attention"], trust_remote_code=folder.trusts, output_loading_info=True,
            # What does not fit is refused below, with its name.
            ignore_mismatched_sizes=True)
    except Exception as error:
        raise refused(one_line(error)) from error
    refuse_gaps(model, info)
    unused = sorted(info["unexpected_keys"])
    source = next(name for name in WEIGHTS if os.path.exists(os.path.join(folder.path, name)))
    return model, {"weights": source, **({"unusedWeights": shortened(unused)} if unused else {})}


def refuse_gaps(model, info):
    """transformers only warns, and goes on with random numbers."""
    kind, count = type(model).__name__, len(model.state_dict())
    wrong = [f"{name} has shape {tuple(found)}, expected {tuple(fits)}" for name, found, fits in sorted(info["mismatched_keys"])]
    if wrong or info["error_msgs"]:
        raise refused(f"the weights do not fit {kind}: {shortened([*wrong, *info['error_msgs']])}")
    missing = sorted(info["missing_keys"])
    if missing:
        raise refused(f"the weights lack {len(missing)} of {count} entries of {kind}: {shortened(missing)}")


def read_settings(path):
    try:
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)
    except FileNotFoundError:
        raise refused(f"there is no {path}") from None
    except (ValueError, OSError) as error:
        raise refused(f"{path} is no JSON that can be read: {one_line(error)}") from error
    if not isinstance(settings, dict):
        raise refused(f"{path} holds a {type(settings).__name__}, expected an object")
    return settings


def whole_number(text, name):
    if not text.isdecimal() or int(text) >= 2**63:
        raise refused(f"{name}={text}; expected a whole number from 0 up")
    return int(text)


def did_you_mean(word, known):
    near = difflib.get_close_matches(word, known, 1)
    return f'; did you mean "{near[0]}"?' if near else ""


def names_of(files):
    return shortened([os.path.basename(file) for file in files])


def shortened(names, most=3):
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def one_line(error, most=1000):
    text = " ".join(str(error).split())
    text = text if len(text) <= most else f"{text[:most]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
