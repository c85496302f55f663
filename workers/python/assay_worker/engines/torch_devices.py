"""The devices that torch reports, with those of plug-ins."""
import torch

from ..engine import NotHere

# What torch itself knows; a plug-in has the name that it gave itself.
KINDS = ("cuda", "mps", "xpu", "hpu", "mtia", "maia", "xla")


def find_device(name):
    try:
        found = torch.device(name)
    except RuntimeError:
        found = None
    if found is not None and found.type == "meta":
        raise NotHere('the device "meta" has shapes and no numbers, so nothing can be compared')
    if found is None or (found.index or 0) >= count_devices(found.type):
        raise NotHere(f'torch {torch.__version__} has no device "{name}" here, only {listed(devices_here())}; '
                      "import= names modules that add more")
    return found


def devices_here():
    """Kind of device → how many there are."""
    kinds = dict.fromkeys(("cpu", *KINDS, torch._C._get_privateuse1_backend_name()))
    return {kind: count for kind in kinds if (count := count_devices(kind)) > 0}


def count_devices(kind):
    """0 if nothing that was imported provides it."""
    if kind == "cpu":
        return 1
    if torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == kind:
        return torch.accelerator.device_count()
    module = getattr(torch, kind, None)
    if module is None or not hasattr(module, "is_available") or not module.is_available():
        return 0
    return module.device_count() if hasattr(module, "device_count") else 1


def listed(here):
    return ", ".join(kind if count == 1 else f"{kind}:0 to {kind}:{count - 1}" for kind, count in here.items())


def device_name(device):
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    return str(device)


def synchronize(device):
    """What was begun on a device is done when this returns."""
    if device.type == "cpu":
        return
    current = torch.accelerator.current_accelerator()
    if current is not None and current.type == device.type:
        torch.accelerator.synchronize(device)
    elif hasattr(module := getattr(torch, device.type), "synchronize"):
        module.synchronize()
