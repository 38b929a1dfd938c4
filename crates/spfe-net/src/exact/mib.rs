//! What there is to see of a link.
