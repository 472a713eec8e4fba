//! From an operator to its kernels, tiles, instructions, tasks and lines of code: text with plain
//! anchors, which needs no script.
//!
//! | Anchor | Is |
//! |---|---|
//! | `op-N` | an operator of the model, with links to all below |
//! | `kernel-N`, `tiles-N`, `tasks-N` | the N-th kernel that runs, its rTiles, its ranges |
//! | `instruction-NAME` | an instruction, and the kernels that it computes |
//! | `code-NAME` | the text of a kernel; kernels of one name share it |

use std::fmt::Write;

use super::page::escaped;
use super::report::{Compute, Kernel, Listing, Report};

/// Ranges of a kernel that are listed.
const MOST_RANGES: usize = 24;

/// The sections.
pub(super) fn sections(report: &Report) -> String {
    let mut text = String::new();
    let mut section = |id: &str, title: &str, note: &str, body: String| {
        text += &format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n\
             <p class=\"note\">{note}</p>\n{body}</section>\n"
        );
    };
    section(
        "operators",
        "Operators",
        "What each operator of the model became: kernels, and of each its tiles, instructions, tasks and code.",
        operators(report),
    );
    section(
        "each",
        "Kernel by kernel",
        "What was chosen and what came next; cycles are those of one unit. A range is some rTasks of a kernel on one unit.",
        report
            .kernels
            .iter()
            .enumerate()
            .map(|(number, own)| kernel(report, number, own))
            .collect(),
    );
    section(
        "instructions",
        "Instructions",
        "What the machine computes with, and for which kernels.",
        instructions(report),
    );
    let code = match &report.no_code {
        Some(why) => format!("<p>There is no code: {}</p>\n", escaped(why)),
        None => report.listings.iter().map(listing).collect(),
    };
    section(
        "code",
        "Code",
        "Kernels in the operations of the machine, as <code>--emit device</code> writes them whole.",
        code,
    );
    text
}

fn operators(report: &Report) -> String {
    let mut text = "<dl class=\"links\">\n".to_owned();
    for (number, operator) in report.operators.iter().enumerate() {
        let _ = write!(text, "<dt id=\"op-{number}\">{}</dt>\n<dd>", escaped(&operator.name));
        for &at in &operator.kernels {
            let own = &report.kernels[at];
            let _ = write!(
                text,
                "<div><a href=\"#kernel-{at}\">@{}</a>: <a href=\"#tiles-{at}\">tiles</a>, {}, \
                 <a href=\"#tasks-{at}\">{} tasks</a>, {}</div>",
                escaped(&own.kernel),
                by(own),
                own.tasks,
                code_link(report, own)
            );
        }
        text += "</dd>\n";
    }
    text + "</dl>\n"
}

/// Links to the instructions of a kernel.
fn by(kernel: &Kernel) -> String {
    let mut names: Vec<&str> = kernel.computes.iter().map(|own| &*own.instruction).collect();
    names.dedup();
    let link = |name: &&str| format!("<a href=\"#instruction-{0}\">@{0}</a>", escaped(name));
    let links: Vec<_> = names.iter().map(link).collect();
    if links.is_empty() { "no instruction".to_owned() } else { links.join(", ") }
}

fn code_link(report: &Report, kernel: &Kernel) -> String {
    match kernel.listing.map(|number| &report.listings[number]) {
        Some(Listing { kernel, lines, .. }) => {
            format!("<a href=\"#code-{}\">{lines} lines of code</a>", escaped(kernel))
        }
        None => "<a href=\"#code\">no code</a>".to_owned(),
    }
}

