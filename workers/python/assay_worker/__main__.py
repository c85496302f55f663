"""`python3 assay_worker <engine> [<how to install it>]`: serves one engine on the standard streams until the input ends."""
import os
import sys


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
    # This folder's parent, so that no module of ours hides one of a library.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if len(sys.argv) < 2:
        sys.exit("expected the name of an engine")
    if sys.version_info < (3, 9):
        sys.exit(f"Python {sys.version.split()[0]} is too old; this worker needs 3.9 or newer")
    # Nothing is written into the folder of a package.
    sys.dont_write_bytecode = True
    from assay_worker.engines import load_engine
    from assay_worker.frames import Channel
    from assay_worker.serve import serve
    engine = load_engine(sys.argv[1])
    sys.dont_write_bytecode = False
    serve(engine, Channel(*channel_ends), " ".join(sys.argv[2:]))
    # The libraries' own clearing up is slow, and some of them crash in it.
    sys.stderr.flush()
    os._exit(0)


main()
