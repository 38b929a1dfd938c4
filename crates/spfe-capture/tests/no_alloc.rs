//! Adding a record does not allocate memory once the buffers have grown.

use spfe_capture::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread. The test harness allocates on other threads.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all calls are passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: our caller fulfils the same conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: our caller fulfils the same conditions.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: our caller fulfils the same conditions.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn round(
    capture: &mut CaptureWriter<impl std::io::Write>,
    id: InterfaceId,
    batch: &mut RecordBatch<LineWord>,
) {
    let words = [LineWord::default(); 64];
    let run = WordsRecord {
        words: &words,
        period_ps: 6400,
        first: 0,
        lane: 0,
        lanes: 1,
        direction: RecordDirection::Sent,
        flags: 0,
    };
    capture.packet(1, id, &PacketRecord::new(&[7; 4000], PacketEnd::Eop)).unwrap();
    capture.event(2, id, &LinkEvent::new(EventCode::RxErr, 1).text("why")).unwrap();
    capture.words(3, id, &run).unwrap();
    for word in 0..100 {
        batch.push(capture, 1000 + word * 6400, run, LineWord::default()).unwrap();
    }
}

#[test]
fn adding_records_does_not_allocate() {
    for keep in [Keep::All, Keep::First(10_000), Keep::Last(20_000)] {
        let options = WriterOptions { keep, ..WriterOptions::default() };
        let mut capture = CaptureWriter::new(std::io::sink(), &options).unwrap();
        let interface = Interface { name: "a", description: "", speed_bps: None };
        let id = capture.interface(&interface).unwrap();
        let mut batch = RecordBatch::new(id, 64);
        round(&mut capture, id, &mut batch);
        let before = ALLOCATIONS.get();
        for _ in 0..100 {
            round(&mut capture, id, &mut batch);
        }
        assert_eq!(ALLOCATIONS.get(), before, "{keep:?}");
    }
}
