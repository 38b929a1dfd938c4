//! Tests of pages, tables and drawings of simulations.

#[path = "common/simulation.rs"]
mod sample;

use spfe_report::diagram::{self, Diagram, DiagramLink, Vertex, VertexKind};
use spfe_report::simulation;
use spfe_sim::results::{Conservation, LinkResults, Results, StreamResults};

fn page(results: &Results) -> String {
    simulation::html(results, &Diagram::of(&sample::scenario()))
}

/// Text that does harm if it is not escaped.
const FOREIGN: &str = "<script>\u{1b}&\"'--> \u{202e}</title>";

fn hostile() -> (Results, Diagram) {
    let mut results = sample::results();
    results.title = FOREIGN.into();
    results.description = FOREIGN.into();
    results.conservation =
        Conservation { kept: false, packets: 3, violations: vec![FOREIGN.into(); 60], left_out: 5 };
    for link in &mut results.links {
        link.name = FOREIGN.into();
        link.ends[0] = FOREIGN.into();
        link.rate_bps = u64::MAX;
        link.directions[0].utilisation = f64::NAN;
        link.directions[1].capacity_words = 0.0;
        link.lane_states[0].reverse();
    }
    for flow in &mut results.flows {
        flow.name = FOREIGN.into();
        flow.goodput_bps = f64::INFINITY;
        flow.series = vec![u64::MAX; 3];
        flow.latency.p50_ps = u64::MAX;
    }
    for event in &mut results.events {
        event.text = FOREIGN.into();
        event.at_ps = u64::MAX;
        event.link = Some(1);
        event.end = 200;
    }
    let vertex = |kind| Vertex { name: FOREIGN.into(), about: FOREIGN.into(), kind };
    let vertices =
        vec![vertex(VertexKind::Router), vertex(VertexKind::Source), vertex(VertexKind::Router)];
    let edge = |a, b| DiagramLink {
        name: FOREIGN.into(),
        ends: [(a, 1), (b, 31)],
        ..DiagramLink::default()
    };
    let edges = vec![edge(0, 1), edge(0, 2), edge(2, 0), edge(1, 1)];
    (results, Diagram { vertices, edges })
}

/// Pages of good results, of empty results, and of results with violations.
fn pages() -> Vec<String> {
    let (results, diagram) = hostile();
    vec![
        page(&sample::results()),
        simulation::html(&Results::default(), &Diagram::default()),
        simulation::html(&results, &diagram),
        simulation::html(&Results { duration_ps: 1, step_ps: 0, ..results }, &diagram),
    ]
}

/// Elements without an end tag.
const SINGLE: [&str; 2] = ["!doctype", "meta"];

fn is_balanced(html: &str) {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or(rest)) {
        let name = tag.split_whitespace().next().unwrap_or(tag);
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tag");
        } else if !tag.ends_with('/') && !SINGLE.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn pages_load_nothing_and_escape_all_text() {
    for html in pages() {
        assert!(!html.contains("<script") && !html.contains('\u{1b}'));
        for loading in [" src=", "url(", "@import", "http:", "https:"] {
            assert!(!html.contains(loading), "{loading}");
        }
        is_balanced(&html);
    }
}

#[test]
fn no_page_or_table_shows_nan_or_infinity() {
    let (results, _) = hostile();
    for rendered in pages().into_iter().chain([simulation::text(&results)]) {
        for word in rendered.split(|c: char| !c.is_alphanumeric()) {
            assert!(!["NaN", "nan", "inf", "Infinity"].contains(&word), "{rendered}");
        }
    }
}

#[test]
fn identifiers_in_a_page_are_unique() {
    for html in pages() {
        let ids = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or(rest));
        let mut ids: Vec<&str> = ids.collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for link in html.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap_or(link);
            assert!(ids.contains(&link), "{link}");
        }
    }
}

#[test]
fn a_page_has_every_part() {
    let results = sample::results();
    let html = page(&results);
    for link in &results.links {
        assert!(html.contains(&format!("<h2>Link {} ", link.name)), "{}", link.name);
        for (from, to) in [(0, 1), (1, 0)] {
            assert!(html.contains(&format!("{} → {}: ", link.ends[from], link.ends[to])));
        }
    }
    for flow in &results.flows {
        assert!(html.contains(&format!("latency of {}</text>", flow.name)), "{}", flow.name);
    }
    // Seven links with two directions and two used channels each, one area per channel.
    assert_eq!(html.matches("class=\"area v").count(), 28);
    assert_eq!(html.matches("class=\"curve v").count(), 3);
    for class in ["tick-fault", "tick-error", "tick-retry", "tick-recovered"] {
        assert_eq!(html.matches(&format!("class=\"tick {class}\"")).count(), 1, "{class}");
    }
    assert!(html.contains("Nothing lost: 1234 packets"), "the verdict");
    assert!(html.contains("recovery after an error"), "the histogram");
    assert!(html.contains("17 later events"), "what was left out");
    // A lane cut adds states at both ends.
    assert!(html.contains("LossOfSignal"));
}

