"""The compared programs: their paths, commands and kinds."""

import os
import re
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import parse
from procs import RunError, beside, placed, run, run_pair

ROOT = Path(__file__).resolve().parents[2]
FI_FOLDER = ROOT / "target" / "libfabric"  # where tools/libfabric.sh puts provider and fi_rate
UCX_ENV = {"UCX_TLS": "posix,self"}
# Peers with a server and a client, which take a number of messages instead of a duration.
PAIRED = {"ucx_perftest": parse.ucx, "fi_pingpong": parse.fi_pingpong}
UCX_TESTS = (("ucx tag", "group", "peer", ("-t", "tag_bw")),
             ("ucx am", "group", "peer", ("-t", "ucp_am_bw")),
             ("ucx put", "group", "put", ("-t", "ucp_put_bw")),
             ("ucx tag -O 1", "single", "peer", ("-t", "tag_bw", "-O", "1")),
             ("ucx tag", "latency", "peer", ("-t", "tag_lat")),
             ("ucx am", "latency", "peer", ("-t", "ucp_am_lat")),
             ("ucx put", "rdma", "put", ("-t", "ucp_put_bw")),
             ("ucx get", "rdma", "put", ("-t", "ucp_get")),
             ("ucx put", "rdma one", "put", ("-t", "ucp_put_bw", "-O", "1")),
             ("ucx get", "rdma one", "put", ("-t", "ucp_get", "-O", "1")),
             ("ucx put", "rdma latency", "put", ("-t", "ucp_put_lat")))
# "ring" uses buffers as large as those of the memcpy row of that name, "group" the default ones.
RING_WINDOW = "1M,4M"
# The limit has the memory of the tests of spfe.
LIMIT_TESTS = (("group", "524288,524288"), ("ring", "1048576,4194304"))
OURS_TESTS = (("group", "rate", "auto", None), ("ring", "rate", "auto", RING_WINDOW),
              ("single", "rate", "1", None), ("latency", "latency", None, None))
# Operation, test, operations of a group, groups under way.
RDMA_TESTS = (("write", "rdma", "auto", 2), ("read", "rdma", "auto", 2),
              ("write", "rdma one", 1, 1), ("read", "rdma one", 1, 1),
              ("latency", "rdma latency", 1, 1))


def ours_command(path, options, size, seconds):
    """The command line of `spfe perf`. `options` are test, mode, group and window."""
    test, mode, group, window = options
    command = [path, "perf", test, "--mode", mode, "--processes", 2, "--size-min", size,
               "--size-max", size, "--link", "unlimited", "--seconds", seconds, "--wait", "poll"]
    command += ["--group", group] if group else []
    return command + (["--window", window] if window else []) + ["--json"]


def rdma_command(path, options, size, seconds):
    """The command line of `spfe perf rdma`. `options` are operation, group and groups under way."""
    operation, group, under_way = options
    return [path, "perf", "rdma", operation, "--size-min", size, "--size-max", size, "--group", group,
            "--under-way", under_way, "--link", "unlimited", "--seconds", seconds, "--wait", "poll",
            "--json"]


@contextmanager
def cables(daemon):
    """Runs a daemon for the libfabric provider and yields the variables that lead to it."""
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "sock")
        with beside([daemon, "--listen", socket, "--topology", "loop", "--mode", "inline"]):
            for _ in range(100):
                if os.path.exists(socket):
                    break
                time.sleep(0.05)
            yield {"FI_PROVIDER_PATH": str(FI_FOLDER), "FI_SPFE_DEVICE": f"unix:{socket}"}


