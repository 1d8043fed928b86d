//! Compiles rays, attacks, pins and `between` if their operands depend on variables.

use super::compile::{CompileResult, Compiler};
use crate::{Instr, RayInstr, RegisterWord, SliderAt, dag::Op, operations::Planes};
use orbit_query::tree::{Dirs, Kind as _, SquaresOp as S};
use orbit_transforms::Squares;

impl Compiler<'_> {
    /// Compiles a filter about lines of squares. The code leaves its value in the register `to`. If the filter is of another
    /// kind, returns false and emits nothing.
    pub(super) fn rays(&mut self, f: &Squares, to: RegisterWord) -> CompileResult<bool> {
        match f.op() {
            S::Ray { dirs, attack, sets } => {
                let slider = if *attack { SliderAt::First } else { SliderAt::None };
                self.ray(sets.iter().collect(), false, (*dirs, slider), to)?;
            }
            S::Xray { forward, sets } => {
                // The value consists of squares of the first set, but the instruction returns squares of its last set. It therefore
                // receives the sets in reverse order.
                let slider = if *forward { SliderAt::Last } else { SliderAt::First };
                self.ray(sets.iter().collect(), true, (Dirs::ALL, slider), to)?;
            }
            S::Attacks(x, y) => self.two_sets(x, y, |this, [x, y]| {
                let planes = this.board()?;
                this.emit(Instr::Rays(RayInstr::Attackers { to, x, y, planes }))
            })?,
            S::AttackedBy(y, x) => self.two_sets(y, x, |this, [y, x]| {
                let planes = this.board()?;
                this.emit(Instr::Rays(RayInstr::Attacked { to, x, y, planes }))
            })?,
            S::Pin { value, from, through, to: behind } => self.scratch(|this| {
                let (parts, mut sets) = ([from, through, behind], [to; 3]);
                for (k, part) in parts.into_iter().enumerate() {
                    let later = parts[k + 1..].iter().map(|part| part.node());
                    sets[k] = this.register(part.node(), later, |this, word| this.squares(part, word))?;
                }
                let planes = this.board()?;
                this.emit(Instr::Rays(RayInstr::Pin { to, sets, part: *value, planes }))
            })?,
            S::Between(a, b) => {
                self.two_sets(a, b, |this, [a, b]| this.emit(Instr::Rays(RayInstr::Between { to, a, b })))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Compiles a ray through sets, which are evaluated in the order of `sets`. If `is_reversed` is true, the ray leads from the last
    /// set to the first one.
    fn ray(
        &mut self,
        sets: Vec<&Squares>,
        is_reversed: bool,
        (dirs, slider): (Dirs, SliderAt),
        to: RegisterWord,
    ) -> CompileResult {
        let len = u8::try_from(sets.len()).map_err(|_| "a line of so many sets")?;
        self.scratch(|this| {
            let mut words = sets.iter().map(|_| this.word()).collect::<CompileResult<Vec<_>>>()?;
            let first = words[0];
            if is_reversed {
                words.reverse();
            }
            for (set, &word) in sets.iter().zip(&words) {
                this.squares(set, word)?;
            }
            let planes = this.board()?;
            this.emit(Instr::Rays(RayInstr::Ray { to, first, sets: len, dirs: dirs.0, slider, planes }))
        })
    }

    fn board(&mut self) -> CompileResult<Planes> {
        let mut planes = [0; 4];
        for (plane, k) in planes.iter_mut().zip(0..) {
            let word = self.lower.dag.add(Op::Plane(k));
            *plane = self.operand(word, false)?;
        }
        Ok(planes)
    }
}
