//! Tests the division of long tests into parts.

use crate::common::{
    harness,
    length::{Length, PARTS},
};

fn parts() -> impl Iterator<Item = Length> {
    (0..PARTS).map(Length::Part)
}

/// Checks that each item of `due` is in exactly one part, and only once.
fn is_divided(due: Vec<usize>, of_part: impl Fn(Length) -> Vec<usize>) {
    assert_eq!(of_part(Length::All), due);
    let mut found: Vec<usize> = parts().flat_map(of_part).collect();
    found.sort_unstable();
    assert_eq!(found, due);
}

#[test]
fn parts_make_every_long_trial_once() {
    for (all, sample) in [(1, 1), (3, 2), (6, 1), (60, 6), (700, 60), (6000, 800)] {
        is_divided((0..all).collect(), |length| length.trials(all, sample).collect());
        assert_eq!(Length::Sample.trials(all, sample).collect::<Vec<_>>(), (0..sample).collect::<Vec<_>>());
        assert!(parts().all(|part| part.trials(all, sample).count() >= all / PARTS));
    }
    for (all, sample) in [(1, 8), (3, 16), (40, 120)] {
        is_divided((0..500).step_by(all).collect(), |length| length.stride(all, sample).of(0..500).collect());
        assert!(Length::Sample.stride(all, sample).of(0..500).eq((0..500).step_by(sample)));
    }
    is_divided((0..573).collect(), |length| (0..573).filter(|&number| length.is_long(number)).collect());
    assert!((0..573).all(|number| !Length::Sample.is_long(number)));
}

#[test]
fn a_dear_trial_is_made_in_one_part() {
    is_divided((0..573).collect(), |length| (0..573).filter(|&number| length.makes(number)).collect());
    assert!((0..573).all(|number| Length::Sample.makes(number) == Length::Part(0).makes(number)));
    // In each part of a long run, at least one test with `#[test(part = ...)]` must run. The attribute itself rejects numbers of
    // parts that do not exist.
    let dear: Vec<usize> =
        inventory::iter::<harness::Test>.into_iter().filter_map(|test| test.part).collect();
    assert!(parts().all(|part| dear.iter().any(|&number| part.makes(number))), "{dear:?}");
}
