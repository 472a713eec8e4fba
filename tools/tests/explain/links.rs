//! N-7. From an operator of the model to its tiles, instructions, tasks and lines of code, by
//! anchors that need no script.

use std::collections::HashSet;

use crate::desk::{Desk, held, list, number};

/// The values of an attribute, in order.
fn values<'t>(page: &'t str, attribute: &str) -> Vec<&'t str> {
    let begin = format!("{attribute}=\"");
    page.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// What a page shows where scripts do not run.
fn without_scripts(page: &str) -> &str {
    page.split_once("<script").expect("scripts come last").0
}

/// The element with an id, to the end of the one that it opens.
fn element<'t>(page: &'t str, id: &str, end: &str) -> &'t str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
    rest.split_once(end).map_or(rest, |(own, _)| own)
}

#[test]
fn n_7_every_link_leads_somewhere() {
    let desk = Desk::digits();
    for device in ["toy", "h200", "x86-avx512"] {
        desk.explain(&["--device", device]);
        let page = desk.read("digits.html");
        let text = without_scripts(&page);
        let ids = values(text, " id");
        let known: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(known.len(), ids.len(), "{device}: ids are there once");
        let links: Vec<_> = values(text, " href").into_iter().collect();
        let links: Vec<_> = links.iter().filter_map(|link| link.strip_prefix('#')).collect();
        assert!(links.len() > 100, "{device}: {}", links.len());
        for link in links {
            assert!(known.contains(link), "{device}: #{link} leads nowhere");
        }
    }
}

#[test]
fn n_7_an_operator_leads_to_tiles_instructions_tasks_and_code() {
    let desk = Desk::digits();
    let report = desk.explain(&["--device", "toy"]);
    let page = desk.read("digits.html");
    let text = without_scripts(&page);
    let code = desk.stage("device", &["--device", "toy"]);
    let names: Vec<_> = list(&report["operators"]).iter().map(|own| &own["name"]).collect();
    for name in ["c1 to p1", "c2", "logits", "probabilities"] {
        assert!(names.iter().any(|own| **own == name), "{name} is not among {names:?}");
    }
    for (at, operator) in list(&report["operators"]).iter().enumerate() {
        let links = values(element(text, &format!("op-{at}"), "</dd>"), "href");
        for kernel in list(&operator["kernels"]).iter().map(number) {
            let own = &report["kernels"][kernel as usize];
            let name = own["kernel"].as_str().expect("a name");
            for to in ["kernel", "tiles", "tasks"] {
                let link = format!("#{to}-{kernel}");
                assert!(links.contains(&link.as_str()), "{operator}: no {link} in {links:?}");
            }
            for compute in list(&own["computes"]) {
                let instruction = compute["instruction"].as_str().expect("a name");
                let link = format!("#instruction-{instruction}");
                assert!(links.contains(&link.as_str()), "{operator}: no {link} in {links:?}");
                // The tiles of the kernel, the rTask's first.
                let tiles = element(text, &format!("tiles-{kernel}"), "</ul>");
                let sizes = compute["tiles"][0]["sizes"].to_string().replace(',', ", ");
                assert!(tiles.contains(&sizes), "{name}: {sizes} is not in {tiles}");
            }
            let tasks = element(text, &format!("tasks-{kernel}"), "</p>");
            let range = &own["ranges"][0];
            let first = format!("{} to {} on unit {}", range["begin"], range["end"], range["unit"]);
            assert!(tasks.contains(&first), "{name}: {first} is not in {tasks}");
            // Lines of code are those of the text of the stage.
            assert!(links.contains(&format!("#code-{name}").as_str()), "{operator}: {links:?}");
            let listing = element(text, &format!("code-{name}"), "</article>");
            let first = format!("device.kernel @{name}");
            assert!(code.contains(&first) && listing.contains(&first), "{first}");
        }
    }
}

/// Long kernels are cut, and it is said how much of them is there.
#[test]
fn n_7_long_code_is_cut_and_it_is_said() {
    let desk = Desk::digits();
    let report = desk.explain(&["--device", "dsp"]);
    let page = desk.read("digits.html");
    let mut cut = 0;
    for listing in list(&report["listings"]) {
        let (lines, shown) = (number(&listing["lines"]), number(&listing["shown_lines"]));
        let text =
            element(&page, &format!("code-{}", listing["kernel"].as_str().unwrap()), "</pre>");
        let (_, code) = text.split_once("<pre class=\"code\">").expect("a listing");
        assert_eq!(code.lines().count() as u64, shown, "{listing}");
        let note = format!("The first {shown} of {lines} lines.");
        assert_eq!(text.contains(&note), shown < lines, "{listing}");
        cut += usize::from(shown < lines);
    }
    assert!(cut > 0, "a kernel of this model is long");
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

/// Where the text of the stage tile is explained, the same is found.
#[test]
fn n_7_text_of_the_tile_stage_leads_to_code_as_well() {
    let desk = Desk::digits();
    desk.write("tile.mlir", &desk.stage("tile", &["--device", "toy"]));
    desk.weft(&["explain", "tile.mlir", "-o", "tile.html"]);
    let (text, whole) = (held(&desk.read("tile.html")), desk.explain(&["--device", "toy"]));
    assert_eq!(text["listings"], whole["listings"]);
    assert_eq!(text["operators"], whole["operators"]);
}
