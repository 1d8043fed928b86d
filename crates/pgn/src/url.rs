//! URLs in the place of paths: what is one, and what of it may be shown.
//!
//! A URL may hold a password (`https://user:secret@host/`) or be a key by itself, as presigned links to object stores are: their
//! query is a signature. The invariant: what is shown or written of a URL holds neither, here and in `Debug`.

use std::fmt;
use std::path::Path;

/// A file on the web, by its URL.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// As given, without the fragment.
    text: String,
}

impl Url {
    /// The URL that stands in the place of a path: what begins with `https://` or `http://`, in any case.
    pub fn from_path(path: &Path) -> Option<Url> {
        let text = path.to_str()?;
        let (scheme, _) = text.split_once("://")?;
        let is_web = ["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let text = text.split_once('#').map_or(text, |(whole, _)| whole);
        is_web.then(|| Url { text: text.to_owned() })
    }

    /// What is asked for: all of it but user and password.
    #[cfg(feature = "https")]
    pub(super) fn asked(&self) -> String {
        let (scheme, authority, _) = self.parts();
        let rest = &self.text[scheme.len() + "://".len() + authority.len()..];
        format!("{scheme}://{}{rest}", host(authority))
    }

    /// User and password as they stand there: `user:password`.
    #[cfg(feature = "https")]
    pub(super) fn credentials(&self) -> Option<&str> {
        self.parts().1.rsplit_once('@').map(|(credentials, _)| credentials)
    }

    /// Without user, password and query: `https://host/games.pgn`.
    pub fn shown(&self) -> String {
        let (scheme, authority, path) = self.parts();
        format!("{scheme}://{}{path}", host(authority))
    }

    /// Whether it asks for TLS.
    #[cfg(feature = "https")]
    pub(super) fn is_encrypted(&self) -> bool {
        self.parts().0.eq_ignore_ascii_case("https")
    }

    /// Whether its path ends as the name of a reel does.
    pub fn names_reel(&self) -> bool {
        Path::new(self.parts().2).extension().is_some_and(|end| end.eq_ignore_ascii_case("reel"))
    }

    /// The scheme, what stands before the path, and the path without the query.
    fn parts(&self) -> (&str, &str, &str) {
        let (scheme, rest) = self.text.split_once("://").expect("it was found when this was made");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        (scheme, authority, rest.split_once('?').map_or(rest, |(path, _)| path))
    }
}

/// Host and port.
fn host(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Url").field(&self.shown()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_secret() {
        for (given, shown) in [
            ("https://host/a/games.pgn.zst", "https://host/a/games.pgn.zst"),
            ("HTTP://host:8080/games.pgn?X-Signature=key#part", "HTTP://host:8080/games.pgn"),
            ("https://user:key@host/games.pgn", "https://host/games.pgn"),
            ("https://user:k@ey@host?key=/x", "https://host"),
            ("https://host/a@b.pgn", "https://host/a@b.pgn"),
            ("https://host#user:key@other/", "https://host"),
        ] {
            let url = Url::from_path(Path::new(given)).unwrap();
            assert_eq!(url.shown(), shown);
            assert_eq!(format!("{url:?}"), format!("Url({shown:?})"));
        }
        for path in ["games.pgn", "/http/games.pgn", "ftp://host/games.pgn", "http:/games.pgn", "-", ""] {
            assert_eq!(Url::from_path(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn reels_are_told_by_their_paths() {
        let names = |text: &str| Url::from_path(Path::new(text)).unwrap().names_reel();
        assert!(names("https://host/games.reel") && names("https://host/games.REEL?key=1"));
        assert!(!names("https://host/games.pgn?like=a.reel") && !names("https://host.reel"));
    }
}
