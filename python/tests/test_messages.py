# SPDX-License-Identifier: MIT OR Apache-2.0
"""Broadcast messages, time-codes, RMAP, space packets, the management information base, the list of
statuses."""

import threading

import numpy as np
import pytest

import spfe


@pytest.fixture
def endpoint():
    with spfe.open("virtual:") as opened:
        yield opened


def test_broadcast_messages(endpoint):
    with endpoint.port(0).broadcast() as sender, endpoint.port(1).broadcast(channel=7) as listener:
        sender.send(b"not this", channel=6)
        sender.send(b"8 bytes!", channel=7, kind=0x20)
        sender.drain(1)
        message = listener.recv(1)
        assert (message.channel, message.kind, message.data) == (7, 0x20, b"8 bytes!")
        assert (message.late, message.delayed, message.lost_before) == (False, False, False)
        assert message.time_ns > 0 and "kind=0x20" in repr(message)
        assert listener.poll() is None
        with pytest.raises(spfe.TimedOut):
            listener.recv(0.001)
        with pytest.raises(spfe.UsageError, match="of 7 bytes: exactly 8"):
            sender.send(b"7 bytes")
    with pytest.raises(spfe.UsageError, match="closed"):
        sender.send(b"8 bytes!")


def test_time_codes(endpoint):
    assert endpoint.port(2).kind == "SPACEWIRE"
    with endpoint.port(2).time_codes() as master, endpoint.port(3).time_codes() as listener:
        assert [master.tick(), master.tick()] == [1, 2]
        master.send(63, flags=2)
        codes = [listener.recv(1) for _ in range(3)]
        assert [(code.time, code.flags) for code in codes] == [(1, 0), (2, 0), (63, 2)]
        with pytest.raises(spfe.UsageError, match="time-code 64"):
            master.send(64)


def test_interrupts(endpoint):
    with endpoint.port(2).interrupts() as node, endpoint.port(3).interrupts() as listener:
        node.send(31)
        got = listener.recv(1)
        assert (got.number, got.acknowledge, got.lost_before) == (31, False, False)
        listener.acknowledge(31)
        assert repr(node.recv(1)) == "InterruptCode(number=31, acknowledge=True)"
        assert listener.poll() is None
        with pytest.raises(spfe.UsageError, match="interrupt 32"):
            node.send(32)
    with pytest.raises(spfe.UsageError, match="no interrupts"):
        endpoint.port(0).interrupts()


def test_rmap():
    with spfe.open("virtual:?peer=rmap:1M:key=0x20") as endpoint:
        with endpoint.port(0).rmap(key=0x20) as rmap:
            numbers = np.arange(70_000, dtype="<u2")
            rmap.write(0x100, numbers, timeout=5)
            back = rmap.read(0x100, numbers.nbytes, timeout=5)
            assert (np.frombuffer(back, "<u2") == numbers).all()
            assert rmap.modify(0x100, b"\xff\xff", b"\x0f\x00") == b"\0\0"
            assert rmap.read(0x100, 2) == b"\x0f\0"
            with pytest.raises(spfe.RmapRefused) as error:
                rmap.read(0xFF_0000_0000, 4, timeout=5)
            assert error.value.rmap_status == 10 and isinstance(error.value, spfe.RemoteError)
        with endpoint.port(0).rmap(key=0x21) as rmap, pytest.raises(spfe.RmapRefused):
            rmap.read(0, 4, timeout=5)
        with pytest.raises(spfe.UsageError, match="path address of 33 bytes"):
            endpoint.port(0).rmap(path=bytes(33))
    with spfe.open("virtual:?peer=sink") as endpoint, endpoint.port(0).rmap() as rmap:
        with pytest.raises(spfe.TimedOut, match="no reply"):
            rmap.read(0, 4, timeout=0.01)


