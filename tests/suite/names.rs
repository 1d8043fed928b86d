//! Tests the rule of `--player` that decides if two names are spellings of one name, on pairs of real names.

use orbit_core::game::are_alike;

use crate::common::data;

/// Each row of the table has two spellings, and says if they denote the same player. It also marks known errors of the rule:
/// `missed` if the rule separates spellings of one player, `joined` if it joins spellings of different players. Pairs that cannot
/// be decided from the names alone are not checked.
#[test]
fn pairs_of_spellings_are_judged_as_the_table_says() {
    let table = data("names.tsv");
    let (mut joined, mut wrong, mut missed, mut rows) = (0, 0, 0, 0);
    for line in table.lines().skip(1) {
        let [one, other, truth, mark] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let found = are_alike(one, other);
        assert_eq!(found, are_alike(other, one), "{line}");
        let due = match (truth, found) {
            ("same", false) => "missed",
            ("different", true) => "joined",
            _ => "",
        };
        assert_eq!(mark, due, "{line}");
        rows += 1;
        joined += u32::from(truth == "same" && found);
        wrong += u32::from(due == "joined");
        missed += u32::from(due == "missed");
    }
    // The rule's precision is 115 of 115, and its recall is 115 of 131.
    assert_eq!((rows, joined, wrong, missed), (228, 115, 0, 16));
}
