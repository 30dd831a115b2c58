"""Several real samovards that are one cluster: formed by the join protocol, killed, cut off, compared.

    with Cluster(binary, nodes=3) as cluster:
        cluster.form()
        cluster.leader().kill()
        cluster.wait_leader()

Two ways to live: on loopback, each node with ports of its own (the default, no rights needed), and with
networks.Lan(), each node in a network namespace of its own behind a bridge (root).
"""
import http.client
import json
import os
import ssl
import sys
import time

from samovard import ADMIN, REQUEST_SECONDS_MAX, Samovard, free_port

WAIT_SECONDS_MAX = 120  # a starved machine, not a target
ASK_SECONDS_MAX = 60  # likewise, of one question
LEADERLESS_SECONDS_MAX = 60  # likewise, for an election that nobody asked for


class Timeout(AssertionError):
    pass


def until(what, condition, seconds=WAIT_SECONDS_MAX, every=0.05):
    """The first true value of condition(); what it raised last is told at the end. Refused connections and
    failed asserts count as "not yet"."""
    end = time.monotonic() + seconds
    last = None
    while True:
        try:
            value = condition()
            if value:
                return value
            last = value
        except (OSError, http.client.HTTPException, AssertionError, KeyError, TypeError) as error:
            last = error
        if time.monotonic() >= end:
            raise Timeout(f"{what}: not within {seconds} s; last: {last!r}")
        time.sleep(every)


class Node(Samovard):
    """One member to be. `place` says where it lives: Loopback below, or networks.Place."""

    def __init__(self, binary, number, place, arguments=(), **more):
        self.number, self.place = number, place
        super().__init__(binary, arguments=list(place.arguments()) + list(arguments), listen=place.listen(),
                         wrapper=list(place.wrapper()) + list(more.pop("wrapper", ())), **more)
        self.id = None
        self.name = f"n{number}"

    def start(self, extra=()):
        super().start(extra)
        self.listen = self.place.listen_again(self.port)  # the dashboard stays where it is
        if self.id is None:
            self.id = self.setup()["node"]["id"]
        return self

    def connect(self, timeout=REQUEST_SECONDS_MAX):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)
        self.place.patch(connection)
        return connection

    def setup(self):
        return self.expect(200, "GET", "/api/v1/setup", timeout=ASK_SECONDS_MAX).json

    def expect(self, status, method, path, body=None, **more):
        """What is wanted to succeed is asked again while nobody leads: a starved machine elects another leader now and
        then, and who was told so knows that nothing happened."""
        end = time.monotonic() + LEADERLESS_SECONDS_MAX
        while True:
            answer = self.request(method, path, body, **more)
            if status >= 400 or answer.code != "no_quorum" or time.monotonic() >= end:
                break
            time.sleep(0.5)
        assert answer.status == status, f"{method} {path}: wanted {status}, got {answer}"
        return answer

    def asks(self, path, seconds=ASK_SECONDS_MAX):
        """JSON of a GET that must succeed."""
        return self.expect(200, "GET", "/api/v1" + path, timeout=seconds).json

    def items(self, path):
        return self.asks(path)["items"]

    def alive_and_ready(self):
        return self.alive() and self.get("/readyz", timeout=ASK_SECONDS_MAX).status == 200

    @property
    def address(self):
        """Where other nodes reach it: host:port of the mesh."""
        return self.place.address()

    def __repr__(self):
        return f"<{self.name} {self.id} {'up' if self.alive() else 'down'}>"


class Loopback:
    """On this machine, with ports of its own; beacons on a port that only this cluster uses."""

    def __init__(self, beacon_port):
        self.beacon_port = beacon_port
        self.mesh_port, self.web_port = free_port(), free_port()

    def arguments(self):
        return ["--mesh-listen", f"127.0.0.1:{self.mesh_port}", "--discovery-loopback", "--discovery-port",
                str(self.beacon_port)]

    def listen(self):
        # Not one that the system chooses: while the node is down, that could become somebody else's.
        return f"127.0.0.1:{self.web_port}"

    def listen_again(self, port):
        return f"127.0.0.1:{port}"

    def wrapper(self):
        return []

    def address(self):
        return f"127.0.0.1:{self.mesh_port}"

    def patch(self, connection):
        pass


