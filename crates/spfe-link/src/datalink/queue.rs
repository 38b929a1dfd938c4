//! Queues of fixed size.

/// A queue that keeps items after they are sent, until they are acknowledged (50-11C 5.7.7).
#[derive(Clone, Debug)]
pub(super) struct ResendQueue<T, const N: usize> {
    items: [T; N],
    head: usize,
    sent: usize,
    tail: usize,
}

impl<T: Copy + Default, const N: usize> ResendQueue<T, N> {
    const MASK: usize = {
        assert!(N.is_power_of_two());
        N - 1
    };

    pub fn new() -> Self {
        Self { items: [T::default(); N], head: 0, sent: 0, tail: 0 }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len() == N
    }

    /// Whether items wait to be sent.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.sent != self.tail
    }

    pub fn push(&mut self, item: T) -> bool {
        let room = !self.is_full();
        if room {
            self.items[self.tail & Self::MASK] = item;
            self.tail = self.tail.wrapping_add(1);
        }
        room
    }

    pub fn pop(&mut self) -> Option<T> {
        let item = *self.first()?;
        if self.sent == self.head {
            self.sent = self.sent.wrapping_add(1);
        }
        self.head = self.head.wrapping_add(1);
        Some(item)
    }

    pub fn first(&self) -> Option<&T> {
        (self.len() != 0).then(|| &self.items[self.head & Self::MASK])
    }

    /// The first item, if it has been sent.
    pub fn first_sent(&self) -> Option<&T> {
        (self.sent != self.head).then(|| &self.items[self.head & Self::MASK])
    }

    /// The next item to send.
    #[inline(always)]
    pub fn next(&self) -> Option<&T> {
        self.is_pending().then(|| &self.items[self.sent & Self::MASK])
    }

    pub fn next_mut(&mut self) -> Option<&mut T> {
        self.is_pending().then(|| &mut self.items[self.sent & Self::MASK])
    }

    /// Marks the next item as sent.
    pub fn advance(&mut self) {
        if self.is_pending() {
            self.sent = self.sent.wrapping_add(1);
        }
    }

    /// Marks all items as not sent, for a resend.
    pub fn rewind(&mut self) {
        self.sent = self.head;
    }

    pub fn for_each(&mut self, mut change: impl FnMut(&mut T)) {
        let mut position = self.head;
        while position != self.tail {
            change(&mut self.items[position & Self::MASK]);
            position = position.wrapping_add(1);
        }
    }

    pub fn clear(&mut self) {
        (self.head, self.sent) = (self.tail, self.tail);
    }
}
