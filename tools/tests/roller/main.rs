//! Tiles by Roller's policies: the published lists, the rules that tiles keep, what is refused.

mod blocks;
mod command;
mod compiled;
mod fusion;
mod gather;
mod golden;
mod instructions;
mod rules;
mod suite;
mod support;
