//! Tiles by Roller's policies: the published lists, the rules that tiles keep, what is refused.

mod golden;
mod suite;
mod support;
