"""When a process that was started can be sent a signal."""
import fcntl
import pathlib
import re
import signal
import struct
import termios
import time

SECONDS = 120
# Whoever is started by nohup ignores SIGHUP, and so would all processes that a suite starts.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def minds(pid, number):
    """It has a handler for the signal; before that it would just die of it."""
    try:
        caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    except OSError:
        return False
    return bool(caught) and bool(int(caught[1], 16) >> (number - 1) & 1)


def full(process):
    """Nothing more goes into the pipe of its standard output."""
    until = time.monotonic() + SECONDS
    before = 0
    while process.poll() is None and time.monotonic() < until:
        there = struct.unpack("i", fcntl.ioctl(process.stdout.fileno(), termios.FIONREAD, b"\0" * 4))[0]
        if there > 32768 and there == before:
            return
        before = there
        time.sleep(0.2)


def send(process, number, after=0.3):
    """Once it minds, and has been at it a little while."""
    until = time.monotonic() + SECONDS
    while process.poll() is None and not minds(process.pid, number) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(number)
