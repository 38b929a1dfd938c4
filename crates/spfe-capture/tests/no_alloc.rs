//! Once warm, a record costs no allocation.

use spfe_capture::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Of this thread: the test's surroundings have their own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are the same.
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
fn records_cost_no_allocation() {
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
