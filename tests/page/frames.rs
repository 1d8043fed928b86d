//! Shows pages in frames that are as wide as a phone.

use serde_json::Value;

use crate::browser::{between, render, words};
use crate::shows_its_json;

/// Shows a page in frames that are as wide as a phone, with scripts disabled. Checks that nothing is wider than the frame, that
/// nothing is missing, and that chart bars are at the right places on their axes. `lit` is the expected number of pieces on
/// highlighted squares in the sample, if known.
pub fn fits(browser: &str, html: &str, lit: Option<u64>) {
    let frames = r#"<!DOCTYPE html><meta charset="utf-8"><pre id="answer">nothing</pre><script>
        const page = PAGE, answer = [];
        const widths = [320, 360, 390, 768];
        for (const width of widths) {
            const frame = document.createElement("iframe");
            frame.style = `width: ${width}px; height: 800px; border: 0`;
            frame.sandbox = "allow-same-origin";
            frame.srcdoc = page;
            frame.onload = () => {
                const inside = frame.contentDocument;
                inside.querySelectorAll("details").forEach(details => details.open = true);
                let wide = [], count = 0, drawn = 0, lit = 0, smallest = 99, cut = [];
                const box = element => element.getBoundingClientRect();
                for (const element of inside.body.querySelectorAll("*")) {
                    const { left, right, width: breadth } = box(element);
                    count += 1;
                    if (element.tagName == "use" && breadth > 5) drawn += 1;
                    const scrolls = element.closest(".scroll table, pre code, .unseen, defs");
                    if (!scrolls && (right > width + 0.5 || left < -0.5)) wide.push(element.outerHTML.slice(0, 80));
                }
                for (const board of inside.querySelectorAll(".sample svg")) {
                    const holds = lamp => [...board.querySelectorAll("use")].some(piece => {
                        const middle = (box(piece).left + box(piece).right) / 2, foot = box(piece).bottom - 1;
                        return box(piece).width < box(board).width / 8 && box(lamp).left < middle
                            && middle < box(lamp).right && box(lamp).top < foot && foot < box(lamp).bottom;
                    });
                    lit += [...board.querySelectorAll(".lit")].filter(holds).length;
                }
                // The labels of files and ranks are defined once and reused by several boards, so their size is measured at each
                // board.
                for (const names of inside.querySelectorAll("use[href='#board-names']")) {
                    const svg = names.ownerSVGElement;
                    smallest = Math.min(smallest, 13 * box(svg).width / svg.viewBox.baseVal.width);
                }
                for (const text of inside.querySelectorAll("svg:not(.definitions) text")) {
                    const svg = text.ownerSVGElement;
                    const size = parseFloat(getComputedStyle(text).fontSize) * box(svg).width / svg.viewBox.baseVal.width;
                    smallest = Math.min(smallest, size);
                    const [a, b] = [box(text), box(svg)];
                    if (a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1) cut.push(text.textContent);
                }
                const charts = [...inside.querySelectorAll("svg.bars")].map(chart => ({
                    name: chart.querySelector("title").textContent,
                    bars: [...chart.querySelectorAll("rect.bar")].map(bar => ({
                        label: bar.parentElement.querySelector("title").textContent.split(":")[0],
                        left: box(bar).left, right: box(bar).right })),
                    ticks: [...chart.querySelectorAll("text.tick")].map(tick => ({
                        number: Number(tick.textContent), at: (box(tick).left + box(tick).right) / 2 })) }));
                answer.push({ width, charts, count, drawn, lit, smallest, cut: cut.slice(0, 5), wide: wide.slice(0, 5), page: inside.scrollingElement.scrollWidth, seen: frame.contentWindow.innerWidth,
                    text: inside.body.innerText.length,
                    html: inside.documentElement.outerHTML });
                if (answer.length == widths.length) document.getElementById("answer").textContent = JSON.stringify(answer);
            };
            document.body.append(frame);
        }
        </script>"#;
    let quoted = serde_json::to_string(html).unwrap().replace('<', "\\u003c");
    let shown = render(
        browser,
        &frames.replace("PAGE", &quoted),
        &["--hide-scrollbars", "--virtual-time-budget=10000"],
    );
    let answer = words(between(&shown.dom, "<pre id=\"answer\">", "</pre>")[0]);
    let answer: Value =
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer} {:?}", shown.console));
    for mut frame in answer.as_array().unwrap().clone() {
        shows_its_json(frame["html"].take().as_str().unwrap());
        assert_eq!(frame["wide"], Value::Array(vec![]), "{frame}");
        assert_eq!((&frame["page"], &frame["seen"]), (&frame["width"], &frame["width"]), "{frame}");
        assert!(frame["count"].as_u64().unwrap() > 60 && frame["text"].as_u64().unwrap() > 500, "{frame}");
        assert_eq!(frame["drawn"].as_u64().unwrap() > 0, html.contains("class=\"board\""), "{frame}");
        assert!(lit.is_none_or(|lit| frame["lit"] == lit), "{frame}");
        assert_eq!(frame["cut"], Value::Array(vec![]), "{frame}");
        assert!(frame["smallest"].as_f64().unwrap() >= 7.5, "{frame}");
        frame["charts"].as_array().unwrap().iter().for_each(is_to_scale);
    }
}

/// Checks a chart whose labels are numbers or ranges: all bars and axis ticks must be on one linear scale, so a year without
/// games leaves a gap.
fn is_to_scale(chart: &Value) {
    let ends = |label: &str| {
        let (first, last) = label.split_once('-').unwrap_or((label, label));
        Some((first.parse::<f64>().ok()?, last.parse::<f64>().ok()? + 1.0))
    };
    let bars: Vec<(f64, f64)> = chart["bars"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|bar| {
            let (first, end) = ends(bar["label"].as_str().unwrap())?;
            Some((
                (first + end) / 2.0,
                (bar["left"].as_f64().unwrap() + bar["right"].as_f64().unwrap()) / 2.0,
            ))
        })
        .collect();
    let ([first, .., last], name) = (&bars[..], chart["name"].as_str().unwrap()) else { return };
    let scale = (last.1 - first.1) / (last.0 - first.0);
    let at = |number: f64| first.1 + scale * (number - first.0);
    // `1-0` is not a range.
    if name.ends_with("by result") {
        return;
    }
    let is_of_single_numbers = chart["bars"][0]["label"].as_str().unwrap().parse::<f64>().is_ok();
    assert!(scale > 0.0, "{name}");
    for (number, middle) in &bars {
        assert!(
            (middle - at(*number)).abs() < 1.0,
            "{name}: {number} stands at {middle}, not at {}",
            at(*number)
        );
    }
    let ticks = chart["ticks"].as_array().unwrap();
    assert!(!ticks.is_empty(), "{name}");
    for tick in ticks {
        let number = tick["number"].as_f64().unwrap() + if is_of_single_numbers { 0.5 } else { 0.0 };
        assert!((tick["at"].as_f64().unwrap() - at(number)).abs() < 1.5, "{name}: {tick}");
    }
}
