"""What decides which kernels run, for fingerprints."""
import platform
import re


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
