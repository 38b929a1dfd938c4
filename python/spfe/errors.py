# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions, by the class of their status: where the cause is (docs/errors.md).

>>> import spfe
>>> try:
...     spfe.open("/dev/nothing")
... except spfe.UsageError as error:
...     error.status
<Status.NOT_FOUND: 75>
>>> spfe.Status.BUSY.meaning != ""
True
"""

import enum
import errno as _errno

from spfe._spfe import statuses as _statuses

_ROWS = {value: row for row in _statuses() for value in (row[1],)}


class _Described(enum.IntEnum):
    """A status of the contract."""

    @property
    def kind(self) -> str:
        """Where the cause is: "ok", "local", "remote", "link" or "usage"."""
        return _ROWS[self.value][2]

    @property
    def errno(self) -> int:
        """The errno of Linux."""
        return _ROWS[self.value][3]

    @property
    def meaning(self) -> str:
        """A sentence."""
        return _ROWS[self.value][4]


Status = _Described("Status", {row[0]: row[1] for row in _statuses()}, module=__name__)


class Error(Exception):
    """An error of the library; `status` is None where the contract has no status for it."""

    #: The errno of Linux, where it does not follow from the status.
    default_errno = _errno.EIO

    def __init__(self, what: str, status: int | None = None, errno: int | None = None) -> None:
        super().__init__(what)
        self.status = None if status is None else Status(status)
        if errno is None:
            errno = self.default_errno if self.status is None else self.status.errno
        self.errno = errno


class LocalError(Error):
    """The cause is this host, this device or its daemon."""


class RemoteError(Error):
    """The cause is the far end."""


class LinkError(Error):
    """The cause is the link."""


class UsageError(Error):
    """The call is wrong; another try fails as well."""


class TimedOut(Error, TimeoutError):
    """The time is over. Nothing was consumed, so the call can be repeated."""

    default_errno = _errno.ETIMEDOUT


class SystemCallError(Error, OSError):
    """The operating system refused."""


class RmapRefused(RemoteError):
    """An RMAP target refused a command; `rmap_status` is the status of its reply."""

    default_errno = _errno.EREMOTEIO

    def __init__(self, what: str, rmap_status: int) -> None:
        super().__init__(what)
        self.rmap_status = rmap_status


class RmapInvalid(RemoteError):
    """An RMAP reply was cut, damaged or of a wrong length."""

    default_errno = _errno.EBADMSG


class RdmaRefused(RemoteError):
    """The target refused a request; `rdma_status` is the SFRP status of its answer."""

    default_errno = _errno.EREMOTEIO

    def __init__(self, what: str, rdma_status: int) -> None:
        super().__init__(what)
        self.rdma_status = rdma_status
