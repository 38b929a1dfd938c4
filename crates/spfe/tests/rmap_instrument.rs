//! The RMAP instrument answers the packets of the standard's annex with the replies of the annex,
//! on every kind of port and in every mode.

use spfe::{
    Deadline, Embedded, End, Endpoint, LinkRate, Mode, Peer, PoolOptions, PooledRx, PooledTx,
    Topology,
};
use spfe_host::topology::{LinkModel, PortConfig};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(20);

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// Port 0 is SpaceFibre, port 1 SpaceWire; each has its own memory.
fn endpoint(unit: &str, mode: Mode) -> Endpoint {
    let peer = Peer::Rmap(unit.parse().unwrap());
    let rate = LinkRate::Unlimited;
    let ports = vec![
        PortConfig { space_wire: false, vcs: 8, rate, model: LinkModel::Packet, peer },
        PortConfig { space_wire: true, vcs: 1, rate, model: LinkModel::Packet, peer },
    ];
    let topology = Topology { endpoints: vec![ports], mode, ..Topology::default() };
    Endpoint::attach(&Embedded::new(topology).unwrap(), 0, "virtual:rmap").unwrap()
}

struct Channel {
    endpoint: Endpoint,
    tx: PooledTx,
    rx: PooledRx,
}

impl Channel {
    fn open(endpoint: &Endpoint, port: u32, vc: u32) -> Self {
        let vc = endpoint.port(port).unwrap().vc(vc).unwrap();
        let options = PoolOptions::new(8, 4096);
        let (tx, rx) = (vc.tx_pooled(options).unwrap(), vc.rx_pooled(options).unwrap());
        Self { endpoint: endpoint.clone(), tx, rx }
    }

    fn send(&mut self, packet: &str) {
        let packet = hex(packet);
        while self.tx.poll().is_some() {}
        self.tx.slot().unwrap()[..packet.len()].copy_from_slice(&packet);
        self.tx.send(packet.len()).unwrap();
    }

    fn reply(&mut self) -> Vec<u8> {
        self.rx
            .wait(&spfe::Threshold::ONE, self.endpoint.deadline_after(SECOND))
            .expect("a reply comes");
        let packet = self.rx.peek().unwrap();
        assert_eq!(packet.end, End::Eop);
        let bytes = packet.bytes.to_vec();
        self.rx.release();
        bytes
    }

    #[track_caller]
    fn ask(&mut self, command: &str, reply: &str) {
        self.send(command);
        assert_eq!(self.reply(), hex(reply));
    }
}

const WRITE: &str = "FE 01 6C 00 67 00 00 00 A0 00 00 00 00 00 10 9F 01 23 45 67 89 AB CD EF \
    10 11 12 13 14 15 16 17 56";
const WRITTEN: &str = "67 01 2C 00 FE 00 00 ED";
const READ: &str = "FE 01 4C 00 67 00 01 00 A0 00 00 00 00 00 10 C9";
const DATA: &str = "67 01 0C 00 FE 00 01 00 00 00 10 6D 01 23 45 67 89 AB CD EF \
    10 11 12 13 14 15 16 17 56";

#[test]
fn annex_packets_on_every_port_and_in_every_mode() {
    for mode in [Mode::Inline, Mode::Coop, Mode::Thread] {
        let endpoint = endpoint("64K:base=0xa0000000", mode);
        for (port, vc) in [(0, 0), (0, 7), (1, 0)] {
            let mut channel = Channel::open(&endpoint, port, vc);
            channel.ask(WRITE, WRITTEN);
            channel.ask(READ, DATA);
            // The reply starts with the return path of the command.
            channel.ask(
                "FE 01 4D 00 99 AA BB CC 67 00 03 00 A0 00 00 10 00 00 10 F7",
                "99 AA BB CC 67 01 0D 00 FE 00 03 00 00 00 10 52 00 00 00 00 00 00 00 00 \
                 00 00 00 00 00 00 00 00 00",
            );
        }
    }
}

#[test]
fn virtual_channels_share_the_memory() {
    let endpoint = endpoint("4K:base=0xa0000000", Mode::Inline);
    Channel::open(&endpoint, 0, 3).ask(WRITE, WRITTEN);
    Channel::open(&endpoint, 0, 5).ask(READ, DATA);
    let network = endpoint.embedded().unwrap().network();
    let counters = network.arena().rmap(0, 0).unwrap().counters();
    assert_eq!((counters.writes, counters.reads, counters.replies), (1, 1, 2));
    assert_eq!(network.arena().rmap(0, 1).unwrap().counters(), Default::default());
}

