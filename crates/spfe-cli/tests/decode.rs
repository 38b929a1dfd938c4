//! `spfe decode`: words, frames, SpaceWire, encoding, files, errors.

mod common;

use common::{Directory, Run, command, spfe};
use std::io::Write;
use std::process::Stdio;

/// Runs `spfe` with text on stdin.
fn piped(words: &[&str], text: &[u8]) -> Run {
    let mut child = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may refuse the text before it has read all of it.
    let _ = child.stdin.take().unwrap().write_all(text);
    common::end(child)
}

fn lines(run: &Run) -> Vec<String> {
    run.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn words_are_shown_by_name() {
    let run = spfe(&["decode", "AC01A2FC", "000350FC/1", "FBFBFBFC", "AD01A2FC", "x2"]).exits(0);
    let expected = [
        "0 AC01A2FC/1 K28.7 D2.5 D1.0 D12.5 ACK seq=+1",
        "1 000350FC/1 K28.7 D16.2 D3.0 D0.0 SDF vc=3",
    ];
    assert_eq!(lines(&run)[..2], expected);
    assert!(
        lines(&run)[3]
            .ends_with("ACK seq=+1 crc=0xAD ! CRC-8 error: AD01A2FC/1 carries 0xAD, not 0xAC")
    );
    assert!(run.text().contains("5 words: 1 PAD, 1 SDF, 3 ACK"), "{}", run.text());
    let quiet = spfe(&["decode", "-q", "AC01A2FC"]).exits(0);
    assert_eq!(quiet.text().lines().count(), 1);
}

#[test]
fn words_are_shown_as_json() {
    let run = spfe(&["decode", "--json", "K28.7 D14.6 D31.3 D31.3"]).exits(0);
    let first: serde_json::Value =
        serde_json::from_str(run.text().lines().next().unwrap()).unwrap();
    assert_eq!((&first["word"], &first["k"]), (&"7F7FCEFC".into(), &1.into()));
    assert_eq!((&first["name"], &first["at"]), (&"SKIP".into(), &0.into()));
    assert_eq!(run.json()["summary"]["words"]["SKIP"], 1);
}

#[test]
fn code_errors_are_shown() {
    // SKIP twice, the second with one bit error.
    let skip = "0011111000 0111000110 1010110011 0101001100";
    let wrong = "0011111000 0111000111 1010110011 0101001100";
    let run = piped(&["decode", "--check"], format!("{skip}\n{wrong}\n").as_bytes());
    let run = run.fails(1, "1 violation");
    assert_eq!(lines(&run)[0], "0 7F7FCEFC/1 K28.7 D14.6 D31.3 D31.3 SKIP");
    assert!(
        lines(&run)[1].contains("RXERR") && lines(&run)[1].contains("symbol 1:"),
        "{}",
        run.text()
    );
    // A comma within a word starts a new word.
    let run = piped(&["decode"], format!("0111000110 {skip}").as_bytes()).exits(0);
    assert!(lines(&run)[0].ends_with("SKIP ! 1 symbol before the comma dropped"), "{}", run.text());
}

#[test]
fn encoding_reverses_decoding() {
    let forms = "SDF vc=3; DATA 01 02 03 04; DATA 05 EOP; EDF seq=+1";
    let run = spfe(&["decode", "--encode", forms]).exits(0);
    let words: Vec<String> =
        lines(&run).iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(words[..3], ["000350FC/1", "04030201/0", "FBFBFD05/E"]);
    let codes: Vec<String> = lines(&run)
        .iter()
        .map(|line| {
            line.split(' ')
                .rev()
                .take(4)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    for text in [words.join(" "), codes.join("\n")] {
        let run = piped(
            &["decode", "--frames", "--json", "--check", "--scrambling", "off", "-"],
            text.as_bytes(),
        );
        let run = run.exits(0);
        let packet = run
            .text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .find(|event: &serde_json::Value| event["event"] == "packet")
            .unwrap();
        assert_eq!((&packet["bytes"], &packet["vc"]), (&"0102030405".into(), &3.into()));
        assert_eq!(run.json()["summary"]["data_frame"], 1);
    }
    let scrambled =
        spfe(&["decode", "--encode", "--scrambling", "on", "--json", "SDF", "data 00 01 02 03"]);
    assert_eq!(scrambled.exits(0).json()["word"], "17C216FF");
}

/// The recordings of an independent core: gzipped, both directions.
#[test]
fn recordings_of_an_independent_core_are_decoded() {
    let path = format!("{}/../../vectors/cnes_b2b_biterror.txt.gz", env!("CARGO_MANIFEST_DIR"));
    let run = spfe(&["decode", "--frames", "--format", "recording", &path, "--check"]);
    let run = run.fails(1, "violations");
    let text = run.text();
    assert!(text.contains("A>B ! not resent after NACK: -43 came, +41 was asked for"), "{text}");
    for counts in [
        "A>B 41 data frames, 4 broadcast frames, 937 idle frames, 32 FCTs, 16 ACKs, 75 NACKs",
        "B>A 42 data frames, 4 broadcast frames, 904 idle frames, 32 FCTs, 15 ACKs, 77 NACKs",
    ] {
        assert!(text.contains(counts), "{text}");
    }
    let words = spfe(&["decode", "--format", "recording", "-q", &path]).exits(0);
    assert_eq!(words.text().lines().count(), 2 * 5000);
}

#[test]
fn plain_and_gzipped_files_are_read() {
    let directory = Directory::new("decode");
    let text = "# two lanes\n000450FC 000450FC\n43424140/0 47464544/0 4B4A4948/0 4F4E4D4C/0\n\
                FBFD5150/C FBFBFBFC/F\n88D3111C/1 8AAD111C/1\n";
    let (plain, zipped) = (directory.path("words"), directory.path("words.gz"));
    std::fs::write(&plain, text).unwrap();
    let file = std::fs::File::create(&zipped).unwrap();
    let mut writer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap();
    for path in [plain, zipped] {
        let words = ["decode", "--frames", "--lanes", "2", "--scrambling", "off", "--check", &path];
        let text = spfe(&words).exits(0).text();
        assert!(text.contains("packet VC 4: 18 bytes, EOP"), "{text}");
        assert!(text.contains("data frame VC 4 seq +17: 5 words"), "{text}");
    }
}

#[test]
fn spacewire_is_decoded() {
    let words = ["decode", "--format", "characters", "--frames"];
    let run = spfe(&[&words[..], &["NULL x3 FCT 41 42 EOP TIME=3 TIME=5"]].concat()).exits(0);
    assert!(run.text().contains("packet: 2 bytes, EOP, from 4: 4142"), "{}", run.text());
    assert!(run.text().contains("1 violation: 1 time-code not the next"), "{}", run.text());
    // Two NULLs as bits, and as data and strobe.
    let run = spfe(&["decode", "--format", "bits", "01110100 01110100 01"]).exits(0);
    assert_eq!(lines(&run)[0], "0 NULL");
    let signals = "00 01 11 10 11 01 11 10 00 01 11 10 11 01 11 10 00";
    let run = spfe(&["decode", "--format", "signals", "--json", signals]).exits(0);
    assert!(run.json()["summary"]["violations"].as_object().unwrap().is_empty(), "{}", run.text());
}

#[test]
fn errors_name_the_bad_value() {
    for (words, text) in [
        (&["no/such/file"][..], "no such file"),
        (&["7F7FCEFC", "K32.1"], "column 10: 'K32.1'"),
        (&["7F7FCEFC/G"], "K mask"),
        (&["K28.7", "D14.6"], "ends within a word"),
        (&["--lanes", "2", "7F7FCEFC"], "ends within a word or row (2 words a row)"),
        (&["--lanes", "17", "7F7FCEFC"], "17"),
        (&["--lanes", "2", "--format", "recording", "x"], "--format words"),
        (&["--encode", "SDF vc=3; foo"], "column 11: 'foo': no such word"),
        (&["--encode", "SDF vx=3"], "no such field"),
        (&["--encode", "FCT m=9"], "range of the field"),
        (&["--encode", "EDF seq=1"], "no SDF before it"),
        (&["--format", "characters", "TIME=64"], "TIME=0..63"),
        (&["--format", "bits", "012"], "column 3"),
        (&["--format", "recording", "00000000 0"], "WORD K WORD K"),
        (&["x3"], "no word before it"),
    ] {
        spfe(&[&["decode"], words].concat()).fails(2, text);
    }
    piped(&["decode"], b"\xff\xfe").fails(2, "stdin, line 1: not text");
    piped(&["decode"], &vec![b' '; 3 << 20]).fails(2, "longer than");
    piped(&["decode"], &[0x1f, 0x8b, 8, 0, 1, 2, 3]).fails(1, "stdin, line 1");
    let help = spfe(&["decode", "--help"]).exits(0).text();
    assert!(help.contains("spfe decode --encode 'SDF vc=3"), "{help}");
}
