//! Computes sums of square counts for all shifts together.
//!
//! For each square that the counted sets can contain, there is a word with a bit for each shift of a tile ([`super::tiles`]). The
//! bit is set if the square, moved by this shift, belongs to the set that is counted under this shift. Adding these words bit by
//! bit yields the sums for all shifts at once, as *planes*: bit `n` of plane `k` is the binary digit `k` of the sum under shift
//! `n`.

use shakmaty::Bitboard;

use super::{
    dag::{Id, Op},
    lower::Lower,
    shifted::{Set, Shifted, ignores_shifts},
    tiles::{Anchor, shifts_of},
};
use orbit_query::tree::{Arith, Control, Kind as _, NumberOp};
use orbit_transforms::{Number, Orbit, Placement};

/// The maximum number of words that are added, bit by bit, to compute one sum of square counts. Larger sums are lowered as tables.
const TERMS_MAX: u32 = 256;

/// A number that is a weighted sum of square counts, with the conditions under which it has a value.
struct SquareSum<'a> {
    terms: Vec<SquareTerm<'a>>,
    constant: u32,
    /// The filters that must match for the sum to have a value.
    conditions: Vec<Shifted<'a>>,
}

/// A term `weight * #set`.
struct SquareTerm<'a> {
    weight: u32,
    set: Set<'a>,
    /// All squares that `set` can contain, in any position, before a shift moves them.
    squares: Bitboard,
}

