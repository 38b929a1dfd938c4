//! A sample document. Its numbers are MADE UP to test the renderings; nothing was measured.

use spfe_report::{Document, KernelLoad, LatencyNs, Meta, Point, ResultRow, paper, scenario};

const LIMIT: f64 = 22.9;

/// Makes a document with every kind of section.
pub fn sample() -> Document {
    let mut results = Vec::new();
    for (name, grouped, base) in [
        (scenario::SEND_SINGLE, false, 1.8),
        (scenario::SEND_GROUP, true, 15.0),
        (scenario::RECEIVE_SINGLE, false, 3.1),
        (scenario::RECEIVE_THRESHOLD, false, 12.5),
        (scenario::SEND_GROUP_AHEAD, true, 17.0),
        (scenario::RATE_BOTH, true, 18.0),
    ] {
        for step in 0..9 {
            let size = 1024 << step;
            let group = if grouped { paper::group(size) } else { 1 };
            results.push(sweep_row(name, size, group, base));
        }
    }
    results.extend([random_row(scenario::RANDOM_TX, 14.2), random_row(scenario::RANDOM_RX, 11.9)]);
    results.extend((0..7).map(|step| latency_row(64 << (2 * step))));
    for (name, size) in [(scenario::BROADCAST_IDLE, 8), (scenario::TIME_CODE_DATA, 1)] {
        let row = latency_row(size);
        results.push(ResultRow { scenario: name.to_owned(), link_minimum_ns: None, ..row });
    }
    Document { meta: meta(), results, calibration: None }
}

fn meta() -> Meta {
    let calibration = [
        ("memcpy_gbps", 81.25.into()),
        ("block_wake_ns", 5210.into()),
        ("clock_read_ns", 24.5.into()),
        ("note", "SAMPLE DATA, nothing was measured".into()),
    ];
    Meta {
        version: "sample".into(),
        git_revision: "0000000".into(),
        date: "2000-01-01T00:00:00Z".into(),
        command: "spfe perf --all --json sample.json".into(),
        cpu_model: "SAMPLE DATA: made-up numbers".into(),
        cores: 2,
        kernel: "Linux 0.0".into(),
        mode: "thread".into(),
        link: "4x7.5G".into(),
        link_limit_gbps: LIMIT,
        wait_strategy: "adaptive".into(),
        iterations: 4,
        seconds: 10.0,
        notes: Vec::new(),
        calibration: calibration.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

fn sweep_row(name: &str, size: u64, group: u32, base: f64) -> ResultRow {
    let kb = (size / 1024) as f64;
    let limit = if name == scenario::RATE_BOTH { paper::LINK_LIMIT_BOTH_GBPS } else { LIMIT };
    let rate = (base * kb * limit) / (base * kb + limit);
    let host = 100.0 / (1.0 + kb * base / 12.0);
    let points = [-0.02, 0.01, 0.005, -0.01].map(|noise: f64| Point {
        rate_gbps: rate * (1.0 + noise),
        host_cpu_pct: host * (1.0 - 4.0 * noise),
        device_cpu_pct: 55.0 * (1.0 + noise) - 20.0 / kb,
        wakes_per_s: 2600.0 + 40_000.0 / kb,
        kernel: Some(KernelLoad {
            user_pct: host * 0.5 + 55.0,
            system_pct: host * 0.5 * (1.0 - noise),
            machine_pct: host + 70.0,
            machine_of_all_pct: (host + 70.0) / 2.0,
            interrupt_pct: 3.25,
            stolen_pct: 0.5,
            interrupts_per_s: 3000.0 + 40_000.0 / kb,
        }),
    });
    let mut row = ResultRow::from_points(name, size, group, points.to_vec());
    row.link_limit_gbps = limit;
    row.floor_cpu_pct = Some(host * 0.75);
    row.under_way = Some(1);
    row
}

fn random_row(name: &str, rate: f64) -> ResultRow {
    let mut row = sweep_row(name, 131_072, 1, rate);
    row.size_min_bytes = Some(1);
    row.size_max_bytes = Some(262_144);
    row.seed = Some(42);
    row.integrity_errors = Some(0);
    row
}

fn latency_row(size: u64) -> ResultRow {
    let median = 1800.0 + size as f64 / 2.86;
    let mut row = ResultRow::new(scenario::LATENCY, size, 1);
    row.latency_ns = Some(LatencyNs {
        mean: median * 1.04,
        p50: median,
        p99: median * 1.3 + 900.0,
        p999: median * 1.4 + 9000.0,
        max: median * 1.5 + 60_000.0,
        min: median * 0.9,
    });
    row.link_minimum_ns = Some(size as f64 / 2.86);
    row.packets_per_s = 1000.0;
    row.rate_gbps = size as f64 * 8e-6;
    row.worst_gbps = row.rate_gbps;
    row.host_cpu_pct = 1.2;
    row.device_cpu_pct = 0.8;
    row.wakes_per_s = 1000.0;
    row.link_limit_gbps = LIMIT;
    row
}
