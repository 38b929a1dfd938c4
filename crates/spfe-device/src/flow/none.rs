//! The instrument of a flow that has none.

use super::{Accepted, NextPiece, Piece, PieceSink, PieceSource, StepContext};
use crate::memory::RegionMap;
use crate::queue::{CompletionTime, Host, QueueView};
use spfe_contract::Status;

/// An instrument that cannot exist, for flows between queues only.
pub enum NoInstrument {}

impl PieceSource for NoInstrument {
    fn next(&mut self, _: &RegionMap, _: &mut Piece) -> NextPiece {
        match *self {}
    }

    fn pause(&mut self, _: &Piece) {
        match *self {}
    }

    fn done(&mut self, _: &Piece, _: CompletionTime) {
        match *self {}
    }

    fn fail_unmapped(&mut self, _: &Piece, _: Status) -> bool {
        match *self {}
    }

    fn flush_step<H: Host>(&mut self, _: &mut H) {
        match *self {}
    }

    fn view(&self) -> Option<&QueueView> {
        match *self {}
    }

    fn domain(&self) -> u16 {
        match *self {}
    }
}

impl PieceSink for NoInstrument {
    fn take<H: Host>(
        &mut self,
        _: &mut Piece,
        _: &RegionMap,
        _: &mut StepContext<'_, H>,
    ) -> Accepted {
        match *self {}
    }

    fn cut<H: Host>(&mut self, _: &mut StepContext<'_, H>) {
        match *self {}
    }

    fn fail_unmapped<H: Host>(&mut self, _: Status, _: &mut StepContext<'_, H>) {
        match *self {}
    }

    fn publish<H: Host>(&mut self, _: &mut StepContext<'_, H>) {
        match *self {}
    }

    fn flush_step<H: Host>(&mut self, _: &mut H) {
        match *self {}
    }

    fn view(&self) -> Option<&QueueView> {
        match *self {}
    }

    fn domain(&self) -> u16 {
        match *self {}
    }

    fn is_open(&self) -> bool {
        match *self {}
    }
}
