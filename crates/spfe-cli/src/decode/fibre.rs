//! Decodes SpaceFibre to words with their names, or to frames, packets and events, with final counts.

use super::counts;
use super::event;
use super::input::Input;
use super::show::Out;
use super::{DecodeArgs, Format, Scrambling};
use crate::context::Context;
use crate::error::Failure;
use crate::output::plural;
use serde_json::{Map, Value, json};
use spfe_trace::read::WordReader;
use spfe_trace::symbols::DecodedWord;
use spfe_trace::text::{self, SymbolNames};
use spfe_trace::{
    LANES_MAX, LinkDirection, LinkListener, LinkPair, ListenerConfig, TraceEvent, TraceEventKind,
    TraceSummary, Word, name,
};

/// Decoder of one direction or of both.
enum DecoderSide {
    One(Box<LinkListener>),
    Both(Box<LinkPair>),
}

/// State of a run.
struct Decoding<'a> {
    out: &'a mut Out,
    frames: bool,
    ear: DecoderSide,
    summaries: Vec<TraceSummary>,
    at: u64,
    /// Remarks about the words of this period, by direction.
    remarks: [Vec<String>; 2],
}

/// Decodes the whole input and returns the number of violations.
pub fn run(
    args: &DecodeArgs,
    context: &Context,
    input: Input,
    out: &mut Out,
) -> Result<u64, Failure> {
    let config = ListenerConfig {
        lanes: args.lanes,
        scrambled: args.scrambling.map(|scrambling| scrambling == Scrambling::On),
        crc_covers_scrambled: !args.plain_crc,
        ..ListenerConfig::default()
    };
    let both = args.format == Format::Recording;
    let ear = if both {
        DecoderSide::Both(Box::new(LinkPair::new(&config)))
    } else {
        DecoderSide::One(Box::new(LinkListener::new(&config)))
    };
    let summaries = vec![TraceSummary::default(); if both { 2 } else { 1 }];
    let remarks = [vec![], vec![]];
    let mut decoding = Decoding { out, frames: args.frames, ear, summaries, at: 0, remarks };
    if both {
        decoding.recording(input)?;
    } else {
        decoding.words(input, usize::from(args.lanes))?;
    }
    decoding.finish();
    decoding.summary(context);
    Ok(decoding.summaries.iter().map(TraceSummary::violation_count).sum())
}

