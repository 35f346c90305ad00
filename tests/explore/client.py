"""A server of `rondo explore`, and a client of its protocol (docs/explore-api.md)."""
import http.client
import json
import signal
import subprocess
import time
import urllib.parse


class Server:
    def __init__(self, rondo, *arguments):
        self.process = subprocess.Popen([rondo, "explore", *map(str, arguments), "--no-browser"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError("rondo explore did not start: " + self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.address)
        self.host, self.port, self.token = parts.hostname, parts.port, parts.path.strip("/")

    def request(self, method, path, body=None, headers=None, timeout=60):
        """Status, headers and bytes of an answer; body: bytes, or what is sent as JSON."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        sent.update(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def call(self, method, name, body=None):
        """Status and JSON of a call of the protocol."""
        status, _, text = self.request(method, f"/{self.token}/api/v1/{name}", body)
        return status, json.loads(text)

    def post(self, name, body=None):
        status, answer = self.call("POST", name, body or {})
        if status != 200:
            raise RuntimeError(f"{name}: {status} {answer}")
        return answer

    def session(self, **body):
        return self.post("sessions", body)

    def on(self, session, verb, **body):
        return self.post(f"sessions/{session}/{verb}", body)

    def stream(self, name, body, most=60):
        """The events of a stream until it ends: (event, data)."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=most)
        connection.request("POST", f"/{self.token}/api/v1/{name}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.status} {answer.read()}")
        event = None
        for line in answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                yield event, json.loads(line[6:])
        connection.close()

    def stop(self):
        """The exit status and what was written to standard error."""
        self.process.send_signal(signal.SIGINT)
        try:
            _, errors = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, errors = self.process.communicate()
            errors += "\nit did not end after SIGINT\n"
        return self.process.returncode, errors

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """It must end well, and a sanitized program must have nothing to say."""
        if self.process.returncode is None:
            status, errors = self.stop()
            if kind is None and (status != 0 or errors):
                raise RuntimeError(f"rondo explore ended with {status}: {errors[-3000:]}")


def timed(call):
    began = time.monotonic()
    answer = call()
    return time.monotonic() - began, answer
