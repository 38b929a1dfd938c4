# SPDX-License-Identifier: MIT OR Apache-2.0
"""The interface in examples/openc3 below the real Interface class of OpenC3: tools/field.sh openc3.

    openc3_peer.py DEVICE DEVICE      two endpoints whose ports 0 are joined
"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/openc3"))

import spfe  # noqa: E402
from openc3.interfaces.interface import Interface  # noqa: E402
from openc3.packets.packet import Packet  # noqa: E402
from spfe_interface import SpfeInterface  # noqa: E402


def space_packet(count, length):
    """A telemetry packet with so many bytes of data."""
    header = (0x0864).to_bytes(2, "big") + (0xC000 | count).to_bytes(2, "big")
    return header + (length - 1).to_bytes(2, "big") + bytes((count + i) & 0xFF for i in range(length))


def main():
    here, there = sys.argv[1:]
    interface = SpfeInterface(here)
    assert isinstance(interface, Interface) and not interface.connected()
    interface.connect()
    assert interface.connected()
    with spfe.open(there) as endpoint, endpoint.port(0).tx(bytes=70000) as tx:
        with endpoint.port(0).rx(bytes=70000) as rx:
            # Telemetry: one packet in is one packet out, in order, whatever is in between.
            lengths = [1, 2, 100, 1000, 65536] * 4
            for count, length in enumerate(lengths):
                tx.send(b"\xfe\x02\x00\x00" + space_packet(count, length), timeout=20)
                if count % 5 == 0:
                    tx.send(b"\xfe\x01no space packet", timeout=20)
                packet = interface.read()
                assert packet.buffer == space_packet(count, length), count
            # Commands.
            for count, length in enumerate(lengths):
                command = Packet("INST", "COMMAND")
                command.buffer = space_packet(count, length)
                interface.write(command)
                with rx.recv(timeout=20) as received:
                    assert bytes(received) == b"\xfe\x02\x00\x00" + space_packet(count, length)
            assert (interface.read_count, interface.write_count) == (20, 20)
            # What is no space packet is refused, and COSMOS then disconnects.
            try:
                interface.write_raw(b"no space packet")
                raise SystemExit("a wrong packet was taken")
            except ValueError:
                assert not interface.connected()
            # And connects again.
            interface.connect()
            tx.send(b"\xfe\x02\x00\x00" + space_packet(1, 5), timeout=20)
            assert interface.read().buffer == space_packet(1, 5)
            # A read of another thread ends when COSMOS disconnects.
            result = []
            reader = threading.Thread(target=lambda: result.append(interface.read()))
            reader.start()
            interface.disconnect()
            reader.join(20)
            assert not reader.is_alive() and result in ([None], []), result
    print("ok: 20 packets of telemetry and 20 commands, one for one")


main()
