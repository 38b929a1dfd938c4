//! SpaceWire and SpaceFibre addresses in front of packets: `--path` and `--logical`.

use crate::parse;
use clap::Args;

/// Most bytes of a path.
const PATH_MAX: usize = 64;
/// Path addresses are 0 to 31 (50-12C 5.6.8.2); 32 to 255 are logical addresses.
const PATH_ADDRESSES: u8 = 32;

/// Options for the address of packets.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressArgs {
    /// Ports of the routers on the way, 0 to 31 each, such as 1,3. Each router deletes its own.
    #[arg(long, value_name = "PORT,...", value_delimiter = ',', value_parser = path)]
    pub path: Vec<u8>,
    /// Logical address of the destination, 32 to 255, after the path.
    #[arg(long, value_name = "ADDRESS", value_parser = logical)]
    pub logical: Option<u8>,
}

impl AddressArgs {
    /// The bytes in front of every packet.
    pub fn bytes(&self) -> Vec<u8> {
        self.path.iter().take(PATH_MAX).copied().chain(self.logical).collect()
    }
}

fn path(text: &str) -> Result<u8, String> {
    let port = parse::byte(text)?;
    if port < PATH_ADDRESSES {
        return Ok(port);
    }
    Err(format!("'{text}' is not a port of a router from 0 to 31; --logical takes 32 to 255"))
}

fn logical(text: &str) -> Result<u8, String> {
    let address = parse::byte(text)?;
    if address >= PATH_ADDRESSES {
        return Ok(address);
    }
    Err(format!("'{text}' is not a logical address from 32 to 255; --path takes 0 to 31"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        address: AddressArgs,
    }

    fn bytes(words: &[&str]) -> Result<Vec<u8>, String> {
        let line = Line::try_parse_from([&["send"], words].concat());
        line.map(|line| line.address.bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_comes_before_a_logical_address() {
        assert_eq!(bytes(&[]), Ok(vec![]));
        assert_eq!(bytes(&["--path", "1,3", "--logical", "0xfe"]), Ok(vec![1, 3, 254]));
        assert_eq!(bytes(&["--logical", "32"]), Ok(vec![32]));
        for (words, part) in [
            (["--path", "1,32"], "'32' is not a port"),
            (["--path", ""], "''"),
            (["--logical", "31"], "'31' is not a logical address"),
            (["--logical", "256"], "'256'"),
        ] {
            assert!(bytes(&words).unwrap_err().contains(part), "{words:?}");
        }
    }
}
