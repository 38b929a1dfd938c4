//! Properties that the renderings of every document must have, tested on random documents.

mod common;

use serde_json::json;
use spfe_report::{Document, KernelLoad, LatencyNs, PaperFigure, Point, ResultRow, scenario};

const HOSTILE: &str = "</svg></style><script>alert('1 & 2')</script>\"\n\u{1b}[31m\tx";

const STRANGE: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    21.09,
    -5.0,
    1e-320,
    1e-9,
    1e5,
    1e12,
    1e20,
    f64::MAX,
    f64::MIN_POSITIVE,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    99.995,
];

/// Random numbers, the same in every run.
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    fn number(&mut self) -> f64 {
        STRANGE[self.below(STRANGE.len())]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn kernel(&mut self) -> KernelLoad {
        KernelLoad {
            user_pct: self.number(),
            system_pct: self.number(),
            machine_pct: self.number(),
            machine_of_all_pct: self.number(),
            interrupt_pct: self.number(),
            stolen_pct: self.number(),
            interrupts_per_s: self.number(),
        }
    }

    fn point(&mut self) -> Point {
        Point {
            rate_gbps: self.number(),
            host_cpu_pct: self.number(),
            device_cpu_pct: self.number(),
            wakes_per_s: self.number(),
            kernel: self.maybe(Self::kernel),
        }
    }

    fn row(&mut self) -> ResultRow {
        let names = [
            scenario::SEND_SINGLE,
            scenario::SEND_GROUP,
            scenario::RATE_BOTH,
            scenario::RANDOM_TX,
            scenario::RANDOM_RX,
            scenario::LATENCY,
            HOSTILE,
            "",
        ];
        let sizes = [0, 1, 64, 1024, 8192, 1000, 262_144, u64::MAX];
        let mut row = ResultRow::new(names[self.below(8)], sizes[self.below(8)], 1);
        row.group = [0, 1, 128, u32::MAX][self.below(4)];
        row.rate_gbps = self.number();
        row.worst_gbps = self.number();
        row.packets_per_s = self.number();
        row.host_cpu_pct = self.number();
        row.device_cpu_pct = self.number();
        row.wakes_per_s = self.number();
        row.link_limit_gbps = self.number();
        row.iterations = (0..self.below(4)).map(|_| self.point()).collect();
        row.worst_host_cpu_pct = self.maybe(Self::number);
        row.packets_per_wake = self.maybe(Self::number);
        row.time_per_packet_us = self.maybe(Self::number);
        row.latency_ns = self.maybe(|random| LatencyNs {
            mean: random.number(),
            p50: random.number(),
            p99: random.number(),
            p999: random.number(),
            max: random.number(),
            min: random.number(),
        });
        row.kernel = self.maybe(Self::kernel);
        row.floor_cpu_pct = self.maybe(Self::number);
        row.link_minimum_ns = self.maybe(Self::number);
        row.under_way = self.maybe(|_| u32::MAX);
        row.size_min_bytes = self.maybe(|_| 1);
        row.size_max_bytes = self.maybe(|_| u64::MAX);
        row.seed = self.maybe(|random| random.0.u64(..));
        row.integrity_errors = self.maybe(|random| [0, 1, u64::MAX][random.below(3)]);
        row.paper = self.maybe(|random| PaperFigure {
            rate_gbps: random.number(),
            cpu_pct_of_4_cores: random.number(),
        });
        row
    }

    fn document(&mut self) -> Document {
        let mut document = Document::default();
        document.meta.cpu_model = HOSTILE.to_owned();
        document.meta.command = HOSTILE.to_owned();
        document.meta.seconds = self.number();
        document.meta.link_limit_gbps = self.number();
        document.meta.calibration.insert(HOSTILE.to_owned(), json!([HOSTILE, null, 1.5, true]));
        document.calibration =
            self.maybe(|_| json!({ HOSTILE: { "copy_gbps": 80.5, "n": [1, 2] } }));
        let rows = [0, 1, 2, 9, 60][self.below(5)];
        document.results = (0..rows).map(|_| self.row()).collect();
        document
    }
}

fn documents() -> impl Iterator<Item = Document> {
    let mut random = Random(fastrand::Rng::with_seed(0x5eed_cafe_f00d_d00d));
    let made = (0..200).map(move |_| random.document());
    made.chain([Document::default(), common::sample()])
}

/// The drawings of a page, each from `<svg` to `</svg>`.
fn drawings(html: &str) -> Vec<&str> {
    html.split("<svg").skip(1).map(|rest| rest.split("</svg>").next().unwrap_or(rest)).collect()
}

/// Values of the attribute `name` in a drawing.
fn attributes<'a>(drawing: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let parts = drawing.split(start.as_str()).skip(1);
    parts.map(|rest| rest.split('"').next().unwrap_or(rest)).collect()
}

/// The numbers of an attribute or path. Panics on any other text.
fn numbers(text: &str) -> Vec<f64> {
    let spaced: String = text
        .chars()
        .flat_map(|c| match c {
            'M' | 'L' | 'H' | 'm' | 'l' | 'h' | 'z' | ',' => vec![' '],
            '-' => vec![' ', '-'],
            c => vec![c],
        })
        .collect();
    let parse = |word: &str| word.parse::<f64>().unwrap_or_else(|_| panic!("{word:?} in {text:?}"));
    spaced.split_whitespace().map(parse).collect()
}

