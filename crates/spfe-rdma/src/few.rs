//! Short lists without allocation.

use std::fmt;
use std::ops::Deref;

/// At most `N` items, at most 255.
#[derive(Clone, Copy)]
pub struct Few<T, const N: usize> {
    items: [T; N],
    count: u8,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// A copy of some items; `None` for more than `N`.
    pub fn new(items: &[T]) -> Option<Self> {
        let mut few = Self::default();
        items.iter().all(|item| few.push(*item)).then_some(few)
    }

    /// Adds an item. False if there is no room.
    #[must_use]
    pub fn push(&mut self, item: T) -> bool {
        let place = self.items.get_mut(usize::from(self.count));
        let fits = place.is_some() && self.count < u8::MAX;
        if let Some(place) = place.filter(|_| fits) {
            *place = item;
            self.count += 1;
        }
        fits
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self { items: [T::default(); N], count: 0 }
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.items.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl<T: Copy + Default, const M: usize, const N: usize> From<[T; M]> for Few<T, N> {
    fn from(items: [T; M]) -> Self {
        const { assert!(M <= N && M <= 255, "too many items") };
        Self::new(&items).unwrap_or_default()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Few<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for Few<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_there_is_room_for() {
        let mut few = Few::<u8, 3>::from([1, 2]);
        assert!(few.push(3) && !few.push(4));
        assert_eq!(*few, [1, 2, 3]);
        assert_eq!(Few::<u8, 3>::new(&[1, 2, 3, 4]), None);
        assert_eq!(Few::<u8, 3>::new(&[1, 2, 3]), Some(few));
        assert!(Few::<u8, 3>::default().is_empty());
    }
}