class Cluster:
    def __init__(self, binary, nodes=3, lan=None, arguments=(), unlock="key_file"):
        self.binary, self.lan, self.arguments, self.unlock = str(binary), lan, list(arguments), unlock
        self.beacon_port = free_port()
        self.nodes = []
        self.token = None
        for _ in range(nodes):
            self.make_node()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.tell_logs()
        for node in self.nodes:
            if node.process is not None:
                node.kill()
            node.clean()
        if self.lan:
            self.lan.close()

    def tell_logs(self, lines=25):
        for node in self.nodes:
            print(f"---- {node!r}", *node.output[-lines:], sep="\n", file=sys.stderr)

    # ---- forming ----

    def make_node(self, **more):
        """A new node that is not started yet."""
        number = len(self.nodes) + 1
        place = self.lan.place(number) if self.lan else Loopback(self.beacon_port)
        arguments = self.arguments + list(more.pop("arguments", ()))
        node = Node(self.binary, number, place, arguments=arguments, **more)
        self.nodes.append(node)
        return node

    def form(self, count=None):
        """Sets the first one up and joins the others. Seconds from the first approval to the last member."""
        members = self.nodes[:count]
        for node in members:
            if not node.alive():
                node.start()
        first = members[0]
        first.set_up(mode=self.unlock)
        first.log_in(transport="bearer")
        self.token = first.token
        began = time.monotonic()
        for node in members[1:]:
            self.join(node)
        self.wait_voters(len(members))
        return time.monotonic() - began

    def wait_voters(self, members):
        """Until so many members have their voices: only then any one of three may be lost."""
        wanted = members if members < 3 else min(7, members - (members + 1) % 2)
        until(f"{wanted} voters", lambda: len([n for n in self.any().items("/nodes") if n["voice"] == "voter"]) == wanted)

    def find(self, node, via):
        """The row of a waiting node in the member's list."""
        def look():
            rows = [p for p in via.items("/peers") if p["id"] == node.id]
            return rows[0] if rows and rows[0]["state"] == "waiting" else None
        return until(f"{via.name} hears {node.name}", look)

    def approve(self, node, via):
        """Begins the join; the code that the node shows on its own screen."""
        begun = via.post(f"/api/v1/peers/{node.id}:approve", {"password": ADMIN["password"]})
        assert begun.status == 202, f"approve {node.name}: {begun}"
        shown = until(f"{node.name} shows the code", lambda: node.setup()["join"]["code"])
        code = shown.replace(" ", "")
        assert len(code) == 6 and code.isdigit(), shown
        return code

    def join(self, node, via=None, address=None):
        """By discovery, or with `address` pasted. Returns when the node is ready as a member."""
        via = via or self.any()
        if not node.alive():
            node.start()
        if address:
            added = via.post("/api/v1/peers:add", {"address": address})
            assert added.status in (200, 201), f"add {address}: {added}"
        else:
            self.find(node, via)
        code = self.approve(node, via)
        done = via.post(f"/api/v1/peers/{node.id}:confirm", {"code": code})
        assert done.status == 200, f"confirm {node.name}: {done}"
        self.wait_member(node)
        return done.json

    def wait_member(self, node):
        node.wait_ready()
        node.phase = "ready"
        node.token = self.token  # sessions are part of the common state
        until(f"{node.name} knows the cluster", lambda: any(
            n["id"] == node.id and n["self"] for n in node.items("/nodes")))

    # ---- who is there ----

    def alive(self):
        return [n for n in self.nodes if n.alive() and n.phase == "ready"]

    def any(self, but=()):
        return next(n for n in self.alive() if n not in but)

    def by_id(self, ident):
        return next(n for n in self.nodes if n.id == ident)

    def leader_seen_by(self, node):
        rows = [n for n in node.items("/nodes") if n["leader"]]
        return self.by_id(rows[0]["id"]) if rows else None

    def leader(self):
        return self.wait_leader()

    def wait_leader(self, among=None, seconds=WAIT_SECONDS_MAX, but=()):
        """One of `among` (those alive) whom all of them call the leader."""
        among = among or self.alive()

        def agreed():
            seen = {self.leader_seen_by(node) for node in among}
            return seen.pop() if len(seen) == 1 and None not in seen and not seen & set(but) and seen <= set(among) else None
        return until(f"a leader among {among}", agreed, seconds)

    def wait_states(self, wanted, via=None, seconds=WAIT_SECONDS_MAX):
        """Until `via` shows exactly {node: state}."""
        def shown():
            states = {n["id"]: n["state"] for n in (via or self.any()).items("/nodes")}
            return all(states.get(node.id) == state for node, state in wanted.items())
        until(f"states {wanted}", shown, seconds)

    # ---- what is in it ----

    def state_of(self, node):
        """What every member must hold alike. The chain's head stands for everything that was ever done."""
        verdict = node.expect(200, "POST", "/api/v1/audit:verify").json
        assert verdict["ok"], verdict
        state = {"entries": verdict["entries"], "head": verdict["head_hash"]}
        for path in ("/users", "/tokens", "/datasets", "/models"):
            state[path] = sorted(json.dumps(without_live(i), sort_keys=True) for i in node.items(path + "?limit=200"))
        return state

    def wait_equal(self, among=None, seconds=WAIT_SECONDS_MAX):
        """Until all hold the same; that state."""
        def same():
            states = [self.state_of(node) for node in (among or self.alive())]
            return states[0] if all(s == states[0] for s in states) else None
        return until("equal states", same, seconds, every=0.2)

    def wait_equal_hashes(self, among=None, seconds=WAIT_SECONDS_MAX):
        """Until all have applied as much; the hashes of their whole states, one if all is well."""
        def same():
            states = [node.asks("/cluster/state") for node in (among or self.alive())]
            return {s["hash"] for s in states} if len({s["index"] for s in states}) == 1 else None
        return until("states at one index", same, seconds, every=0.2)

    def stop_all(self):
        for node in self.nodes:
            if node.alive():
                node.stop()

    def start_all(self):
        for node in self.nodes:
            if not node.alive():
                node.start()
        for node in self.nodes:
            node.wait_ready()


def without_live(item):
    """A resource without what each node sees for itself."""
    return {k: v for k, v in item.items() if k not in ("last_seen_at", "last_used_at", "current", "health")}


def skip_code(reason):
    """The exit status that ctest knows as "skipped"."""
    print("skipped:", reason)
    return 77


def is_root():
    return os.geteuid() == 0
