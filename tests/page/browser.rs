//! Opens pages in a real browser without a window (headless Chromium).

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use crate::common::{
    harness::BROWSER,
    waiting::{Process, until},
};

/// The possible names of the Chromium program.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The result of opening a page.
pub struct Rendered {
    /// The document after the page has been loaded, as HTML.
    pub dom: String,
    /// The messages in the console, from both the page and the browser.
    pub console: Vec<String>,
}

/// Returns the name of the installed browser. If there is none, the test is ignored.
pub fn browser() -> &'static str {
    let runs = |name: &&str| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    BROWSER.met(NAMES.into_iter().find(runs))
}

/// Loads a page from disk.
pub fn render(browser: &str, page: &str, arguments: &[&str]) -> Rendered {
    render_at(browser, page, "", arguments)
}

/// Renders a page, scrolled to the element with an id, as after a click on a link to `#id`.
pub fn render_at(browser: &str, page: &str, id: &str, arguments: &[&str]) -> Rendered {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let (out, errors) = (folder.path().join("out"), folder.path().join("errors"));
    let address = format!("file://{}#{id}", file.display());
    run(browser, &folder.path().join("profile"), &address, arguments, &out, &errors);
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let console = read(&errors).lines().filter(|line| line.contains(":CONSOLE")).map(String::from).collect();
    Rendered { dom: read(&out), console }
}

fn run(browser: &str, profile: &Path, address: &str, arguments: &[&str], out: &Path, errors: &Path) {
    let to = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(to(out))
        .stderr(to(errors))
        .spawn()
        .unwrap();
    let mut process = Process::new(child);
    let status = until(&format!("the end of {browser}"), || {
        let status = process.try_wait().unwrap();
        status.ok_or_else(|| String::from_utf8_lossy(&std::fs::read(errors).unwrap()).into_owned())
    });
    assert!(status.success(), "{browser}: {status}");
}

/// Returns the parts of a text between each `open` and the next `close`.
pub fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let rest = text.split(open).skip(1);
    rest.map(|part| part.split(close).next().unwrap()).collect()
}

/// Returns the text of an HTML fragment, with tags removed, entities resolved, and single blanks between words.
pub fn words(html: &str) -> String {
    let mut text = String::new();
    for (k, part) in html.split('<').enumerate() {
        text.push_str(if k == 0 { part } else { part.split_once('>').map_or("", |(_, rest)| rest) });
    }
    let resolved = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let resolved = resolved.replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    resolved.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the body rows of a table, each as a list of cells.
pub fn table(dom: &str, id: &str) -> Vec<Vec<String>> {
    let open = format!("<table id=\"{id}\">");
    let tables = between(dom, &open, "</table>");
    assert_eq!(tables.len(), 1, "tables called {id}");
    let body = between(tables[0], "<tbody>", "</tbody>")[0];
    let rows = between(body, "<tr>", "</tr>");
    rows.iter()
        .map(|row| {
            let cells = row.replace("<th ", "<td ").replace("</th>", "</td>");
            between(&cells, "<td", "</td>").iter().map(|cell| words(&format!("<td{cell}"))).collect()
        })
        .collect()
}

/// Returns the folder in which pages are saved for inspection, if `ORBIT_PAGE_DIR` is set.
pub fn kept() -> Option<PathBuf> {
    std::env::var_os("ORBIT_PAGE_DIR").map(PathBuf::from)
}
