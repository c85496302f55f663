"""`python3 assay_worker <engine> [<how to install it>] [--import=<module>]…`: serves one engine on the standard streams
until the input ends."""
import os
import shutil
import sys

IMPORT = "--import="


def take_streams():
    """Frames have the standard streams for themselves: what libraries print, or their children read, is elsewhere."""
    frames_in, frames_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return frames_in, frames_out


def main():
    channel_ends = take_streams()
    if len(sys.argv) < 2:
        sys.exit("expected the name of an engine")
    if sys.version_info < (3, 9):
        sys.exit("Python %d.%d is too old; this worker needs 3.9 or newer" % sys.version_info[:2])
    # This folder's parent, so that no module of ours hides one of a library.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    scratch = os.environ.get("ASSAY_SCRATCH")
    if scratch:
        os.mkdir(scratch, 0o700)
    imports = [word[len(IMPORT):] for word in sys.argv[2:] if word.startswith(IMPORT)]
    remedy = " ".join(word for word in sys.argv[2:] if not word.startswith(IMPORT))
    work(sys.argv[1], remedy, imports, channel_ends)
    # The host does the same, unless it was killed.
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    # The libraries' own clearing up is slow, and some of them crash in it.
    sys.stderr.flush()
    os._exit(0)


def work(name, remedy, imports, channel_ends):
    # Nothing is written into the folder of a package.
    sys.dont_write_bytecode = True
    from assay_worker.absent import say_absent
    from assay_worker.frames import Channel
    channel = Channel(*channel_ends)
    try:
        from assay_worker.engines import load_engine
        from assay_worker.serve import serve
        engine = load_engine(name)
        engine.imports = imports
    except ModuleNotFoundError as error:
        say_absent(channel, name, f"{error.name} is not installed in {sys.executable}; {remedy}")
        return
    sys.dont_write_bytecode = False
    serve(engine, channel, remedy)


main()
