//! Sorts lists by code that is compiled once.
//!
//! The sort of the standard library is compiled again for every call, because each call has another type of function. For lists that
//! are sorted once per output, the functions here save the time of compiling it. They are stable.

use std::cmp::Ordering;

/// Sorts a list with a function that compares two items.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = order(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    rearrange(items, order);
}

/// Sorts a list by a key. The key is computed for each comparison.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts a list by a key, which is computed once for each item.
pub fn sort_by_cached_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    let order = order(items.len(), &mut |a, b| keys[a].cmp(&keys[b]));
    rearrange(items, order);
}

/// Returns the indices of a list in sorted order. `compare` compares the items with two indices.
fn order(items: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Puts the items with the indices `order` into this order.
fn rearrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for first in 0..items.len() {
        let mut at = first;
        loop {
            let next = std::mem::replace(&mut order[at], at);
            if next == first {
                break;
            }
            items.swap(at, next);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Item = (u32, usize);

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut random = 1u32;
        for length in (0..40).chain([1000]) {
            let mut next = || {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                random >> 28
            };
            let list: Vec<Item> = (0..length).map(|place| (next(), place)).collect();
            let mut wanted = list.clone();
            wanted.sort_by_key(|item| item.0);
            let sorted = |sort: &dyn Fn(&mut [Item])| {
                let mut sorted = list.clone();
                sort(&mut sorted);
                sorted
            };
            assert_eq!(sorted(&|list| sort_by(list, |a, b| a.0.cmp(&b.0))), wanted);
            assert_eq!(sorted(&|list| sort_by_key(list, |item| item.0)), wanted);
            assert_eq!(sorted(&|list| sort_by_cached_key(list, |item| item.0)), wanted);
        }
    }
}
