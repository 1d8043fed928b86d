//! Recognises URLs among the given paths, and hides their secrets.
//!
//! A URL may contain a password (`https://user:secret@host/`). Its query may also be secret: in a presigned link to an object
//! store, the query is a signature. Invariant: neither password nor query ever appears in messages, in output or in `Debug`.

use std::fmt;
use std::path::Path;

/// The URL of a file on the web.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// The URL as the user gave it, without the fragment.
    text: String,
}

impl Url {
    /// Returns the URL if the path is one: it begins with `https://` or `http://`, in upper or lower case.
    pub fn from_path(path: &Path) -> Option<Url> {
        let text = path.to_str()?;
        let (scheme, _) = text.split_once("://")?;
        let is_web = ["https", "http"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let text = text.split_once('#').map_or(text, |(whole, _)| whole);
        is_web.then(|| Url { text: text.to_owned() })
    }

    /// Returns the URL to request, without user and password.
    #[cfg(feature = "https")]
    pub(super) fn asked(&self) -> String {
        let (scheme, authority, _) = self.parts();
        let rest = &self.text[scheme.len() + "://".len() + authority.len()..];
        format!("{scheme}://{}{rest}", host(authority))
    }

    /// Returns the user and the password as written in the URL: `user:password`.
    #[cfg(feature = "https")]
    pub(super) fn credentials(&self) -> Option<&str> {
        self.parts().1.rsplit_once('@').map(|(credentials, _)| credentials)
    }

    /// Returns the URL without user, password and query, for display: `https://host/games.pgn`.
    pub fn shown(&self) -> String {
        let (scheme, authority, path) = self.parts();
        format!("{scheme}://{}{path}", host(authority))
    }

    /// Returns whether the URL requires TLS.
    #[cfg(feature = "https")]
    pub(super) fn is_encrypted(&self) -> bool {
        self.parts().0.eq_ignore_ascii_case("https")
    }

    /// Returns whether the path ends in `.reel`.
    pub fn names_reel(&self) -> bool {
        Path::new(self.parts().2).extension().is_some_and(|end| end.eq_ignore_ascii_case("reel"))
    }

    /// Splits the URL into its scheme, its authority, and its path without the query.
    fn parts(&self) -> (&str, &str, &str) {
        let (scheme, rest) = self.text.split_once("://").expect("it was found when this was made");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        (scheme, authority, rest.split_once('?').map_or(rest, |(path, _)| path))
    }
}

/// Removes user and password from an authority.
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