fn kernel(report: &Report, number: usize, kernel: &Kernel) -> String {
    let mut text = format!(
        "<article id=\"kernel-{number}\">\n<h3>{}: <code>@{}</code></h3>\n",
        escaped(&kernel.op),
        escaped(&kernel.kernel)
    );
    let operators = report.operators.iter().enumerate();
    let of = operators.filter(|(_, operator)| operator.kernels.contains(&number));
    let of = of.map(|(at, own)| format!("<a href=\"#op-{at}\">{}</a>", escaped(&own.name)));
    let _ = writeln!(
        text,
        "<p>Does {}; by {}; {}.</p>",
        of.collect::<Vec<_>>().join(", "),
        by(kernel),
        code_link(report, kernel)
    );
    if let Some(chosen) = &kernel.predicted {
        let _ = write!(text, "<p>{}, {:.0} cycles", escaped(&chosen.what), chosen.cycles);
        if let Some((what, cycles)) = chosen.second.as_ref().zip(chosen.second_cycles) {
            let _ = write!(text, "; next {}, {cycles:.0} cycles", escaped(what));
        }
        text += "</p>\n";
    }
    let _ = writeln!(text, "<ul id=\"tiles-{number}\">");
    kernel.computes.iter().for_each(|compute| text += &tiles(compute));
    let _ = writeln!(text, "</ul>\n<p id=\"tasks-{number}\">{}</p>", tasks(kernel));
    if !kernel.remarks.is_empty() {
        text += "<ul class=\"said\">\n";
        for remark in kernel.remarks.iter().map(|&at| &report.remarks[at]) {
            let _ = writeln!(
                text,
                "<li>{} <small>{}</small></li>",
                escaped(&remark.message),
                remark.pass
            );
        }
        text += "</ul>\n";
    }
    text + "</article>\n"
}

fn tiles(compute: &Compute) -> String {
    let tile = |own: &super::Tile| format!("{:?} in @{}", own.sizes, escaped(&own.memory));
    let tiles: Vec<_> = compute.tiles.iter().map(tile).collect();
    let extents: Vec<_> = compute.axes.iter().map(|axis| axis.extent).collect();
    let because = compute.because.as_deref().map(|why| format!("<br>{}", escaped(why)));
    format!(
        "<li>{} of {extents:?} by {}{}</li>\n",
        tiles.join(", "),
        escaped(&compute.instruction),
        because.unwrap_or_default()
    )
}

fn tasks(kernel: &Kernel) -> String {
    let mut text = format!("{} tasks in {} ranges: ", kernel.tasks, kernel.ranges.len());
    let range = |own: &super::Range| format!("{} to {} on unit {}", own.begin, own.end, own.unit);
    let ranges: Vec<_> = kernel.ranges.iter().take(MOST_RANGES).map(range).collect();
    text += &ranges.join(", ");
    if kernel.ranges.len() > MOST_RANGES {
        let _ = write!(text, ", and {} more", kernel.ranges.len() - MOST_RANGES);
    }
    text + " (<a href=\"#timeline\">schedule</a>)"
}

fn instructions(report: &Report) -> String {
    let mut text = "<dl class=\"links\">\n".to_owned();
    for own in &report.instructions {
        let name = escaped(&own.name);
        let _ = write!(text, "<dt id=\"instruction-{name}\">@{name}</dt>\n<dd>");
        let links = own
            .kernels
            .iter()
            .map(|&at| format!("<a href=\"#kernel-{at}\">{}</a>", escaped(&report.kernels[at].op)));
        text += &links.collect::<Vec<_>>().join(", ");
        text += "</dd>\n";
    }
    text + "</dl>\n"
}

fn listing(own: &Listing) -> String {
    let name = escaped(&own.kernel);
    let mut text = format!("<article id=\"code-{name}\">\n<h3><code>@{name}</code></h3>\n");
    if own.shown_lines < own.lines {
        let _ = writeln!(
            text,
            "<p class=\"note\">The first {} of {} lines.</p>",
            own.shown_lines, own.lines
        );
    }
    let _ = writeln!(text, "<pre class=\"code\">{}</pre>\n</article>", escaped(&own.text));
    text
}
