//! Rates of one link and one router, and skipped idle time.

use super::{flow, simulate};
use spfe_sim::results::{DirectionResults, Results};

/// Data words as a share of the capacity of a direction, in the middle of the simulated time.
fn load(direction: &DirectionResults) -> f64 {
    let steps = direction.channels.first().map_or(0, |channel| channel.series.len());
    let middle = steps / 3..steps * 9 / 10;
    let words = |series: &[u64]| series[middle.clone()].iter().sum::<u64>();
    let words: u64 = direction.channels.iter().map(|channel| words(&channel.series)).sum();
    words as f64 / (direction.capacity_words * middle.len() as f64)
}

/// User data rates are 0.7640 and 0.7419 of the signalling rate; a word of 32 data bits has 40
/// bits.
const ONE_WAY: f64 = 0.7640 * 1.25;
const BOTH_WAYS: f64 = 0.7419 * 1.25;

fn is_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.005, "{value}, {expected} expected");
}

#[test]
fn a_saturated_link_has_the_rate_of_the_standard() {
    for (lanes, vc) in [(1, 1), (2, 0), (4, 3)] {
        let results = simulate(&format!(
            r#"
            title = "two nodes"
            duration = "250us"
            node = [{{ name = "a" }}, {{ name = "b" }}]
            [[link]]
            name = "ab"
            ends = ["a", "b"]
            cable = "10m"
            spacefibre = {{ lanes = {lanes}, channels = 4, qos = [{{ vc = {vc}, bandwidth = "90%" }}] }}
            [[flow]]
            name = "f"
            from = "a"
            to = "b"
            vc = {vc}
            size = "4KiB"
            rate = "saturate"
            "#
        ));
        is_near(load(&results.links[0].directions[0]), ONE_WAY);
        let flow = flow(&results, "f");
        assert!(flow.delivered.packets > 20, "{flow:?}");
        assert_eq!(flow.offered.packets, flow.delivered.packets + flow.in_flight.packets);
        let series: u64 = flow.series.iter().sum();
        assert_eq!((series, flow.series.len()), (flow.delivered.bytes, 100));
        assert_eq!(flow.latency.count, flow.delivered.packets);
    }
}

#[test]
fn a_saturated_spacewire_link_is_used_once() {
    for bytes in [12, 60, 1000] {
        let results = simulate(&format!(
            r#"
            title = "two nodes"
            duration = "400us"
            node = [{{ name = "a" }}, {{ name = "b" }}]
            [[link]]
            name = "ab"
            ends = ["a", "b"]
            rate = "200M"
            spacewire = {{}}
            [[flow]]
            name = "f"
            from = "a"
            to = "b"
            size = {bytes}
            rate = "saturate"
            "#
        ));
        let [there, back] = &results.links[0].directions;
        // The link needs 20 us to start.
        assert!((0.9..1.0).contains(&there.utilisation), "{}", there.utilisation);
        is_near(load(there), 1.0);
        assert_eq!(back.utilisation, 0.0);
    }
}

/// Buffers of the default sizes cover the round trip over 100 m of fibre.
#[test]
fn a_long_link_has_the_full_rate() {
    for lanes in [1, 4] {
        let flow = |from: &str, to: &str| {
            format!(
                "\n[[flow]]\nname = '{from}'\nfrom = '{from}'\nto = '{to}'\nvc = 1\nsize = '64KiB'\n"
            )
        };
        let link = format!(
            r#"
            title = "100 m"
            duration = "250us"
            node = [{{ name = "a" }}, {{ name = "b" }}]
            [[link]]
            name = "ab"
            ends = ["a", "b"]
            cable = "100m"
            spacefibre = {{ lanes = {lanes}, channels = 2, qos = [{{ vc = 1, bandwidth = "90%" }}] }}
            "#
        );
        let results = simulate(&[link, flow("a", "b"), flow("b", "a")].concat());
        for direction in &results.links[0].directions {
            is_near(load(direction), BOTH_WAYS);
        }
        for counters in &results.links[0].counters {
            assert_eq!(counters["FULLs sent"], 0, "the recovery buffer is large enough");
        }
    }
}

