//! Counts the games in PGN files line by line.

#[derive(PartialEq, Clone, Copy)]
enum Place {
    Nowhere,
    Tags,
    Moves,
    After,
}

struct Counter {
    games: usize,
    place: Place,
    comment: bool,
    depth: usize,
    gap: bool,
    moves: usize,
    first_tag: String,
    event_seen: bool,
}

impl Counter {
    fn open(&mut self, place: Place) {
        let games = self.games + 1;
        *self = Counter { games, place, ..Counter::new() };
    }

    fn new() -> Counter {
        Counter {
            games: 0,
            place: Place::Nowhere,
            comment: false,
            depth: 0,
            gap: false,
            moves: 0,
            first_tag: String::new(),
            event_seen: false,
        }
    }

    fn line(&mut self, line: &str, after_tag_line: bool) {
        let mut rest = line;
        if line.starts_with("[Event \"") {
            let joins = self.place == Place::Tags && !self.comment && !self.event_seen && after_tag_line;
            if !joins {
                self.open(Place::Tags);
            }
            self.comment = false;
        } else if !self.comment {
            if line.trim().is_empty() {
                self.gap = true;
                return;
            }
            if line.starts_with('%') {
                return;
            }
        }
        let mut at_start = true;
        loop {
            if self.comment {
                let Some(end) = rest.find('}') else { return };
                rest = &rest[end + 1..];
                self.comment = false;
            }
            rest = rest.trim_start();
            let Some(first) = rest.chars().next() else { return };
            match first {
                ';' => return,
                '{' => {
                    self.comment = true;
                    rest = &rest[1..];
                    if self.place == Place::Tags {
                        self.place = Place::Moves;
                    }
                }
                '[' => rest = self.bracket(rest, at_start),
                '(' => {
                    rest = &rest[1..];
                    self.enter();
                }
                ')' | ']' => {
                    rest = &rest[1..];
                    self.depth = self.depth.saturating_sub(1);
                }
                '}' => rest = &rest[1..],
                '$' => rest = rest[1..].trim_start_matches(|c: char| c.is_ascii_digit()),
                '*' => {
                    rest = &rest[1..];
                    self.result();
                }
                _ => rest = self.word(rest),
            }
            at_start = false;
        }
    }

    fn enter(&mut self) {
        if self.place == Place::Tags {
            self.place = Place::Moves;
        }
        if self.place != Place::Nowhere {
            self.depth += 1;
        }
    }

    fn bracket<'l>(&mut self, rest: &'l str, at_start: bool) -> &'l str {
        let inside = rest[1..].trim_start();
        let length = inside.find(|c: char| !(c.is_ascii_alphanumeric() || "_+#=:-.".contains(c)));
        let (name, tail) = inside.split_at(length.unwrap_or(inside.len()));
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let quoted = named && tail.trim_start().starts_with('"');
        let in_head = matches!(self.place, Place::Nowhere | Place::Tags);
        let valued = tail.starts_with(' ') && tail.trim().len() > 1 && tail.trim_end().ends_with(']');
        let bare = named && at_start && (in_head || name.starts_with(char::is_uppercase) && valued);
        if !quoted && !bare {
            if self.place == Place::Moves && inside.starts_with(|c: char| c.is_ascii_digit()) {
                self.enter();
                return &rest[1..];
            }
            return match rest.find([']', '{']) {
                Some(end) if rest[end..].starts_with(']') && self.place != Place::Tags => &rest[end + 1..],
                _ => &rest[1..],
            };
        }
        if self.place != Place::Tags || self.gap && name == self.first_tag {
            self.open(Place::Tags);
        }
        self.gap = false;
        if self.first_tag.is_empty() {
            name.clone_into(&mut self.first_tag);
        }
        self.event_seen |= name == "Event";
        after_value(tail.trim_start())
    }

    fn result(&mut self) {
        match self.place {
            Place::Nowhere => {
                self.open(Place::Moves);
                self.place = Place::After;
            }
            Place::Tags | Place::Moves if self.depth == 0 => {
                self.place = Place::After;
                self.gap = false;
            }
            _ => {}
        }
    }

    fn word<'l>(&mut self, rest: &'l str) -> &'l str {
        let end = rest.find(|c: char| c.is_whitespace() || "{}()[];$*".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_result = |word: &str| ["1-0", "0-1", "1/2-1/2", "1/2"].contains(&word);
        if is_result(word) {
            self.result();
            return &rest[end..];
        }
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        if digits > 0 && !word.starts_with("0-0") && !word.starts_with("0000") {
            let dotted = word[digits..].starts_with('.');
            let tail = word[digits..].trim_start_matches('.');
            if dotted || tail.is_empty() || tail.starts_with(|c: char| c.is_alphabetic()) {
                self.number(&word[..digits], dotted, rest[word.len() - tail.len()..].trim_start());
                return &rest[word.len() - tail.len()..];
            }
        }
        for result in ["1/2-1/2", "1-0", "0-1", "1/2"] {
            if let Some(front) = word.strip_suffix(result)
                && digits == 0
                && is_move(front)
            {
                self.ply(front);
                return &rest[front.len()..];
            }
        }
        if word.starts_with('.') && word.contains(|c: char| c.is_alphanumeric()) {
            return rest.trim_start_matches('.');
        }
        self.ply(word);
        &rest[end..]
    }

    fn number(&mut self, number: &str, dotted: bool, next: &str) {
        let one = number.parse() == Ok(1) && dotted;
        let next = next.trim_start_matches(['.', ' ']);
        let end = next.find(|c: char| c.is_whitespace() || "{}()[];$*".contains(c)).unwrap_or(next.len());
        let goes_on = is_move(&next[..end]) || ["--", "Z0"].contains(&&next[..end]);
        match self.place {
            Place::Nowhere if dotted || goes_on => self.open(Place::Moves),
            Place::Moves if one && self.gap && self.depth == 0 && self.moves > 0 => self.open(Place::Moves),
            Place::After if self.depth > 0 => {}
            Place::After if one && (goes_on || next.is_empty()) => self.open(Place::Moves),
            Place::After if self.gap && goes_on => self.open(Place::Moves),
            Place::Tags => self.place = Place::Moves,
            _ => {}
        }
        if self.place == Place::Moves {
            self.gap = false;
        }
    }

    fn ply(&mut self, word: &str) {
        if !word.contains(char::is_alphanumeric) && !["--", "<>", "@@@@"].contains(&word) {
            return;
        }
        match self.place {
            Place::Nowhere if is_move(word) => self.open(Place::Moves),
            Place::After if self.gap && self.depth == 0 && is_move(word) => self.open(Place::Moves),
            Place::Nowhere | Place::After => return,
            Place::Tags => self.place = Place::Moves,
            Place::Moves => {}
        }
        self.gap = false;
        self.moves += usize::from(self.depth == 0);
    }
}

