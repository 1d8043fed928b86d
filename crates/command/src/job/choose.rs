//! Selects parts of a job by number.

use crate::failure::Failure;

/// Returns the part numbers that words such as `5`, `3-7` and `2/16` select. `all` is the number of parts. Each part is listed
/// once, in the order of the words.
pub(super) fn chosen(words: &[String], all: usize) -> Result<Vec<usize>, Failure> {
    let mut out: Vec<usize> = Vec::new();
    for word in words {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        let numbers: Option<Vec<usize>> = match (word.split_once('-'), word.split_once('/')) {
            // If even the first part does not exist, the range is cut to this part, which is refused below.
            (Some((first, last)), _) => number(first)
                .zip(number(last))
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| (first..=last.min(all).max(first)).collect()),
            (_, Some((first, step))) => number(first)
                .zip(number(step))
                .filter(|(first, step)| first <= step)
                .map(|(first, step)| (first..=all).step_by(step).collect()),
            _ => number(word).map(|number| vec![number]),
        };
        let Some(numbers) = numbers else {
            return Err(Failure::Other(format!(
                "`{word}` chooses no parts: write the number of a part, `3-7`, or `2/16` for every sixteenth part from \
                 the second one on; the folder of the job comes last"
            )));
        };
        if let Some(number) = numbers.iter().find(|&&number| number > all) {
            return Err(Failure::Other(format!("there is no part {number}: the parts are 1 to {all}")));
        }
        out.extend(numbers.into_iter().filter(|number| !out.contains(number)).collect::<Vec<_>>());
    }
    Ok(out)
}

/// Formats numbers as ranges: `1-3 5 7-9`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => out.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    out.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words, 10).map_err(|failure| failure.to_string())
        };
        assert_eq!(of(&["5", "2-4", "4", "9-99"]).unwrap(), [5, 2, 3, 4, 9, 10]);
        assert_eq!(of(&["2/4"]).unwrap(), [2, 6, 10]);
        assert_eq!(of(&["12/16"]).unwrap(), [] as [usize; 0]);
        for wrong in ["0", "x", "11", "5/4", "0/4", "-3", "1/0", "5-2", "11-20", "20-11"] {
            assert!(of(&[wrong]).is_err(), "{wrong}");
        }
        assert!(of(&["5-2"]).unwrap_err().starts_with("`5-2` chooses no parts"));
        assert_eq!(of(&["20-30"]).unwrap_err(), "there is no part 20: the parts are 1 to 10");
    }

    #[test]
    fn numbers_are_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3 5 7-8");
        assert_eq!(ranges(&[]), "");
    }
}
