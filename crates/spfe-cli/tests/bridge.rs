//! `spfe bridge ssdtp2`, with a client that shares no code with it.

mod common;

use common::{Directory, end, spfe, start};
use spfe::{Deadline, End, Endpoint};
use spfe_host::{LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

/// A bridge, and the port that it listens on.
struct Bridge {
    child: Child,
    address: String,
}

impl Bridge {
    fn start(words: &[&str]) -> Self {
        let listen = ["--listen", "127.0.0.1:0"];
        let mut child = start(&[&["bridge", "ssdtp2"], words, &listen[..]].concat());
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, address }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Client { stream }
    }
}

/// A client as the host libraries have it: it puts packets together from their parts.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn message(&mut self, flag: u8, body: &[u8]) {
        let mut bytes = vec![flag, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        self.stream.write_all(&bytes).unwrap();
    }

    fn receive(&mut self) -> (u8, Vec<u8>) {
        let mut packet = Vec::new();
        loop {
            let mut header = [0; 12];
            self.stream.read_exact(&mut header).unwrap();
            assert_eq!(header[1..8], [0; 7]);
            let length = u32::from_be_bytes(header[8..].try_into().unwrap());
            let at = packet.len();
            packet.resize(at + length as usize, 0);
            self.stream.read_exact(&mut packet[at..]).unwrap();
            if header[0] != 2 {
                return (header[0], packet);
            }
        }
    }

    /// Whether the bridge has closed the connection.
    fn is_closed(&mut self) -> bool {
        self.stream.read(&mut [0; 1]).is_ok_and(|count| count == 0)
    }
}

fn data(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 7 + index / 251) as u8).collect()
}

/// The check sum of RMAP (50-52C 5.2), bit by bit.
fn crc(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| crc >> 1 ^ if crc & 1 == 0 { 0 } else { 0xe0 })
    })
}

#[test]
fn packets_of_every_length_come_back_whole() {
    let bridge = Bridge::start(&["virtual:?peer=echo", "--once"]);
    let mut client = bridge.client();
    for count in [1, 2, 13, 65_535, 65_536, 65_537, 131_072, 1_000_000] {
        client.message(0, &data(count));
        assert!(client.receive() == (0, data(count)), "{count} bytes");
    }
    // Parts are one packet; a message without bytes ends it, and alone it is nothing.
    client.message(2, b"one ");
    client.message(2, b"");
    client.message(2, b"packet");
    client.message(0, b"");
    client.message(0, b"");
    client.message(0x38, &[9, 0]);
    client.message(1, b"cut");
    assert_eq!(client.receive(), (0, b"one packet".to_vec()));
    assert_eq!(client.receive(), (1, b"cut".to_vec()));
    // Many packets one behind the other, none merged or split.
    for number in 0..500 {
        client.message(0, &data(1 + number));
    }
    for number in 0..500 {
        assert_eq!(client.receive(), (0, data(1 + number)));
    }
    drop(client);
    let run = end(bridge.child).exits(0);
    assert!(run.stderr.contains("510 packets from it, 510 to it"), "{}", run.stderr);
}

#[test]
fn a_client_reaches_an_rmap_target() {
    let bridge = Bridge::start(&["virtual:?peer=rmap:64K:key=0x20", "--once"]);
    let mut client = bridge.client();
    // Write, verified and with a reply, four bytes to 0x100.
    let mut write = vec![0xfe, 1, 0x7c, 0x20, 0x67, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4];
    write.push(crc(&write));
    let bytes = [0xde, 0xad, 0xbe, 0xef];
    write.extend(bytes);
    write.push(crc(&bytes));
    client.message(0, &write);
    let (flag, reply) = client.receive();
    assert_eq!((flag, &reply[..7]), (0, &[0x67, 1, 0x3c, 0, 0xfe, 0, 1][..]));
    let mut read = vec![0xfe, 1, 0x4c, 0x20, 0x67, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4];
    read.push(crc(&read));
    client.message(0, &read);
    let (flag, reply) = client.receive();
    assert_eq!((flag, &reply[12..16]), (0, &bytes[..]));
    assert_eq!(reply[3], 0, "status");
    drop(client);
    end(bridge.child).exits(0);
}

#[test]
fn two_nodes_and_their_time_codes() {
    let directory = Directory::new("bridge");
    let socket = directory.path("sock");
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let _server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    let near = format!("unix:{socket}/0");
    // Port 1 speaks SpaceWire.
    let bridge = Bridge::start(&[&near, "--port", "1"]);
    let far = Endpoint::open(&format!("unix:{socket}/1")).unwrap();
    let mut codes = far.port(1).unwrap().time_code().unwrap();
    let mut client = bridge.client();
    client.message(0x30, &[0b1000_0101, 0]);
    let deadline = Deadline::after(Duration::from_secs(60));
    let code = codes.recv(deadline).unwrap();
    assert_eq!((code.time, code.flags), (5, 2));
    codes.send(6, 1).unwrap();
    assert_eq!(client.receive(), (0x31, vec![0b0100_0110, 0]));

    // A client that goes in the middle of a packet: the packet ends with EEP.
    client.message(2, b"unfinished");
    drop(client);
    let vc = far.port(1).unwrap().vc(0).unwrap();
    let mut rx = vc.rx().unwrap();
    rx.post_all(&mut far.alloc(8192).unwrap().split(4096, 2).unwrap());
    let received = rx.recv(deadline).unwrap();
    assert_eq!((&received.buf[..], received.end), (&b"unfinished"[..], End::Eep));

    // The next client starts anew, and is told off for nonsense by the end of its connection.
    let mut client = bridge.client();
    client.message(0x40, &[0, 0, 0, 0]);
    assert!(client.is_closed());
    let mut client = bridge.client();
    client.message(0, b"good day");
    let received = rx.recv(deadline).unwrap();
    assert_eq!((&received.buf[..], received.end), (&b"good day"[..], End::Eop));
    let pid = rustix::process::Pid::from_child(&bridge.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    end(bridge.child).exits(0);
}

#[test]
fn wrong_addresses_and_ports() {
    spfe(&["bridge", "ssdtp2", "--listen", "nonsense"]).fails(2, "--listen nonsense");
    spfe(&["bridge", "ssdtp2", "--port", "9"]).fails(5, "port 9");
    spfe(&["bridge", "ssdtp2", "--vc", "99"]).fails(2, "VC 99");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    spfe(&["bridge", "ssdtp2", "--listen", &address]).fails(1, "in use");
}
