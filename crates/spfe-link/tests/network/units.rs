//! Words and N-Chars as units of a switch; the routing table.

use spfe_link::Word;
use spfe_link::network::table::TableError;
use spfe_link::network::{PacketUnit, RouteLookup, RoutingEntry, RoutingTable};
use spfe_link::spacewire::NChar;
use spfe_link::word::k::{EEP, EOP, FILL};

#[test]
fn addresses_of_words() {
    let word = Word::from_symbols([3, 4, 5, 6], 0);
    assert_eq!(word.address(), Some(3));
    let mut rest = word.without_address().unwrap();
    assert_eq!(rest, Word::from_symbols([FILL, 4, 5, 6], 1));
    for address in [4, 5] {
        assert_eq!(rest.address(), Some(address));
        rest = rest.without_address().unwrap();
    }
    assert_eq!(rest, Word::from_symbols([FILL, FILL, FILL, 6], 7));
    assert_eq!(rest.without_address(), None);
    let end = Word::from_symbols([3, EOP, FILL, FILL], 0xe);
    assert!(end.is_end() && !word.is_end());
    assert_eq!(end.without_address(), Some(Word::from_symbols([FILL, EOP, FILL, FILL], 0xf)));
    let empty = Word::from_symbols([EEP, FILL, FILL, FILL], 0xf);
    assert_eq!((empty.address(), empty.is_end(), empty.is_empty()), (None, true, false));
    assert_eq!(empty, Word::EEP);
    assert!(Word::from_symbols([FILL; 4], 0xf).is_empty());
    // A data character with the value of a K character is data.
    assert_eq!(Word::from_symbols([EOP, FILL, 0, 0], 0).address(), Some(EOP));
}

#[test]
fn addresses_of_n_chars() {
    assert_eq!(NChar::Data(7).address(), Some(7));
    assert_eq!(NChar::Data(7).without_address(), None);
    assert_eq!((NChar::Eop.address(), NChar::Eep.is_end()), (None, true));
}

#[test]
fn tables() {
    let mut table = RoutingTable::<2>::new();
    assert_eq!(table.entry(0, 32), None);
    for address in [0, 31, 255] {
        assert_eq!(
            table.set(0, address, Some(RoutingEntry::any_of(2))),
            Err(TableError::NotLogical)
        );
    }
    assert_eq!(table.set(2, 40, Some(RoutingEntry::any_of(2))), Err(TableError::NoTable));
    assert_eq!(table.use_table(64, 1), Err(TableError::NoTable));
    assert_eq!(table.use_table(1, 2), Err(TableError::NoTable));
    // Only path addresses reach the configuration port.
    assert_eq!(table.set(0, 40, Some(RoutingEntry::any_of(3))), Err(TableError::Ports));
    assert_eq!(table.set(0, 40, Some(RoutingEntry::any_of(0))), Err(TableError::Ports));
    table.set(0, 254, Some(RoutingEntry::any_of(2))).unwrap();
    table.set(1, 254, Some(RoutingEntry::any_of(4).deleting())).unwrap();
    table.use_table(5, 1).unwrap();
    assert_eq!(table.entry(4, 254), Some(RoutingEntry::any_of(2)));
    assert_eq!(table.entry(5, 254), Some(RoutingEntry::any_of(4).deleting()));
    table.set(0, 254, None).unwrap();
    assert_eq!((table.entry(4, 254), table.entry(4, 255)), (None, None));
}
