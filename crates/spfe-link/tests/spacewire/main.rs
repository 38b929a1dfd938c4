//! SpaceWire links: bits and wires, two ports back to back, broadcast codes, random input.

mod codes;
mod links;
mod pair;
mod random;
mod switched;
mod wires;
