//! Interprets the headers of HTTP responses, and decides whether a response continues the file being read.
//!
//! This module uses only the status and the headers, not the connection. Invariant: bytes of two responses are joined only if the
//! entity tag or the date, and the length, confirm that they belong to the same file.

use std::time::Duration;

use ureq::http::StatusCode;

/// The status and the relevant headers of a response.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct AnswerHead {
    pub(super) status: u16,
    /// The header `Content-Length`.
    pub(super) length: Option<u64>,
    /// True if the response body has chunked encoding, which marks the end of the body.
    pub(super) is_chunked: bool,
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
    /// The header `Content-Range`.
    pub(super) range: Option<ContentRange>,
    pub(super) retry_after: Option<Duration>,
}

/// The value of `Content-Range`: `bytes 100-199/200`, or `bytes */200` if the requested part is beyond the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ContentRange {
    pub(super) first: Option<u64>,
    pub(super) total: Option<u64>,
}

impl ContentRange {
    fn parse(text: &str) -> Option<ContentRange> {
        let (part, total) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
        let first = part.split_once('-').and_then(|(first, _)| first.trim().parse().ok());
        Some(ContentRange { first, total: total.trim().parse().ok() })
    }
}

impl AnswerHead {
    /// Reads the headers of a response. `line` returns the value of a header by its name.
    pub(super) fn new<'a>(status: u16, line: impl Fn(&str) -> Option<&'a str>) -> AnswerHead {
        let text = |name| line(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let is_chunked = line("transfer-encoding").is_some();
        let seconds = line("retry-after").and_then(|value| value.trim().parse().ok());
        AnswerHead {
            status,
            // If the encoding is chunked, a length in the headers is ignored.
            length: line("content-length")
                .filter(|_| !is_chunked)
                .and_then(|value| value.trim().parse().ok()),
            is_chunked,
            etag: text("etag"),
            modified: text("last-modified"),
            range: line("content-range").and_then(ContentRange::parse),
            retry_after: seconds.map(Duration::from_secs),
        }
    }

    /// Returns whether the end of the response body can be distinguished from a lost connection.
    pub(super) fn has_end(&self) -> bool {
        self.is_chunked || self.length.is_some()
    }

    /// Returns a message about the status of a response that is refused, with a remedy if one is known.
    pub(super) fn refusal(&self) -> String {
        let status = StatusCode::from_u16(self.status).ok();
        let name = status.and_then(|status| status.canonical_reason()).unwrap_or("a status without a name");
        let remedy = match self.status {
            401 | 407 => ": check user and password",
            403 => ": check whether the link has expired",
            404 | 410 => ": check the link",
            _ => "",
        };
        format!("the server answers {} ({name}){remedy}", self.status)
    }

    /// Returns whether the request may succeed if it is repeated later.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self.status, 408 | 425 | 429 | 500 | 502..=504)
    }
}

/// The identity of a file, as given by the headers of the first response.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FileIdentity {
    /// The size of the file in bytes, once a response has stated it.
    pub(super) total: Option<u64>,
    etag: Option<String>,
    modified: Option<String>,
}

/// The meaning of a response to a request for the rest of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The response continues the file. Its first `skip` bytes must be skipped, since the reader already has them.
    GoesOn {
        skip: u64,
    },
    /// The file has no bytes beyond those that the reader already has.
    Complete,
    /// The request failed for the given reason, but may succeed later.
    Later(String),
    Failed(String),
}

impl FileIdentity {
    /// Returns the identity of a file from the headers of a response that contains the whole file.
    pub(super) fn from_head(head: &AnswerHead) -> FileIdentity {
        FileIdentity { total: head.length, etag: head.etag.clone(), modified: head.modified.clone() }
    }

    /// Returns the entity tag if it is strong. Only a strong tag guarantees identical bytes.
    fn strong(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }

    /// Returns the value for the header `If-Range`. The server then sends only the rest of the file if the value still matches, and
    /// otherwise the whole file.
    pub(super) fn condition(&self) -> Option<&str> {
        self.strong().or(self.modified.as_deref())
    }

