//! Calls of functions that the model defines: their nodes are planned in the place of the call.

use super::scope::Scope;
use super::{Bound, Planner};
use crate::error::{Report, Result};
use crate::function::Function;
use crate::graph::{called, describe};
use crate::proto::NodeProto;

/// More calls in each other than any exporter writes, and fewer than the stack has room for.
const CALLS_MAX: usize = 64;

impl<'m> Planner<'m> {
    /// The results of a call.
    pub(super) fn call(
        &mut self,
        proto: &'m NodeProto,
        function: &'m Function,
        inputs: Vec<Option<Bound>>,
    ) -> Result<Vec<Bound>> {
        let (takes, gives) = (function.graph.inputs.len(), function.graph.outputs.len());
        if inputs.len() > takes || proto.output.len() > gives {
            let (given, wanted) = (inputs.len(), proto.output.len());
            return Err(Report::new(format!(
                "{} gives {given} inputs to a function",
                describe(proto)
            ))
            .note(format!("and wants {wanted} outputs"))
            .help(format!("the model defines it with {takes} inputs and {gives} outputs"))
            .invalid());
        }
        if self.scopes.len() > CALLS_MAX {
            return Err(Report::new(format!(
                "{} is in a function that calls itself",
                describe(proto)
            ))
            .note(format!("it is inside of {CALLS_MAX} calls"))
            .invalid());
        }
        let defaults = function.defaults.iter().map(|attribute| (attribute.name(), attribute));
        let attributes = defaults.chain(self.attributes(proto)).collect();
        let name = called(proto);
        let path = format!("{}{name}/", self.path());
        let scope = Scope::of_function(&function.graph, &function.opsets, attributes, path);
        // What a call leaves out is absent inside, too.
        let absent = std::iter::repeat(Bound::Nothing);
        let inputs = inputs.into_iter().map(|input| input.unwrap_or(Bound::Nothing));
        self.run(scope, inputs.chain(absent).take(takes))
    }
}
