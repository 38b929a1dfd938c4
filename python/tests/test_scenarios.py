# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenarios, their results, and networks with applications."""

import errno
import json
import pathlib

import pytest

import spfe

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "scenarios"


def test_results_are_objects_and_repeat():
    scenario = spfe.Scenario.load(EXAMPLES / "bit-errors.toml")
    assert (scenario.title, scenario.seed) == ("Bit errors and retries", 3)
    assert scenario.duration == pytest.approx(0.005)
    results = scenario.run(duration="600us")
    assert results.conservation.kept
    flow = results.flows[0]
    assert flow.name == "to-right" and flow.delivered.packets > 50
    assert sum(flow.series) == flow["delivered"]["bytes"]
    assert json.loads(results.json())["words"] == results.words
    assert "to-right" in results.table() and results.html().startswith("<!")
    assert scenario.run(duration="600us").json() == results.json()
    assert scenario.run(duration="600us", seed=4).json() != results.json()
    with pytest.raises(AttributeError, match="there are: version"):
        results.colour


def test_wrong_scenarios_say_what_is_wrong(tmp_path):
    with pytest.raises(spfe.UsageError, match="line 1"):
        spfe.Scenario("node = 5")
    with pytest.raises(spfe.UsageError, match="duration 'soon'"):
        spfe.Scenario.load(EXAMPLES / "bit-errors.toml").run(duration="soon")
    with pytest.raises(spfe.SystemCallError, match="nothing.toml") as error:
        spfe.Scenario.load(tmp_path / "nothing.toml")
    assert isinstance(error.value, OSError) and error.value.errno == 2


def test_applications_in_a_network():
    network = spfe.Network(spfe.Scenario.load(EXAMPLES / "endpoints.toml"), virtual_time=True)
    assert len(network.names) >= 2
    with network.open(network.names[0]) as first, network.open(1) as second:
        assert first.info().ports >= 1 and second.info().endpoint == 1
        assert first.network.names == network.names
    with pytest.raises(spfe.UsageError, match="endpoint 'nobody': there are"):
        network.open("nobody")


def test_captures_of_a_network_in_this_process(tmp_path):
    with spfe.open("virtual:") as endpoint:
        with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:

            def through(data):
                tx.send(data)
                return bytes(rx.recv(1)) == data

            file = tmp_path / "net.pcapng"
            with endpoint.capture(file, ["0.0-0.1"]) as capture:
                assert through(b"the first of two") and through(b"the second")
            assert through(b"after the end")
            assert capture.end() == (2, 0)
            written = file.read_bytes()
            assert b"the first of two" in written and b"the second" in written
            assert b"after the end" not in written
            with endpoint.capture(tmp_path / "one", packets=1) as capture:
                assert through(b"one of two") and through(b"two of two")
            assert capture.end()[0] == 1 and b"two of two" not in (tmp_path / "one").read_bytes()
        with pytest.raises(spfe.UsageError, match="link 'x': this network has 0.0-0.1, ") as error:
            endpoint.capture(tmp_path / "none", ["x"])
        assert error.value.status == spfe.Status.NOT_FOUND
        with pytest.raises(spfe.SystemCallError, match="missing/net") as error:
            endpoint.capture(tmp_path / "missing" / "net")
        assert isinstance(error.value, OSError) and error.value.errno == errno.ENOENT


def test_faults_on_a_running_link():
    with spfe.open("virtual:?link=exact:1x2.5G&time=virtual") as endpoint:
        network = endpoint.network
        number = network.add_fault("bit-errors", link="0.0-0.1", rate=1e-6)
        assert [fault.number for fault in network.faults()] == [number]
        with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
            for size in (10, 1000, 3000):
                tx.send(bytes(size))
                assert len(rx.recv(timeout=1)) == size
        assert network.end_faults() == 1 and network.faults() == []
        number = network.add_fault("cut", link="0.0-0.1", duration="1us", every="1ms")
        assert network.end_faults(number) == 1
        with pytest.raises(spfe.UsageError):
            network.add_fault("earthquake")
