//! `weft explain`: the figures of its page are those of the run, and a browser opens it.

mod browser;
mod decisions;
mod desk;
mod figures;
mod joining;
mod links;
mod model_explorer;
mod refusals;
