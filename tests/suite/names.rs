//! Tests the rule by which `--player` considers two spellings of a name to be equal, with real names.

use orbit_core::game::are_alike;

use crate::common::data;

/// Each row has two spellings, and says whether they mean the same player. Errors of the rule are marked: `missed` if the rule
/// separates spellings of one player, `joined` if it joins different players. Pairs that nobody could decide by the names
/// alone are not checked.
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
    // The precision is 115 of 115, and the recall 115 of 131.
    assert_eq!((rows, joined, wrong, missed), (228, 115, 0, 16));
}
