//! The page: a template, its style and its scripts, and the report as data.

use super::links;
use super::report::{Quantized, Report};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// In the order in which the page runs them.
const SCRIPTS: &[&str] = &[
    include_str!("page/words.js"),
    include_str!("page/tables.js"),
    include_str!("page/graph.js"),
    include_str!("page/timeline.js"),
    include_str!("page/arena.js"),
    include_str!("page/roofline.js"),
    include_str!("page/start.js"),
];

/// One HTML file that needs no other.
pub fn page(report: &Report) -> String {
    let data = serde_json::to_string(report).expect("a report is plain data");
    // It stands in strings only, and could end the element that the data lies in.
    let data = data.replace('<', "\\u003c");
    let part = |name: &str| match name {
        "title" => escaped(&format!("{} on @{}", report.model, report.device.name)),
        "style" => STYLE.to_owned(),
        "plain" => escaped(&plain(report)),
        "links" => links::sections(report),
        "quantized-link" if report.quantized.is_empty() => String::new(),
        "quantized-link" => r##"    <a href="#quantized">Products of bytes</a>"##.to_owned(),
        "quantized" => quantized(report),
        "scripts" => SCRIPTS.concat(),
        "report" => data.clone(),
        other => unreachable!("the template names a part {other} that nobody writes"),
    };
    let (mut text, mut rest) = (String::new(), TEMPLATE);
    // Once from the beginning to the end: what a part holds is not looked at again.
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, behind) = behind.split_once("}}").expect("the template closes its braces");
        text += before;
        text += &part(name);
        rest = behind;
    }
    text + rest
}

/// Returns the page's text for readers without scripts.
fn plain(report: &Report) -> String {
    let mut text = format!("{} on @{}, {}\n", report.model, report.device.name, report.weft);
    let ms =
        |time: Option<f64>| time.map_or("not known".to_owned(), |time| format!("{time:.3} ms"));
    let summary = &report.summary;
    text += &format!(
        "{} kernels, {} bytes of arguments, arena of {} bytes, predicted {}, measured {}\n",
        summary.kernels,
        summary.argument_bytes,
        summary.arena_bytes,
        ms(summary.predicted_ms),
        ms(summary.measured_ms),
    );
    for joining in &report.joinings {
        let summary = &joining.summary;
        text += &format!(
            "joining {}: {} kernels, {} bytes of arguments, predicted {}, measured {}\n",
            joining.name,
            summary.kernels,
            summary.argument_bytes,
            ms(summary.predicted_ms),
            ms(summary.measured_ms),
        );
    }
    for kernel in &report.kernels {
        text += &format!(
            "{}: @{}, {} bytes, predicted {}\n",
            kernel.op,
            kernel.kernel,
            kernel.read_bytes + kernel.written_bytes,
            ms(kernel.predicted_ms),
        );
    }
    text
}

/// Returns the section on products of bytes, the least exact ones first; nothing where there are none.
fn quantized(report: &Report) -> String {
    if report.quantized.is_empty() {
        return String::new();
    }
    let mut layers: Vec<_> = report.quantized.iter().collect();
    layers.sort_by(|one, other| other.error.total_cmp(&one.error));
    let row = |layer: &&Quantized| {
        let kernels = layer.kernels.iter().map(|&number| &report.kernels[number].kernel);
        let kernels: Vec<_> = kernels.map(|name| escaped(&format!("@{name}"))).collect();
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{:.3} %</td><td class=\"mono\">{}</td></tr>\n",
            escaped(&layer.name),
            100.0 * layer.error,
            kernels.join(", "),
        )
    };
    let rows: String = layers.iter().map(row).collect();
    format!(
        r#"  <section id="quantized" aria-labelledby="quantized-title">
    <h2 id="quantized-title">Products of bytes</h2>
    <p class="note">How far what each product makes is from what it made in f32, on the inputs of <code>weft quantize</code>.</p>
    <div class="card scroll"><table><thead><tr><th scope="col">Operator</th><th scope="col" class="n">Off by</th><th scope="col">Kernels</th></tr></thead>
    <tbody>
{rows}</tbody></table></div>
  </section>
"#
    )
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        // The template's placeholders are between two of them.
        .replace("{{", "{&#123;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing of the page is fetched, and nothing but the template ends its elements.
    #[test]
    fn the_page_needs_no_other_file() {
        let whole = [TEMPLATE, STYLE, &SCRIPTS.concat()].concat();
        for fetching in ["src=", "url(http", "@import", "fetch(", "https://"] {
            assert!(!whole.contains(fetching), "{fetching}");
        }
        // The name of SVG's elements is no address that is asked.
        let names = whole.matches("http://").count();
        assert_eq!(names, whole.matches("\"http://www.w3.org/2000/svg\"").count());
        assert!(!SCRIPTS.concat().contains("</script"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn names_of_models_stay_text() {
        assert_eq!(escaped("<b>&amp;"), "&lt;b&gt;&amp;amp;");
    }
}
