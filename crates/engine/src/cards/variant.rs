//! Kernel variants: different ways to write and run the kernel of a query. The fastest variant depends on the graphics
//! card.
//!
//! All variants give bit-identical answers. Only a measurement on the card shows which variant is fastest, so no code
//! here derives the variant from the query.

use std::fmt;
use std::str::FromStr;

use super::AdapterReport;

/// A way to write and run the kernel of a query. The default variant runs on every adapter.
///
/// A kernel evaluates *segments* of 32 slots; a slot holds one position. A variant is chosen for an engine
/// (`PreparedQuery::gpu_with`) and for blocks of games that stay on a device (`GpuDevice::upload_as`). An engine can
/// read blocks that were uploaded for another variant if both variants have the same value of `transposed`. The name of
/// a variant lists its differences from the default, as in `lanes2,transposed,wg128,u64,segments4`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// The number of invocations in a workgroup: 32, 64, 128 or 256.
    pub workgroup: u32,
    /// The number of invocations that share a segment of 32 slots: 1 or 2. With 2, each invocation evaluates 16 slots.
    /// The second invocation first replays the moves of the first 16 slots without evaluating them.
    pub lanes: u32,
    /// The number of segments (32 positions each) that an invocation evaluates in sequence: 1, 2, 4 or 8.
    pub segments: u32,
    /// True if key positions and moves are stored transposed: first word 0 of every segment, then word 1 of every
    /// segment, and so on. If false, all words of a segment are stored together. With the transposed layout,
    /// neighbouring invocations read neighbouring words.
    pub transposed: bool,
    /// True if kernels hold a 64-bit word in one integer instead of two 32-bit integers. The adapter must support it.
    pub wide: bool,
    /// True if every loop of the plan is a loop of the kernel, which reads the rows of the loop's table from a buffer.
    /// If false, short loops are unrolled, and the rows are literals in the shader.
    pub looped: bool,
    /// True if the processor propagates the results of stages to other positions of each game (see the module `carry`), even where
    /// the device could do it.
    pub host_carry: bool,
}

impl Default for Variant {
    fn default() -> Variant {
        Variant {
            workgroup: 64,
            lanes: 1,
            segments: 1,
            transposed: false,
            wide: false,
            looped: false,
            host_carry: false,
        }
    }
}

/// The allowed values of the fields `workgroup`, `lanes` and `segments` of [`Variant`].
const WORKGROUPS: [u32; 4] = [32, 64, 128, 256];
const LANES: [u32; 2] = [1, 2];
const SEGMENTS: [u32; 4] = [1, 2, 4, 8];

impl Variant {
    /// Returns the variants that are worth trying on an adapter: first the default, then variants with one change, then
    /// some combinations that work well together. None of them changes `host_carry`, because `benches/card` measures
    /// that field separately.
    pub fn all(adapter: &AdapterReport) -> Vec<Variant> {
        let base = Variant::default();
        let coalesced = Variant { transposed: true, workgroup: 128, ..base };
        let variants = [
            base,
            Variant { workgroup: 32, ..base },
            Variant { workgroup: 128, ..base },
            Variant { workgroup: 256, ..base },
            Variant { transposed: true, ..base },
            Variant { lanes: 2, ..base },
            Variant { segments: 2, ..base },
            Variant { segments: 4, ..base },
            Variant { wide: true, ..base },
            coalesced,
            Variant { lanes: 2, ..coalesced },
            Variant { segments: 4, ..coalesced },
            Variant { wide: true, ..coalesced },
            Variant { wide: true, lanes: 2, ..coalesced },
            Variant { looped: true, ..base },
        ];
        variants.into_iter().filter(|variant| variant.unfit(adapter).is_none()).collect()
    }

    /// Returns every variant, including those that an adapter cannot run.
    pub fn every() -> Vec<Variant> {
        let mut out = Vec::new();
        for workgroup in WORKGROUPS {
            for lanes in LANES {
                for segments in SEGMENTS {
                    for bits in 0..16 {
                        let [transposed, wide, looped, host_carry] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                        let variant =
                            Variant { workgroup, lanes, segments, transposed, wide, looped, host_carry };
                        out.push(variant);
                    }
                }
            }
        }
        out
    }

    /// Returns the number of fields that differ from the default variant.
    pub fn changes(&self) -> usize {
        self.names().count()
    }

    /// Returns the reason why `adapter` cannot run this variant, or `None` if it can.
    pub fn unfit(&self, adapter: &AdapterReport) -> Option<String> {
        if self.wide && !adapter.has_wide_integers {
            return Some("it has no integers of 64 bits, which the variant `u64` needs".into());
        }
        let (wanted, most) = (self.workgroup, adapter.workgroup_size_max);
        (wanted > most).then(|| format!("its workgroups have {most} invocations, {wanted} are wanted"))
    }

    /// Returns the number of segments (32 positions each) that one workgroup evaluates.
    pub fn segments_at_once(&self) -> u32 {
        self.workgroup / self.lanes * self.segments
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let base = Variant::default();
        [
            (self.lanes != base.lanes).then(|| format!("lanes{}", self.lanes)),
            self.transposed.then(|| "transposed".into()),
            (self.workgroup != base.workgroup).then(|| format!("wg{}", self.workgroup)),
            self.wide.then(|| "u64".into()),
            (self.segments != base.segments).then(|| format!("segments{}", self.segments)),
            self.looped.then(|| "looped".into()),
            self.host_carry.then(|| "hostcarry".into()),
        ]
        .into_iter()
        .flatten()
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.names().collect();
        if names.is_empty() { f.write_str("default") } else { f.write_str(&names.join(",")) }
    }
}

/// The error for a string that is not the name of a variant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{part}` is no kernel variant; give `default`, or some of lanes2, transposed, wg32, wg64, wg128, wg256, u64, \
     segments2, segments4, segments8, looped, hostcarry with commas between"
)]
pub struct UnknownVariant {
    /// The unknown part of the string.
    part: String,
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Variant, UnknownVariant> {
        let mut out = Variant::default();
        if text == "default" {
            return Ok(out);
        }
        let number = |part: &str, name: &str, known: &[u32]| {
            let number = part.strip_prefix(name)?;
            known.iter().copied().find(|known| known.to_string() == number)
        };
        for part in text.split(',') {
            match part {
                "transposed" => out.transposed = true,
                "u64" => out.wide = true,
                "looped" => out.looped = true,
                "hostcarry" => out.host_carry = true,
                _ => {
                    if let Some(workgroup) = number(part, "wg", &WORKGROUPS) {
                        out.workgroup = workgroup;
                    } else if let Some(lanes) = number(part, "lanes", &LANES) {
                        out.lanes = lanes;
                    } else if let Some(segments) = number(part, "segments", &SEGMENTS) {
                        out.segments = segments;
                    } else {
                        return Err(UnknownVariant { part: part.into() });
                    }
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let every = Variant::every();
        assert_eq!(every.len(), 512);
        for variant in every {
            assert_eq!(variant.to_string().parse(), Ok(variant), "{variant}");
        }
        let named = "lanes2,transposed,wg128,u64,segments4";
        assert_eq!(named.parse::<Variant>().unwrap().to_string(), named);
        assert_eq!(Variant::default().to_string(), "default");
        for text in ["", "wg", "wg65", "wg064", "lanes3", "u32", "default,u64", "u64,"] {
            let error = text.parse::<Variant>().expect_err(text).to_string();
            assert!(error.contains("is no kernel variant") && error.contains("lanes2"), "{error}");
        }
    }
}
