//! Summarizes many numbers: their mean, quantiles and distribution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The maximum number of bins in a histogram.
const STEPS_MAX: i64 = 20;

/// A multiset of numbers, stored as the number of occurrences of each number. So memory is needed only for distinct numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution(BTreeMap<i32, u64>);

/// The summary of a distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct NumberSummary {
    /// The mean.
    #[serde(rename = "value_mean")]
    pub mean: f64,
    /// The least number.
    #[serde(rename = "value_min")]
    pub min: i32,
    /// The value below which a tenth of the numbers lie.
    #[serde(rename = "value_p10")]
    pub p10: f64,
    /// The value below which a quarter of the numbers lie.
    #[serde(rename = "value_p25")]
    pub p25: f64,
    /// The value below which half of the numbers lie.
    #[serde(rename = "value_median")]
    pub median: f64,
    /// The value below which three quarters of the numbers lie.
    #[serde(rename = "value_p75")]
    pub p75: f64,
    /// The value below which nine tenths of the numbers lie.
    #[serde(rename = "value_p90")]
    pub p90: f64,
    /// The greatest number.
    #[serde(rename = "value_max")]
    pub max: i32,
}

/// A bin of a histogram, and the count of numbers in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Bin {
    /// The smallest number in the bin.
    pub from: i64,
    /// The largest number in the bin.
    pub to: i64,
    /// The count of numbers in the bin.
    pub positions: u64,
}

impl Distribution {
    /// Adds `times` occurrences of a number.
    pub fn add(&mut self, number: i32, times: u64) {
        *self.0.entry(number).or_default() += times;
    }

    /// Adds all numbers of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        other.0.iter().for_each(|(&number, &times)| self.add(number, times));
    }

    /// Returns how many distinct numbers there are.
    pub fn distinct(&self) -> usize {
        self.0.len()
    }

    /// Returns how many numbers there are, counting all occurrences.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the smallest and the largest number, or `None` if there are no numbers.
    pub fn ends(&self) -> Option<(i32, i32)> {
        Some((*self.0.keys().next()?, *self.0.keys().next_back()?))
    }

    /// Returns whether there are at most `most` occurrences in total.
    pub fn counts_at_most(&self, most: u64) -> bool {
        let sum = self.0.values().try_fold(0_u64, |sum, &times| sum.checked_add(times));
        sum.is_some_and(|sum| sum <= most)
    }

    /// Returns the mean and quantiles of the numbers, or `None` if there are none.
    pub fn summary(&self) -> Option<NumberSummary> {
        let (min, max) = self.ends()?;
        let sum: i128 = self.0.iter().map(|(&number, &times)| i128::from(number) * i128::from(times)).sum();
        let rounded = |number: f64| (number * 1e6).round() / 1e6;
        let quantile = |share| rounded(self.quantile(share));
        Some(NumberSummary {
            mean: rounded(sum as f64 / self.count() as f64),
            min,
            p10: quantile(0.1),
            p25: quantile(0.25),
            median: quantile(0.5),
            p75: quantile(0.75),
            p90: quantile(0.9),
            max,
        })
    }

    /// Returns the value below which the given share of the numbers lies, interpolated between two numbers. `share` is from 0 to 1.
    ///
    /// Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996), 361-365,
    /// definition 7.
    fn quantile(&self, share: f64) -> f64 {
        let place = self.count().saturating_sub(1) as f64 * share;
        let (below, above) = (self.at(place.floor() as u64), self.at(place.ceil() as u64));
        below + (above - below) * place.fract()
    }

    /// Returns the number at an index in sorted order; index 0 is the smallest number.
    fn at(&self, place: u64) -> f64 {
        let mut before = 0;
        let found = self.0.iter().find(|(_, times)| {
            before += **times;
            before > place
        });
        found.map_or(f64::NAN, |(&number, _)| number.into())
    }

    /// Returns the smallest bin width among 1, 2, 5, 10, 20 and so on with which a histogram has at most `STEPS_MAX` bins.
    pub fn step(&self) -> i64 {
        self.step_within(STEPS_MAX)
    }

    /// Returns the smallest bin width among 1, 2, 5, 10, 20 and so on with which a histogram has at most `steps_max` bins.
    /// `steps_max` must be at least 2.
    pub fn step_within(&self, steps_max: i64) -> i64 {
        let (min, max) = self.ends().map_or((0, 0), |(min, max)| (i64::from(min), i64::from(max)));
        let mut steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
        let fits = |step: &i64| max.div_euclid(*step) - min.div_euclid(*step) < steps_max;
        steps.find(fits).unwrap_or(i64::MAX)
    }

    /// Divides the range from the smallest to the largest number into bins of width `step`, and returns the count for each bin.
    pub fn bins(&self, step: i64) -> Vec<Bin> {
        let Some((min, max)) = self.ends() else { return Vec::new() };
        let of = |number: i32| i64::from(number).div_euclid(step);
        let bin = |place: i64| Bin { from: place * step, to: place * step + step - 1, positions: 0 };
        let mut bins: Vec<Bin> = (of(min)..=of(max)).map(bin).collect();
        self.0.iter().for_each(|(&number, &times)| bins[(of(number) - of(min)) as usize].positions += times);
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_numbers(numbers: &[i32]) -> Distribution {
        let mut all = Distribution::default();
        numbers.iter().for_each(|&number| all.add(number, 1));
        all
    }

    /// The expected values are those of `numpy.quantile`.
    #[test]
    fn quantiles_lie_between_numbers_in_proportion() {
        let summary = from_numbers(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]).summary().unwrap();
        let NumberSummary { mean, min, p10, p25, median, p75, p90, max } = summary;
        assert_eq!((mean, min, p10, p25, median), (3.9, 1, 1.0, 2.25, 3.5));
        assert_eq!((p75, p90, max), (5.0, 6.3, 9));
        let one = from_numbers(&[-7]).summary().unwrap();
        assert_eq!((one.mean, one.min, one.p10, one.median, one.max), (-7.0, -7, -7.0, -7.0, -7));
        assert_eq!(from_numbers(&[]).summary(), None);
        let ends = from_numbers(&[i32::MIN, i32::MAX]).summary().unwrap();
        assert_eq!((ends.mean, ends.median), (-0.5, -0.5));
    }

    #[test]
    fn steps_hold_all_numbers() {
        for (numbers, step, bins) in [
            (&[0, 0, 3][..], 1, &[(0, 0, 2), (1, 1, 0), (2, 2, 0), (3, 3, 1)][..]),
            (
                &[-25, 14, 14],
                5,
                &[
                    (-25, -21, 1),
                    (-20, -16, 0),
                    (-15, -11, 0),
                    (-10, -6, 0),
                    (-5, -1, 0),
                    (0, 4, 0),
                    (5, 9, 0),
                    (10, 14, 2),
                ],
            ),
            (&[], 1, &[]),
        ] {
            let all = from_numbers(numbers);
            let found: Vec<_> = all.bins(step).iter().map(|bin| (bin.from, bin.to, bin.positions)).collect();
            assert_eq!(found, bins);
            assert!(all.step() <= step && all.bins(all.step()).len() <= STEPS_MAX as usize);
        }
        let ends = from_numbers(&[i32::MIN, i32::MAX]);
        let bins = ends.bins(ends.step());
        assert!(bins.len() <= STEPS_MAX as usize && bins.iter().map(|bin| bin.positions).sum::<u64>() == 2);
    }
}
