"""The programs compared: where they are, how they are called, what they count as."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import parse
from procs import RunError, placed, run, run_pair

ROOT = Path(__file__).resolve().parents[2]
UCX_ENV = {"UCX_TLS": "posix,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
PORTS = {"ucx_perftest": 23337, "fi_pingpong": 47592}


@dataclass
class Setup:
    """What is common to all samples."""
    cpus: tuple = (0, 1)
    fifo: bool = False

    @property
    def both(self):
        return f"{self.cpus[0]},{self.cpus[1]}"


@dataclass
class Program:
    """One column of one table. `kind`: ours, peer (two-sided), put (one-sided), kernel."""
    name: str
    test: str  # group, single or latency
    kind: str
    path: str
    options: tuple = ()
    per_op_ns: dict = field(default_factory=dict)

    def iterations(self, size, seconds):
        """Count for a run of about that length, from an earlier run; few the first time."""
        if size not in self.per_op_ns:
            return 2000
        return int(min(max(seconds * 1e9 / self.per_op_ns[size], 500), 50e6))

    def sample(self, setup, size, seconds):
        """One run; rate_gbps, or latency_ns and mean_ns."""
        tool = os.path.basename(self.path)
        if tool in PORTS:
            count = self.iterations(size, seconds)
            command = {"ucx_perftest": ucx_command, "fi_pingpong": fi_command}[tool](
                self.path, self.options, size, count)
            sides = [placed(command, cpu, setup.fifo) for cpu in setup.cpus]
            text = run_pair(sides[0], sides[1] + ["127.0.0.1"], PORTS[tool],
                            seconds * 5 + 10, library_env(self.path) | UCX_ENV, self.name)
            found = {"ucx_perftest": parse.ucx, "fi_pingpong": parse.fi_pingpong}[tool](text, size)
            self.per_op_ns[size] = found["per_op_ns"]
            return found
        if self.kind == "ours":
            command, reader = ours_command(self.path, self.options, size, seconds), parse.spfe_perf
        else:
            command = [self.path, *self.options, "--size", size, "--seconds", seconds,
                       "--cpus", setup.both, "--json"]
            reader = parse.spfe_ipc
        text = run(placed(command, setup.both, setup.fifo), seconds * 5 + 10, name=self.name)
        return reader(text, size)

    @property
    def needs_pilot(self):
        return os.path.basename(self.path) in PORTS


def ours_command(path, options, size, seconds):
    """How `spfe perf` is called: the only place that knows. `options`: test, mode, group."""
    test, mode, group = options
    command = [path, "perf", test, "--mode", mode, "--processes", 2, "--size-min", size,
               "--size-max", size, "--link", "unlimited", "--seconds", seconds, "--wait", "poll",
               "--json"]
    return command + (["--group", group] if test == "rate" else [])


def ucx_command(path, options, size, count):
    return [path, *options, "-s", size, "-n", count, "-w", 500, "-f",
            "-p", PORTS["ucx_perftest"]]


def fi_command(path, options, size, count):
    return [path, *options, "-S", size, "-I", count]


def library_env(path):
    """Lets a build in SPFE_PEER_PATH find the libraries installed next to it."""
    lib = Path(path).resolve().parent.parent / "lib"
    if str(Path(path).parent) not in peer_path() or not lib.is_dir():
        return {}
    old = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{lib}:{old}" if old else str(lib)}


def peer_path():
    return [d for d in os.environ.get("SPFE_PEER_PATH", "").split(os.pathsep) if d]


def find_peer(name):
    """Path of a peer: directories of SPFE_PEER_PATH first, then PATH; None if absent."""
    search = os.pathsep.join(peer_path() + [os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=search)


def find_own(name):
    """Path of a program of this project: beside SPFE_BIN, then the release build."""
    spfe = os.environ.get("SPFE_BIN")
    if spfe and name == "spfe":
        return spfe
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    folders = ([Path(spfe).parent] if spfe else []) + [Path(target) / "release"]
    return shutil.which(name, path=os.pathsep.join(map(str, folders))) or find_peer(name)


def peer_version(tool):
    """Version of a peer, asked from the tool installed beside it."""
    teller, flag = {"ucx_perftest": ("ucx_info", "-v"), "fi_pingpong": ("fi_info", "--version")}[
        os.path.basename(tool)]
    beside = Path(tool).parent / teller
    try:
        return parse.version(run([str(beside), flag], 5.0, library_env(tool)))
    except RunError:
        return "unknown"


def available():
    """All programs found on this machine, and the versions of the peers by path."""
    found, versions = [], {}
    if spfe := find_own("spfe"):
        for mode in ("inline", "coop"):
            for test, group in (("group", "auto"), ("single", "1")):
                found.append(Program(f"spfe {mode}", test, "ours", spfe, ("rate", mode, group)))
            found.append(Program(f"spfe {mode}", "latency", "ours", spfe, ("latency", mode, "1")))
    if ucx := find_peer("ucx_perftest"):
        versions[ucx] = peer_version(ucx)
        for name, test, kind, options in (
                ("ucx tag", "group", "peer", ("-t", "tag_bw")),
                ("ucx am", "group", "peer", ("-t", "ucp_am_bw")),
                ("ucx put", "group", "put", ("-t", "ucp_put_bw")),
                ("ucx tag -O 1", "single", "peer", ("-t", "tag_bw", "-O", "1")),
                ("ucx tag", "latency", "peer", ("-t", "tag_lat")),
                ("ucx am", "latency", "peer", ("-t", "ucp_am_lat"))):
            found.append(Program(name, test, kind, ucx, options))
    if fi := find_peer("fi_pingpong"):
        versions[fi] = peer_version(fi)
        found.append(Program("fi shm", "latency", "peer", fi, ("-p", "shm", "-e", "rdm")))
    if ipc := find_own("spfe-ipc"):
        for kind in ("unix-stream", "unix-seqpacket", "pipe"):
            for test, word in (("group", "bw"), ("latency", "lat")):
                name = kind.replace("seqpacket", "seqpkt")
                found.append(Program(name, test, "kernel", ipc, (word, "--kind", kind)))
    return found, versions
