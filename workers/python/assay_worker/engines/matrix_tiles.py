"""Matrix tiles (AMX) that a processor announces and a virtual machine forbids: to use them ends the process by SIGILL."""
import os
import resource

# All but tiles, of what oneDNN knows.
WITHOUT_TILES = "AVX512_CORE_FP16"


def avoid_forbidden_tiles(torch):
    """True where they had to be switched off. oneDNN reads the variable when it computes for the first time."""
    if "ONEDNN_MAX_CPU_ISA" in os.environ or not announces_tiles(torch) or survives(lambda: multiply(torch)):
        return False
    os.environ["ONEDNN_MAX_CPU_ISA"] = WITHOUT_TILES
    return True


def announces_tiles(torch):
    return hasattr(os, "fork") and getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()


def multiply(torch):
    ones = torch.ones(64, 64, dtype=torch.bfloat16)
    ones @ ones


def survives(work):
    """Whether a child of ours does; an exception is no death."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            work()
        finally:
            os._exit(0)
    return not os.WIFSIGNALED(os.waitpid(child, 0)[1])
