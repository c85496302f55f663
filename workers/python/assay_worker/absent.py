"""What is said where not even NumPy can be imported."""
from .frames import HostGone


def say_absent(channel, name, reason):
    """Answers hello with a reason, until the host ends the channel."""
    try:
        while True:
            message, _ = channel.read()
            if "id" in message:
                answer = {"protocols": [1], "runtime": name, "available": False, "reason": reason}
                channel.write({"id": message["id"], "result": answer})
    except HostGone:
        return
