//! The buffers a queue holds, one place per ring position.

use crate::Buf;

/// As many places as the ring has entries; a position is masked to its place.
pub(crate) struct Slots {
    places: Box<[Option<Buf>]>,
    mask: u32,
}

impl Slots {
    /// Places for a ring of `size` entries, a power of two.
    pub fn new(size: u32) -> Self {
        assert!(size.is_power_of_two());
        Self { places: (0..size).map(|_| None).collect(), mask: size - 1 }
    }

    #[inline(always)]
    fn place(&mut self, position: u32) -> &mut Option<Buf> {
        // SAFETY: the mask is one less than the number of places.
        unsafe { self.places.get_unchecked_mut((position & self.mask) as usize) }
    }

    /// Puts a buffer at a position; one nobody took before goes back to its region.
    #[inline(always)]
    pub fn put(&mut self, position: u32, buf: Buf) {
        let place = self.place(position);
        if place.is_some() {
            Self::drop_old(place);
        }
        // SAFETY: the place is valid and holds nothing that needs dropping.
        unsafe { std::ptr::write(place, Some(buf)) };
    }

    #[cold]
    #[inline(never)]
    fn drop_old(place: &mut Option<Buf>) {
        *place = None;
    }

    /// Takes the buffer at a position, if there is one.
    #[inline(always)]
    pub fn take(&mut self, position: u32) -> Option<Buf> {
        self.place(position).take()
    }

    /// Takes all of them.
    pub fn take_all(&mut self) -> Vec<Buf> {
        self.places.iter_mut().filter_map(Option::take).collect()
    }

    /// Number of places.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.mask + 1
    }
}
