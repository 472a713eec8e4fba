//! The page in headless Chromium: no error on its console, and its figures are the report's.

use std::process::Command;

use serde_json::Value;

use crate::desk::Desk;

/// The page as it is after its scripts ran, and what was said on its console.
fn opened(desk: &Desk, page: &str) -> (String, Vec<String>) {
    let profile = desk.path("profile");
    let output = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-dev-shm-usage", "--disable-background-networking"])
        .args(["--virtual-time-budget=5000", "--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", desk.path(page).display()))
        .output()
        .expect("chromium starts: `cargo xtask setup` installs it");
    let said = String::from_utf8_lossy(&output.stderr);
    let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    (String::from_utf8_lossy(&output.stdout).into_owned(), console.collect())
}

/// The figures of a page: their names, and their exact values.
fn figures(dom: &str) -> Vec<(&str, &str)> {
    let attribute = |text: &'_ str, name: &str| -> Option<(usize, usize)> {
        let begin = text.find(name)? + name.len();
        Some((begin, begin + text[begin..].find('"')?))
    };
    dom.split("<span ")
        .filter_map(|element| {
            let tag = &element[..element.find('>')?];
            let (name, value) =
                (attribute(tag, "data-figure=\"")?, attribute(tag, "data-value=\"")?);
            Some((&tag[name.0..name.1], &tag[value.0..value.1]))
        })
        .collect()
}

/// What a figure's name stands for in the report.
fn told<'r>(report: &'r Value, name: &str) -> Option<&'r Value> {
    let parts: Vec<&str> = name.split('.').collect();
    let named = |list: &'r Value, name: &str, key: &str| {
        list.as_array()?.iter().find(|one| one[key] == name)
    };
    match parts[..] {
        ["summary", figure] => Some(&report["summary"][figure]),
        ["joining", way, figure] => Some(&named(&report["joinings"], way, "name")?[figure]),
        ["layers", memory, figure] => {
            Some(&named(&report["graph"]["layers"], memory, "memory")?[figure])
        }
        ["kernel", at, figure] => Some(&report["kernels"][at.parse::<usize>().ok()?][figure]),
        ["arena", memory, figure] => Some(&named(&report["arenas"], memory, "memory")?[figure]),
        ["pattern", at, way] => Some(&report["patterns"][at.parse::<usize>().ok()?]["counts"][way]),
        _ => None,
    }
}

/// A figure that the page sums or counts, which the report holds as its parts.
fn counted(report: &Value, name: &str) -> Option<u64> {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["kernel", at, "bytes"] => {
            let kernel = &report["kernels"][at.parse::<usize>().ok()?];
            Some(kernel["read_bytes"].as_u64()? + kernel["written_bytes"].as_u64()?)
        }
        ["arena", _, "buffers"] => Some(told(report, name)?.as_array()?.len() as u64),
        ["edges", memory] => {
            let edges = report["graph"]["edges"].as_array()?.iter();
            Some(edges.filter(|edge| edge["memory"] == memory).count() as u64)
        }
        _ => None,
    }
}

#[test]
fn the_page_opens_without_errors_and_shows_the_report() {
    let desk = Desk::digits();
    let report = desk.explain(&["--run", "--repeat", "2"]);
    let (dom, console) = opened(&desk, "digits.html");
    assert!(console.is_empty(), "{console:#?}");
    assert!(dom.contains("data-drawn=\"whole\""), "the page was not drawn to its end");
    assert!(dom.contains("<h1 id=\"title\">digits.onnx on @"), "the heading names the model");
    assert!(!dom.contains("{{"), "a part of the template was not written");
    let found = figures(&dom);
    for (name, value) in &found {
        let told = match counted(&report, name) {
            Some(count) => Value::from(count),
            None => told(&report, name).unwrap_or_else(|| panic!("no figure {name}")).clone(),
        };
        let same = match told.as_f64() {
            // Reading a number from JSON rounds its last bit otherwise than a browser does.
            Some(number) => value
                .parse::<f64>()
                .is_ok_and(|shown| (shown - number).abs() <= number.abs() * 1e-14),
            None => value.is_empty() && told.is_null(),
        };
        assert!(same, "{name} is {told} in the report, {value} on the page");
    }
    let has = |name: &str| found.iter().any(|(own, _)| *own == name);
    for name in ["summary.kernels", "summary.arena_bytes", "summary.measured_ms"] {
        assert!(has(name), "{name}");
    }
    for way in ["none", "base", "full"] {
        for figure in ["kernels", "argument_bytes", "predicted_ms", "measured_ms"] {
            assert!(has(&format!("joining.{way}.{figure}")), "{way} {figure}");
        }
    }
    let kernels = report["kernels"].as_array().expect("kernels").len();
    for kernel in 0..kernels {
        assert!(has(&format!("kernel.{kernel}.predicted_ms")), "{kernel}");
    }
    // Every kernel is a node that the keyboard reaches, and a point or a row.
    assert_eq!(dom.matches("class=\"node").count(), kernels);
    assert_eq!(dom.matches("tabindex=\"0\" role=\"button\"").count(), 1, "one stop in the graph");
    let buffers = report["arenas"][0]["buffers"].as_array().expect("buffers").len();
    assert_eq!(dom.matches("class=\"buffer\"").count(), buffers);
    // Every range is a box in the predicted schedule, and in the measured one.
    let ranges = report["summary"]["ranges"].as_u64().expect("ranges") as usize;
    assert_eq!(dom.matches("class=\"range\"").count(), 2 * ranges);
}

/// A page that fails is seen to fail.
#[test]
fn errors_are_seen() {
    let desk = Desk::digits();
    desk.explain(&[]);
    let page = desk.read("digits.html").replace("drawSummary,", "drawNothing,");
    desk.write("broken.html", &page);
    let (dom, console) = opened(&desk, "broken.html");
    assert!(console.iter().any(|line| line.contains("drawNothing")), "{console:?}");
    assert!(!dom.contains("data-drawn=\"whole\""));
}
