//! The interface's side: queues of the TAP device, and which far end a queue leads to.

use super::nodes::Nodes;
use spfe_fabric::ether::{self, FrameTarget, MAC_START};
use spfe_tap::{TapDevice, TapError, TapOffloads, TapQueue};

/// The queues of an interface.
///
/// If the kernel chooses the queue of a frame by its destination, each node of a fabric has one of
/// its own, and a node that does not read holds up its own queue only. Queue 0 has frames to groups,
/// and all frames where the kernel lets us load no program: these are sorted here.
pub struct Frames {
    /// The interface, to configure it.
    pub tap: TapDevice,
    pub queues: Vec<TapQueue>,
    /// This node of a fabric; 0 on a link.
    own: u16,
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To every far end.
    All,
    /// To the far end with this index.
    One(usize),
    /// To an address of none.
    Nobody,
}

impl Frames {
    /// Opens or creates the interface of a link, or of a node of a fabric.
    ///
    /// # Errors
    /// The kernel refuses the interface.
    pub fn open(name: &str, nodes: Option<&Nodes>) -> Result<Self, TapError> {
        let Some(nodes) = nodes else {
            let (tap, queue) = TapDevice::open_queue(name)?;
            return Ok(Self { tap, queues: vec![queue], own: 0 });
        };
        let wanted = nodes.count() + 1;
        let (tap, mut queues) = TapDevice::open_queues(name, usize::from(wanted))?;
        if tap.steer_by_destination(MAC_START, wanted as u8).is_err() {
            queues.truncate(1);
        }
        Ok(Self { tap, queues, own: nodes.own })
    }

    /// Whether each node of a fabric has a queue of its own.
    pub fn is_steered(&self) -> bool {
        self.queues.len() > 1
    }

    /// Tells the kernel what it may leave to the far ends. If it refuses that, it leaves out nothing.
    pub fn set_offloads(&self, offloads: TapOffloads) {
        if self.tap.set_offloads(offloads).is_err() {
            let _ = self.tap.set_offloads(TapOffloads::NONE);
        }
    }

    /// The far end to which all frames of a queue go.
    pub fn far_end_of(&self, queue: usize) -> Option<usize> {
        if self.own == 0 { Some(0) } else { path_to(self.own, queue as u16) }
    }

    /// Where a frame goes whose queue does not say it.
    pub fn target(&self, frame: &[u8]) -> Target {
        match ether::target(frame) {
            FrameTarget::Group => Target::All,
            FrameTarget::Node(node) => {
                path_to(self.own, node.into()).map_or(Target::Nobody, Target::One)
            }
            FrameTarget::Unknown => Target::Nobody,
        }
    }
}

/// Index of the way from a node to another one, of which all but the own have one.
fn path_to(own: u16, node: u16) -> Option<usize> {
    let before = usize::from(node).checked_sub(1)?;
    (node != own).then(|| before - usize::from(node > own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_other_node_has_a_way() {
        let ways = |own| (0..5).map(|node| path_to(own, node)).collect::<Vec<_>>();
        assert_eq!(ways(1), [None, None, Some(0), Some(1), Some(2)]);
        assert_eq!(ways(3), [None, Some(0), Some(1), None, Some(2)]);
    }
}
