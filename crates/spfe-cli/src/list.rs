//! `spfe list`: lists the devices of this machine.

use crate::context::{Context, DEFAULT_DEVICE};
use crate::error::Failure;
use crate::{output, ports};
use serde_json::{Value, json};
use spfe::backend::daemon::NetworkQuery;
use spfe::{DeviceInfo, Endpoint, PortInfo, Status};
use std::path::{Path, PathBuf};

/// Device name of a simulated core with the usual parameters.
const SIMULATED_CORE: &str = "rtl:";

/// One endpoint of a device.
struct ListedEndpoint {
    info: DeviceInfo,
    ports: Vec<PortInfo>,
    /// Attached clients: number and name.
    clients: Vec<(u32, String)>,
}

/// A daemon's socket, a device file, or the built-in device.
struct Source {
    name: String,
    endpoints: Result<Vec<ListedEndpoint>, Failure>,
}

/// Lists the built-in device, the daemons and the devices of this machine.
pub fn run(context: &Context) -> Result<(), Failure> {
    let mut places =
        vec![Source { name: DEFAULT_DEVICE.to_owned(), endpoints: file(DEFAULT_DEVICE) }];
    places.extend(
        sockets().iter().map(|path| Source {
            name: format!("unix:{}", path.display()),
            endpoints: daemon(path),
        }),
    );
    places.extend(files().into_iter().map(|name| {
        let endpoints = file(&name);
        Source { name, endpoints }
    }));
    places.extend(simulated());
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

/// The simulated core, if this machine has a model of it.
fn simulated() -> Option<Source> {
    if !cfg!(feature = "rtl") {
        return None;
    }
    let endpoints = file(SIMULATED_CORE);
    let is_missing =
        endpoints.as_ref().is_err_and(|failure| failure.status() == Status::NotFound.name());
    (!is_missing).then(|| Source { name: SIMULATED_CORE.to_owned(), endpoints })
}

/// Device files of the kernel driver.
fn files() -> Vec<String> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names
        .filter(|name| {
            name.strip_prefix("spfe").is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .map(|name| format!("/dev/{name}"))
        .collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

/// The endpoint of the built-in device or of a kernel device.
fn file(name: &str) -> Result<Vec<ListedEndpoint>, Failure> {
    let endpoint = Endpoint::open(name)?;
    let info = endpoint.info();
    let ports = (0..info.ports).map(|number| endpoint.port(number)?.info());
    let ports = ports.collect::<spfe::Result<_>>()?;
    Ok(vec![ListedEndpoint { info, ports, clients: Vec::new() }])
}

/// Existing sockets of daemons: `SPFE_SOCKET`, the user's, the system's.
fn sockets() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut paths: Vec<PathBuf> = Vec::new();
    // List the socket of SPFE_SOCKET even if it does not exist.
    paths.extend(named("SPFE_SOCKET").map(PathBuf::from));
    let user = named("XDG_RUNTIME_DIR").map(|directory| Path::new(&directory).join("spfe.sock"));
    for path in user.into_iter().chain([PathBuf::from("/run/spfe.sock")]) {
        if path.exists() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// All endpoints of a daemon, read without attaching to it.
fn daemon(path: &Path) -> Result<Vec<ListedEndpoint>, Failure> {
    let mut network = NetworkQuery::open(path)?;
    let clients = network.clients()?;
    let endpoints = network.endpoints().into_iter().map(|info| {
        let ports = (0..info.ports).map(|port| network.port_info(info.endpoint, port));
        let ports = ports.collect::<spfe::Result<_>>()?;
        let here = clients.iter().filter(|client| client.endpoint == info.endpoint);
        let clients = here.map(|client| (client.client, client.name.clone())).collect();
        Ok(ListedEndpoint { info, ports, clients })
    });
    endpoints.collect()
}

fn endpoint_rows(found: &ListedEndpoint) -> Vec<Vec<String>> {
    let names: Vec<_> = found.clients.iter().map(|(_, name)| output::printable(name)).collect();
    let rows = found.ports.iter().enumerate().map(|(number, info)| {
        let mut row = vec![found.info.uri.clone()];
        row.extend(ports::row(number as u32, info));
        row.push(if number == 0 { names.join(", ") } else { String::new() });
        row
    });
    rows.collect()
}

fn place_json(place: &Source) -> Value {
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

fn endpoint_json(found: &ListedEndpoint) -> Value {
    let ports = found.ports.iter().enumerate();
    let clients = found.clients.iter().map(|(id, name)| json!({ "client": id, "name": name }));
    json!({
        "device": found.info.uri,
        "endpoint": found.info.endpoint,
        "ports": ports.map(|(n, info)| ports::json(n as u32, info)).collect::<Vec<_>>(),
        "clients": clients.collect::<Vec<_>>(),
    })
}