#[test]
fn violations_appear_in_page_and_table() {
    let mut results = sample::results();
    let said = "images: packet 7 lost on trunk-2 without a reason";
    results.conservation =
        Conservation { kept: false, packets: 9, violations: vec![said.into()], left_out: 2 };
    let (html, text) = (page(&results), simulation::text(&results));
    assert!(html.contains("Conservation violated, 3 times") && html.contains(said));
    assert!(!html.contains("Nothing lost"));
    assert!(text.contains("conservation VIOLATED, 3 times:") && text.contains(said), "{text}");
    assert!(text.contains("and 2 more"), "{text}");
    assert!(!text.contains("conservation kept"), "{text}");
}

#[test]
fn tables_contain_the_results() {
    let text = simulation::text(&sample::results());
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {text}")).split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(
        line("images")[..8],
        ["images", "camera:1", ">", "memory:1", "1", "500", "490", "1"]
    );
    // The line of a sender counts the errors detected at the far end and its own retries.
    let radar = line("radar ");
    assert_eq!(radar[..4], ["radar", "radar:1", ">", "front:2"]);
    assert_eq!(radar[10..12], ["60", "60"], "{radar:?}");
    assert_eq!(line("camera-control")[4..7], ["30", "29", "1"]);
    assert!(text.contains("images: dropped 3 Blocked at front"), "{text}");
}

#[test]
fn stacked_areas_end_at_their_sum() {
    let scale = |words: u64| {
        let mut results = Results { duration_ps: 1000, step_ps: 100, ..Results::default() };
        let mut link = LinkResults::default();
        link.directions[0].capacity_words = 100.0;
        let channel = |vc| spfe_sim::results::ChannelResults { vc, words, series: vec![words; 10] };
        link.directions[0].channels = vec![channel(0), channel(1)];
        results.links.push(link);
        page(&results)
    };
    // 2 x 25 of 100 words on an axis up to 50 %: one area up to 25 %, one from there to 50 %.
    let html = scale(25);
    let areas: Vec<&str> = html.split("class=\"area v").skip(1).collect();
    let path = |index: usize| areas[index].split('"').nth(2).expect("a path");
    assert_eq!(path(0), "M54 157L466 157L466 284L54 284Z");
    assert_eq!(path(1), "M54 30L466 30L466 157L54 157Z");
}

#[test]
fn series_of_many_steps_stay_small() {
    let mut results = Results { duration_ps: 1_000_000, step_ps: 100, ..Results::default() };
    let series = (0..10_000).map(|step| step / 50 % 7 * 100).collect();
    results.flows.push(StreamResults { name: "f".into(), series, ..StreamResults::default() });
    let html = page(&results);
    let curve =
        html.split("class=\"curve v0\" d=\"").nth(1).and_then(|rest| rest.split('"').next());
    let points = curve.expect("a curve").matches('L').count();
    assert!((100..=412).contains(&points), "{points}");
}

#[test]
fn a_drawing_is_a_file_of_its_own() {
    let drawing = diagram::document(&Diagram::of(&sample::scenario()));
    assert!(drawing.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width="));
    assert!(drawing.ends_with("</svg>\n"));
    is_balanced(&drawing);
    for name in ["camera", "radar", "processor", "memory", "downlink", "front", "back"] {
        assert!(drawing.contains(&format!("class=\"mid strong\">{name}</text>")), "{name}");
    }
    // Boxes do not overlap.
    let attribute = |rect: &str, name: &str| -> f64 {
        let value = rect.split(&format!(" {name}=\"")).nth(1).and_then(|v| v.split('"').next());
        value.and_then(|value| value.parse().ok()).expect(name)
    };
    let boxes: Vec<[f64; 4]> = drawing
        .split("<rect class=\"unit")
        .skip(1)
        .map(|rect| ["x", "y", "width", "height"].map(|name| attribute(rect, name)))
        .collect();
    assert_eq!(boxes.len(), 7);
    for (index, [x, y, width, height]) in boxes.iter().enumerate() {
        for [left, top, wide, high] in &boxes[index + 1..] {
            let beside = x + width <= *left || left + wide <= *x;
            let above = y + height <= *top || top + high <= *y;
            assert!(beside || above, "{x} {y} on {left} {top}");
        }
    }
}
