//! Steps that move several units, and that skip inputs without units.

use crate::fabric::{Queues, Switch, packet};
use spfe_link::network::{DiscardedPacket, RoutingSwitch, RoutingTable, SwitchPorts};
use spfe_link::spacewire::NChar;

/// Queues that report which inputs hold units, and let a packet move up to seven units in a step.
struct Burst<'a>(&'a mut Queues<NChar>);

impl SwitchPorts for Burst<'_> {
    type Unit = NChar;
    const BURST: usize = 7;

    fn waiting(&mut self, port: usize) -> u32 {
        let inputs = self.0.inputs[port].iter().enumerate();
        inputs.fold(0, |mask, (vc, input)| mask | u32::from(!input.is_empty()) << vc)
    }

    fn peek(&mut self, port: usize, vc: usize) -> Option<NChar> {
        self.0.peek(port, vc)
    }

    fn take(&mut self, port: usize, vc: usize) {
        self.0.take(port, vc);
    }

    fn has_room(&mut self, port: usize, vc: usize) -> bool {
        self.0.has_room(port, vc)
    }

    fn put(&mut self, port: usize, vc: usize, unit: NChar) {
        self.0.put(port, vc, unit);
    }

    fn dropped(&mut self, dropped: DiscardedPacket) {
        self.0.dropped(dropped);
    }
}

/// Four inputs send packets of many lengths to ports 1 to 3. Returns what each output received from
/// each input.
fn outputs(burst: bool) -> (usize, Vec<Vec<Vec<NChar>>>) {
    let mut switch = Switch::<NChar, 5, 1>::new(10_000);
    let (mut router, table) = (RoutingSwitch::<5, 1>::new(), RoutingTable::<2>::new());
    for source in 1..5 {
        for number in 0..30u8 {
            let length = usize::from(number) * source % 23;
            let body = std::iter::once(source as u8).chain(std::iter::repeat_n(number, length));
            let bytes: Vec<u8> = std::iter::once(number % 3 + 1).chain(body).collect();
            switch.send(source, 0, packet(&bytes));
        }
    }
    let mut steps = 0;
    loop {
        let moved = match burst {
            true => router.step(steps as u64, &table, &mut Burst(&mut switch.queues)),
            false => router.step(steps as u64, &table, &mut switch.queues),
        };
        steps += 1;
        if moved == 0 {
            break;
        }
    }
    let by_source = |port: usize| {
        let units = switch.queues.outputs[port][0].iter().copied().collect::<Vec<_>>();
        let packets = units.split_inclusive(|unit| unit.is_end());
        let from = |source: u8| {
            packets.clone().filter(move |of| of[0] == NChar::Data(source)).flatten().copied()
        };
        (1..5).map(|source| from(source).collect()).collect()
    };
    (steps, (1..4).map(by_source).collect())
}

#[test]
fn bursts_give_the_same_packets_in_the_same_order() {
    let (slow, one_by_one) = outputs(false);
    let (fast, in_bursts) = outputs(true);
    assert!(one_by_one.iter().flatten().all(|units| units.len() >= 80));
    assert_eq!(one_by_one, in_bursts);
    assert!(fast * 3 < slow, "{fast} steps, {slow} one by one");
}
