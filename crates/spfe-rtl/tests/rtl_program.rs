//! Programs in the time of simulated cores. Needs a model, as the tests in `rtl_device.rs` do.

use spfe_registers::Registers;
use spfe_rtl::{ControlWord, Damage, Machine, Moment, Plan, Program, Rtl, Shape, models};

/// Whether the model is there.
fn has_model() -> bool {
    let there = models().join("spfe_sim_endpoint_2_1_4.so").exists();
    assert!(there || std::env::var_os("SPFE_RTL_REQUIRED").is_none(), "make rtl-model");
    if !there {
        eprintln!("skipped: there is no model of the core; make rtl-model builds it");
    }
    there
}

/// Waits for the link, then for a number of cycles, in which it damages words when asked to.
#[derive(Default)]
struct Watch {
    damages: bool,
    up: Option<u64>,
    end: u64,
    /// Sum over all words that core 0 has sent, and whether core 1 has sent INIT1 since the
    /// link was up.
    words: u64,
    restarts: bool,
}

impl Program for Watch {
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool {
        if self.up.is_none() && now.is_up(0, 0) && now.is_up(1, 0) {
            self.up = Some(now.cycle());
        }
        if self.damages && self.up.is_some_and(|up| now.cycle() < up + 500) {
            now.damage(0, 0, 0, Damage::Symbol(1));
        }
        let lane = now.sent(0, 0)[0];
        self.words = self.words.rotate_left(1) ^ lane.word ^ u64::from(lane.on) << 40;
        self.restarts |= self.up.is_some() && now.control(1, 0) == Some(ControlWord::Init1);
        self.end = now.cycle();
        now.cycle() < self.up.map_or(200_000, |up| up + 3000)
    }
}

fn watch(damages: bool, cable: usize) -> (Watch, Watch) {
    let plan = Plan { stepped: true, cable, ..Plan::pair(Shape::default()) };
    let machine = Machine::start(plan).unwrap();
    // A driver starts the links of its core.
    let _drivers = [0, 1]
        .map(|core| Registers::open(Rtl::take(&machine, core).unwrap(), "rtl:", "rtl").unwrap());
    let first = machine.run(Watch { damages, ..Watch::default() }).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let second = machine.run(Watch::default()).unwrap();
    (first, second)
}

#[test]
fn a_stepped_machine_does_the_same_in_every_run() {
    if !has_model() {
        return;
    }
    let (first, then) = watch(false, 8);
    assert!(first.up.is_some(), "the link does not come up");
    assert_eq!(then.up, Some(first.end + 1), "time passes between programs");
    let (again, _) = watch(false, 8);
    assert_eq!((first.up, first.words, first.restarts), (again.up, again.words, false));
}

#[test]
fn damaged_words_are_noticed() {
    if !has_model() {
        return;
    }
    let (damaged, then) = watch(true, 1);
    assert!(damaged.restarts, "the lane of the far end goes on");
    assert!(then.up.is_some(), "it does not come up again");
}
