//! Scalar bodies: casts and arithmetic that keep floats small whole numbers.

use std::fmt::Write;

use crate::random::Random;

/// Whether a type is one of floats.
pub fn is_float(elem: &str) -> bool {
    elem.contains('f')
}

/// The lines of a scalar body.
pub struct Body {
    pub lines: String,
    numbers: usize,
}

impl Body {
    pub fn new() -> Self {
        Self { lines: String::new(), numbers: 0 }
    }

    /// A line that gives a value; its name.
    pub fn line(&mut self, text: &str) -> String {
        self.numbers += 1;
        let name = format!("%b{}", self.numbers);
        writeln!(self.lines, "    {name} = {text}").expect("a string grows");
        name
    }

    pub fn constant(&mut self, elem: &str, number: &str) -> String {
        match elem {
            "i1" => self.line(&format!("arith.constant {number}")),
            _ => self.line(&format!("arith.constant {number} : {elem}")),
        }
    }

    /// `value` between -4 and 4; integers as they are.
    pub fn clamped(&mut self, value: &str, elem: &str) -> String {
        if !is_float(elem) {
            return value.to_owned();
        }
        let (low, high) = (self.constant(elem, "-4.0"), self.constant(elem, "4.0"));
        let above = self.line(&format!("arith.maximumf {value}, {low} : {elem}"));
        self.line(&format!("arith.minimumf {above}, {high} : {elem}"))
    }

    /// `value` as another element type.
    pub fn cast(&mut self, value: &str, from: &str, to: &str) -> String {
        let bits = |elem: &str| -> u32 {
            elem.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().expect("a width")
        };
        let direct =
            |body: &mut Self, op: &str| body.line(&format!("{op} {value} : {from} to {to}"));
        match (is_float(from), is_float(to)) {
            _ if from == to => value.to_owned(),
            (true, true) if bits(from) < bits(to) => direct(self, "arith.extf"),
            (true, true) if bits(from) > bits(to) => direct(self, "arith.truncf"),
            (true, true) => {
                let wide = self.line(&format!("arith.extf {value} : {from} to f32"));
                self.line(&format!("arith.truncf {wide} : f32 to {to}"))
            }
            (true, false) if to == "i1" => {
                let zero = self.constant(from, "0.0");
                self.line(&format!("arith.cmpf ogt, {value}, {zero} : {from}"))
            }
            (true, false) => direct(self, "arith.fptosi"),
            (false, true) if from == "i1" => direct(self, "arith.uitofp"),
            (false, true) => {
                let number = self.line(&format!("arith.sitofp {value} : {from} to {to}"));
                self.clamped(&number, to)
            }
            (false, false) if bits(from) > bits(to) => direct(self, "arith.trunci"),
            (false, false) if from == "i1" => direct(self, "arith.extui"),
            (false, false) => direct(self, "arith.extsi"),
        }
    }

    pub fn binary(&mut self, random: &mut Random, a: &str, b: &str, elem: &str) -> String {
        let op = match elem {
            "i1" => *random.choose(&["andi", "ori", "xori", "addi", "muli", "maxui", "minsi"]),
            _ if is_float(elem) => {
                *random.choose(&["addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf"])
            }
            _ => *random.choose(&[
                "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui",
            ]),
        };
        let result = self.line(&format!("arith.{op} {a}, {b} : {elem}"));
        self.clamped(&result, elem)
    }

    pub fn unary(&mut self, random: &mut Random, a: &str, elem: &str) -> String {
        match (elem, random.below(3)) {
            ("i1", _) => {
                let yes = self.constant("i1", "true");
                self.line(&format!("arith.xori {a}, {yes} : i1"))
            }
            (_, 0) if is_float(elem) => self.line(&format!("arith.negf {a} : {elem}")),
            (_, 0) => {
                let three = self.constant(elem, "3");
                let op = *random.choose(&["arith.divsi", "arith.remsi", "arith.ceildivsi"]);
                self.line(&format!("{op} {a}, {three} : {elem}"))
            }
            (_, 1) => {
                let zero = self.constant(elem, if is_float(elem) { "0.0" } else { "0" });
                let compare = match is_float(elem) {
                    true => format!(
                        "arith.cmpf {}, {a}, {zero} : {elem}",
                        random.choose(&["olt", "une"])
                    ),
                    false => format!(
                        "arith.cmpi {}, {a}, {zero} : {elem}",
                        random.choose(&["slt", "ne"])
                    ),
                };
                let is = self.line(&compare);
                let one = self.constant(elem, if is_float(elem) { "1.0" } else { "1" });
                self.line(&format!("arith.select {is}, {one}, {a} : {elem}"))
            }
            (_, _) if is_float(elem) => self.line(&format!("math.absf {a} : {elem}")),
            (_, _) => {
                let two = self.constant(elem, "2");
                let op = *random.choose(&["arith.shli", "arith.shrsi", "arith.shrui"]);
                self.line(&format!("{op} {a}, {two} : {elem}"))
            }
        }
    }
}
