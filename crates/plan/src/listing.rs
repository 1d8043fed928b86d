//! Prints programs as text, for people who want to read the code of a plan.

use std::fmt;

use super::{ColumnOperand, Made, Op, Program, Reg, RegisterInput, Stage, StageFound, Step, TRUE, Term};

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Program {
    /// Writes one line for each step. Stages come first, and the bodies of loops are indented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Stage { program, found, carried } in &self.stages {
            write!(f, "{program}")?;
            for carry in carried {
                let of: Vec<String> =
                    carry.operands.iter().map(|operand| operand_text(*operand, found)).collect();
                let of = of.join(" ");
                match &carry.what {
                    Made::Along { what, back } => {
                        let (what, from) =
                            (format!("{what:?}").to_lowercase(), if *back { "before" } else { "ahead" });
                        writeln!(f, "carry {}: {what} of {of} {from}", carry.id.0)?;
                    }
                    Made::Game(op) => writeln!(f, "carry {}: {} {of}", carry.id.0, op.name())?,
                }
            }
        }
        for (input, reg) in &self.inputs {
            match input {
                RegisterInput::Plane(k) => writeln!(f, "{reg} = plane {k}")?,
                RegisterInput::Carried(place) => writeln!(f, "{reg} = carry {}", self.reads[*place].id.0)?,
                other => writeln!(f, "{reg} = {other:?}")?,
            }
        }
        let mut depth = 0;
        for step in &self.steps {
            if matches!(step, Step::End { .. }) {
                depth -= 1;
            }
            write!(f, "{:1$}", "", 2 * depth)?;
            match step {
                Step::Do { dst, op } => writeln!(f, "{dst} = {}", operation(*op))?,
                Step::Splat { dst, scalar } => writeln!(f, "{dst} = {}", self.scalar_text(scalar.0))?,
                Step::AndScalar { dst, a, scalar } => {
                    writeln!(f, "{dst} = and {a} {}", self.scalar_text(scalar.0))?;
                }
                Step::OrScalar { dst, a, scalar } => {
                    writeln!(f, "{dst} = or {a} {}", self.scalar_text(scalar.0))?;
                }
                Step::Chain { dst, chain } => {
                    let terms: Vec<String> = chain.terms.iter().map(|term| self.term_text(term)).collect();
                    writeln!(f, "{dst} = {} {}", format!("{:?}", chain.op).to_lowercase(), terms.join(", "))?;
                }
                Step::Begin { table, acc, .. } => {
                    writeln!(f, "{acc} = for each of {} rows", self.tables[*table].len())?;
                    depth += 1;
                }
                Step::Answer { query, mask } => writeln!(f, "answer {query} = {mask}")?,
                Step::End { acc, word, reduce, .. } => writeln!(f, "gather {acc} {reduce:?} {word}")?,
            }
        }
        Ok(())
    }
}

impl Program {
    /// Returns the text of a term such as `~(r4 & 0x00ff << 8)`. Parts without an effect are left out.
    fn term_text(&self, term: &Term<Reg>) -> String {
        let keep = self.scalar_text(term.keep.0);
        let mut text =
            if self.is_all(term.keep.0) { term.src.to_string() } else { format!("{} & {keep}", term.src) };
        match term.by {
            0 => {}
            by @ 1.. => text = format!("({text}) << {by}"),
            by => text = format!("({text}) >> {}", -by),
        }
        if term.not { format!("~({text})") } else { text }
    }

    fn is_all(&self, scalar: u32) -> bool {
        self.scalar_text(scalar) == format!("{TRUE:#018x}")
    }

    fn scalar_text(&self, scalar: u32) -> String {
        let param = self.steps.iter().find_map(|step| match step {
            Step::Begin { table, first, .. } => {
                let width = self.tables[*table][0].len() as u32;
                (first.0..first.0 + width).contains(&scalar).then(|| format!("row[{}]", scalar - first.0))
            }
            _ => None,
        });
        param.unwrap_or_else(|| format!("{:#018x}", self.scalars[scalar as usize]))
    }
}

/// Returns the name of an operand in listings. The operand belongs to an operation that reads all positions of a game.
fn operand_text(operand: ColumnOperand, found: &[StageFound]) -> String {
    match operand {
        ColumnOperand::Constant(word) => format!("{word:#x}"),
        ColumnOperand::Carried(id) => format!("carry {}", id.0),
        ColumnOperand::Found(word, is_mask) => {
            let of = found.iter().find(|found| (found.word, found.is_mask) == (word, is_mask));
            of.map(|found| found.reg.to_string()).unwrap_or_default()
        }
    }
}

/// Returns the text of an operation, with the names of its registers.
fn operation(op: Op) -> String {
    let mut args = Vec::new();
    let _ = op.map(|id| {
        args.push(format!("r{}", id.0));
        id
    });
    let word = match op {
        Op::Step(_, dx, dy) => format!("step {dx},{dy}"),
        Op::Slide { dir, .. } => format!("slide {dir}"),
        Op::Walk { dirs, lo, hi, .. } => format!("walk {dirs:#04x} {lo}..{hi}"),
        Op::Compare(cmp, ..) => format!("compare {cmp:?}"),
        Op::Pawn { white, .. } => format!("pawn {}", if white { "white" } else { "black" }),
        other => {
            let name = format!("{other:?}");
            name.split(['(', ' ', '{']).next().unwrap_or_default().to_lowercase()
        }
    };
    format!("{word} {}", args.join(" "))
}