    /// Returns an error message if requesting the rest is useless, because no header could confirm that it belongs to the same
    /// file.
    pub(super) fn refusal(&self, offset: u64, is_unsure: bool) -> Option<String> {
        if offset == 0 || self.etag.is_some() || self.modified.is_some() {
            return None;
        }
        Some(match is_unsure {
            true => possible_cut(offset),
            false => format!(
                "the connection was lost after {offset} bytes, and the server gives neither ETag nor date by which the file \
                 could be known again: download it first"
            ),
        })
    }

    /// Compares the entity tag or the date, and returns whether a response belongs to the same file. Returns `None` if neither can
    /// be compared.
    fn is_same(&self, now: &AnswerHead) -> Option<bool> {
        match (&self.etag, &now.etag, &self.modified, &now.modified) {
            (Some(then), Some(now), ..) => Some(then == now),
            (.., Some(then), Some(now)) => Some(then == now),
            _ => None,
        }
    }

    /// Classifies the response to a request for the bytes from `offset` on. `is_unsure` is true if the reader may already have the
    /// complete file.
    pub(super) fn judge(&self, now: &AnswerHead, offset: u64, is_unsure: bool) -> Verdict {
        let total = match now.status {
            200 => now.length,
            _ => now.range.and_then(|range| range.total),
        };
        if matches!(now.status, 200 | 206) && self.is_same(now) == Some(false) {
            return Verdict::Failed(String::from("it was replaced while it was read: read it again"));
        }
        if let (Some(then), Some(now)) = (self.total, total)
            && then != now
        {
            return Verdict::Failed(format!(
                "it was replaced while it was read (it had {then} bytes, and has {now} now): read it again"
            ));
        }
        match now.status {
            206 if now.range.and_then(|range| range.first) == Some(offset) => Verdict::GoesOn { skip: 0 },
            206 => Verdict::Failed(format!(
                "the server sends another part of it than that from byte {offset} on: download it first"
            )),
            200 if offset == 0 => Verdict::GoesOn { skip: 0 },
            200 if is_unsure => Verdict::Failed(possible_cut(offset)),
            // The server sent the whole file again. Only a strong entity tag counts here. Equal dates are not enough, because they
            // guarantee equal bytes only if the server itself compares them.
            200 if self.strong().is_some() && self.is_same(now) == Some(true) => {
                Verdict::GoesOn { skip: offset }
            }
            200 => Verdict::Failed(format!(
                "the connection was lost after {offset} bytes, and the server cannot go on from there (it sends no ranges): \
                 download it first"
            )),
            416 if is_unsure && total.is_none_or(|total| total == offset) => Verdict::Complete,
            416 => Verdict::Failed(format!("it has no bytes behind byte {offset} any more: read it again")),
            _ if now.is_passing() => Verdict::Later(now.refusal()),
            _ => Verdict::Failed(now.refusal()),
        }
    }
}

