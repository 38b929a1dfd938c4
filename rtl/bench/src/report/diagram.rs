//! Drawings of the test scenarios with the points of measurement.

use spfe_report::markup::escape;

use std::fmt::Write;

/// Style rules for drawings in files of their own.
pub const RULES: &str = "\
    .box{fill:#f5f6f8;stroke:#59636e;stroke-width:1.2}.box.core{stroke:#6f3fb5;stroke-width:2}\
    .wire{fill:none;stroke:#0b7285;stroke-width:2}.stamp{fill:#b34700;stroke:none}\
    .span{fill:none;stroke:#b34700;stroke-width:1.2}";

/// A test scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramScenario {
    /// Latency from the line to the user.
    RxLatency,
    /// Latency from the user to the line.
    TxLatency,
    /// Bandwidth from the line to the user.
    RxBandwidth,
    /// Bandwidth from the user to the line.
    TxBandwidth,
}

/// Boxes from left to right: title and description.
type Boxes = [(&'static str, &'static str); 4];

impl DiagramScenario {
    fn boxes(self) -> Boxes {
        match self {
            DiagramScenario::RxLatency => [
                ("Peer", "one frame at a time"),
                ("MAC, 10 Gbit/s", "words at the pace of the line"),
                ("TCP core", "headers off, in order"),
                ("User", "payload compared"),
            ],
            DiagramScenario::TxLatency => [
                ("User", "one message at a time"),
                ("TCP core", "headers, checksums"),
                ("MAC, 10 Gbit/s", "takes words at its pace"),
                ("Peer", "frame and sums checked"),
            ],
            DiagramScenario::RxBandwidth => [
                ("Peer", "100 frames of a size"),
                ("Limiter", "10 Gbit/s, slower after a loss"),
                ("TCP core", ""),
                ("User", "all 100, in order"),
            ],
            DiagramScenario::TxBandwidth => [
                ("User", "100 messages, full rate"),
                ("TCP core", ""),
                ("Limiter", "10 Gbit/s"),
                ("Peer", "all 100, in order"),
            ],
        }
    }

    /// Points of measurement: number of the wire, and the label.
    fn stamps(self) -> [(usize, &'static str); 2] {
        match self {
            DiagramScenario::RxLatency => [(1, "first word"), (2, "first beat")],
            DiagramScenario::TxLatency => [(0, "first beat"), (1, "first word")],
            DiagramScenario::RxBandwidth => [(1, "rate"), (2, "losses")],
            DiagramScenario::TxBandwidth => [(1, "rate"), (2, "losses")],
        }
    }

    /// Draws the scenario.
    #[must_use]
    pub fn svg(self, id: &str, title: &str) -> String {
        const WIDE: f64 = 190.0;
        const GAP: f64 = 53.0;
        let left = |index: usize| index as f64 * (WIDE + GAP);
        let mut body = String::new();
        for (index, (name, about)) in self.boxes().iter().enumerate() {
            let core = if *name == "TCP core" { " core" } else { "" };
            let x = left(index) + 1.0;
            let middle = x + WIDE / 2.0;
            let _ = writeln!(
                body,
                "<rect class=\"box{core}\" x=\"{x}\" y=\"30\" width=\"{WIDE}\" height=\"64\" rx=\"6\"/>\
                 <text class=\"mid strong\" x=\"{middle}\" y=\"58\">{}</text>\
                 <text class=\"mid small\" x=\"{middle}\" y=\"77\">{}</text>",
                escape(name),
                escape(about)
            );
            if index < 3 {
                let start = x + WIDE;
                let _ = writeln!(
                    body,
                    "<path class=\"wire\" d=\"M{start} 62h{}m-8 -5l8 5l-8 5\"/>",
                    GAP
                );
            }
        }
        let at = |wire: usize| left(wire) + WIDE + 1.0 + GAP / 2.0;
        let stamps = self.stamps();
        for (wire, label) in stamps {
            let x = at(wire);
            let _ = writeln!(
                body,
                "<circle class=\"stamp\" cx=\"{x}\" cy=\"62\" r=\"5\"/>\
                 <text class=\"mid small\" x=\"{x}\" y=\"20\">{label}</text>"
            );
        }
        if matches!(self, DiagramScenario::RxLatency | DiagramScenario::TxLatency) {
            let (from, to) = (at(stamps[0].0), at(stamps[1].0));
            let _ = writeln!(
                body,
                "<path class=\"span\" d=\"M{from} 68v42H{to}v-42M{to} 110m-8 -5l8 5l-8 5M{from} 110m8 -5l-8 5l8 5\"/>\
                 <text class=\"mid\" x=\"{}\" y=\"128\">latency</text>",
                (from + to) / 2.0
            );
        }
        format!(
            "<svg viewBox=\"0 0 921 136\" role=\"img\" aria-labelledby=\"{id}-t\">\n\
             <title id=\"{id}-t\">{}</title>\n{body}</svg>\n",
            escape(title)
        )
    }
}
