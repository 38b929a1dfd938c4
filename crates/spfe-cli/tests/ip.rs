//! `spfe ip`: refusals, and everything that needs no privilege. `tests/ip.bats` tests interfaces.

mod common;

use common::spfe;

#[test]
fn errors_name_the_bad_value() {
    for (option, value, words) in [
        ("--mtu", "67", "68..=65500"),
        ("--mtu", "65501", "68..=65500"),
        ("--name", "a/b", "no name of an interface"),
        ("--address", "10.0.0.1", "no address and prefix"),
        ("--address", "10.0.0.1/33", "0 to 32 allowed"),
        ("--mac", "01:00:5e:00:00:01", "no address of one interface"),
    ] {
        spfe(&["ip", "up", "virtual:", option, value]).fails(2, words);
    }
}

#[test]
fn a_device_without_a_far_end_is_refused() {
    spfe(&["ip", "up"]).fails(2, "no device: name one");
    let time = "virtual:?time=virtual";
    spfe(&["ip", "up", time]).fails(2, "leave out time=virtual");
    spfe(&["ip", "up", "unix:/no/such/socket/0"]).fails(5, "/no/such/socket");
    spfe(&["ip", "up", "virtual:", "--port", "9"]).fails(5, "port 9");
    let vc = ["ip", "up", "virtual:", "--vc", "99"];
    spfe(&vc).fails(2, "VC 99");
}

#[test]
fn a_name_in_use_or_a_missing_privilege_is_reported() {
    let words = ["ip", "up", "virtual:", "--name", "lo"];
    // Root gets "name in use" if there is a TUN driver; other users get the missing privilege.
    let run = spfe(&words).exits(1);
    let expected = ["choose another name", "unshare -rn", "modprobe tun"];
    assert!(expected.iter().any(|words| run.stderr.contains(words)), "{}", run.stderr);
}
