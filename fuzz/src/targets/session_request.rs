//! Datagrams of the session protocol, both ways: what can be read is written the same again.

use spfe_session::{Reply, decode_reply, decode_request, encode_reply, encode_request};

crate::target!(|datagram: &[u8]| {
    if let Ok((sequence, request)) = decode_request(datagram) {
        let again = encode_request(sequence, &request).expect("what was read fits");
        assert_eq!(decode_request(&again).expect("what was written"), (sequence, request));
    }
    if let Ok((sequence, reply)) = decode_reply(datagram) {
        if let Ok(Reply::Welcome(welcome)) = &reply {
            // What a client looks at before it maps the network.
            let _ = welcome.topology.check();
        }
        let again = encode_reply(sequence, &reply).expect("what was read fits");
        assert_eq!(decode_reply(&again).expect("what was written"), (sequence, reply));
    }
});
