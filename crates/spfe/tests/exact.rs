//! Links that are made word by word, behind the same interface.

use spfe::{Deadline, Embedded, Endpoint, LinkModel, LinkRate, Mode, Topology};

fn pair(rate: &str, mode: Mode, virtual_time: bool) -> (Endpoint, Endpoint) {
    let rate: LinkRate = rate.parse().unwrap();
    let topology = Topology::pairs(2, rate, mode).with_model(LinkModel::Exact);
    let network = Embedded::new(Topology { virtual_time, ..topology }).unwrap();
    let open = |endpoint| Endpoint::attach(&network, endpoint, "exact").unwrap();
    (open(0), open(1))
}

#[test]
fn a_packet_goes_word_by_word_in_virtual_time() {
    for rate in ["1x6.25G", "4x6.25G"] {
        let (a, b) = pair(rate, Mode::Inline, true);
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        for length in [1, 2, 3, 4, 5, 63, 64, 255, 256, 257, 1000, 65536] {
            rx.post(b.alloc(65536).unwrap().buf(0..65536).unwrap()).unwrap();
            let mut buf = a.alloc(length).unwrap().buf(0..length).unwrap();
            buf.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7 + length) as u8);
            let sent: Vec<u8> = buf.to_vec();
            tx.send(buf).unwrap();
            let got = rx.recv(Deadline::NEVER).unwrap();
            assert_eq!(got.time_ns, Some(b.now_ns()));
            assert!(got.buf[..] == sent[..], "{length} bytes over {rate}");
        }
        assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
    }
}
