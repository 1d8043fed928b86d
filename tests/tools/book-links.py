#!/usr/bin/env python3
"""Checks the site that mdBook makes from `docs`: each link must lead to a file, and to an element with the id in the link.

    mdbook build docs --dest-dir SITE
    tests/tools/book-links.py SITE

Links to other sites are not followed. Prints each broken link with its page. The exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

# Pages that are not checked: they repeat other pages, or their links begin at the root of the site.
OTHER_PAGES = {"print.html", "404.html", "toc.html"}


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    ids = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    links = broken = 0
    for page, text in sorted(pages.items()):
        if page.name in OTHER_PAGES:
            continue
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            path, _, fragment = link.partition("#")
            target = (page.parent / unquote(path)).resolve() if path else page
            if not target.exists() or (fragment and target in ids and unquote(fragment) not in ids[target]):
                print(f"{page.relative_to(site)}: {link}")
                broken += 1
    print(f"{len(pages)} pages, {links} links, {broken} broken")
    return 1 if broken or not links else 0


if __name__ == "__main__":
    sys.exit(main())
