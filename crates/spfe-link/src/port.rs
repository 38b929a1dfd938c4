//! One end of a link: the data link layer over its lanes (50-11C 5.5 to 5.7).
//!
//! In each word period call [`SpaceFibrePort::transmit`] for the words on the lines, and
//! [`SpaceFibrePort::receive`] with the words that came. Users and management access the layers
//! directly.
//!
//! After reset a lane only follows its far end, so two ends of [`SpaceFibrePort::new`] never start.
//! One of them has to be of [`SpaceFibrePort::new_starting`], or get LaneStart later:
//!
//! ```
//! use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
//! use spfe_link::multilane::{MultiLane, MultiLaneConfig};
//! use spfe_link::{SpaceFibrePort, Word};
//!
//! let layers = || {
//!     let memory = || vec![Word::default(); 256];
//!     let buffers = Buffers { output: [memory()], input: [memory()], recovery: memory() };
//!     let link = DataLink::<_, 1, 1>::new(DataLinkConfig::default(), buffers).unwrap();
//!     (link, MultiLane::new(&MultiLaneConfig::new()))
//! };
//! let ((link, lanes), (far_link, far_lanes)) = (layers(), layers());
//! let mut near = SpaceFibrePort::new_starting(link, lanes);
//! let mut far = SpaceFibrePort::new(far_link, far_lanes);
//! for _period in 0..4000 {
//!     let (to_far, to_near) = (near.transmit(), far.transmit());
//!     near.receive(to_near);
//!     far.receive(to_far);
//! }
//! assert!(near.link.is_initialised() && far.link.is_initialised());
//! ```

use crate::datalink::{DataLink, Store};
use crate::mib::{LinkMib, NodeRegisters};
use crate::multilane::MultiLane;
use crate::word::Word;

/// A data link of up to `V` virtual channels over a link of up to `L` lanes.
pub struct SpaceFibrePort<B, const L: usize, const V: usize> {
    /// The data link layer: virtual channels, broadcast messages, parameters and status.
    pub link: DataLink<B, L, V>,
    /// The multi-lane layer with its lanes.
    pub lanes: MultiLane<L>,
    /// Registers of the network layer of a node.
    pub node: NodeRegisters<V>,
}

impl<B: Store, const L: usize, const V: usize> SpaceFibrePort<B, L, V> {
    /// Joins the layers, with the lanes as they are: without a change of their parameters they wait
    /// for the far end to start.
    ///
    /// The capability field of INIT3 comes from the data link layer. Whether data is scrambled is
    /// therefore in [`crate::datalink::DataLinkParameters`]; what
    /// [`crate::multilane::MultiLaneConfig`] says about it has no effect.
    pub fn new(link: DataLink<B, L, V>, lanes: MultiLane<L>) -> Self {
        Self { link, lanes, node: NodeRegisters::new() }
    }

    /// The same, with LaneStart set on all lanes: this end starts the link, and keeps trying until an
    /// Interface Reset by management.
    pub fn new_starting(link: DataLink<B, L, V>, mut lanes: MultiLane<L>) -> Self {
        for lane in lanes.lanes_mut() {
            lane.parameters.lane_start = true;
        }
        Self::new(link, lanes)
    }

    /// The management information base of this end.
    pub fn mib(&mut self) -> LinkMib<'_, B, L, V> {
        LinkMib {
            link: &mut self.link,
            lanes: &mut self.lanes,
            lane_count: L,
            node: &mut self.node,
        }
    }

    /// Runs the drivers for one word period. Returns the words on the lines.
    #[inline]
    pub fn transmit(&mut self) -> [Option<Word>; L] {
        if !self.lanes.all_lanes_active() || !self.link.is_initialised() {
            self.manage();
        }
        let width = self.lanes.wants();
        let row = if width != 0 || self.lanes.width() == 0 {
            self.link.transmit(usize::from(width))
        } else {
            None
        };
        self.lanes.transmit(row.as_ref()).0
    }

    /// Runs the receivers for one word period, with the words that came.
    #[inline]
    pub fn receive(&mut self, lines: [Option<Word>; L]) {
        let row = self.lanes.receive(lines);
        while let Some(far_end) = self.lanes.take_far_end_capability() {
            let crate::multilane::FarEnd { lane, capability, lane_active } = far_end;
            self.link.far_end_capability(lane, capability, lane_active);
        }
        if let Some(row) = row {
            self.link.receive(row);
        }
    }

    /// Passes LaneReset and the capability field down to the lanes.
    #[cold]
    fn manage(&mut self) {
        if self.link.take_lane_reset() {
            self.lanes.lane_reset();
            self.lanes.link_reset();
        }
        self.lanes.set_capability(self.link.capability());
    }
}
