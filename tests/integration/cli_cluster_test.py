#!/usr/bin/env python3
"""Two machines become one cluster from the command line, as two people at two terminals do it.

cli_cluster_test.py PATH-TO-SAMOVAR PATH-TO-SAMOVARD
"""
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from cli_support import Cli  # noqa: E402
from cluster import Cluster, until  # noqa: E402
from samovard import ADMIN  # noqa: E402

SAMOVAR, SAMOVARD = sys.argv[1:3]


class Terminals(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(SAMOVARD, nodes=2)
        self.addCleanup(lambda: self.cluster.__exit__(None if self._outcome.success else AssertionError))
        self.member, self.new = self.cluster.nodes
        self.cluster.form(count=1)
        self.new.start()
        self.at_member = self.cli(self.member)
        self.at_new = self.cli(self.new)
        self.good(self.at_member.run("login", "-u", ADMIN["username"], "--password-stdin", "--yes", stdin=ADMIN["password"] + "\n"))
        self.cluster.find(self.new, self.member)

    def cli(self, node):
        made = Cli(SAMOVAR, node.url)
        self.addCleanup(made.__exit__)
        return made

    def good(self, done):
        self.assertEqual(done.code, 0, done)
        return done

    def shown_id(self):
        done = self.good(self.at_new.run("status", "--yes"))
        return re.search(r"ID: +([0-9A-Z]{4}-[0-9A-Z]{4})", done.out)[1]

    def test_a_code_is_read_here_and_typed_there(self):
        short = self.shown_id()
        self.assertIn(short, self.good(self.at_member.run("peers", "list")).out)
        self.assertEqual(self.at_member.run("peers", "approve", short).code, 2, "there is no terminal to type on")
        begun = self.good(self.at_member.run("peers", "approve", short, "--no-wait", "--password-stdin",
                                             stdin=ADMIN["password"] + "\n"))
        self.assertIn("peers confirm", begun.err)
        digits = self.code_at_new()
        wrong = self.at_member.run("peers", "confirm", short, f"{(int(digits) + 1) % 1000000:06d}")
        self.assertEqual(wrong.code, 6, wrong)
        self.assertIn("2 tries are left", wrong.err)
        self.good(self.at_member.run("peers", "confirm", short, digits[:3] + " " + digits[3:]))
        self.cluster.wait_member(self.new)
        self.two_nodes(short)

    def code_at_new(self):
        """As `samovar status` on the new machine shows it."""
        def shown():
            found = re.search(r"^  (\d{3} \d{3})$", self.good(self.at_new.run("status")).out, re.MULTILINE)
            return found and found[1].replace(" ", "")
        return until("the code is shown", shown)

    def two_nodes(self, short):
        def both_up():  # the member hears from the new one a moment later
            nodes = self.good(self.at_member.run("nodes", "list", "--json")).json["items"]
            return [n["state"] for n in nodes] == ["up", "up"] and sum(n["leader"] for n in nodes) == 1
        until("both are up", both_up)
        until("the status says so", lambda: "2 of 2 up" in self.good(self.at_member.run("status")).out)
        self.good(self.at_new.run("login", "-u", ADMIN["username"], "--password-stdin", stdin=ADMIN["password"] + "\n"))
        self.assertEqual(len(self.good(self.at_new.run("nodes", "list", "-q")).out.split()), 2)
        until("a link is up", lambda: any(
            link["up"] for link in self.good(self.at_member.run("links", "--json")).json["links"]))
        self.good(self.at_member.run("links", "--test", self.new.id))
        self.assertIn(self.at_member.run("doctor").code, (0, 1))
        self.assertTrue(json.loads(self.at_member.run("doctor", "--json").out)["checks"])
        self.assertEqual(self.at_member.run("nodes", "remove", self.new.id).code in (2, 5), True)
        self.assertEqual(self.at_member.run("peers", "approve", short, "--no-wait", "--password-stdin",
                                            stdin=ADMIN["password"] + "\n").code in (3, 5), True)

    def test_on_a_terminal_everything_is_asked(self):
        short = self.shown_id()
        # What is typed last is known only once it is on the other screen.
        done = self.at_member.talk("peers", "approve", short, answers=[
            ("Your password", ADMIN["password"]), ("six digits", self.code_at_new)])
        self.good(done)
        self.assertNotIn(ADMIN["password"], done.out, "a password was echoed")
        self.assertIn("says of itself", done.out)
        self.assertIn("is a member now", done.out)
        self.cluster.wait_member(self.new)

    def test_five_words_without_a_screen(self):
        words = self.good(self.at_member.run("peers", "invite", "--password-stdin", stdin=ADMIN["password"] + "\n")).out.strip()
        self.assertEqual(len(words.replace("-", " ").split()), 5)
        body = json.dumps({"setup_code": self.new.code, "words": words})
        self.good(self.at_new.run("join", "--no-input", "--yes", stdin=body))
        self.cluster.wait_member(self.new)

    def test_words_in_a_file(self):
        path = os.path.join(self.new.state_dir, "invitation")
        made = self.good(self.at_member.run("peers", "invite", "--file", path, "--password-stdin", stdin=ADMIN["password"] + "\n"))
        with open(path, encoding="utf-8") as file:
            words = json.load(file)["words"]
        self.assertNotIn(words, made.out + made.err, "the words are in the file only")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        without = path + ".without"
        with open(without, "w", encoding="utf-8") as file:
            json.dump({"words": words}, file)
        lacking = self.at_new.run("join", "--file", without, "--setup-code-stdin", "--yes", stdin=self.new.code + "\n")
        self.assertIn("is not an invitation", lacking.err)
        self.good(self.at_new.run("join", "--file", path, "--setup-code-stdin", "--yes", stdin=self.new.code + "\n"))
        self.cluster.wait_member(self.new)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
