"""Network namespaces behind a bridge: a LAN of its own for each test, with cables that can be pulled.

Needs root and iproute2. Everything is named after this process, so two tests do not meet, and is removed at the end.
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
OURS = re.compile(r"^smv([0-9a-z]{5})\d[nbp]\d")
_libc = ctypes.CDLL(None, use_errno=True)


def why_not():
    """None when namespaces can be made here, else the reason."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "iproute2 is not installed"
    probe = f"smvq{os.getpid()}"
    done = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return "ip netns: " + done.stderr.strip()
    subprocess.run(["ip", "netns", "del", probe], check=False)
    return None


def ip(*words, check=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, f"ip {' '.join(words)}: {done.stderr.strip()}"
    return done


def _enter(path):
    with open(path, "rb") as file:
        if _libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns " + path)


class inside:
    """With this thread in the namespace: sockets made here belong to it for ever."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.home = f"/proc/self/task/{threading.get_native_id()}/ns/net"
        self.saved = os.open(self.home, os.O_RDONLY | os.O_CLOEXEC)
        _enter("/run/netns/" + self.name)
        return self

    def __exit__(self, *_):
        failed = _libc.setns(self.saved, CLONE_NEWNET)
        os.close(self.saved)
        assert failed == 0, "no way back from the namespace"


class Place:
    """Where one node lives: a namespace with an interface on the bridge."""

    def __init__(self, lan, number):
        self.lan, self.number = lan, number
        self.space = f"{lan.prefix}n{number}"
        self.port_name = f"{lan.prefix}p{number}"  # the bridge's end of the cable
        self.ip = f"{lan.net}.{number}"
        self.extra = []  # further flags of the daemon
        ip("netns", "add", self.space)
        self.run("link", "set", "lo", "up")
        ip("link", "add", self.port_name, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        ip("link", "set", self.port_name, "master", lan.bridge, "up")
        self.run("addr", "add", self.ip + "/24", "dev", "eth0")
        self.run("link", "set", "eth0", "up")

    def run(self, *words, check=True):
        return ip("-n", self.space, *words, check=check)

    # ---- what Node asks ----

    def arguments(self):
        return ["--mesh-listen", "0.0.0.0:7443", "--discovery-port", "7446", *self.extra]

    def listen(self):
        return "0.0.0.0:8443"

    def listen_again(self, port):
        return f"0.0.0.0:{port}"

    def wrapper(self):
        return ["ip", "netns", "exec", self.space]

    def address(self):
        return self.ip + ":7443"

    def patch(self, connection):
        def connect(address, timeout=None, source=None):
            with inside(self.space):
                return socket.create_connection(address, timeout, source)
        connection._create_connection = connect  # requests come from the node's own loopback

    # ---- what tests do to it ----

    def cut(self):
        """The cable is pulled on the switch's side: the node's own interface stays up."""
        ip("link", "set", self.port_name, "nomaster")

    def mend(self, bridge=None):
        ip("link", "set", self.port_name, "master", bridge or self.lan.bridge)

    def drop_towards(self, other):
        """One way only: what this node sends to the other is lost."""
        self.run("route", "add", "blackhole", other.ip + "/32", check=False)

    def mend_towards(self, other):
        self.run("route", "del", "blackhole", other.ip + "/32", check=False)

    def silence_multicast(self):
        """The switch does not pass multicast to this port."""
        ip("link", "set", self.port_name, "type", "bridge_slave", "mcast_flood", "off")

    def add_default_route(self):
        """A gateway that answers to its address and leads nowhere: what is sent out of the network is seen on the card."""
        self.run("route", "add", "default", "via", self.lan.gateway())

    def change_address(self, host):
        new = f"{self.lan.net}.{host}"
        self.run("addr", "del", self.ip + "/24", "dev", "eth0")
        self.run("addr", "add", new + "/24", "dev", "eth0")
        self.ip = new

    def add_docker(self, cidr="172.17.0.1/16"):
        """What a container engine leaves on a machine: a bridge with the same address everywhere."""
        self.run("link", "add", "docker0", "type", "bridge")
        self.run("addr", "add", cidr, "dev", "docker0")
        self.run("link", "set", "docker0", "up")

    def add_nic(self, name, bridge, cidr):
        """A further network card, on another switch."""
        port = f"{self.port_name}{name[-1]}"
        ip("link", "add", port, "type", "veth", "peer", "name", name, "netns", self.space)
        ip("link", "set", port, "master", bridge, "up")
        self.run("addr", "add", cidr, "dev", name)
        self.run("link", "set", name, "up")


class Tap:
    """What one node sends through its network card, while it is looked at: (protocol, address, port) → [packets, bytes]."""

    OUTGOING = 4

    def __init__(self, place, card="eth0"):
        self.sent = {}
        self.total = [0, 0]
        with inside(place.space):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.socket.bind((card, 3))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        self.socket.settimeout(0.2)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(30)
        self.socket.close()

    def _look(self):
        while not self.stopped.is_set():
            try:
                frame, where = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            if where[2] != self.OUTGOING:
                continue
            self.total[0] += 1
            self.total[1] += len(frame)
            key = self._key(frame)
            count = self.sent.setdefault(key, [0, 0])
            count[0] += 1
            count[1] += len(frame)

    @staticmethod
    def _key(frame):
        kind = frame[12:14]
        if kind == b"\x86\xdd":
            return ("ipv6", socket.inet_ntop(socket.AF_INET6, frame[38:54]), 0)
        if kind != b"\x08\x00":
            return ("arp" if kind == b"\x08\x06" else kind.hex(), "", 0)
        head = 14 + (frame[14] & 15) * 4
        protocol = {1: "icmp", 6: "tcp", 17: "udp"}.get(frame[23], str(frame[23]))
        port = int.from_bytes(frame[head + 2:head + 4], "big") if protocol in ("tcp", "udp") else 0
        if protocol == "tcp" and frame[head + 13] & 0x12 == 0x02:
            protocol = "dial"  # the first packet of a connection
        return (protocol, socket.inet_ntoa(frame[30:34]), port)


def tag_of(pid):
    """Five letters: names of interfaces are short."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[pid // 36 ** i % 36] for i in (4, 3, 2, 1, 0))


def sweep():
    """What tests left behind that were killed."""
    alive = {tag_of(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        if (found := OURS.match(name)) and found[1] not in alive:
            ip("netns", "del", name, check=False)
    for name in os.listdir("/sys/class/net"):
        if (found := OURS.match(name)) and found[1] not in alive:
            ip("link", "del", name, check=False)


class Lan:
    count = 0

    def __init__(self):
        # Whoever ends us early shall find nothing of ours.
        if Lan.count == 0 and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            sweep()
        Lan.count += 1
        self.prefix = f"smv{tag_of(os.getpid())}{Lan.count % 10}"
        self.net = f"10.{64 + os.getpid() % 100}.{Lan.count}"
        self.places = []
        self.bridges = []
        self.bridge = self.add_bridge()

    def add_bridge(self):
        name = f"{self.prefix}b{len(self.bridges)}"
        ip("link", "add", name, "type", "bridge", "mcast_snooping", "0", "forward_delay", "0")
        ip("link", "set", name, "up")
        self.bridges.append(name)
        return name

    def gateway(self):
        address = self.net + ".254"
        if address not in ip("addr", "show", "dev", self.bridge).stdout:
            ip("addr", "add", address + "/24", "dev", self.bridge)
        return address

    def place(self, number):
        made = Place(self, number)
        self.places.append(made)
        return made

    def split(self, places):
        """These on a switch of their own, the others stay."""
        bridge = self.bridges[1] if len(self.bridges) > 1 else self.add_bridge()
        for one in places:
            one.mend(bridge)

    def heal(self):
        for one in self.places:
            one.mend()
            for other in self.places:
                if other is not one:
                    one.mend_towards(other)

    def close(self):
        for one in self.places:
            ip("netns", "del", one.space, check=False)
            ip("link", "del", one.port_name, check=False)
        for bridge in self.bridges:
            ip("link", "del", bridge, check=False)
