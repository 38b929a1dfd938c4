# The statuses are those of the contract; mypy.stubtest compares them.
import enum

class Status(enum.IntEnum):
    OK = 0
    CANCELLED = 16
    DEVICE_RESET = 17
    DEVICE_GONE = 18
    NO_RESOURCES = 19
    BUSY = 20
    QUOTA_EXCEEDED = 21
    FLUSHED = 22
    PEER_GONE = 32
    REMOTE_REQUEST = 33
    REMOTE_ACCESS = 34
    REMOTE_MEMORY = 35
    REMOTE_DATA = 36
    NO_ANSWER = 37
    NOT_READY = 38
    LINK_DOWN = 48
    PACKET_CUT = 49
    BAD_OPCODE = 64
    BAD_REGION = 65
    OUT_OF_BOUNDS = 66
    ACCESS_DENIED = 67
    EMPTY = 68
    TOO_LONG = 69
    CHAIN_TOO_LONG = 70
    BAD_VC = 71
    BAD_FIELD = 72
    BAD_RING = 73
    BAD_VERSION = 74
    NOT_FOUND = 75
    @property
    def kind(self) -> str: ...
    @property
    def errno(self) -> int: ...
    @property
    def meaning(self) -> str: ...

class Error(Exception):
    default_errno: int
    status: Status | None
    errno: int | None
    def __init__(self, what: str, status: int | None = None, errno: int | None = None) -> None: ...

class LocalError(Error): ...
class RemoteError(Error): ...
class LinkError(Error): ...
class UsageError(Error): ...
class TimedOut(Error, TimeoutError): ...
class SystemCallError(Error, OSError): ...

class RmapRefused(RemoteError):
    rmap_status: int
    def __init__(self, what: str, rmap_status: int) -> None: ...

class RmapInvalid(RemoteError): ...

class RdmaRefused(RemoteError):
    rdma_status: int
    def __init__(self, what: str, rdma_status: int) -> None: ...
