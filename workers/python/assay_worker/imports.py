"""Modules that a user named with import=, before a model is opened: plug-ins that register a backend or a device."""
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import traceback

from .engine import NotHere
from .identity import code_in


def import_named(words):
    """Imports them in order; says what was imported, and what decides the bits that it computes."""
    words, known = list(dict.fromkeys(words)), set(sys.modules)
    modules = [import_one(word, known) for word in words]
    described = [describe(word, module) for word, module in zip(words, modules)]
    return ", ".join(described), identify(modules, set(sys.modules) - known)


def is_path(word):
    return "/" in word or os.sep in word or word.endswith(".py")


def import_one(word, known):
    # Nothing is written beside a file of the user's.
    sys.dont_write_bytecode = is_path(word)
    try:
        return import_path(word) if is_path(word) else importlib.import_module(word)
    except NotHere:
        raise
    except (Exception, SystemExit) as error:
        traceback.print_exc(file=sys.stderr)
        text = " ".join(str(error).split())
        said = f"{type(error).__name__}: {text}" if text else type(error).__name__
        raise NotHere(f"import={word} failed: {said}{place_of(error, known)}{advice(word, error)}") from None
    finally:
        sys.dont_write_bytecode = False


def import_path(word):
    """A file, or a folder with an __init__.py, under its own name; what lies beside it can be imported, but hides nothing."""
    path = os.path.abspath(word)
    file = os.path.join(path, "__init__.py") if os.path.isdir(path) else path
    if not os.path.isfile(file):
        raise NotHere(f"import={word}: there is no {'__init__.py in this folder' if os.path.isdir(path) else 'such file'}")
    name = re.sub(r"\W", "_", os.path.basename(path).removesuffix(".py"))
    if name in sys.modules or name in sys.stdlib_module_names:
        raise NotHere(f'import={word}: Python has another module "{name}"; rename the file')
    if os.path.dirname(path) not in sys.path:
        sys.path.append(os.path.dirname(path))
    inside = [path] if os.path.isdir(path) else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None:
        raise NotHere(f"import={word}: expected a file of Python, which ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def place_of(error, known):
    """The last line that was at work in what had not been imported before."""
    others = {getattr(sys.modules.get(name), "__file__", None) for name in known}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename not in others and not frame.filename.startswith("<frozen")]
    return f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""


def advice(word, error):
    if not isinstance(error, ModuleNotFoundError) or is_path(word) or error.name not in (word, word.split(".")[0]):
        return ""
    if os.path.exists(f"{word}.py"):
        return f"; did you mean import=./{word}.py?"
    return f"; names are found in {sys.executable} and PYTHONPATH, files by a path such as ./{word}.py"


def describe(word, module):
    file = getattr(module, "__file__", None)
    version = version_of(module)
    name = f"{module.__name__} {version}" if version else module.__name__
    if file is None:
        return name
    with open(file, "rb") as code:
        digest = hashlib.sha256(code.read()).hexdigest()[:16]
    return f"{name} ({word if is_path(word) else file}, sha256 {digest})"


def version_of(module):
    top = module.__name__.split(".")[0]
    packages = importlib.metadata.packages_distributions().get(top)
    return importlib.metadata.version(packages[0]) if packages else getattr(module, "__version__", None)


def identify(modules, loaded):
    """All code of the packages that were named, and of whatever came with them."""
    folders = {os.path.dirname(module.__file__) for module in modules if is_package(module)}
    files = {getattr(sys.modules.get(name), "__file__", None) for name in {*loaded, *(module.__name__ for module in modules)}}
    code = {path for folder in folders for path in code_in(folder)}
    return digest_of(sorted(file for file in {*files, *code} if file and os.path.isfile(file)))


def is_package(module):
    return getattr(module, "__file__", None) is not None and hasattr(module, "__path__")


def digest_of(files):
    """Source by its content; what was compiled, which may be large, by size and time."""
    digest = hashlib.sha256()
    for file in files:
        if file.endswith(".py"):
            with open(file, "rb") as source:
                state = source.read()
        else:
            found = os.stat(file)
            state = f"{found.st_size} {found.st_mtime_ns}".encode()
        digest.update(f"{os.path.basename(file)}\0{len(state)}\0".encode(errors="surrogateescape") + state)
    return digest.hexdigest()[:16]