impl Decoding<'_> {
    fn words(&mut self, mut input: Input, lanes: usize) -> Result<(), Failure> {
        let (mut reader, mut line) = (WordReader::new(), String::new());
        let (mut row, mut count) = ([Word::default(); LANES_MAX], 0);
        while input.next(&mut line)? {
            let mut coded_lanes = false;
            let read = reader.line(&line, &mut |decoded| {
                coded_lanes |= lanes > 1 && decoded.dropped != 0;
                self.code_errors(&decoded);
                if let Some(slot) = row.get_mut(count) {
                    *slot = decoded.word;
                }
                count += 1;
                if count == lanes {
                    count = 0;
                    self.row(row.get(..lanes).unwrap_or_default(), None);
                }
                !self.out.is_over()
            });
            read.map_err(|error| input.wrong(&error))?;
            if coded_lanes {
                let what = "a comma amid a word: with --lanes the words have to be whole";
                return Err(input.wrong(&what));
            }
        }
        if count != 0 || reader.held() != 0 {
            let what = format!("the input ends within a word or row ({lanes} words a row)");
            return Err(Failure::usage(what));
        }
        Ok(())
    }

    fn recording(&mut self, mut input: Input) -> Result<(), Failure> {
        let mut line = String::new();
        while input.next(&mut line)? {
            let found = text::recording(&line).map_err(|error| input.wrong(&error))?;
            let Some(([a, b], times)) = found else { continue };
            for _ in 0..times {
                self.row(&[a], Some(b));
            }
        }
        Ok(())
    }

    /// Records the code errors of a word.
    fn code_errors(&mut self, decoded: &DecodedWord) {
        let [remarks, _] = &mut self.remarks;
        if decoded.dropped != 0 {
            let what = plural(decoded.dropped.into(), "symbol");
            remarks.push(format!("{what} before the comma dropped"));
        }
        for (mask, what) in
            [(decoded.not_in_table, "not in table"), (decoded.disparity, "disparity error")]
        {
            let symbols = (0..4).filter(|index| mask >> index & 1 != 0);
            remarks.extend(symbols.map(|index| format!("symbol {index}: {what}")));
        }
    }

    /// Decodes one word period of all lanes.
    fn row(&mut self, words: &[Word], back: Option<Word>) {
        let mut given = [None; LANES_MAX];
        given.iter_mut().zip(words).for_each(|(given, word)| *given = Some(*word));
        let Self { out, frames, ear, summaries, remarks, .. } = self;
        let mut hear = |direction: Option<LinkDirection>, event: TraceEvent<'_>| {
            let index = direction.map_or(0, |direction| direction as usize);
            if let Some(summary) = summaries.get_mut(index) {
                summary.event(&event);
            }
            match event.what {
                _ if *frames => event::show(out, direction, &event),
                TraceEventKind::Violation(violation) => {
                    if let Some(remarks) = remarks.get_mut(index) {
                        remarks.push(violation.to_string());
                    }
                }
                _ => {}
            }
        };
        match ear {
            DecoderSide::One(listener) => listener.push(&given, &mut |found| hear(None, found)),
            DecoderSide::Both(pair) => {
                pair.push(&given, &[back], &mut |direction, found| hear(Some(direction), found));
            }
        }
        let directions = if back.is_some() { LinkDirection::BOTH.map(Some) } else { [None; 2] };
        self.show_words(words, directions[0], 0);
        if let Some(back) = back {
            self.show_words(&[back], directions[1], 1);
        }
        self.at += 1;
    }

    fn show_words(&mut self, words: &[Word], direction: Option<LinkDirection>, index: usize) {
        let mut remarks = self.remarks.get_mut(index).map(std::mem::take).unwrap_or_default();
        for (lane, word) in words.iter().enumerate() {
            if let Some(summary) = self.summaries.get_mut(index) {
                summary.word(*word);
            }
            if self.frames {
                continue;
            }
            // Remarks of the listener are shown with the last lane.
            let mut remarks =
                if lane + 1 == words.len() { std::mem::take(&mut remarks) } else { vec![] };
            let named = name(*word);
            if remarks.is_empty() {
                remarks.extend(named.remark().map(|remark| remark.to_string()));
            }
            if self.out.json {
                let mut object = Map::new();
                object.insert("at".into(), json!(self.at));
                object.insert("lane".into(), json!(lane));
                if let Some(direction) = direction {
                    object.insert("direction".into(), json!(direction.name()));
                }
                object.insert("word".into(), json!(format!("{:08X}", word.bits)));
                object.insert("k".into(), json!(word.k));
                object.insert("symbols".into(), json!(SymbolNames(*word).to_string()));
                object.insert("name".into(), json!(named.kind.name()));
                object.insert("text".into(), json!(named.to_string()));
                object.insert("remarks".into(), json!(remarks));
                self.out.line(format_args!("{}", Value::Object(object)));
                continue;
            }
            let at = match direction {
                _ if words.len() > 1 => format!("{}.{lane}", self.at),
                Some(direction) => format!("{} {}", self.at, direction.name()),
                None => self.at.to_string(),
            };
            let remarks: String = remarks.iter().map(|remark| format!("  ! {remark}")).collect();
            let symbols = SymbolNames(*word).to_string();
            self.out.line(format_args!("{at:>6}  {word}  {symbols:<23}  {named}{remarks}"));
        }
    }

    fn finish(&mut self) {
        let Self { out, frames, ear, summaries, .. } = self;
        let mut hear = |direction: Option<LinkDirection>, event: TraceEvent<'_>| {
            let index = direction.map_or(0, |direction| direction as usize);
            if let Some(summary) = summaries.get_mut(index) {
                summary.event(&event);
            }
            if *frames {
                event::show(out, direction, &event);
            }
        };
        match ear {
            DecoderSide::One(listener) => listener.finish(&mut |found| hear(None, found)),
            DecoderSide::Both(pair) => {
                pair.finish(&mut |direction, found| hear(Some(direction), found));
            }
        }
    }

    fn summary(&mut self, context: &Context) {
        let both = self.summaries.len() > 1;
        for (summary, direction) in self.summaries.iter().zip(LinkDirection::BOTH) {
            let direction = both.then_some(direction);
            if self.out.json {
                let mut object = counts::json(summary);
                if let Some(direction) = direction {
                    object.insert("direction".into(), json!(direction.name()));
                }
                self.out.line(format_args!("{}", json!({ "summary": object })));
            } else if !context.quiet {
                let prefix =
                    direction.map_or(String::new(), |direction| format!("{} ", direction.name()));
                for line in counts::lines(summary) {
                    self.out.line(format_args!("{prefix}{line}"));
                }
            }
        }
    }
}