#[test]
fn drawings_hold_finite_numbers_within_their_frame() {
    let mut drawn = 0;
    for document in documents() {
        let html = spfe_report::html(&document);
        for drawing in drawings(&html) {
            for name in ["d", "x", "y", "cx", "cy", "r", "width", "height", "viewBox"] {
                for value in attributes(drawing, name) {
                    for number in numbers(value) {
                        assert!((-10.0..=530.0).contains(&number), "{name}={value}");
                        drawn += 1;
                    }
                }
            }
        }
    }
    assert!(drawn > 10_000);
}

#[test]
fn no_rendering_shows_nan_or_infinity() {
    for document in documents() {
        for rendered in [
            spfe_report::html(&document),
            spfe_report::text(&document),
            spfe_report::tsv(&document),
        ] {
            let words = rendered.split(|c: char| !c.is_alphanumeric());
            for word in words {
                assert!(!["NaN", "nan", "inf", "Infinity"].contains(&word), "{rendered}");
            }
        }
    }
}

#[test]
fn rendering_is_deterministic() {
    for document in documents() {
        let copy = document.clone();
        assert_eq!(spfe_report::html(&document), spfe_report::html(&copy));
        assert_eq!(spfe_report::text(&document), spfe_report::text(&copy));
        assert_eq!(spfe_report::tsv(&document), spfe_report::tsv(&copy));
    }
}

#[test]
fn json_survives_a_round_trip() {
    for document in documents() {
        let json = document.to_json();
        let back = Document::from_json(&json).expect("own output");
        // Numbers that are not finite become null in the first round. Later rounds change nothing.
        let again = Document::from_json(&back.to_json()).expect("own output");
        assert_eq!(again.to_json(), back.to_json());
        if !json.contains("null") {
            assert_eq!(back, document);
        }
    }
}

#[test]
fn tags_are_balanced_and_foreign_text_is_escaped() {
    for document in documents() {
        let html = spfe_report::html(&document);
        assert!(!html.contains("<script") && !html.contains('\u{1b}'));
        for loading in [" src=", "url(", "@import", "http:", "https:"] {
            assert!(!html.contains(loading), "{loading}");
        }
        let mut open = Vec::new();
        for tag in html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or(rest)) {
            let name = tag.split_whitespace().next().unwrap_or(tag);
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "closing tag");
            } else if !tag.ends_with('/') && !["!doctype", "meta"].contains(&name) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn every_drawing_has_a_name_and_a_description() {
    for document in documents() {
        let html = spfe_report::html(&document);
        let charts: Vec<&str> = drawings(&html)
            .into_iter()
            .filter(|drawing| drawing.contains("role=\"img\""))
            .collect();
        let mut names: Vec<&str> = Vec::new();
        for chart in &charts {
            let ids = attributes(chart, "aria-labelledby")[0].split(' ');
            for id in ids {
                assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1);
                names.push(id);
            }
            assert!(chart.contains("<title id=") && chart.contains("<desc id="));
        }
        assert_eq!(names.len(), 2 * charts.len());
    }
}

#[test]
fn every_row_is_in_every_table() {
    for mut document in documents() {
        for (index, row) in document.results.iter_mut().enumerate() {
            row.rate_gbps = 70.0 + index as f64 / 100.0;
            row.latency_ns = None;
        }
        let html = spfe_report::html(&document);
        let text = spfe_report::text(&document);
        let tsv = spfe_report::tsv(&document);
        let table: Vec<&str> = tsv.lines().filter(|line| !line.starts_with("# ")).collect();
        assert_eq!(table.len(), document.results.len() + 1);
        let fields = |line: &str| line.split('\t').count();
        assert!(table.iter().all(|line| fields(line) == fields(table[0])));
        for row in &document.results {
            let rate = format!("{:.2}", row.rate_gbps);
            let cell = format!("<td>{rate}");
            assert_eq!(html.matches(&cell).count(), 1, "{rate}");
            // The terminal leaves out the rate of a latency test, but the test has a line.
            if row.scenario != scenario::LATENCY {
                assert_eq!(text.matches(&format!(" {rate}")).count(), 1, "{rate}");
            }
        }
        let latencies = document.results.iter().filter(|row| row.scenario == scenario::LATENCY);
        let heading = text.lines().position(|line| line == scenario::LATENCY);
        let lines = heading
            .map_or(0, |at| text.lines().skip(at + 3).take_while(|line| !line.is_empty()).count());
        assert_eq!(lines, latencies.count());
    }
}

#[test]
fn every_iteration_is_a_point() {
    let document = common::sample();
    let html = spfe_report::html(&document);
    let dots: usize = html
        .lines()
        .filter(|line| line.contains(" dots\"") && !line.contains("any dots"))
        .map(|line| line.matches("h0").count())
        .sum();
    let iterations: usize = document.results.iter().map(|row| row.iterations.len()).sum();
    assert_eq!(dots, 3 * iterations, "rate, host and sum of each");
}
