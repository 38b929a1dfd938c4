//! SpaceWire links: bits and wires, two ports back to back, broadcast codes, random input.

mod codes;
mod far_end;
mod links;
mod pair;
mod random;
mod signals;
mod switched;
mod wires;
