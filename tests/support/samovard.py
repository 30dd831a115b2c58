"""A real samovard for tests: start it on a free port, set it up, log in, send requests, stop or kill it.

Standard library only. Used by the integration, fault, CLI and browser tests:

    with Samovard(binary) as node:
        node.set_up()
        node.log_in()
        print(node.get("/api/v1/cluster").json)
"""
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

ADMIN = {"username": "ada", "display_name": "Ada L.", "password": "copper kettle steams"}
PASSPHRASE = "seven quiet birches stand"
# A starved machine, not targets: what hangs is still found, and what is only slow is no fault.
START_SECONDS_MAX = 180
STOP_SECONDS_MAX = 90
REQUEST_SECONDS_MAX = 120


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def code(self):
        """The code of a problem, or None."""
        kind = self.headers.get("Content-Type", "")
        return self.json.get("code") if kind.startswith("application/problem+json") else None

    def __repr__(self):
        return f"<{self.status} {self.text[:300]}>"


class StartFailed(Exception):
    def __init__(self, status, output):
        super().__init__(f"samovard ended with {status}:\n{output}")
        self.status, self.output = status, output


class Samovard:
    def __init__(self, binary, state_dir=None, arguments=(), listen="127.0.0.1:0", environment=None, wrapper=()):
        self.binary = str(binary)
        self.own_dir = state_dir is None
        self.state_dir = str(state_dir or tempfile.mkdtemp(prefix="samovard-"))
        self.arguments = list(arguments)
        self.listen = listen
        self.environment = environment
        self.wrapper = list(wrapper)  # e.g. ["faketime", …]
        self.process = None
        self.output = []
        self.url = self.phase = self.code = None
        self.port = None
        self.session = None       # the JSON of a log-in
        self.cookie = None        # the value of the session cookie
        self.token = None         # a bearer credential, instead of the cookie

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        self.clean()

    # ---- the process ----

    def command(self):
        # Many run at once on one machine: each has ports of its own, and none looks for the others unless told to.
        alone = []
        if "--mesh-listen" not in self.arguments:
            alone += ["--mesh-listen", "127.0.0.1:0"]
        if "--discovery-port" not in self.arguments:
            alone += ["--discovery-port", "0"]
        return self.wrapper + [self.binary, "--state-dir", self.state_dir, "--listen", self.listen,
                               "--log-format", "text"] + alone + self.arguments

    def start(self, extra=()):
        """Waits for the READY line. StartFailed when the daemon ends before it."""
        self.output = []
        self.url = self.phase = self.code = self.port = None
        self.process = subprocess.Popen(self.command() + list(extra), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, env=self.environment, start_new_session=bool(self.wrapper))
        ready = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout, ready), daemon=True)
        self._reader.start()
        if not ready.wait(START_SECONDS_MAX):
            self.kill()
            raise StartFailed("no READY line in time", self.log)
        if self.url is None:
            status = self.process.wait()
            self._reader.join(10)
            raise StartFailed(status, self.log)
        return self

    def _read(self, pipe, ready):
        for raw in pipe:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            self.output.append(line)
            if match := re.search(r"Set-up code:\s+(\S+)", line):
                self.code = match.group(1)
            if match := re.match(r"READY (\S+) phase=(\S+)", line):
                self.url, self.phase = match.group(1), match.group(2)
                self.port = int(self.url.rsplit(":", 1)[1])
                ready.set()
        pipe.close()
        ready.set()

    @property
    def log(self):
        return "\n".join(self.output)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, seconds=STOP_SECONDS_MAX):
        """SIGTERM; the exit status."""
        if not self.alive():
            return self.process.returncode if self.process else None
        self._signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"samovard did not stop within {seconds} s:\n{self.log}") from None

    def _signal(self, number):
        if self.wrapper:  # the daemon is the wrapper's child: both are meant
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)

    def kill(self):
        if self.alive():
            self._signal(signal.SIGKILL)
        return self.process.wait()

    def wait_dead(self, seconds=STOP_SECONDS_MAX):
        return self.process.wait(seconds)

    def clean(self):
        if self.own_dir:
            shutil.rmtree(self.state_dir, ignore_errors=True)

    def rss_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def forget_rss_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def rss_peak_bytes(self):
        """The most it ever had, or since forget_rss_peak()."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))

    # ---- requests ----

    def connect(self, timeout=REQUEST_SECONDS_MAX):
        # The certificate is the box's own; the tests that look at it say so.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    def headers(self, method, extra):
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        elif self.cookie:
            headers["Cookie"] = "__Host-samovar=" + self.cookie
            if method not in ("GET", "HEAD"):
                headers["X-CSRF"] = self.session["csrf"]
                headers["Sec-Fetch-Site"] = "same-origin"
        headers.update({k: v for k, v in (extra or {}).items() if v is not None})
        for name in [k for k, v in (extra or {}).items() if v is None]:
            headers.pop(name, None)
        return headers

    def request(self, method, path, body=None, headers=None, timeout=REQUEST_SECONDS_MAX):
        """`headers` with the value None are left out. `body` is JSON unless bytes."""
        send = self.headers(method, headers)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            send.setdefault("Content-Type", "application/json")
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=send)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.request("POST", path, body, **more)

    def expect(self, status, method, path, body=None, **more):
        answer = self.request(method, path, body, **more)
        assert answer.status == status, f"{method} {path}: wanted {status}, got {answer}"
        return answer

    # ---- what most tests begin with ----

    def setup_body(self, mode="key_file", box_name="Kettle", admin=None, passphrase=PASSPHRASE):
        unlock = {"mode": mode}
        if mode == "passphrase":
            unlock["passphrase"] = passphrase
        return {"code": self.code, "box_name": box_name, "time_zone": "Europe/Berlin", "admin": dict(admin or ADMIN),
                "unlock": unlock}

    def set_up(self, **options):
        # Several passwords' worth of Argon2id: a minute and more on a starved machine.
        answer = self.expect(201, "POST", "/api/v1/setup", self.setup_body(**options), timeout=300)
        self.phase = "ready"
        return answer.json

    def log_in(self, username=ADMIN["username"], password=ADMIN["password"], transport="cookie"):
        self.cookie = self.token = None
        answer = self.expect(200, "POST", "/api/v1/session",
                             {"username": username, "password": password, "transport": transport})
        self.session = answer.json
        if transport == "bearer":
            self.token = self.session["session_token"]
        else:
            cookies = answer.headers.get_all("Set-Cookie")
            self.cookie = next(c.split("=", 1)[1].split(";", 1)[0] for c in cookies if c.startswith("__Host-samovar="))
        return self.session

    def wait_ready(self, seconds=START_SECONDS_MAX):
        end = time.monotonic() + seconds
        last = None
        while time.monotonic() < end and self.alive():
            try:
                last = self.get("/readyz")
                if last.status == 200:
                    self.phase = "ready"  # the READY line may have named an earlier one
                    return
            except (OSError, http.client.HTTPException) as error:  # too busy to answer just now
                last = error
            time.sleep(0.05)
        why = "not ready in time" if self.alive() else "ended before it was ready"
        raise AssertionError(f"{why}; last: {last!r}\n{self.log}")


class Events:
    """Reads an event stream: `next()` gives (event, data, id); comments and retry lines are kept aside."""

    def __init__(self, node, query="", headers=None, timeout=REQUEST_SECONDS_MAX):
        self.connection = node.connect(timeout)
        self.connection.request("GET", "/api/v1/events" + query, headers=node.headers("GET", headers))
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.comments = []

    def next(self):
        """None at the end of the stream."""
        event, data, ident = None, [], None
        while True:
            raw = self.response.readline()
            if not raw:
                return None
            line = raw.decode().rstrip("\r\n")
            if line.startswith(":"):
                self.comments.append(line)
            elif line == "":
                if event or data:
                    return event, json.loads("\n".join(data)) if data else None, ident
            else:
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "event":
                    event = value
                elif name == "data":
                    data.append(value)
                elif name == "id":
                    ident = value

    def wait_for(self, wanted):
        while (item := self.next()) is not None:
            if item[0] == wanted:
                return item
        return None

    def close(self):
        self.connection.close()


_reserved = []  # sockets whose names say that this process has given the port away


def free_port():
    """Below the range of which the system takes ports for outgoing connections: it stays free until, and
    again after, the program that listens on it is there. Nobody else who asks here gets it, in this process or
    in another: a socket with an abstract name stands for it until this process ends."""
    for _ in range(1000):
        port = random.randrange(12_000, 32_000)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0samovar-test-port-{port}")
            with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
                stream.bind(("127.0.0.1", port))
                datagrams.bind(("127.0.0.1", port))
            _reserved.append(claim)
            return port
        except OSError:
            claim.close()
    raise OSError("no free port between 12000 and 32000")
