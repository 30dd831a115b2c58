#!/usr/bin/env python3
"""The pin, over real TLS: first contact, a renewed certificate, a stranger, and servers that are no box.

cli_trust_test.py PATH-TO-SAMOVAR
"""
import http.server
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

from cli_support import Cli

SAMOVAR = sys.argv[1]


class Authority:
    """A web root and the leaves it issues, made with the openssl program."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = pathlib.Path(folder), name, 0
        self.root = self.folder / f"{name}.crt"
        self.key = self.folder / f"{name}.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
                      "-out", self.root, "-subj", f"/CN={name}", "-days", "30", "-addext", "basicConstraints=critical,CA:TRUE")

    def _openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    def leaf(self, days=10):
        """(chain file, key file) of a new server certificate for a name nobody uses."""
        self.count += 1
        base = self.folder / f"{self.name}-{self.count}"
        key, request, crt = base.with_suffix(".key"), base.with_suffix(".csr"), base.with_suffix(".crt")
        extension = base.with_suffix(".ext")
        extension.write_text("basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=DNS:elsewhere.local\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
                      "-subj", "/CN=leaf")
        self._openssl("x509", "-req", "-in", request, "-CA", self.root, "-CAkey", self.key, "-CAcreateserial", "-out", crt,
                      "-days", days, "-extfile", extension)
        crt.write_text(crt.read_text() + self.root.read_text())
        return crt, key

    @staticmethod
    def fingerprint(crt):
        text = subprocess.run(["openssl", "x509", "-in", str(crt), "-noout", "-fingerprint", "-sha256"], check=True,
                              capture_output=True, text=True).stdout
        return text.strip().split("=", 1)[1]


class Box:
    """A server that answers /setup and /ca.crt and remembers what it was asked."""

    def __init__(self, chain, key, root, port=0):
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = root.read_bytes() if self.path == "/ca.crt" else b'{"phase":"new","version":"0.1.0"}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def get_request(self):
                plain, address = super().get_request()
                plain.settimeout(30)
                return context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False), address

            def handle_error(self, request, client_address):
                pass  # a refused handshake is what half of these tests want

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        if not self.thread.is_alive():
            return
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Trust(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samovar-trust-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ours = Authority(self.folder, "ours")

    def serve(self, chain, key, root=None, port=0):
        box = Box(chain, key, root or self.ours.root, port)
        self.addCleanup(box.close)
        return box

    def replaced(self, box, chain, key, root=None):
        """Another server on the same port: what a renewed certificate or a stranger looks like."""
        box.close()
        return self.serve(chain, key, root, box.port)

    def test_first_contact_on_a_terminal_shows_the_fingerprint_and_pins(self):
        chain, key = self.ours.leaf()
        box = self.serve(chain, key)
        with Cli(SAMOVAR, box.url) as cli:
            done = cli.talk("status", answers=[("[y/N]", "y")])
            self.assertEqual(done.code, 0, done)
            self.assertIn(Authority.fingerprint(chain), done.out)
            config = pathlib.Path(cli.config_dir, "config.toml")
            self.assertEqual(config.stat().st_mode & 0o777, 0o600)
            self.assertIn(Authority.fingerprint(chain), config.read_text())
            self.assertIn("BEGIN CERTIFICATE", config.read_text(), "the web root is pinned too")
            self.assertEqual(cli.run("status").code, 0, "a pinned box is not asked about again")

    def test_saying_no_sends_nothing(self):
        box = self.serve(*self.ours.leaf())
        with Cli(SAMOVAR, box.url) as cli:
            self.assertEqual(cli.talk("status", answers=[("[y/N]", "n")]).code, 2)
            self.assertEqual(box.asked, [])
            self.assertFalse(os.path.exists(cli.config_dir))

    def test_without_a_terminal_nothing_is_trusted_by_itself(self):
        chain, key = self.ours.leaf()
        box = self.serve(chain, key)
        with Cli(SAMOVAR, box.url) as cli:
            done = cli.run("status")
            self.assertEqual(done.code, 2, done)
            self.assertEqual(box.asked, [])
            done = cli.run("status", "--fingerprint", Authority.fingerprint(chain).lower().replace(":", ""))
            self.assertEqual(done.code, 0, done)

    def test_a_wrong_fingerprint_is_refused(self):
        box = self.serve(*self.ours.leaf())
        with Cli(SAMOVAR, box.url) as cli:
            done = cli.run("status", "--yes", "--fingerprint", "00" * 32)
            self.assertEqual(done.code, 4, done)
            self.assertEqual(box.asked, [])

    def test_a_renewed_certificate_under_the_pinned_root_is_accepted(self):
        box = self.serve(*self.ours.leaf())
        with Cli(SAMOVAR, box.url) as cli:
            self.assertEqual(cli.run("status", "--yes").code, 0)
            chain, key = self.ours.leaf()
            self.replaced(box, chain, key)
            done = cli.run("status")
            self.assertEqual(done.code, 0, done)
            self.assertIn(Authority.fingerprint(chain), pathlib.Path(cli.config_dir, "config.toml").read_text())

    def test_a_stranger_is_refused_before_anything_is_sent(self):
        box = self.serve(*self.ours.leaf())
        with Cli(SAMOVAR, box.url) as cli:
            self.assertEqual(cli.run("status", "--yes").code, 0)
            theirs = Authority(self.folder, "theirs")
            chain, key = theirs.leaf()
            stranger = self.replaced(box, chain, key, theirs.root)
            for words in (["status"], ["status", "--yes"], ["login", "-u", "ada", "--password-stdin", "--yes"]):
                done = cli.run(*words, stdin="a secret password\n")
                self.assertEqual(done.code, 4, done)
                self.assertIn("HAS CHANGED", done.err)
                self.assertIn(f"--fingerprint {Authority.fingerprint(chain)}", done.err, "the remedy is named")
            self.assertEqual(stranger.asked, [], "a request reached a stranger")
            self.assertEqual(cli.run("status", "--fingerprint", Authority.fingerprint(chain)).code, 0, "the remedy works")

    def test_a_root_that_the_certificate_does_not_chain_to_is_not_pinned(self):
        theirs = Authority(self.folder, "theirs")
        box = self.serve(*self.ours.leaf(), root=theirs.root)
        with Cli(SAMOVAR, box.url) as cli:
            self.assertEqual(cli.run("status", "--yes").code, 0)
            self.assertNotIn("BEGIN CERTIFICATE", pathlib.Path(cli.config_dir, "config.toml").read_text())
            self.replaced(box, *theirs.leaf(), root=theirs.root)
            self.assertEqual(cli.run("status").code, 4)


class NoBox(unittest.TestCase):
    def test_nothing_listens(self):
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take it
            with Cli(SAMOVAR, f"https://127.0.0.1:{held.getsockname()[1]}") as cli:
                done = cli.run("status", "--yes")
                self.assertEqual(done.code, 7, done)
                self.assertIn("nothing answers", done.err)

    def test_a_server_that_never_answers(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            with Cli(SAMOVAR, f"https://127.0.0.1:{silent.getsockname()[1]}") as cli:
                done = cli.run("status", "--yes", "--timeout", "1")
                self.assertEqual(done.code, 7, done)
                self.assertIn("--timeout", done.err)

    def test_a_server_without_tls(self):
        def serve(server):
            with server, server.accept()[0] as peer:
                peer.recv(1024)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        plain = socket.socket()
        plain.bind(("127.0.0.1", 0))
        plain.listen()
        thread = threading.Thread(target=serve, args=(plain,))
        port = plain.getsockname()[1]
        thread.start()
        with Cli(SAMOVAR, f"https://127.0.0.1:{port}") as cli:
            done = cli.run("status", "--yes")
            self.assertEqual(done.code, 7, done)
        thread.join()

    def test_plain_http_is_a_usage_error(self):
        with Cli(SAMOVAR) as cli:
            self.assertEqual(cli.run("status", "--server", "http://127.0.0.1:8443").code, 2)

    def test_no_proxy_of_the_environment_is_used(self):
        with socket.socket() as proxy, socket.socket() as held:
            proxy.bind(("127.0.0.1", 0))
            proxy.listen()
            proxy.settimeout(0)
            held.bind(("127.0.0.1", 0))
            with Cli(SAMOVAR, f"https://127.0.0.1:{held.getsockname()[1]}") as cli:
                for name in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
                    cli.environment[name] = f"http://127.0.0.1:{proxy.getsockname()[1]}"
                self.assertEqual(cli.run("status", "--yes").code, 7)
            self.assertRaises(BlockingIOError, proxy.accept)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
