"""Runs `samovar` with a home of its own, with or without a terminal."""
import errno
import json
import os
import pty
import select
import shutil
import subprocess
import tempfile
import time

SECONDS_MAX = 240  # a starved machine, not a target


class Done:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Cli:
    def __init__(self, binary, server=None):
        self.binary = binary
        self.home = tempfile.mkdtemp(prefix="samovar-cli-")
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        if server:
            self.environment["SAMOVAR_SERVER"] = server

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)

    @property
    def config_dir(self):
        return os.path.join(self.home, ".config", "samovar")

    def run(self, *words, stdin=""):
        """Without a terminal: a session of its own, so that /dev/tty is not there either."""
        done = subprocess.run([self.binary, *words], input=stdin, capture_output=True, text=True, env=self.environment,
                              timeout=SECONDS_MAX, start_new_session=True, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def talk(self, *words, answers=()):
        """On a terminal. `answers` are (what the screen must show first, what is typed then, or a function that knows)."""
        pid, master = pty.fork()
        if pid == 0:
            os.execve(self.binary, [self.binary, *words], self.environment)
        screen, pending, end = "", list(answers), time.monotonic() + SECONDS_MAX
        seen = 0
        while time.monotonic() < end:
            if pending and pending[0][0] in screen[seen:]:
                seen = screen.index(pending[0][0], seen) + len(pending[0][0])
                typed = pending.pop(0)[1]
                os.write(master, ((typed() if callable(typed) else typed) + "\n").encode())
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                chunk = os.read(master, 4096)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                chunk = b""
            if not chunk:
                break
            screen += chunk.decode("utf-8", "replace")
        else:
            os.kill(pid, 9)
        os.close(master)
        _, status = os.waitpid(pid, 0)
        return Done(os.waitstatus_to_exitcode(status), screen, "")