@dataclass
class Program:
    """A column of a table."""
    name: str
    test: str  # a key of report.TITLES
    kind: str  # ours, peer (two-sided), put (one-sided), kernel or limit (bare rings)
    path: str
    options: tuple = ()
    per_op_ns: dict = field(default_factory=dict)  # by size, from earlier runs

    @property
    def tool(self):
        return os.path.basename(self.path)

    def needs_pilot(self, size):
        """Whether the next run only finds the number of messages."""
        return self.tool in PAIRED and size not in self.per_op_ns

    def sample(self, cpus, fifo, size, seconds):
        """Runs the program once. Returns rate_gbps, or latency_ns and mean_ns."""
        if self.tool in PAIRED:
            return self._pair(cpus, fifo, size, seconds)
        both = f"{cpus[0]},{cpus[1]}"
        if self.tool == "fi_rate":
            command = placed([self.path, self.options[0], size, seconds, both], both, fifo)
            if self.kind != "ours":
                return parse.fi_rate(run(command, name=self.name), size)
            with cables(self.options[1]) as env:
                return parse.fi_rate(run(command, env=env, name=self.name), size)
        if self.kind == "limit":
            command = [self.path, *self.options, "--size", size, "--ms", round(seconds * 1000),
                       "--cpus", both, "--json"]
        elif self.kind == "kernel":
            command = [self.path, *self.options, "--size", size, "--seconds", seconds,
                       "--cpus", both, "--json"]
        elif self.test.startswith("rdma"):
            command = rdma_command(self.path, self.options, size, seconds)
        else:
            command = ours_command(self.path, self.options, size, seconds)
        return parse.spfe(run(placed(command, both, fifo), name=self.name), size)

    def _pair(self, cpus, fifo, size, seconds):
        known = self.per_op_ns.get(size)
        count = int(min(max(seconds * 1e9 / known, 500), 5e7)) if known else 2000
        command = [self.path, *self.options]
        command += (["-s", size, "-n", count, "-w", 500, "-f"] if self.tool == "ucx_perftest"
                    else ["-S", size, "-I", count])
        client = placed(command + ["127.0.0.1"], cpus[1], fifo)
        text = run_pair(placed(command, cpus[0], fifo), client, UCX_ENV, self.name)
        found = PAIRED[self.tool](text, size)
        self.per_op_ns[size] = found["per_op_ns"]
        return found


def find_peer(name):
    """Path of a peer: directories of SPFE_PEER_PATH first, then PATH; None if absent."""
    search = [os.environ.get("SPFE_PEER_PATH"), os.environ.get("PATH", os.defpath)]
    return shutil.which(name, path=os.pathsep.join(filter(None, search)))


def find_own(name):
    """Finds a program of this project: in SPFE_PROGRAMS, then in the release build."""
    folders = [os.environ["SPFE_PROGRAMS"]] if os.environ.get("SPFE_PROGRAMS") else []
    folders.append(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release")
    return shutil.which(name, path=os.pathsep.join(map(str, folders))) or find_peer(name)


def peer_version(path, teller, flag):
    """Version of a peer as reported by a tool in the same directory."""
    try:
        text = run([str(Path(path).parent / teller), flag], 5.0)
    except (RunError, OSError):
        text = ""
    return next(iter(re.findall(r"\d+\.\d+(?:\.\d+)?\w*", text)), "unknown")


def available():
    """Finds all installed programs. Returns them with the versions of the peers by path."""
    found, versions = [], {}
    if path := find_own("spfe"):
        found += [Program(f"spfe {mode}", test, "ours", path, (how, mode, group, window))
                  for mode in ("auto", "inline", "coop") for test, how, group, window in OURS_TESTS]
        found += [Program(f"spfe {operation}", test, "ours", path, (operation, group, under_way))
                  for operation, test, group, under_way in RDMA_TESTS]
    if path := find_own("spfe-limit"):
        found += [Program(f"limit {name}", test, "limit", path, (*copiers, "--window", window))
                  for name, copiers in (("one", ()), ("both", ("--both",)))
                  for test, window in LIMIT_TESTS]
    if path := find_peer("ucx_perftest"):
        versions[path] = peer_version(path, "ucx_info", "-v")
        found += [Program(*test[:3], path, test[3]) for test in UCX_TESTS]
    if path := find_peer("fi_pingpong"):
        versions[path] = peer_version(path, "fi_info", "--version")
        found.append(Program("fi shm", "latency", "peer", path, ("-p", "shm", "-e", "rdm")))
    path, daemon = FI_FOLDER / "fi_rate", find_own("spfed")
    if path.exists() and daemon:
        found += [Program("fi spfe", "tagged", "ours", str(path), ("spfe", daemon)),
                  Program("fi shm", "tagged", "peer", str(path), ("shm",))]
    if path := find_own("spfe-ipc"):
        found += [Program(kind, test, "kernel", path, (word, "--kind", kind))
                  for kind in ("unix-stream", "unix-seqpacket", "pipe")
                  for test, word in (("group", "bw"), ("latency", "lat"))]
    return found, versions
