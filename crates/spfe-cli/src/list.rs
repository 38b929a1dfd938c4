//! `spfe list`: which devices there are.

use crate::context::{Context, DEFAULT_DEVICE};
use crate::error::Failure;
use crate::{output, ports};
use serde_json::{Value, json};
use spfe::backend::Backend;
use spfe::backend::daemon::Daemon;
use spfe::{DeviceInfo, Endpoint, PortInfo, Status};
use std::path::{Path, PathBuf};

/// One endpoint of a device.
struct Found {
    info: DeviceInfo,
    ports: Vec<PortInfo>,
    /// Clients attached to it, without this command.
    clients: Vec<(u32, String)>,
}

/// A daemon's socket, or the built-in device.
struct Place {
    name: String,
    endpoints: Result<Vec<Found>, Failure>,
}

/// Lists the built-in device and the daemons of this machine.
pub fn run(context: &Context) -> Result<(), Failure> {
    let mut places = vec![Place { name: DEFAULT_DEVICE.to_owned(), endpoints: built_in() }];
    places.extend(
        sockets().iter().map(|path| Place {
            name: format!("unix:{}", path.display()),
            endpoints: daemon(path),
        }),
    );
    if context.json {
        let devices: Vec<_> = places.iter().map(place_json).collect();
        println!("{}", json!({ "devices": devices }));
        return Ok(());
    }
    let mut rows = Vec::new();
    for place in &places {
        match &place.endpoints {
            Ok(endpoints) => rows.extend(endpoints.iter().flat_map(endpoint_rows)),
            Err(failure) => context.say(&format!("spfe: {failure}")),
        }
    }
    let mut head = vec!["DEVICE"];
    head.extend(ports::COLUMNS);
    head.push("CLIENTS");
    print!("{}", output::table(&head, head.len(), &rows));
    Ok(())
}

/// Where daemons listen, as far as something is there: `SPFE_SOCKET`, the user's, the system's.
fn sockets() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut paths: Vec<PathBuf> = Vec::new();
    // The one that was asked for is listed even if nothing is there.
    paths.extend(named("SPFE_SOCKET").map(PathBuf::from));
    let user = named("XDG_RUNTIME_DIR").map(|directory| Path::new(&directory).join("spfe.sock"));
    for path in user.into_iter().chain([PathBuf::from("/run/spfe.sock")]) {
        if path.exists() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn built_in() -> Result<Vec<Found>, Failure> {
    let endpoint = Endpoint::open(DEFAULT_DEVICE)?;
    let info = endpoint.info();
    let ports = (0..info.ports).map(|number| endpoint.port(number)?.info());
    let ports = ports.collect::<spfe::Result<_>>()?;
    Ok(vec![Found { info, ports, clients: Vec::new() }])
}

/// All endpoints of a daemon: attaches to one after the other, until there is none.
fn daemon(path: &Path) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for number in 0..spfe_net::topology::ENDPOINTS_MAX as u32 {
        let daemon = match Daemon::connect(path, Some(number), "spfe list") {
            Ok(daemon) => daemon,
            Err(error) if error.status() == Some(Status::NotFound) => break,
            Err(error) => return Err(error.into()),
        };
        let info = daemon.info();
        let ports = (0..info.ports).map(|port| daemon.port_info(port));
        let ports = ports.collect::<spfe::Result<_>>()?;
        let others = daemon.clients()?.into_iter();
        let others = others.filter(|c| c.endpoint == info.endpoint && c.client != info.client);
        let clients = others.map(|client| (client.client, client.name)).collect();
        found.push(Found { info, ports, clients });
    }
    Ok(found)
}

fn endpoint_rows(found: &Found) -> Vec<Vec<String>> {
    let names: Vec<_> = found.clients.iter().map(|(_, name)| output::printable(name)).collect();
    let rows = found.ports.iter().enumerate().map(|(number, info)| {
        let mut row = vec![found.info.uri.clone()];
        row.extend(ports::row(number as u32, info));
        row.push(if number == 0 { names.join(", ") } else { String::new() });
        row
    });
    rows.collect()
}

fn place_json(place: &Place) -> Value {
    match &place.endpoints {
        Ok(endpoints) => json!({
            "device": place.name,
            "state": "running",
            "mode": endpoints.first().map(|found| found.info.mode.to_string()),
            "endpoints": endpoints.iter().map(endpoint_json).collect::<Vec<_>>(),
        }),
        Err(failure) => json!({
            "device": place.name,
            "state": failure.status(),
            "error": failure.what,
            "endpoints": [],
        }),
    }
}

fn endpoint_json(found: &Found) -> Value {
    let ports = found.ports.iter().enumerate();
    let clients = found.clients.iter().map(|(id, name)| json!({ "client": id, "name": name }));
    json!({
        "device": found.info.uri,
        "endpoint": found.info.endpoint,
        "ports": ports.map(|(n, info)| ports::json(n as u32, info)).collect::<Vec<_>>(),
        "clients": clients.collect::<Vec<_>>(),
    })
}
