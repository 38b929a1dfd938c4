# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packets, broadcast messages, time-codes and remote memory over SpaceFibre and SpaceWire.

>>> import spfe
>>> with spfe.open("virtual:") as endpoint:                 # ports 0 and 1 are joined by a cable
...     with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
...         tx.send(b"from here to there")
...         bytes(rx.recv(timeout=1))
b'from here to there'

docs/python.md is the guide.
"""

from spfe._spfe import (
    Broadcast,
    BroadcastMessage,
    Buffer,
    Capture,
    Deadline,
    Endpoint,
    InterruptCode,
    InterruptCodes,
    Mib,
    Network,
    PackedRx,
    Packet,
    Port,
    Rdma,
    RdmaCompletion,
    RdmaGroup,
    RdmaPooled,
    RdmaRegion,
    RdmaServer,
    Record,
    Results,
    Rmap,
    RmapTarget,
    RmapWindow,
    Run,
    Rx,
    Scenario,
    SpacePacket,
    TimeCode,
    TimeCodes,
    Tx,
    __version__,
)
from spfe.errors import (
    Error,
    LinkError,
    LocalError,
    RdmaRefused,
    RemoteError,
    RmapInvalid,
    RmapRefused,
    Status,
    SystemCallError,
    TimedOut,
    UsageError,
)


def open(name: str = "virtual:") -> Endpoint:
    """Opens a device by name: "virtual:", "unix:/run/spfe.sock/0", "/dev/spfe0" (docs/devices.md)."""
    return Endpoint(name)


__all__ = [
    "Broadcast",
    "BroadcastMessage",
    "Buffer",
    "Capture",
    "Deadline",
    "Endpoint",
    "Error",
    "InterruptCode",
    "InterruptCodes",
    "LinkError",
    "LocalError",
    "Mib",
    "Network",
    "PackedRx",
    "Packet",
    "Port",
    "Rdma",
    "RdmaCompletion",
    "RdmaGroup",
    "RdmaPooled",
    "RdmaRefused",
    "RdmaRegion",
    "RdmaServer",
    "Record",
    "RemoteError",
    "Results",
    "Rmap",
    "RmapInvalid",
    "RmapRefused",
    "RmapTarget",
    "RmapWindow",
    "Run",
    "Rx",
    "Scenario",
    "SpacePacket",
    "Status",
    "SystemCallError",
    "TimeCode",
    "TimeCodes",
    "TimedOut",
    "Tx",
    "UsageError",
    "__version__",
    "open",
]
