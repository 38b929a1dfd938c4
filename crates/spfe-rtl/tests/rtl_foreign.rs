//! A core whose port 0 leads out of the process: to another core, and to an exact link. Skipped
//! without the model, as `tests/rtl_device.rs` is.

use spfe::Endpoint;
use spfe_contract::PortState;
use spfe_rtl::models;
use std::time::{Duration, Instant};

fn has_model() -> bool {
    let there = models().join("spfe_sim_endpoint_2_1_4.so").exists();
    assert!(there || std::env::var_os("SPFE_RTL_REQUIRED").is_none(), "make rtl-model");
    there
}

/// A path for a socket of this test.
fn socket(name: &str) -> String {
    let file = format!("spfe-rtl-{}-{name}", std::process::id());
    std::env::temp_dir().join(file).display().to_string()
}

fn core(stream: &str) -> Endpoint {
    let backend = spfe_rtl::open(&format!("rtl:?peer=foreign:{stream}")).unwrap();
    Endpoint::with_backend(backend)
}

fn becomes(endpoint: &Endpoint, wanted: PortState) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let state = endpoint.port(0).unwrap().info().unwrap().state;
        if state == wanted {
            return;
        }
        assert!(Instant::now() < end, "the link is {}, not {}", state.name(), wanted.name());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_cores_over_a_stream_come_up_and_notice_when_one_goes() {
    if !has_model() {
        return;
    }
    let path = socket("cores");
    let first = core(&format!("unix-listen:{path}"));
    assert_ne!(first.port(0).unwrap().info().unwrap().state, PortState::Up);
    let second = core(&format!("unix:{path}"));
    becomes(&first, PortState::Up);
    becomes(&second, PortState::Up);
    drop(second);
    let end = Instant::now() + Duration::from_secs(60);
    while first.port(0).unwrap().info().unwrap().state == PortState::Up {
        assert!(Instant::now() < end, "the link stays up without its far end");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The next one finds an open door.
    let third = core(&format!("unix:{path}"));
    becomes(&third, PortState::Up);
    becomes(&first, PortState::Up);
}

#[test]
fn a_core_and_an_exact_link_come_up() {
    if !has_model() {
        return;
    }
    let path = socket("exact");
    let name = format!("virtual:?link=exact:1x6.25G&mode=thread&peer=foreign:unix-listen:{path}");
    let exact = Endpoint::open(&name).unwrap();
    let core = core(&format!("unix:{path}"));
    becomes(&core, PortState::Up);
    becomes(&exact, PortState::Up);
}
