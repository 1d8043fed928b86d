//! Collects the messages that queries print while they run.

use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError};
use crate::found::BlockResult;
use orbit_database::MemoryBudget;
use orbit_engine::Wants;

/// Collects the messages that the first query prints, including those that it prints in games that it does not find.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessagesCollector;

/// Messages in game order. Those of one game are in the order in which they were printed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MessagesPart {
    /// The messages, without line ends.
    pub lines: Vec<Vec<u8>>,
}

impl Collector for MessagesCollector {
    type Part = MessagesPart;

    fn wants(&self) -> Wants {
        Wants::COMMENTARY
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> MessagesPart {
        let commentary = result.first().answers.commentary.as_ref();
        MessagesPart { lines: commentary.map_or(Vec::new(), |said| said.messages.clone()) }
    }
}

impl Part for MessagesPart {
    fn merge(&mut self, next: MessagesPart) -> Result<(), PartError> {
        self.lines.extend(next.lines);
        Ok(())
    }
}
