//! The stream of a foreign end: whatever it sends is a message, or ends the stream with a reason.
//!
//! The first byte of the input chooses the shape of the link; the rest is what the foreign end sends.

use spfe_foreign::{ForeignEnd, StreamShape};
use spfe_sim::foreign::FarStream;
use spfe_topology::{ForeignStream, StreamKind};
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::sync::LazyLock;

/// The place where the target plays the foreign end.
static PLACE: LazyLock<(UnixListener, ForeignStream)> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("spfe-fuzz-foreign-{}", std::process::id()));
    // Another process of this number may have left it.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).expect("a socket");
    let stream = format!("unix:{}", path.display()).parse().expect("an address");
    (listener, stream)
});

/// The longest input that fits into the buffer of a socket.
const BYTES_MAX: usize = 16 << 10;

crate::target!(|data: &[u8]| {
    let Some((choice, sent)) = data.split_first() else { return };
    let sent = &sent[..sent.len().min(BYTES_MAX)];
    let shape = StreamShape {
        kind: Some(if choice & 0x80 == 0 { StreamKind::Words } else { StreamKind::Groups }),
        lanes: u32::from(choice & 3) + 1,
        words: u32::from(choice >> 2 & 3) + 1,
        rate_bps: 6_250_000_000,
    };
    let (listener, stream) = &*PLACE;
    let mut end = ForeignEnd::later(stream, shape, "fuzz").expect("it listens");
    let (mut far, _) = listener.accept().expect("a connection");
    far.write_all(sent).expect("it fits");
    far.shutdown(Shutdown::Write).expect("a socket");

    let mut cells = vec![0; shape.cells()];
    let mut messages = 0;
    while end.is_connected() {
        assert_eq!(end.shape(), shape);
        assert!(end.send(&cells), "the foreign end reads");
        // The stream has an end, so this always returns.
        if !end.receive(&mut cells) {
            break;
        }
        messages += 1;
        let read = 64 + messages * (16 + 8 * cells.len());
        assert!(read <= sent.len(), "more than was sent");
        let last = cells.last().copied().unwrap_or_default().to_le_bytes();
        assert!(sent[..read].ends_with(&last), "another cell than was sent");
    }
    assert!(!end.is_connected() && end.lost().is_some_and(|reason| !reason.is_empty()));
});