/// Returns the error message for a download that may be incomplete because its length is unknown.
fn possible_cut(offset: u64) -> String {
    format!(
        "the server did not say how long it is, and the connection ended after {offset} bytes: it may be longer; \
         download it and compare"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, lines: &[(&str, &'static str)]) -> AnswerHead {
        AnswerHead::new(status, |name| lines.iter().find(|line| line.0 == name).map(|line| line.1))
    }

    #[test]
    fn lines_are_read() {
        let read = head(
            206,
            &[("content-range", "bytes 100-199/200"), ("content-length", "100"), ("etag", "\"a\"")],
        );
        assert_eq!(read.range, Some(ContentRange { first: Some(100), total: Some(200) }));
        assert_eq!((read.length, read.etag.as_deref(), read.has_end()), (Some(100), Some("\"a\""), true));
        let whole = head(416, &[("content-range", "bytes */200"), ("retry-after", "7")]);
        assert_eq!(whole.range, Some(ContentRange { first: None, total: Some(200) }));
        assert_eq!(whole.retry_after, Some(Duration::from_secs(7)));
        let odd = head(206, &[("content-range", "pages 1-2/3"), ("content-length", "many"), ("etag", " ")]);
        assert_eq!((odd.range, odd.length, odd.etag, odd.is_chunked), (None, None, None, false));
        let chunked = head(200, &[("transfer-encoding", "chunked"), ("content-length", "5")]);
        assert_eq!((chunked.length, chunked.has_end()), (None, true));
    }

    /// Checks responses to a request for the rest of a 200-byte file. The reader already has the first 100 bytes.
    #[test]
    fn only_the_same_file_goes_on() {
        const REPLACED: &str = "replaced";
        let strong = [("content-length", "200"), ("etag", "\"a\""), ("last-modified", "Monday")];
        let weak = [("content-length", "200"), ("etag", "W/\"a\"")];
        let dated = [("content-length", "200"), ("last-modified", "Monday")];
        let part = ("content-range", "bytes 100-199/200");
        let rows: &[(&[_], u16, &[_], Result<u64, &str>)] = &[
            (&strong, 206, &[part, ("etag", "\"a\"")], Ok(0)),
            (&strong, 206, &[part], Ok(0)),
            (&strong, 206, &[part, ("etag", "\"b\"")], Err(REPLACED)),
            (&strong, 206, &[("content-range", "bytes 100-299/300"), ("etag", "\"a\"")], Err("has 300 now")),
            (&strong, 206, &[("content-range", "bytes 0-199/200"), ("etag", "\"a\"")], Err("another part")),
            (&strong, 206, &[("etag", "\"a\"")], Err("another part")),
            (&strong, 200, &strong, Ok(100)),
            (&strong, 200, &[("etag", "\"b\""), ("content-length", "200")], Err(REPLACED)),
            (&strong, 200, &[("last-modified", "Tuesday"), ("content-length", "200")], Err(REPLACED)),
            (&strong, 416, &[("content-range", "bytes */90")], Err("has 90 now")),
            (&strong, 416, &[], Err("no bytes behind byte 100")),
            (&strong, 403, &[], Err("403 (Forbidden): check whether the link has expired")),
            (&weak, 206, &[part, ("etag", "W/\"a\"")], Ok(0)),
            (&weak, 200, &weak, Err("it sends no ranges")),
            (&dated, 206, &[part, ("last-modified", "Monday")], Ok(0)),
            (&dated, 206, &[part, ("last-modified", "Tuesday")], Err(REPLACED)),
            (&dated, 200, &dated, Err("it sends no ranges")),
        ];
        for (first, status, lines, expected) in rows {
            let verdict = FileIdentity::from_head(&head(200, first)).judge(&head(*status, lines), 100, false);
            match (&verdict, expected) {
                (Verdict::GoesOn { skip }, Ok(expected)) => assert_eq!(skip, expected, "{status} {lines:?}"),
                (Verdict::Failed(reason), Err(expected)) => assert!(reason.contains(expected), "{reason}"),
                _ => panic!("{first:?}, {status} {lines:?}: {verdict:?}"),
            }
        }
        let later = FileIdentity::default().judge(&head(503, &[]), 100, false);
        assert_eq!(later, Verdict::Later(String::from("the server answers 503 (Service Unavailable)")));
    }

    #[test]
    fn the_end_of_a_file_of_unknown_length_is_asked_for() {
        let known = FileIdentity::from_head(&head(200, &[("etag", "\"a\"")]));
        let judge = |status, lines: &[_]| known.judge(&head(status, lines), 100, true);
        assert_eq!(judge(416, &[("content-range", "bytes */100")]), Verdict::Complete);
        assert_eq!(judge(416, &[]), Verdict::Complete);
        assert!(matches!(judge(416, &[("content-range", "bytes */90")]), Verdict::Failed(_)));
        assert_eq!(judge(206, &[("content-range", "bytes 100-149/150")]), Verdict::GoesOn { skip: 0 });
        let Verdict::Failed(reason) = judge(200, &[("etag", "\"a\"")]) else { panic!() };
        assert!(reason.contains("it may be longer"), "{reason}");
        assert_eq!(known.refusal(100, true), None);
        assert!(FileIdentity::default().refusal(100, true).unwrap().contains("it may be longer"));
        assert!(FileIdentity::default().refusal(100, false).unwrap().contains("neither ETag nor date"));
        assert_eq!(FileIdentity::default().refusal(0, false), None);
    }
}
