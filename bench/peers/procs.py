"""Starting, bounding and ending the programs compared."""

import os
import signal
import subprocess
import time

FIFO_OWN, FIFO_CHILD = 20, 10
ENV = dict(os.environ)


class RunError(RuntimeError):
    """A program failed, hung or could not be started."""


def go_fifo():
    """Puts this script above the programs it watches, so that its time limits hold
    while they spin; False without the right to do so."""
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(FIFO_OWN))
        return True
    except (OSError, AttributeError):
        return False


def placed(command, cpus, fifo):
    """The command, restricted to `cpus` (e.g. "0,1") and under SCHED_FIFO if wanted."""
    prefix = ["taskset", "-c", str(cpus)]
    if fifo:
        prefix += ["chrt", "-f", str(FIFO_CHILD)]
    return prefix + [str(part) for part in command]


def _start(command, env):
    try:
        return subprocess.Popen(
            command, env=ENV | (env or {}), stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise RunError(f"{command[0]}: {error}") from error


def _end(process):
    """Ends a process started here, and the group it leads."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _finish(process, timeout, name):
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{name}: no end after {timeout:.0f} s") from error
    if process.returncode != 0:
        last = (err.strip() or out.strip()).splitlines()[-1:] or ["no message"]
        raise RunError(f"{name}: exit code {process.returncode}: {last[0][:200]}")
    return out


def run(command, timeout=20.0, env=None, name=None):
    """Runs one program to its end and returns what it printed."""
    process = _start(command, env)
    try:
        return _finish(process, timeout, name or os.path.basename(command[0]))
    finally:
        _end(process)


def _listening(port):
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as lines:
                for fields in map(str.split, lines):
                    if fields[1].endswith(wanted) and fields[3] == "0A":
                        return True
        except OSError:
            pass
    return False


def run_pair(server, client, port, timeout=20.0, env=None, name="peer"):
    """Starts a server, the client as soon as `port` listens; what the client printed."""
    if _listening(port):
        raise RunError(f"{name}: port {port} is in use")
    serving = _start(server, env)
    try:
        deadline = time.monotonic() + 5.0
        while not _listening(port):
            if serving.poll() is not None or time.monotonic() > deadline:
                out, err = serving.communicate() if serving.poll() is not None else ("", "")
                raise RunError(f"{name}: server does not listen {(err or out)[-200:].strip()}")
            time.sleep(0.01)
        printed = run(client, timeout, env, name)
        _finish(serving, 5.0, f"{name} server")
        return printed
    finally:
        _end(serving)
