#!/usr/bin/env python3
"""The life of a box from the command line, against the real node.

cli_node_test.py PATH-TO-SAMOVAR PATH-TO-SAMOVARD
"""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from cli_support import Cli  # noqa: E402
from samovard import ADMIN, PASSPHRASE, Samovard  # noqa: E402

SAMOVAR, SAMOVARD = sys.argv[1:3]
USER = ADMIN["username"]
PASSWORD = ADMIN["password"]
ANOTHER = "another long secret"


class Node(unittest.TestCase):
    def start(self, **options):
        node = Samovard(SAMOVARD, **options)
        self.addCleanup(node.clean)
        node.start()
        self.addCleanup(node.stop)
        return node

    def cli(self, node):
        cli = Cli(SAMOVAR, node.url)
        self.addCleanup(cli.__exit__)
        return cli

    def good(self, done):
        self.assertEqual(done.code, 0, done)
        return done

    def bad(self, code, done):
        self.assertEqual(done.code, code, done)
        return done

    def ready(self, mode="key_file"):
        """A box that is set up, and a CLI that is logged in to it."""
        node = self.start()
        cli = self.cli(node)
        self.good(cli.run("init", "--no-input", "--yes", stdin=json.dumps(node.setup_body(mode=mode))))
        node.wait_ready()
        self.log_in(cli)
        return node, cli

    def log_in(self, cli, username=USER, password=PASSWORD):
        return self.good(cli.run("login", "-u", username, "--password-stdin", stdin=password + "\n"))

    def test_the_life_of_a_box(self):
        node = self.start()
        cli = self.cli(node)
        status = self.good(cli.run("status", "--yes", "--json")).json
        self.assertEqual(status["phase"], "new")
        wrong = dict(node.setup_body(), code="0000-0000")
        self.bad(4, cli.run("init", "--no-input", stdin=json.dumps(wrong)))
        self.good(cli.run("init", "--no-input", stdin=json.dumps(node.setup_body())))
        node.wait_ready()
        self.bad(5, cli.run("init", "--no-input", stdin=json.dumps(node.setup_body())))

        self.bad(4, cli.run("whoami"))
        done = self.bad(4, cli.run("login", "-u", USER, "--password-stdin", "--json", stdin="not the password\n"))
        self.assertEqual(json.loads(done.err)["code"], "wrong_credentials")
        done = self.log_in(cli)
        sessions = list(pathlib.Path(cli.config_dir, "sessions").iterdir())
        self.assertEqual(len(sessions), 1)
        self.assertEqual(sessions[0].stat().st_mode & 0o777, 0o600)
        self.assertNotIn(sessions[0].read_text().strip(), done.out + done.err)
        self.assertEqual(self.good(cli.run("whoami", "--json")).json["user"]["username"], USER)

        self.good(cli.run("status"))
        self.good(cli.run("nodes", "list"))
        self.assertEqual(self.good(cli.run("nodes", "show", "--json")).json["state"], "up")
        self.assertIn("cpu", self.good(cli.run("top", "-o", "csv")).out)

        self.users(cli)
        self.tokens(cli)
        self.audit(cli)

        self.good(cli.run("logout"))
        self.assertEqual(list(pathlib.Path(cli.config_dir, "sessions").iterdir()), [])
        self.bad(4, cli.run("whoami"))

    def users(self, cli):
        made = self.good(cli.run("users", "add", "mara", "--role", "viewer", "--password-stdin", "--json", stdin=ANOTHER + "\n")).json
        self.assertEqual(made["username"], "mara")
        self.bad(5, cli.run("users", "add", "mara", "--role", "viewer", "--password-stdin", stdin=ANOTHER + "\n"))
        self.bad(6, cli.run("users", "add", "bo", "--role", "viewer", "--password-stdin", stdin="short\n"))
        self.good(cli.run("users", "set-role", "mara", "auditor"))
        self.assertEqual(self.good(cli.run("users", "show", "mara", "--json")).json["role"], "auditor")
        self.good(cli.run("users", "disable", "mara"))
        self.assertTrue(self.good(cli.run("users", "show", "mara", "--json")).json["disabled"])
        self.good(cli.run("users", "enable", "mara"))
        self.good(cli.run("users", "unlock", "mara"))
        self.good(cli.run("users", "set-password", "mara", "--password-stdin", stdin=ANOTHER + " too\n"))
        self.bad(2, cli.run("users", "remove", "mara"))
        self.good(cli.run("users", "remove", "mara", "--yes"))
        self.bad(3, cli.run("users", "show", "mara"))
        self.bad(5, cli.run("users", "remove", USER, "--yes"))  # the last administrator

    def tokens(self, cli):
        path = os.path.join(cli.home, "etl.token")
        token = self.good(cli.run("tokens", "create", "etl", "--scope", "read", "--out", path, "--json")).json
        self.assertNotIn("token", token)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(self.good(cli.run("nodes", "list", "-q", "--token-file", path)).err, "")
        self.assertIn(token["id"], self.good(cli.run("tokens", "list")).out)
        done = self.bad(4, cli.run("users", "add", "x", "--role", "viewer", "--password-stdin", "--token-file", path, stdin=ANOTHER + "\n"))
        self.assertNotIn("smv_", done.err)
        self.good(cli.run("tokens", "revoke", token["id"], "--yes"))
        self.bad(4, cli.run("nodes", "list", "--token-file", path))
        self.assertTrue(self.good(cli.run("sessions", "list", "--json")).json["items"])

    def audit(self, cli):
        self.assertIn("chain holds", self.good(cli.run("audit", "verify")).out)
        entries = self.good(cli.run("audit", "list", "--limit", "0", "-o", "jsonl")).out.splitlines()
        self.assertGreater(len(entries), 8)
        self.assertEqual(len(self.good(cli.run("audit", "list", "--limit", "3", "-o", "jsonl")).out.splitlines()), 3)
        path = os.path.join(cli.home, "audit.jsonl")
        self.bad(4, cli.run("audit", "export", "--out", path))  # exporting is the auditor's, not the administrator's
        self.assertEqual([name for name in os.listdir(cli.home) if name.startswith("audit")], [])
        self.good(cli.run("users", "add", "otto", "--role", "auditor", "--password-stdin", stdin=ANOTHER + "\n"))
        auditor = Cli(SAMOVAR, cli.environment["SAMOVAR_SERVER"])
        self.addCleanup(auditor.__exit__)
        self.good(auditor.run("login", "-u", "otto", "--password-stdin", "--yes", stdin=ANOTHER + "\n"))
        self.good(auditor.run("audit", "export", "--out", path))
        with open(path, encoding="utf-8") as exported:
            self.assertGreaterEqual(len([json.loads(line) for line in exported]), len(entries))
        self.assertNotIn(ANOTHER, pathlib.Path(path).read_text())

    def test_on_a_terminal_everything_is_asked(self):
        node = self.start()
        cli = self.cli(node)
        done = cli.talk("init", answers=[("[y/N]", "y"), ("Setup code", node.code), ("Name of the box", "Ward 3"), ("Time zone", "UTC"),
                                         ("User name", USER), ("Full name", "Ada"), ("Password", PASSWORD), ("again", PASSWORD),
                                         ("1 or 2", "1"), ("Passphrase", PASSPHRASE), ("again", PASSPHRASE)])
        self.good(done)
        self.assertNotIn(PASSWORD, done.out, "a password was echoed")
        self.assertNotIn(PASSPHRASE, done.out)
        self.assertIn("RISK", done.out)
        node.wait_ready()
        self.good(cli.talk("login", "-u", USER, answers=[("Password", PASSWORD)]))

        node.stop()
        node.listen = f"127.0.0.1:{node.port}"
        node.start()
        self.assertEqual(node.phase, "locked")
        self.bad(5, cli.run("nodes", "list"))
        self.assertEqual(self.good(cli.run("status", "--json")).json["phase"], "locked")
        self.bad(4, cli.run("unlock", "--passphrase-stdin", stdin="not the passphrase\n"))
        self.good(cli.talk("unlock", answers=[("Passphrase", PASSPHRASE)]))
        node.wait_ready()
        self.good(cli.run("whoami"))  # the session outlived the restart

    def test_another_box_at_the_same_address_is_refused(self):
        node, cli = self.ready()
        port = node.port
        node.stop()
        other = self.start(listen=f"127.0.0.1:{port}")
        done = self.bad(4, cli.run("whoami"))
        self.assertIn("HAS CHANGED", done.err)
        self.assertEqual(other.phase, "new")
        other.stop()
        node.listen = f"127.0.0.1:{port}"
        node.start()
        node.wait_ready()
        self.good(cli.run("whoami"))

    def test_a_locked_out_account_is_told_when_to_come_back(self):
        _, cli = self.ready()
        for _ in range(12):
            done = cli.run("login", "-u", USER, "--password-stdin", stdin="wrong password here\n")
            self.assertEqual(done.code, 4, done)
            if "try again in" in done.err:
                return
        self.fail(f"never locked out: {done}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
