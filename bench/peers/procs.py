"""Starts the compared programs, limits their time and ends them."""

import os
import signal
import subprocess
import time
from contextlib import contextmanager


class RunError(RuntimeError):
    """A program failed, hung or could not be started."""


def placed(command, cpus, fifo, limit=20):
    """Restricts a command to `cpus` (e.g. "0,1") and to `limit` seconds.

    Only the program itself runs under SCHED_FIFO. `timeout` and this script use the CPU time
    that the kernel reserves for ordinary processes.
    """
    bounded = ["timeout", "-s", "KILL", str(limit), "taskset", "-c", str(cpus)]
    return bounded + ["chrt", "-f", "10"] * fifo + [str(part) for part in command]


def fifo_allowed():
    """Whether programs started here may use SCHED_FIFO."""
    return not subprocess.call(["chrt", "-f", "10", "true"], stderr=subprocess.DEVNULL)


def _start(command, env):
    return subprocess.Popen(
        command, env=os.environ | (env or {}), stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def _end(process):
    """Ends a process that was started here, and its process group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _finish(process, timeout, name):
    """Waits for the end of a process and returns its output."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{name}: no end after {timeout:.0f} s") from error
    finally:
        _end(process)
    if process.returncode != 0:
        last = (err.strip() or out.strip() or "no message (-9: took too long)").splitlines()[-1]
        raise RunError(f"{name}: exit code {process.returncode}: {last[:200]}")
    return out


@contextmanager
def beside(command):
    """Runs a program as long as the block does."""
    process = _start(command, None)
    try:
        yield
    finally:
        _end(process)


def run(command, timeout=30.0, env=None, name=None):
    """Runs a program to its end and returns its output."""
    return _finish(_start(command, env), timeout, name or os.path.basename(command[0]))


def run_pair(server, client, env=None, name="peer"):
    """Runs server and client and returns the client's output. Retries until the server is ready."""
    serving, failure = _start(server, env), None
    try:
        for attempt in range(5):
            time.sleep(0.1 + 0.1 * attempt)
            if serving.poll() is not None:
                _finish(serving, 1.0, f"{name} server")
                break
            try:
                printed = run(client, env=env, name=name)
                _finish(serving, 5.0, f"{name} server")
                return printed
            except RunError as error:
                failure = error
        raise failure or RunError(f"{name}: the server ended early")
    finally:
        _end(serving)
