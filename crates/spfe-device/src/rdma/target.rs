//! A target without queues (capability TARGET) in the place of a queue pair.

use super::keys::KeysInUse;
use super::window::{self, KeyWindow};
use super::{ChannelState, Pair, RdmaChannel, SendSide};
use spfe_contract::Status;
use spfe_rdma::{RdmaInitiator, RdmaInitiatorOptions, RdmaTarget, RemoteKey};
use std::sync::Arc;

/// Called when notifications have come, with the state of the channel locked.
pub type NoteBell = Arc<dyn Fn() + Send + Sync>;

/// What a target without queues has beside the target.
#[derive(Default)]
pub struct Alone {
    /// Domain of the regions that its entries name.
    pub domain: u16,
    bell: Option<NoteBell>,
    /// Notifications that the bell has told.
    told: u64,
}

impl Alone {
    /// Rings the bell if notifications have come since the last time.
    pub fn tell(&mut self, target: &RdmaTarget) {
        let kept = target.notifications_kept();
        if std::mem::replace(&mut self.told, kept) != kept
            && let Some(bell) = &self.bell
        {
            bell();
        }
    }
}

impl ChannelState {
    fn alone(&mut self) -> Option<(&mut Alone, &mut RdmaTarget, &mut KeysInUse)> {
        let Pair { alone, target, keys, .. } = self.pair.as_mut()?;
        Some((alone.as_mut()?, target, keys))
    }
}

impl RdmaChannel {
    /// Puts a target without queues on the virtual channel, for good. The control plane changes the
    /// epochs of both flows afterwards.
    ///
    /// # Errors
    /// BUSY if the channel has a queue pair or a target.
    pub fn place_target(&self, target: RdmaTarget) -> Result<(), Status> {
        let state = &mut *self.lock();
        if state.pair.is_some() {
            return Err(Status::Busy);
        }
        let send = SendSide::new(RdmaInitiator::new(RdmaInitiatorOptions::default()));
        let pair = Pair::new(send, target, 0);
        state.pair = Some(Pair { alone: Some(Alone::default()), ..pair });
        Ok(())
    }

    /// Whether the channel has a target without queues.
    pub fn is_target(&self) -> bool {
        self.lock().alone().is_some()
    }

    /// Looks at the target without queues; `None` if there is none.
    pub fn with_target<R>(&self, look: impl FnOnce(&mut RdmaTarget) -> R) -> Option<R> {
        self.lock().alone().map(|(_, target, _)| look(target))
    }

    /// Sets what is called when notifications come; `None` for nothing.
    pub fn set_bell(&self, bell: Option<NoteBell>) {
        if let Some((alone, ..)) = self.lock().alone() {
            alone.bell = bell;
        }
    }

    /// Makes registered memory of a domain an entry of the target. The control plane changes the
    /// epochs of both flows afterwards. Returns OK, BAD_FIELD or BUSY like BIND.
    pub fn set_entry(&self, entry: &KeyWindow, domain: u16) -> Status {
        let state = &mut *self.lock();
        let Some((alone, target, keys)) = state.alone() else { return Status::BadOpcode };
        alone.domain = domain;
        entry.bind(target, keys)
    }

    /// Takes an entry back. Nothing touches its memory afterwards. Returns OK or NOT_FOUND.
    pub fn clear_entry(&self, key: RemoteKey) -> Status {
        let state = &mut *self.lock();
        let Some((_, target, keys)) = state.alone() else { return Status::NotFound };
        window::unbind(key, target, keys)
    }
}