impl<'a> SquareSum<'a> {
    fn new(number: &'a Number) -> Option<SquareSum<'a>> {
        let mut sum = SquareSum { terms: Vec::new(), constant: 0, conditions: Vec::new() };
        sum.add(number, 1)?;
        (1..=TERMS_MAX).contains(&sum.words()).then_some(sum)
    }

    fn add(&mut self, number: &'a Number, weight: u32) -> Option<()> {
        if number.mark {
            return None;
        }
        match number.op() {
            &NumberOp::Int(n) => {
                let part = u32::try_from(n).ok()?.checked_mul(weight)?;
                self.constant = self.constant.checked_add(part).filter(|&sum| sum <= TERMS_MAX)?;
            }
            NumberOp::Cardinality(set) if !ignores_shifts(set.node()) => {
                let set = Set::new(set)?;
                let squares = set.bound();
                self.terms.push(SquareTerm { weight, set, squares });
            }
            NumberOp::Arith(Arith::Add, a, b) => {
                self.add(a, weight)?;
                self.add(b, weight)?;
            }
            NumberOp::Arith(Arith::Mul, a, b) => {
                let (factor, of) = match (a.op(), b.op()) {
                    (&NumberOp::Int(factor), _) if !a.mark => (factor, b),
                    (_, &NumberOp::Int(factor)) if !b.mark => (factor, a),
                    _ => return None,
                };
                let factor = u32::try_from(factor).ok().filter(|&factor| factor > 0)?;
                self.add(of, factor.checked_mul(weight).filter(|&weight| weight <= TERMS_MAX)?)?;
            }
            NumberOp::Control(Control::Braces { first, last }) => {
                for condition in first {
                    self.conditions.push(Shifted::new(condition.node())?);
                }
                self.add(last, weight)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the number of words that are added to compute the sum.
    fn words(&self) -> u32 {
        self.terms.iter().map(|term| term.squares.count() as u32 * term.weight.count_ones()).sum()
    }

    /// Returns true if it is faster to compute the sum separately for each copy (transformed filter) than for all shifts together.
    /// The former takes about three steps per term and copy, the latter about four steps per word.
    fn is_dear(&self, copies: usize) -> bool {
        4 * self.words() as usize > 3 * copies * self.terms.len()
    }
}

impl Lower {
    /// Returns the largest value of a number over all shifts of one placement (one combination of turns, reflections and colour
    /// swaps). There is one packed word for each tile. Returns `None` if the number cannot be computed for all shifts together.
    pub(super) fn collapse_sum(
        &mut self,
        orbit: &Orbit<Number>,
        placement: Placement,
        group: &[usize],
    ) -> Option<Vec<Id>> {
        if group.len() < 2 || !self.options.pointwise {
            return None;
        }
        let base = orbit.unshifted(placement)?;
        let sum = SquareSum::new(&base).filter(|sum| !sum.is_dear(group.len()))?;
        let shifts = shifts_of(orbit, group);
        let anchors = self.tiles_for(&shifts, base.node())?;
        let words = anchors.into_iter().map(|anchor| {
            let valid = self.valid(&shifts, anchor);
            let valid = sum.conditions.iter().fold(valid, |valid, condition| {
                let truth = self.shifted_truth(condition, anchor);
                self.and(valid, truth)
            });
            let planes = self.shifted_sum(&sum, anchor);
            self.largest(&planes, sum.constant, valid)
        });
        Some(words.collect())
    }

    /// Returns the planes of a sum of square counts, lowest digit first: plane `k` contains the binary digit `k` of the sum under
    /// each shift.
    fn shifted_sum(&mut self, sum: &SquareSum, anchor: Anchor) -> Vec<Id> {
        // `digits[k]` lists the words that have yet to be added with the weight 2 to the power of `k`.
        let mut digits: Vec<Vec<Id>> = Vec::new();
        for term in &sum.terms {
            for square in term.squares {
                let word = self.holds_at(&term.set, square, anchor);
                for digit in (0..u32::BITS as usize).filter(|digit| term.weight >> digit & 1 != 0) {
                    digits.resize(digits.len().max(digit + 1), Vec::new());
                    digits[digit].push(word);
                }
            }
        }
        self.added(digits)
    }

    /// Adds words bit by bit: each bit has its own sum. A word in `digits[k]` has the weight 2 to the power of `k`. Returns the
    /// planes of the sums: plane `k` contains the binary digit `k` of each sum.
    pub(super) fn added(&mut self, mut digits: Vec<Vec<Id>>) -> Vec<Id> {
        let mut planes = Vec::new();
        for digit in 0.. {
            if digit == digits.len() {
                return planes;
            }
            let mut words = std::mem::take(&mut digits[digit]);
            let mut carries = Vec::new();
            while words.len() > 1 {
                // Words are added in order, three at a time, so that no word occupies a register for long.
                let rest = words.split_off(words.len().min(3));
                let (sum, carry) = match words[..] {
                    [a, b, c] => {
                        let either = self.dag.add(Op::Xor(a, b));
                        (self.dag.add(Op::Xor(either, c)), self.select(either, c, a))
                    }
                    [a, b] => (self.dag.add(Op::Xor(a, b)), self.and(a, b)),
                    _ => unreachable!("two or three are taken"),
                };
                carries.push(carry);
                words = rest;
                words.push(sum);
            }
            planes.push(words.pop().unwrap_or_else(|| self.dag.word(0)));
            if !carries.is_empty() {
                digits.resize(digits.len().max(digit + 2), Vec::new());
                digits[digit + 1].extend(carries);
            }
        }
        unreachable!("there are more numbers than digits")
    }

    /// Returns the bits (shifts) for which the sum in `planes` is at least `number`.
    pub(super) fn at_least(&mut self, planes: &[Id], number: usize) -> Id {
        if number >> planes.len() != 0 {
            return self.dag.mask(false);
        }
        // The bits (shifts) for which the sum is at least the number, if only the digits from the lowest up to the current one are
        // compared.
        let mut reached = self.dag.mask(true);
        for (digit, &plane) in planes.iter().enumerate() {
            reached = match number >> digit & 1 {
                0 => self.or(plane, reached),
                _ => self.and(plane, reached),
            };
        }
        reached
    }

    /// Each bit (shift) has a sum in `planes`. Returns `constant` plus the largest of the sums for the bits in `valid`, packed into
    /// a word. The result has no value if `valid` is empty.
    fn largest(&mut self, planes: &[Id], constant: u32, valid: Id) -> Id {
        let mut left = valid;
        let mut number = self.dag.number(0);
        for (digit, &plane) in planes.iter().enumerate().rev() {
            let with = self.and(left, plane);
            let some = self.dag.add(Op::NonEmpty(with));
            left = self.select(some, with, left);
            let value = self.dag.word(1 << digit);
            let value = self.and(some, value);
            number = self.or(number, value);
        }
        let constant = self.dag.number(constant as i32);
        let number = self.dag.add(Op::Add(number, constant));
        let ok = self.dag.add(Op::NonEmpty(valid));
        self.packed_number((number, ok))
    }
}
