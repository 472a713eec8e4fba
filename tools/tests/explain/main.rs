//! `weft explain`: the figures of its page are those of the run, and a browser opens it.

mod browser;
mod desk;
mod figures;
mod joining;
mod model_explorer;
mod refusals;
