"""Runs a program on a terminal of its own and answers its prompts, which end with "] "; prints what it showed and its exit code."""
import json
import os
import pty
import select
import sys
import time

LIMIT_S = 60


def main(answers, argv):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(argv[0], argv)
    shown = answer_all(terminal, answers)
    _, status = os.waitpid(pid, 0)
    print(json.dumps({"shown": shown, "code": os.waitstatus_to_exitcode(status)}))


def answer_all(terminal, answers):
    shown, answered, end = "", 0, time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            text = os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            return shown
        if not text:
            return shown
        shown += text
        if shown.count("] ") > answered and answered < len(answers):
            os.write(terminal, answers[answered].encode())
            answered += 1
    raise SystemExit("it went on for too long:\n" + shown)


main(json.loads(sys.argv[1]), sys.argv[2:])