/// Words in a data frame of a link that always has more to send.
#[test]
fn the_segment_multiplier_is_the_size_of_a_frame() {
    for (setting, words) in [("", 256.0), (", segment-multiplier = 2", 128.0)] {
        let results = simulate(&format!(
            r#"
            title = "two nodes"
            duration = "60us"
            node = [{{ name = "a" }}, {{ name = "b" }}]
            [[link]]
            name = "ab"
            ends = ["a", "b"]
            spacefibre = {{ lanes = 4, channels = 2{setting} }}
            [[flow]]
            name = "f"
            from = "a"
            to = "b"
            size = "64KiB"
            start = "20us"
            "#
        ));
        let link = &results.links[0];
        let frames = link.counters[0]["data frames sent"];
        assert!(frames > 50, "{frames} frames");
        let mean = link.directions[0].data_words as f64 / frames as f64;
        assert!((words * 0.95..=words).contains(&mean), "{setting}: {mean} words in a frame");
    }
}

fn around_a_router(size: &str) -> Results {
    let link = |name: &str, port: u8| {
        format!(
            r#"
            [[link]]
            name = "{name}"
            ends = ["{name}", "r:{port}"]
            spacefibre = {{ channels = 4, qos = [{{ vc = 1, bandwidth = "50%" }}, {{ vc = 2, bandwidth = "50%" }}] }}
            "#
        )
    };
    let flow = |from: &str, to: &str, vc: u8| {
        format!(
            r#"
            [[flow]]
            name = "{from}{to}"
            from = "{from}"
            to = "{to}"
            vc = {vc}
            size = {size}
            rate = "saturate"
            "#
        )
    };
    let head = r#"
        title = "router"
        duration = "250us"
        node = [{ name = "a" }, { name = "b" }, { name = "c" }]
        router = [{ name = "r", ports = 3 }]
    "#;
    let parts = [
        head.to_string(),
        link("a", 1),
        link("b", 2),
        link("c", 3),
        flow("a", "b", 1),
        flow("b", "c", 1),
        flow("c", "a", 2),
    ];
    simulate(&parts.concat())
}

#[test]
fn a_router_keeps_its_links_full() {
    for size in ["'4KiB'", "{ min = 100, max = 1000 }"] {
        let results = around_a_router(size);
        for link in &results.links {
            link.directions.iter().for_each(|direction| is_near(load(direction), BOTH_WAYS));
        }
    }
}

#[test]
fn idle_time_is_skipped() {
    let text = |duration: &str| {
        format!(
            r#"
            title = "rare packets"
            duration = "{duration}"
            node = [{{ name = "a" }}, {{ name = "b" }}]
            link = [{{ name = "ab", ends = ["a", "b"] }}]
            [[flow]]
            name = "f"
            from = "a"
            to = "b"
            size = 500
            period = "10ms"
            start = "1ms"
            "#
        )
    };
    let results = simulate(&text("1s"));
    let flow = flow(&results, "f");
    assert_eq!(flow.delivered.packets, 100);
    // 1 s has 156 million word periods.
    assert!(results.words < 10_000_000, "{} words", results.words);
    assert!(flow.latency.max_ps < 3_000_000, "{:?}", flow.latency);
}

/// A busy link beside a number of links that carry a packet each, late.
fn beside_idle_links(idle: usize) -> Results {
    let mut text = String::from(
        r#"
        title = "many links"
        duration = "300us"
        [[flow]]
        name = "busy"
        from = "a0"
        to = "b0"
        size = "1KiB"
        rate = "saturate"
        "#,
    );
    for n in 0..=idle {
        text += &format!(
            r#"
            [[node]]
            name = "a{n}"
            [[node]]
            name = "b{n}"
            [[link]]
            name = "link{n}"
            ends = ["a{n}", "b{n}"]
            cable = "5m"
            spacefibre = {{ channels = 2 }}
            "#
        );
    }
    for n in 1..=idle {
        text += &format!(
            r#"
            [[flow]]
            name = "late{n}"
            from = "a{n}"
            to = "b{n}"
            size = "1KiB"
            period = "1ms"
            start = "{}us"
            count = 1
            "#,
            200 + n
        );
    }
    simulate(&text)
}

#[test]
fn idle_links_cost_nothing_and_wake_up() {
    let (alone, many) = (beside_idle_links(0), beside_idle_links(20));
    assert_eq!(flow(&alone, "busy"), flow(&many, "busy"));
    let idle = &many.links[1..];
    let most = idle.iter().map(|link| link.words).max().unwrap();
    // They start, and carry a packet of 257 words and its acknowledgement.
    assert!(most * 4 < many.links[0].words, "{most} of {} words", many.links[0].words);
    for n in 1..=20 {
        let late = flow(&many, &format!("late{n}"));
        assert_eq!(late.delivered.packets, 1, "{late:?}");
        // The link was idle, so the packet takes as long on each.
        assert!(late.latency.max_ps < 4_000_000, "{late:?}");
    }
}
