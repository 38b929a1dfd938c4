//! `spfe link` in this process and on a daemon's network.

mod common;

use common::{Directory, spfe};
use serde_json::{Value, json};
use spfe::{Endpoint, MIB_ITEMS, MibAccess, MibItem, MibScope};
use spfe_host::{LinkModel, LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};

const EXACT: &str = "virtual:?link=exact:2x6.25G&time=virtual";

/// Number of items of a link with two lanes and 8 virtual channels.
fn count(scope: MibScope) -> usize {
    match scope {
        MibScope::Link => 1,
        MibScope::Lane => 2,
        MibScope::Vc => 8,
    }
}

fn items(object: &Value) -> Vec<&Value> {
    object["mib"].as_array().expect("a list of items").iter().collect()
}

#[test]
fn every_item_is_shown_with_its_unit_and_table() {
    let text = spfe(&["link", EXACT, "--mib"]).exits(0).text();
    let object = spfe(&["link", EXACT, "--mib", "--json"]).exits(0).json();
    for info in MIB_ITEMS.iter().filter(|info| info.access != MibAccess::Command) {
        let row = match info.scope {
            MibScope::Link => format!("\n{}  ", info.title),
            _ => format!("\n{}[{}]", info.title, count(info.scope) - 1),
        };
        let line = text.split_once(&row).map(|(_, rest)| rest.lines().next().unwrap_or_default());
        let line = line.unwrap_or_else(|| panic!("no {row:?} in:\n{text}"));
        assert!(line.contains("5-36") || line.contains("5-37"), "{line}");
        assert!(line.contains(info.unit), "{line}");
        let found: Vec<_> =
            items(&object).into_iter().filter(|item| item["name"] == info.title).collect();
        assert_eq!(found.len(), count(info.scope), "{}", info.title);
        assert_eq!(found[0]["identifier"], info.item.name());
        assert_eq!(found[0]["unit"], info.unit);
    }
    // Counters that are zero are omitted, as in `spfe stats`.
    let plain = spfe(&["link", EXACT]).exits(0).text();
    assert!(plain.contains("LANE") && !plain.contains("packets sent"), "{plain}");
    let plain = spfe(&["link", EXACT, "--all"]).exits(0).text();
    assert!(plain.contains("packets sent"), "{plain}");
    assert!(!plain.contains("Lane State"), "{plain}");
    assert_eq!(spfe(&["link", EXACT, "--json"]).exits(0).json()["mib"], Value::Null);
    // Packet-level links have few items.
    let object = spfe(&["link", "virtual:?link=2x6.25G", "--mib", "--json"]).exits(0).json();
    assert_eq!(
        object["lanes"],
        json!([{"lane": 0, "state": "Active"}, {"lane": 1, "state": "Active"}])
    );
    assert!(items(&object).iter().all(|item| item["name"] != "Segment Multiplier"));
}

#[test]
fn errors_name_the_bad_value() {
    for (words, code, part) in [
        (&["set", "Lane State[1]=7"][..], 2, "Lane State[1]: it can only be read"),
        (&["set", "priority.3=16"], 2, "Priority[3]: 16; 0 to 15 allowed"),
        (&["set", "priority.9=1"], 5, "the link has VCs 0 to 7"),
        (&["set", "colour=1"], 2, "no parameter, status or error"),
        (&["set", "LaneStart=1"], 2, "say which lane"),
        (&["set"], 2, "NAME=VALUE"),
        (&["qos", "3", "colour=1"], 2, "priority="),
        (&["qos", "9"], 5, "the link has VCs 0 to 7"),
        (&["qos", "1", "slots=70"], 2, "0 to 63"),
        (&["--port", "7"], 5, "port 7"),
    ] {
        spfe(&[&["link", EXACT], words].concat()).fails(code, part);
    }
    let words = ["link", "virtual:", "set", "LaneStart[0]=1"];
    spfe(&words).fails(2, "not on a packet-level link");
    spfe(&["link", "virtual:", "reset"]).fails(2, "packet level");
}

/// A daemon with two endpoints on an exact link, and the names of their devices.
fn daemon(directory: &Directory) -> (Server, [String; 2]) {
    let socket = directory.path("sock");
    let rate = LinkRate::SpaceFibre { lanes: 2, mbps: 6250 };
    let mut topology = Topology::pairs(2, rate, Mode::Thread);
    for ports in &mut topology.endpoints {
        ports[0].model = LinkModel::Exact;
    }
    let server = Server::start(ServerConfig::new(topology).listen(&socket)).unwrap();
    (server, [0, 1].map(|end| format!("unix:{socket}/{end}")))
}

#[test]
fn the_configuration_of_a_daemons_link_persists() {
    let directory = Directory::new("link");
    let (server, ends) = daemon(&directory);
    let text =
        spfe(&["link", &ends[0], "set", "priority.3=2", "Time-slots[3]=0xff"]).exits(0).text();
    assert_eq!(text, "Priority[3] = 2\nTime-slots[3] = 0xff\n");
    let words = ["link", &ends[0], "qos", "3", "bandwidth=25%", "slots=0-15,32"];
    let text = spfe(&words).exits(0).text();
    let row: Vec<_> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row[..6], ["3", "2", "16384", "(25.00", "%)", "0-15,32"], "{text}");
    let object = spfe(&["link", &ends[0], "qos", "3", "--json"]).exits(0).json();
    assert_eq!((&object["priority"], &object["bandwidth"]), (&json!(2), &json!(16384)));
    assert_eq!(object["slots"], json!(0x1_0000_ffff_u64));
    let text = spfe(&["link", &ends[0], "qos"]).exits(0).text();
    assert_eq!(text.lines().count(), 9, "{text}");
    // The far end of the link has a configuration of its own.
    let object = spfe(&["link", &ends[1], "qos", "3", "--json"]).exits(0).json();
    assert_ne!(object["priority"], 2);

    // The library reads the same through the daemon.
    let endpoint = Endpoint::open(&ends[0]).unwrap();
    let mib = endpoint.port(0).unwrap().mib();
    assert_eq!(mib.get("TIME_SLOTS.3").unwrap(), 0x1_0000_ffff);
    let list = mib.items().unwrap();
    let kinds = MIB_ITEMS.iter().filter(|info| info.access != MibAccess::Command);
    assert_eq!(list.len(), kinds.map(|info| count(info.scope)).sum::<usize>());
    assert!(list.iter().any(|(name, value)| name.item == MibItem::Priority && *value == 2));
    let error = mib.set("LaneStart[2]", 1).unwrap_err().to_string();
    assert!(error.contains("the link has lanes 0 to 1"), "{error}");

    // The command shows that a lane has stopped.
    spfe(&["link", &ends[0], "set", "lane-start.1=0", "auto-start.1=0"]).exits(0);
    let lanes = || {
        let object = spfe(&["link", &ends[0], "--mib", "--json"]).exits(0).json();
        let item = items(&object).into_iter().find(|item| item["name"] == "Data-Sending Lanes");
        item.map(|item| item["value"].clone())
    };
    let goes = (0..200).any(|_| lanes() == Some(json!(1)));
    assert!(goes, "lane 1 still sends: {:?}", lanes());
    spfe(&["link", &ends[0], "reset"]).exits(0);
    drop(server);
}
