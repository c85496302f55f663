"""What decides the bits that a library computes, for fingerprints."""
import hashlib
import os
import platform
import re

CODE = (".py", ".so", ".pyd", ".dll", ".dylib")


def processor_identity():
    return f"{platform.system()}-{platform.machine()} {cpuinfo('model name') or platform.processor()} {features()}"


def features():
    return cpuinfo("flags") or cpuinfo("Features")


def cpuinfo(field):
    """Other systems have no such file; the machine's name stands for the features there."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(rf"^{field}\s*:\s*(.*)$", file.read(), re.M)
    except OSError:
        return ""
    return found.group(1) if found else ""


def build_identity(*modules):
    """Sizes and times of their files: a library that was built anew has the same version and other numbers."""
    digest = hashlib.sha256()
    for folder in sorted({os.path.dirname(module.__file__) for module in modules}):
        for path in code_in(folder):
            state = os.stat(path)
            digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]


def code_in(folder):
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if name.endswith(CODE) or ".so." in name:
                yield os.path.join(parent, name)
