# SPDX-License-Identifier: MIT OR Apache-2.0
"""An interface of OpenC3 COSMOS to a SpaceFibre or SpaceWire network, for CCSDS space packets.

In a plugin, with this file in its lib folder and the package spfe installed where COSMOS runs Python:

    INTERFACE SPFE_INT spfe_interface.py unix:/run/spfe.sock/0 0 0
      MAP_TARGET INST

The parameters are the device (docs/devices.md), the port, the virtual channel, the logical address of
the target and the path address in hexadecimal, of which only the first is needed. A packet of COSMOS
is a space packet, and the cargo of one packet of the link (ECSS-E-ST-50-53C); none is merged or split.
COSMOS connects again by itself after an error.
"""

import spfe
from openc3.interfaces.interface import Interface
from openc3.utilities.logger import Logger

PROTOCOL = 2  # the CCSDS packet transfer protocol
LONGEST = 65542 + 4 + 12
LOOK = 0.5  # how often a read looks whether it shall end, s


class SpfeInterface(Interface):
    """Reads and writes space packets at a port."""

    def __init__(self, device, port=0, vc=0, target=254, path="", write_timeout=10.0):
        super().__init__()
        self.device = str(device)
        self.port = int(port)
        self.vc = int(vc)
        self.front = bytes.fromhex(path) + bytes([int(target), PROTOCOL, 0, 0])
        self.write_timeout = float(write_timeout)
        self.endpoint = self.tx = self.rx = None

    def connection_string(self):
        return f"{self.device} port {self.port} VC {self.vc}"

    def connect(self):
        self.disconnect_device()
        endpoint = spfe.open(self.device)
        try:
            port = endpoint.port(self.port)
            self.rx = port.rx(self.vc, buffers=32, bytes=LONGEST)
            self.tx = port.tx(self.vc, buffers=32, bytes=LONGEST)
        except spfe.Error:
            endpoint.close()
            raise
        self.endpoint = endpoint
        super().connect()

    def connected(self):
        return self.endpoint is not None

    def disconnect(self):
        self.disconnect_device()
        super().disconnect()

    def disconnect_device(self):
        endpoint, self.endpoint = self.endpoint, None
        if endpoint is not None:
            # Ends the read of another thread.
            endpoint.close()
        self.tx = self.rx = None

    def read_interface(self):
        while (rx := self.rx) is not None:
            try:
                packet = rx.recv(timeout=LOOK)
            except spfe.TimedOut:
                continue
            except spfe.Error as error:
                if self.connected():
                    Logger.error(f"{self.name}: {error}")
                break
            with packet:
                data = bytes(packet)
                whole = packet.end == "eop" and not packet.more
            # Logical address, protocol, reserved, user application; then the space packet.
            if whole and len(data) >= 11 and data[1] == PROTOCOL and declared(data[4:]):
                self.read_interface_base(data[4:], None)
                return data[4:], None
            Logger.warn(f"{self.name}: {len(data)} bytes that are no space packet were dropped")
        return None, None

    def write_interface(self, data, extra=None):
        if not declared(data):
            raise ValueError(f"{len(data)} bytes are no space packet")
        # Waits while the receiver takes nothing: back-pressure reaches COSMOS as a slow write.
        self.tx.send(self.front + data, timeout=self.write_timeout)
        self.write_interface_base(data, extra)
        return data, extra


def declared(data):
    """Whether these bytes are one space packet, by the length in its header."""
    return len(data) >= 7 and data[0] >> 5 == 0 and len(data) == int.from_bytes(data[4:6], "big") + 7
