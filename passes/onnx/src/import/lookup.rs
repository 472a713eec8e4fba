//! From a node's name to its operator, or to those that it might mean.

use std::collections::BTreeMap;

use super::structure::STRUCTURES;
use crate::error::{Report, Result};
use crate::graph::describe;
use crate::model::{domain, operators_of};
use crate::ops;
use crate::proto::NodeProto;

/// The operator of a node, in the version that the model asks for.
pub fn operator(
    opsets: &BTreeMap<String, i64>,
    proto: &NodeProto,
) -> Result<&'static ops::Operator> {
    let (domain, name) = (domain(proto.domain()), proto.op_type());
    let version = version(opsets, proto)?;
    let first = ops::forms(domain, name).map(|operator| operator.since).min();
    let Some(first) = first else {
        return Err(Report::new(format!("{} is not supported", describe(proto)))
            .note(match domain {
                "" => format!("operator {name:?}, version {version}"),
                _ => format!("operator {name:?} of domain {domain:?}"),
            })
            .help(alike(domain, name))
            .unsupported());
    };
    ops::find(domain, name, version).ok_or_else(|| {
        Report::new(format!("{} is not supported in version {version}", describe(proto)))
            .help(match ops::end(domain, name) {
                Some(last) => format!("{name} from version {first} to {last}"),
                None => format!("{name} since version {first}, up to {}", ops::OPSET_MAX),
            })
            .unsupported()
    })
}

/// The version of a node's operators that its graph imports.
pub fn version(opsets: &BTreeMap<String, i64>, proto: &NodeProto) -> Result<i64> {
    let domain = domain(proto.domain());
    let version = opsets.get(domain).copied().unwrap_or(0);
    if let Some(known) = ops::DOMAINS.iter().find(|known| known.name == domain) {
        expect_version(proto, known, version)?;
    }
    Ok(version)
}

/// Fails unless the model imports a version of the operators of a domain that is understood.
fn expect_version(proto: &NodeProto, domain: &ops::Domain, version: i64) -> Result<()> {
    let operators = operators_of(domain.name);
    if version == 0 {
        return Err(Report::new(format!("{} needs {operators}", describe(proto)))
            .note("the model imports no version of them")
            .help(format!(
                "an opset_import of domain {:?}, up to version {}",
                domain.name, domain.newest
            ))
            .invalid());
    }
    if version > domain.newest {
        return Err(Report::new(format!("the model uses version {version} of {operators}"))
            .help(match domain.oldest == domain.newest {
                true => domain.newest.to_string(),
                false => format!("{} to {}", domain.oldest, domain.newest),
            })
            .unsupported());
    }
    Ok(())
}

/// The supported operators whose names are most like `name`, those of its own domain before others.
fn alike(domain: &str, name: &str) -> String {
    let mut names: Vec<_> = ops::every_form()
        .chain(STRUCTURES.iter().map(|structure| &structure.operator))
        .map(|operator| (operator.name, operator.domain != domain, operator.full_name()))
        .chain([("Constant", !domain.is_empty(), "Constant".to_owned())])
        .map(|(known, foreign, full)| (strsim::jaro_winkler(name, known), foreign, full))
        .collect();
    names.sort_by(|(a, away, first), (b, far, second)| {
        b.total_cmp(a).then(away.cmp(far)).then(first.cmp(second))
    });
    names.dedup_by(|(.., next), (.., name)| next == name);
    let count = names.len();
    let most = names.iter().take(3).filter(|(alike, ..)| *alike > 0.75);
    let most: Vec<_> = most.map(|(.., name)| &name[..]).collect();
    match most[..] {
        [] => format!("one of the {count} that `weft conformance --operators` lists"),
        _ => format!("{}; `weft conformance --operators` lists all {count}", most.join(", ")),
    }
}