/// Returns the text after the value of a tag pair.
fn after_value(value: &str) -> &str {
    let Some(text) = value.strip_prefix('"') else {
        return value.split_once(']').map_or("", |(_, rest)| rest);
    };
    let mut escaped = false;
    let mut first = None;
    for (at, letter) in text.char_indices() {
        if letter == '"' && !escaped {
            let rest = text[at + 1..].trim_start();
            if let Some(rest) = rest.strip_prefix(']') {
                return rest;
            }
            if rest.is_empty() || rest.starts_with('[') {
                return rest;
            }
            first.get_or_insert(&text[at + 1..]);
        }
        escaped = letter == '\\' && !escaped;
    }
    first.unwrap_or("")
}

/// Returns true if a token, after removing other characters at both ends, could be a move.
fn is_move(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    if ["O-O", "O-O-O", "0-0", "0-0-0", "o-o", "o-o-o", "OO", "OOO"].contains(&word) {
        return true;
    }
    let word = word.strip_suffix("ep").or(word.strip_suffix("e.p")).unwrap_or(word);
    let body = word.trim_start_matches(['K', 'Q', 'R', 'B', 'N', 'P']);
    if word.len() - body.len() > 1 {
        return false;
    }
    let body = match body.char_indices().last() {
        Some((at, 'Q' | 'R' | 'B' | 'N' | 'q' | 'r' | 'n')) => body[..at].trim_end_matches(['=', '/']),
        _ => body,
    };
    let kinds: String = body
        .chars()
        .map(|c| match c {
            'a'..='h' => 'f',
            '1'..='8' => 'r',
            'x' | 'X' | ':' | '-' => 'x',
            _ => '?',
        })
        .collect();
    ["fr", "xfr", "ffr", "fxfr", "rfr", "rxfr", "frfr", "frxfr"].contains(&kinds.as_str())
}

/// Counts the games of a file.
pub fn count(bytes: &[u8]) -> usize {
    let text: String =
        bytes.iter().map(|&byte| if matches!(byte, 0 | 0x1a) { ' ' } else { byte as char }).collect();
    let text = text.replace("\u{ef}\u{bb}\u{bf}", "").replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let first = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty() && !line.starts_with('#'));
    if first.is_some_and(|line| line.split(' ').next().is_some_and(|field| field.matches('/').count() == 7)) {
        return lines.iter().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).count();
    }
    let mut counter = Counter::new();
    let mut after_tag_line = false;
    for line in lines {
        counter.line(line, after_tag_line);
        let mut letters = line.trim_start().chars();
        after_tag_line = letters.next() == Some('[')
            && letters.as_str().trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    }
    counter.games
}