def test_rmap_target(endpoint):
    with endpoint.port(1).rmap_target(logical_address=0x40) as target:
        memory = target.window(0x1_0000_0000, 8192, key=0x20)
        fixed = target.window(0, 64, write=False, modify=False)
        fixed.array()[:] = np.arange(64)
        with pytest.raises(spfe.UsageError, match="overlap"):
            target.window(32, 64)
        with pytest.raises(spfe.UsageError, match="at least one byte"):
            target.window(0x9000, 0)
        assert target.serve(timeout=0) == 0
        ends = []

        def serve():
            try:
                target.serve()
            except spfe.LocalError as error:
                ends.append(error.status)

        server = threading.Thread(target=serve)
        server.start()
        with endpoint.port(0).rmap(target=0x40, key=0x20) as rmap:
            numbers = np.arange(2048, dtype="<u4")
            rmap.write(0x1_0000_0000, numbers, timeout=5)
            assert (memory.array("<u4") == numbers).all() and len(memory) == 8192
            assert rmap.read(0, 64, timeout=5) == bytes(fixed) == bytes(range(64))
            assert rmap.modify(0x1_0000_0004, b"\xff", b"\x0f", timeout=5) == b"\1"
            assert bytes(memory)[4] == 0x0F
            with pytest.raises(spfe.RmapRefused) as error:
                rmap.write(0, b"1234", timeout=5)
            assert error.value.rmap_status == 10
        with endpoint.port(0).rmap(target=0x40, key=0x21) as rmap:
            with pytest.raises(spfe.RmapRefused) as error:
                rmap.read(0x1_0000_0000, 4, timeout=5)
            assert error.value.rmap_status == 3
            target.cancel()
            server.join(5)
            assert ends == [spfe.Status.CANCELLED]
            # Nobody serves: the command waits until somebody does.
            with pytest.raises(spfe.TimedOut):
                rmap.read(0, 4, timeout=0.01)
            assert target.serve(timeout=0.01) == 1
    assert (memory.array("<u4")[2:] == numbers[2:]).all()


def test_space_packets(endpoint):
    packet = spfe.SpacePacket(0x7FE, b"go", sequence_count=16383, telecommand=True,
                              secondary_header=True, sequence_flags="first", target=0x50,
                              user_application=9)
    assert packet.encode(b"\3\4") == bytes.fromhex("0304 5002 0009 1ffe 7fff 0001") + b"go"
    assert spfe.SpacePacket.decode(packet.encode()) == packet != spfe.SpacePacket(0x7FE, b"go")
    assert (packet.apid, packet.data, packet.sequence_count) == (0x7FE, b"go", 16383)
    assert (packet.telecommand, packet.secondary_header, packet.sequence_flags) == (True, True, "first")
    assert (packet.target, packet.user_application) == (0x50, 9)
    plain = spfe.SpacePacket(1, np.arange(3, dtype="u1"))
    assert (plain.telecommand, plain.sequence_flags, plain.target) == (False, "unsegmented", 254)
    for wrong, message in [
        (dict(apid=0x800, data=b"x"), "application process: 2048, at most 2047"),
        (dict(apid=1, data=b""), "packet data field: 0 bytes"),
        (dict(apid=1, data=bytes(65537)), "packet data field: 65537 bytes"),
        (dict(apid=1, data=b"x", sequence_count=16384), "sequence count: 16384"),
        (dict(apid=1, data=b"x", sequence_flags="middle"), "sequence flags 'middle'"),
    ]:
        with pytest.raises(spfe.UsageError, match=message):
            spfe.SpacePacket(**wrong)
    with pytest.raises(spfe.UsageError, match="protocol identifier: 1, 2"):
        spfe.SpacePacket.decode(b"\xfe\x01\0\0")
    with pytest.raises(spfe.UsageError, match="13 bytes, its header says 9"):
        spfe.SpacePacket.decode(bytes(plain) + b"more")
    with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
        tx.send(bytes(plain), end="eep")
        with pytest.raises(spfe.UsageError, match="error end of packet"):
            spfe.SpacePacket.decode(rx.recv(1))


def test_management_information_base_and_descriptions():
    with spfe.open("virtual:?link=exact:2x6.25G&time=virtual") as endpoint:
        port = endpoint.port(0)
        port.mib["Expected Bandwidth[3]"] = 16384
        assert port.mib["expected-bandwidth.3"] == 16384
        assert dict(port.mib.items())["Expected Bandwidth[3]"] == 16384
        with pytest.raises(spfe.UsageError) as error:
            port.mib["Lane"]
        assert error.value.status == spfe.Status.NOT_FOUND
        info = port.info()
        assert info.vcs == len(info.channels) and info.channels[0].tx.packets == 0
        with pytest.raises(AttributeError, match="no 'colour' here; there are: .*kind"):
            info.colour
        assert endpoint.info().ports == 4 and endpoint.info()["contract"][0] == 1
        port.set_priority(1, 3)


def test_statuses_are_those_of_the_contract():
    assert spfe.Status.OK == 0 and spfe.Status.OK.kind == "ok"
    kinds = {status.kind for status in spfe.Status}
    assert kinds == {"ok", "local", "remote", "link", "usage"}
    for status in spfe.Status:
        assert status.meaning and (status.errno > 0) == (status != 0)
        made = spfe.Error("what", status.value)
        assert made.status is status and made.errno == status.errno and str(made) == "what"
