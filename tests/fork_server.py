"""`run` is subprocess.run for rondo, without the time that starting it takes: rondo is started once by each thread of a suite, and forks
for each command (fork_server.c). Where that was not built, and for other programs, it is subprocess.run.
"""
import array
import atexit
import os
import pathlib
import signal
import socket
import subprocess
import threading

MOST = 1 << 17  # bytes of a command with its environment
_of_thread = threading.local()
_all = []


def _sanitizers(environment):
    """What a program reads once, when it is started."""
    return {name: value for name, value in environment.items() if name.endswith("SAN_OPTIONS")}


class _Server:
    def __init__(self, program, module, environment):
        self.wire, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sanitizers = _sanitizers(environment)
        options = ":".join(filter(None, (environment.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
        self.process = subprocess.Popen([program], pass_fds=(other.fileno(),), stdin=subprocess.DEVNULL, env=dict(
            environment, LD_PRELOAD=str(module), RONDO_FORK_SERVER=str(other.fileno()), ASAN_OPTIONS=options))
        other.close()
        _all.append(self)

    def number(self):
        answer = self.wire.recv(4)
        if len(answer) != 4:
            raise RuntimeError("the fork server of rondo has ended")
        return array.array("i", answer)[0]

    def end(self):
        self.wire.close()
        self.process.wait()

    def run(self, request, command, timeout):
        out, err = os.memfd_create("out"), os.memfd_create("err")
        try:
            self.wire.settimeout(None)
            socket.send_fds(self.wire, [request], [out, err])
            child = self.number()
            self.wire.settimeout(timeout)
            try:
                status = self.number()
            except TimeoutError:
                os.kill(child, signal.SIGKILL)  # the server has not waited for it before it answers
                self.wire.settimeout(None)
                self.number()
                raise subprocess.TimeoutExpired(command, timeout) from None
            texts = (os.pread(fd, os.fstat(fd).st_size, 0).decode("utf-8", "replace").replace("\r\n", "\n") for fd in (out, err))
            return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), *texts)
        finally:
            os.close(out)
            os.close(err)


@atexit.register
def _end_all():
    for server in _all:
        server.end()


def _server(program, environment):
    if not hasattr(_of_thread, "servers"):
        _of_thread.servers = {}
    if program not in _of_thread.servers:
        module = pathlib.Path(program).resolve().parent / "fork_server.so"
        usable = os.path.basename(program) == "rondo" and module.exists()
        _of_thread.servers[program] = _Server(program, module, environment) if usable else None
    return _of_thread.servers[program]


def run(command, timeout=None, cwd=None, env=None):
    """What the command says is text, its input is empty. TimeoutExpired as from subprocess."""
    words = [str(word) for word in command]
    environment = os.environ if env is None else env
    server = _server(words[0], environment)
    texts = [str(pathlib.Path(cwd or ".").resolve()), str(len(words)), *words, *(f"{name}={value}" for name, value in environment.items())]
    request = b"".join(os.fsencode(text) + b"\0" for text in texts)
    if server is None or len(request) > MOST or len(texts) >= 1 << 12 or _sanitizers(environment) != server.sanitizers:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=timeout, cwd=cwd,
                              env=env, check=False)
    return server.run(request, words, timeout)
