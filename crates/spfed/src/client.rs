//! The state of one client.

use crate::capture::LiveCapture;
use crate::config::ServerConfig;
use spfe_host::Attachment;
use spfe_lab::Lab;
use spfe_plane::{ClientBell, Network, Signaller};
use std::sync::Arc;

/// State that all connections share.
pub(crate) struct ServerState {
    pub network: Arc<Network>,
    pub lab: Arc<Lab>,
    pub config: ServerConfig,
}

/// What a connection's client is and owns. Before Hello it has no attachment.
#[derive(Default)]
pub(crate) struct Client {
    pub attachment: Option<Attachment>,
    /// Name from Hello.
    pub name: String,
    /// Process at the other end of the socket, for the log.
    pub process: String,
    /// Whether it belongs to the daemon's own user or root, who may administer links.
    pub is_admin: bool,
    pub capture: Option<LiveCapture>,
    /// Signals its events, once it has one.
    pub signaller: Option<Signaller>,
    /// Its doorbell.
    pub bell: Option<Arc<ClientBell>>,
}

impl Client {
    /// Number, name and process, for the log.
    pub fn label(&self) -> String {
        let id = self.attachment.map_or(0, |at| at.client);
        format!("client {id} ({:?}, {})", self.name, self.process)
    }
}
