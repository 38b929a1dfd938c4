//! `spfe info`: shows a device.

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::{output, ports};
use clap::Args;
use serde_json::json;

/// Show a device: contract version, ports and their links.
#[derive(Clone, Debug, Args)]
pub struct InfoArgs {
    #[command(flatten)]
    pub device: DeviceArg,
}

/// Runs `spfe info`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let info = endpoint.info();
    let numbers = 0..info.ports;
    let port_infos = numbers.map(|number| Ok((number, endpoint.port(number)?.info()?)));
    let port_infos = port_infos.collect::<Result<Vec<_>, Failure>>()?;
    let contract = format!("{}.{}", info.contract.0, info.contract.1);
    if context.json {
        let ports: Vec<_> = port_infos.iter().map(|(n, info)| ports::json(*n, info)).collect();
        let object = json!({
            "device": info.uri,
            "backend": info.backend,
            "endpoint": info.endpoint,
            "client": info.client,
            "mode": info.mode.to_string(),
            "contract": contract,
            "ports": ports,
        });
        println!("{object}");
        return Ok(());
    }
    println!("device    {}", info.uri);
    println!("backend   {}", info.backend);
    println!("endpoint  {}", info.endpoint);
    println!("client    {}", info.client);
    println!("mode      {}", info.mode);
    println!("contract  {contract}\n");
    let rows: Vec<_> = port_infos.iter().map(|(n, info)| ports::row(*n, info)).collect();
    print!("{}", output::table(&ports::COLUMNS, ports::COLUMNS.len(), &rows));
    Ok(())
}
