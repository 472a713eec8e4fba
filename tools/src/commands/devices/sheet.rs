//! The description of a machine: sections of lines and tables, as text or as Markdown.

use std::fmt::Write;

/// One section.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// A sentence above the table; may be empty.
    pub note: String,
    /// The names of the columns; none where the rows are one line each.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// A section without rows.
    pub fn new(title: &str, note: &str, columns: &[&'static str]) -> Self {
        Self {
            title: title.to_owned(),
            note: note.to_owned(),
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

/// For a terminal: columns aligned, each section under its title.
pub fn text(title: &str, sections: &[Section]) -> String {
    let mut text = format!("{title}\n");
    for section in sections.iter().filter(|section| !section.rows.is_empty()) {
        put(&mut text, format_args!("\n{}\n", section.title));
        if !section.note.is_empty() {
            put(&mut text, format_args!("  {}\n", section.note));
        }
        let widths = widths(section);
        for row in &section.rows {
            let mut line = String::from(" ");
            for (cell, width) in row.iter().zip(&widths) {
                put(&mut line, format_args!(" {cell:<width$} "));
            }
            put(&mut text, format_args!("{}\n", line.trim_end()));
        }
    }
    text
}

/// A page of documentation.
pub fn markdown(title: &str, intro: &str, sections: &[Section]) -> String {
    let mut text = format!("# {title}\n\n{intro}\n");
    for section in sections.iter().filter(|section| !section.rows.is_empty()) {
        put(&mut text, format_args!("\n## {}\n", sentence(&section.title)));
        if !section.note.is_empty() {
            put(&mut text, format_args!("\n{}.\n", sentence(&section.note)));
        }
        let cells = |row: &[String]| {
            let cells: Vec<_> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let columns: Vec<_> = section.columns.iter().map(|&column| column.to_owned()).collect();
        put(&mut text, format_args!("\n{}", cells(&columns)));
        put(&mut text, format_args!("|{}\n", "---|".repeat(columns.len())));
        for row in &section.rows {
            text += &cells(row);
        }
    }
    text
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// The width of each column; cells that are far wider than the others do not widen it.
fn widths(section: &Section) -> Vec<usize> {
    const WIDEST: usize = 44;
    let columns = section.rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|column| {
            let cells = section.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .filter(|&width| width <= WIDEST)
                .max()
                .unwrap_or(0)
        })
        .collect()
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes everything");
}