#[test]
fn refusals_carry_their_status() {
    let endpoint = endpoint("4K:base=0x40000000:key=0x20:allow=rm", Mode::Inline);
    let mut channel = Channel::open(&endpoint, 0, 0);
    // Not allowed: 10. Wrong key: 3. Another logical address: 12. Beyond the memory: 10.
    let write = "FE 01 7C 20 67 00 10 00 40 00 00 00 00 00 04 3C DE AD BE EF 48";
    channel.send(write);
    assert_eq!(channel.reply()[3], 10);
    channel.send(READ);
    assert_eq!(channel.reply()[3], 3);
    channel.send("FE 01 48 20 67 00 11 00 40 00 00 00 00 00 04 28");
    assert_eq!(channel.reply()[3], 0);
    // Discarded without a reply: a damaged header, another protocol, a reply.
    for packet in [&WRITE.replace("9F", "9E"), "FE 02 00 00", WRITTEN] {
        channel.send(packet);
    }
    channel.ask(
        "FE 01 5C 20 67 00 13 00 40 00 00 00 00 00 08 3B 00 00 00 FF 00 00 00 0F E7",
        "67 01 1C 00 FE 00 13 00 00 00 04 7E 00 00 00 00 00",
    );
    let counters = endpoint.embedded().unwrap().network().arena().rmap(0, 0).unwrap().counters();
    assert_eq!((counters.not_authorised, counters.invalid_key), (1, 1));
    let discarded = (counters.header_crc, counters.other_protocol, counters.reply_received);
    assert_eq!(discarded, (1, 1, 1));
    let info = endpoint.port(0).unwrap().info().unwrap();
    assert_eq!(info.channels[0].tx.packets, 7);
}

/// A command in many pieces, a command longer than any slot, and a command that is cut.
#[test]
fn commands_of_any_length() {
    use spfe_proto::rmap::{RmapInitiator, RmapNode, RmapRequest};
    let endpoint = endpoint("1M", Mode::Inline);
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let (mut tx, mut rx) = (vc.tx().unwrap(), vc.rx().unwrap());
    rx.post_all(&mut endpoint.alloc(2 << 20).unwrap().split(1 << 19, 4).unwrap());
    let data: Vec<u8> = (0..700_000u32).map(|n| (n / 3) as u8).collect();
    let mut packet = vec![0; data.len() + 64];
    let mut initiator = RmapInitiator::<4>::new();
    let node = RmapNode::default();
    let sent =
        initiator.begin(&node, 0x100, &RmapRequest::write(&data), 0, 1, &mut packet).unwrap();
    let memory = endpoint.alloc(1 << 20).unwrap();
    let pieces = packet[..sent.bytes].chunks(100_000).enumerate();
    let last = sent.bytes.div_ceil(100_000) - 1;
    for (index, piece) in pieces {
        let mut buf = memory.buf(index * 100_032..index * 100_032 + 100_000).unwrap();
        buf.put(piece);
        tx.send_ending(buf, if index == last { End::Eop } else { End::More }).unwrap();
    }
    let deadline = endpoint.deadline_after(SECOND);
    let received = rx.recv(deadline).unwrap();
    assert!(initiator.handle(&received.buf, spfe_proto::PacketEnd::Eop).unwrap().result.is_ok());
    drop(received);
    tx.drain(deadline).unwrap();
    drop(std::iter::from_fn(|| tx.take()).collect::<Vec<_>>());

    let read = RmapRequest::read(data.len() as u32);
    let sent = initiator.begin(&node, 0x100, &read, 0, 1, &mut packet).unwrap();
    let mut buf = memory.buf(0..64).unwrap();
    buf.put(&packet[..sent.bytes]);
    tx.send(buf).unwrap();
    let mut reply = Vec::new();
    loop {
        let received = rx.recv(deadline).unwrap();
        reply.extend_from_slice(&received.buf);
        if !received.more() {
            break;
        }
    }
    let done = initiator.handle(&reply, spfe_proto::PacketEnd::Eop).unwrap();
    assert_eq!(done.result, Ok(&data[..]));

    // A verified write that is cut after the data: status 7, and the memory is unchanged.
    let again = RmapRequest::write(&[0xff; 64]);
    let sent = initiator.begin(&node, 0x100, &again, 0, 1, &mut packet).unwrap();
    let mut buf = memory.buf(4096..8192).unwrap();
    buf.put(&packet[..sent.bytes]);
    tx.send_ending(buf, End::Eep).unwrap();
    let received = rx.recv(deadline).unwrap();
    let done = initiator.handle(&received.buf, spfe_proto::PacketEnd::Eop).unwrap();
    assert_eq!(done.result.unwrap_err().to_string(), "status 7: error end of packet");
}

/// A peer that takes no replies cannot make the waiting replies grow without limit.
#[test]
fn replies_that_wait_are_bounded() {
    let endpoint = endpoint("4K:base=0xa0000000", Mode::Inline);
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let mut tx = vc.tx_pooled(PoolOptions::new(1024, 64)).unwrap();
    let read = hex(READ);
    let mut sent = 0;
    for _ in 0..1024 {
        while tx.poll().is_some() {}
        let Some(slot) = tx.slot() else { break };
        slot[..read.len()].copy_from_slice(&read);
        tx.send(read.len()).unwrap();
        sent += 1;
    }
    assert_eq!(sent, 1024);
    while tx.poll().is_some() {}
    let counters = || endpoint.embedded().unwrap().network().arena().rmap(0, 0).unwrap().counters();
    assert_eq!(counters().reads, 256);
    let mut rx = vc.rx_pooled(PoolOptions::new(64, 64)).unwrap();
    let mut replies = 0;
    // Commands advance when the sender polls, replies when the receiver polls.
    for _ in 0..10_000 {
        let _ = tx.wait(Deadline::NOW);
        while tx.poll().is_some() {}
        let _ = rx.wait(&spfe::Threshold::ONE, Deadline::NOW);
        while rx.peek().is_some() {
            rx.release();
            replies += 1;
        }
    }
    assert_eq!((replies, counters().reads), (1024, 1024));
}
