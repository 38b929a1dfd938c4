//! RMAP targets of nodes, and the registers of routers.

use super::{memory_network, simulate};
use spfe_sim::results::Results;

fn commands(commands: &str) -> Results {
    let target = r#"target = { bytes = "64KiB", key = 0x55, latency = "200ns" }"#;
    let text = memory_network(target, "configuration = { key = 0x33 }", "", commands);
    simulate(&text.replace("\"1ms\"", "\"200us\""))
}

#[test]
fn memory_is_written_read_and_modified() {
    let results = commands(
        r#"
        [[rmap]]
        name = "write"
        from = "cpu"
        to = "mem"
        operation = "write"
        verify = true
        address = 256
        size = 100
        start = "20us"
        count = 10
        [[rmap]]
        name = "read"
        from = "cpu"
        to = "mem"
        operation = "read"
        address = 256
        size = 100
        outstanding = 3
        start = "20us"
        count = 20
        [[rmap]]
        name = "modify"
        from = "cpu"
        to = "mem"
        operation = "rmw"
        address = 260
        period = "10us"
        start = "20us"
        count = 5
        [[rmap]]
        name = "wrong-key"
        from = "cpu"
        to = "mem"
        operation = "read"
        key = 1
        start = "20us"
        count = 2
        "#,
    );
    for (of, count) in results.rmaps.iter().zip([10, 20, 5]) {
        assert_eq!((of.commands, of.succeeded, of.mismatches), (count, count, 0), "{of:?}");
        assert_eq!((of.timed_out, of.outstanding, of.failed.len()), (0, 0, 0), "{of:?}");
        assert!(of.latency.max_ps > 200_000);
    }
    let refused = &results.rmaps[3];
    assert_eq!((refused.succeeded, refused.failed["status 3: invalid key"]), (0, 2));
    let counters = &results.nodes[1].counters;
    assert_eq!((counters["RMAP writes"], counters["RMAP reads"]), (10, 20));
}

#[test]
fn a_router_is_configured_by_its_registers() {
    // Writes the entry of address 80 to port 2. Packets with this address arrive afterwards.
    let results = commands(
        r#"
        [[rmap]]
        name = "identify"
        from = "cpu"
        to = "r"
        operation = "read"
        address = 0
        size = 20
        start = "20us"
        count = 3
        [[rmap]]
        name = "no-register"
        from = "cpu"
        to = "r"
        operation = "read"
        address = 0xFFF000
        start = "20us"
        count = 1
        "#,
    );
    assert_eq!((results.rmaps[0].succeeded, results.rmaps[0].mismatches), (3, 0));
    let status = "status 10: command not implemented or not authorised";
    assert_eq!(results.rmaps[1].failed[status], 1);
    assert_eq!(results.routers[0].counters["RMAP reads"], 3);
}
