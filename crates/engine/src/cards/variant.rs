//! Ways to write and run the same kernel, of which a card may like one better than another.
//!
//! All of them give the same answers, bit for bit. Which one is the fastest can only be measured on the card
//! itself, so nothing here depends on what a query asks.

use std::fmt;
use std::str::FromStr;

use super::AdapterReport;

/// How a kernel is written and run. The default runs everywhere.
///
/// A variant belongs to an engine (`PreparedQuery::gpu_with`) and to blocks that stay on a device
/// (`GpuDevice::upload_as`), which serve every engine whose variant is as `transposed` as theirs. Its name lists
/// what differs from the default: `lanes2,transposed,wg128,u64,segments4`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// Invocations in a workgroup: 32, 64, 128 or 256.
    pub workgroup: u32,
    /// Invocations that share a segment: 1, or 2 of which each evaluates 16 slots. The second replays the
    /// first 16 without evaluating them.
    pub lanes: u32,
    /// Segments that an invocation takes, one after the other: 1, 2, 4 or 8.
    pub segments: u32,
    /// Whether keys and moves lie word by word instead of segment by segment, so that neighbours read
    /// neighbouring words.
    pub transposed: bool,
    /// Whether words of 64 bits are one integer instead of two of 32 bits, where the adapter has them.
    pub wide: bool,
    /// Whether all tables are loops that read a buffer; otherwise short ones are unrolled, their rows written as
    /// literals.
    pub looped: bool,
    /// Whether the processor makes what stages carry along games, also where the device can.
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

/// What the fields of a variant may be.
const WORKGROUPS: [u32; 4] = [32, 64, 128, 256];
const LANES: [u32; 2] = [1, 2];
const SEGMENTS: [u32; 4] = [1, 2, 4, 8];

impl Variant {
    /// The variants that are worth trying on an adapter: the default first, then each change by itself, then
    /// some that go well together. Who carries along games is none of them: `orbit bench --card` has rows of its own for that.
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

    /// Every variant that there is, whatever an adapter can run.
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

    /// How many of its fields differ from the default's.
    pub fn changes(&self) -> usize {
        self.names().count()
    }

    /// Why an adapter cannot run it, if it cannot.
    pub fn unfit(&self, adapter: &AdapterReport) -> Option<String> {
        if self.wide && !adapter.has_wide_integers {
            return Some("it has no integers of 64 bits, which the variant `u64` needs".into());
        }
        let (wanted, most) = (self.workgroup, adapter.workgroup_size_max);
        (wanted > most).then(|| format!("its workgroups have {most} invocations, {wanted} are wanted"))
    }

    /// Segments that a workgroup takes.
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

/// A name that is no variant's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{part}` is no kernel variant; give `default`, or some of lanes2, transposed, wg32, wg64, wg128, wg256, u64, \
     segments2, segments4, segments8, looped, hostcarry with commas between"
)]
pub struct UnknownVariant {
    /// The part that is not known.
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
