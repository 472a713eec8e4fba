//! Graph inputs, whose shapes must be known to the last dimension.

use std::collections::BTreeMap;

use weft_dialects::graph::Dims;
use weft_runtime::length::{Length, Symbol};

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::lengths::Symbols;
use crate::proto::tensor_shape_proto::dimension::Value as Dim;
use crate::proto::type_proto::Value as Kind;
use crate::proto::{TypeProto, ValueInfoProto, type_proto};
use crate::types::{ElementType, Shape, TensorType};

/// The caller's options for a model.
#[derive(Debug, Clone)]
pub struct Options {
    /// The graph's name for the file that holds its weights.
    pub file: String,
    /// Shapes of graph inputs, by name. They fill in what the model leaves open.
    pub shapes: BTreeMap<String, Vec<i64>>,
    /// Shapes of tensors that are there to be run on, by name or, as `arr_0`, by number. They fill
    /// in what the model leaves open and `shapes` does not say; the model need not have such inputs.
    pub offered: BTreeMap<String, Vec<i64>>,
    /// Extents of symbolic dimensions, by the symbol that the model uses.
    pub symbols: BTreeMap<String, i64>,
    /// What callers may decide between from run to run, by the symbol that the model uses.
    pub dims: Vec<Symbol>,
    /// The outputs that lie in the memory of an input.
    pub aliases: Vec<Alias>,
    /// How many tensors graph inputs hold that are sequences, or optional, by name.
    pub tensors: BTreeMap<String, usize>,
    /// Values of graph inputs, by name. They stay inputs; where an operator needs to know an input
    /// at compile time, such as the shape of a Reshape, this is what it is told.
    pub known_inputs: BTreeMap<String, Elements>,
    /// Whether loops are written out, and both branches of an If done: what is repeated when a model runs, not
    /// all machines can do.
    pub unroll: bool,
    /// The most rounds of a loop that nothing bounds; a run in which there would be more ends with an error.
    pub rounds: u32,
}

/// Outputs that lie in the memory of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alias {
    /// By name; a `*` in both stands for any text.
    Named {
        /// The input.
        input: String,
        /// The output.
        output: String,
    },
    /// All inputs that have no other use than that rows are put behind theirs, which gives an output.
    Caches,
}

impl std::str::FromStr for Alias {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "caches" {
            return Ok(Self::Caches);
        }
        let stars = |name: &str| name.matches('*').count();
        match text.split_once('=') {
            Some((input, output))
                if !input.is_empty()
                    && !output.is_empty()
                    && stars(input) == stars(output)
                    && stars(input) < 2 =>
            {
                Ok(Self::Named { input: input.to_owned(), output: output.to_owned() })
            }
            _ => {
                Err("an input and an output, as past=present or past_*=present_*, or `caches`"
                    .into())
            }
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            file: "model".to_owned(),
            shapes: BTreeMap::new(),
            offered: BTreeMap::new(),
            symbols: BTreeMap::new(),
            dims: Vec::new(),
            aliases: Vec::new(),
            tensors: BTreeMap::new(),
            known_inputs: BTreeMap::new(),
            unroll: false,
            rounds: i32::MAX as u32,
        }
    }
}

impl Options {
    /// Adds a shape from the command line: `x=1x3x224x224`; `x=` is a scalar.
    ///
    /// ```
    /// let mut options = weft_onnx::Options::default();
    /// options.add_shape("x=1x3").unwrap();
    /// assert_eq!(options.shapes["x"], [1, 3]);
    /// assert!(options.add_shape("x=1,3").is_err());
    /// ```
    pub fn add_shape(&mut self, argument: &str) -> Result<()> {
        let wrong = || {
            Report::new(format!("{argument:?} is not a shape of an input"))
                .help("a name and extents: x=1x3x224x224")
                .invalid()
        };
        let (name, shape) = argument.rsplit_once('=').ok_or_else(wrong)?;
        let extent = |text: &str| text.parse::<u32>().map(i64::from);
        let dims = shape.split('x').filter(|_| !shape.is_empty()).map(extent);
        let dims = dims.collect::<Result<_, _>>().map_err(|_| wrong())?;
        self.shapes.insert(name.to_owned(), dims);
        Ok(())
    }
}

/// What an input of the model is to the graph: `x` of a tensor; `x.0`, `x.1` and so on of a sequence.
pub enum Port {
    /// An input of its own, and its lengths.
    Tensor(String, TensorType, Dims),
    /// One for each tensor.
    Sequence(Vec<Port>),
    /// None: an optional value that is absent.
    Nothing,
}

/// A declared type: a tensor of some element type, with a shape that may be open or missing.
pub struct Declared<'a> {
    /// The element type.
    pub element: ElementType,
    /// The dimensions, where the rank is declared.
    pub dims: Option<Vec<Extent<'a>>>,
}

impl Declared<'_> {
    /// Returns whether an extent is left open.
    fn is_open(&self) -> bool {
        let known = |extent: &Extent<'_>| matches!(extent, Extent::Known(_));
        !self.dims.as_ref().is_some_and(|dims| dims.iter().all(known))
    }
}

/// One declared dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent<'a> {
    /// A number.
    Known(i64),
    /// A symbol, the same wherever it stands.
    Symbol(&'a str),
    /// Nothing.
    Open,
}

/// The type a graph input or output declares; `None` when it declares none.
pub fn declared<'a>(info: &'a ValueInfoProto, what: &str) -> Result<Option<Declared<'a>>> {
    match info.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
        Some(kind) => declared_by(kind, what).map(Some),
        None => Ok(None),
    }
}

/// The type that a graph output declares of its tensors: of all of them, where it is a sequence.
pub fn declared_tensor<'a>(info: &'a ValueInfoProto, what: &str) -> Result<Option<Declared<'a>>> {
    let mut kind = info.r#type.as_ref().and_then(|ty| ty.value.as_ref());
    while let Some(inner) = kind.and_then(held) {
        kind = inner.value.as_ref();
    }
    kind.map(|kind| declared_by(kind, what)).transpose()
}

/// The type that a sequence or an optional value holds.
fn held(kind: &Kind) -> Option<&TypeProto> {
    match kind {
        Kind::SequenceType(sequence) => sequence.elem_type.as_deref(),
        Kind::OptionalType(optional) => optional.elem_type.as_deref(),
        _ => None,
    }
}

fn declared_by<'a>(kind: &'a Kind, what: &str) -> Result<Declared<'a>> {
    let Kind::TensorType(type_proto::Tensor { elem_type, shape }) = kind else {
        let kind = match kind {
            Kind::SequenceType(_) => "a sequence",
            Kind::MapType(_) => "a map",
            Kind::OptionalType(_) => "optional",
            _ => "a sparse tensor",
        };
        return Err(Report::new(format!("{what} is {kind}")).help("a tensor").unsupported());
    };
    let element = ElementType::from_onnx(elem_type.unwrap_or(0), what)?;
    let extent = |dim: &'a crate::proto::tensor_shape_proto::Dimension| match &dim.value {
        // Some exporters write -1 for what they do not know.
        Some(Dim::DimValue(extent)) if *extent >= 0 => Extent::Known(*extent),
        Some(Dim::DimParam(symbol)) if !symbol.is_empty() => Extent::Symbol(symbol),
        _ => Extent::Open,
    };
    let dims = shape.as_ref().map(|shape| shape.dim.iter().map(extent).collect());
    Ok(Declared { element, dims })
}

/// What every input of the model is to the graph, in order.
pub fn resolve(
    inputs: &[ValueInfoProto],
    options: &Options,
    lengths: &Symbols,
) -> Result<Vec<Port>> {
    let mut flat = Vec::new();
    let ports = inputs.iter().map(|input| flatten(input, options, &mut flat));
    let ports = ports.collect::<Result<Vec<_>>>()?;
    let given = options.shapes.keys().chain(options.known_inputs.keys());
    for name in given {
        if !flat.iter().any(|input| input.name() == name) {
            let names: Vec<_> = flat.iter().map(|input| format!("{:?}", input.name())).collect();
            return Err(Report::new(format!("the model has no input {name:?}"))
                .help(format!("its inputs: {}", names.join(", ")))
                .invalid());
        }
    }
    let all = flat.iter().enumerate();
    let all: Vec<_> =
        all.map(|(number, input)| Bound::of(number, input, options)).collect::<Result<_>>()?;
    // A symbol means one extent, so an input whose shape is given tells about the others.
    let mut symbols = options.symbols.clone();
    all.iter().try_for_each(|input| input.tell(&mut symbols, lengths))?;
    let types = all.iter().map(|input| Ok((input.ty(&symbols, lengths)?, input.dims(lengths))));
    let types = types.collect::<Result<Vec<_>>>()?;
    let mut types = types.into_iter();
    Ok(ports.into_iter().map(|port| typed(port, &mut types)).collect())
}

/// A port with the next types.
fn typed(port: Port, types: &mut impl Iterator<Item = (TensorType, Dims)>) -> Port {
    match port {
        Port::Nothing => Port::Nothing,
        Port::Tensor(name, ..) => {
            let (ty, dims) = types.next().expect("there is a type for each tensor");
            Port::Tensor(name, ty, dims)
        }
        Port::Sequence(all) => {
            Port::Sequence(all.into_iter().map(|port| typed(port, types)).collect())
        }
    }
}

/// What an input is to the graph, whose own inputs go to `flat`; their types are not yet known.
fn flatten(
    input: &ValueInfoProto,
    options: &Options,
    flat: &mut Vec<ValueInfoProto>,
) -> Result<Port> {
    let (name, kind) = (input.name(), input.r#type.as_ref().and_then(|ty| ty.value.as_ref()));
    let Some(inner) = kind.and_then(held) else {
        flat.push(input.clone());
        let unknown = TensorType::scalar(ElementType::Bool);
        return Ok(Port::Tensor(name.to_owned(), unknown, Vec::new()));
    };
    let is_sequence = matches!(kind, Some(Kind::SequenceType(_)));
    let Some(&count) = options.tensors.get(name) else {
        let what = if is_sequence { "a sequence" } else { "optional" };
        return Err(Report::new(format!("input {name:?} is {what}"))
            .help(format!("the number of its tensors is needed: --tensors {name}=N"))
            .unsupported());
    };
    let mut of = |name: String, options: &Options| {
        let r#type = Some(inner.clone());
        flatten(&ValueInfoProto { name: Some(name), r#type, ..Default::default() }, options, flat)
    };
    if is_sequence {
        // A symbol in the type of a sequence means another extent of each tensor.
        let mut inner = inner.clone();
        if let Some(Kind::TensorType(tensor)) = &mut inner.value {
            let dims = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dim);
            dims.filter(|dim| matches!(dim.value, Some(Dim::DimParam(_))))
                .for_each(|dim| dim.value = None);
        }
        let mut of = |name: String, options: &Options| {
            let (name, r#type) = (Some(name), Some(inner.clone()));
            flatten(&ValueInfoProto { name, r#type, ..Default::default() }, options, flat)
        };
        let all = (0..count).map(|at| of(format!("{name}.{at}"), options));
        return Ok(Port::Sequence(all.collect::<Result<_>>()?));
    }
    let holds_sequence = matches!(inner.value, Some(Kind::SequenceType(_)));
    // An empty sequence is not absent, but nobody can give one.
    match count {
        0 => Ok(Port::Nothing),
        1 => of(name.to_owned(), options),
        _ if holds_sequence => of(name.to_owned(), options),
        _ => Err(Report::new(format!("input {name:?} is optional, and given {count} tensors"))
            .help("none or one")
            .invalid()),
    }
}

/// A graph input, as it is declared and as options bind it.
struct Bound<'a> {
    name: &'a str,
    /// Its name in errors.
    what: String,
    declared: Declared<'a>,
    /// The shape that it is given.
    shape: Option<&'a [i64]>,
}

impl<'a> Bound<'a> {
    fn of(number: usize, input: &'a ValueInfoProto, options: &'a Options) -> Result<Self> {
        let what = format!("input {:?}", input.name());
        let declared = declared(input, &what)?;
        let declared = declared.ok_or_else(|| {
            Report::new(format!("{what} has no type")).help("a tensor type").malformed()
        })?;
        let known = options.known_inputs.get(input.name());
        if let Some(known) = known
            && known.ty().element() != declared.element
        {
            return Err(Report::new(format!("{what} is bound to a value of type {}", known.ty()))
                .note(format!("the model declares {}", declared.element))
                .invalid());
        }
        let bound = options.shapes.get(input.name()).map(Vec::as_slice);
        if let (Some(known), Some(bound)) = (known, bound)
            && known.ty().dims() != bound
        {
            return Err(Report::new(format!("{what} is bound to a value of type {}", known.ty()))
                .note(format!("and to the shape {}", Shape(bound)))
                .invalid());
        }
        let offered = || {
            let named = options.offered.get(input.name());
            let found = named.or_else(|| options.offered.get(&format!("arr_{number}")));
            found.filter(|_| declared.is_open()).map(Vec::as_slice)
        };
        let shape = bound.or(known.map(|known| known.ty().dims())).or_else(offered);
        Ok(Self { name: input.name(), what, declared, shape })
    }

    /// Says what its symbols mean, where its shape is given.
    fn tell(&self, symbols: &mut BTreeMap<String, i64>, lengths: &Symbols) -> Result<()> {
        let what = &self.what;
        let (Some(dims), Some(bound)) = (&self.declared.dims, self.shape) else {
            return Ok(());
        };
        if dims.len() != bound.len() {
            return Err(Report::new(format!("{what} is given the shape {}", Shape(bound)))
                .note(format!("the model declares {} dimensions", dims.len()))
                .invalid());
        }
        for (at, (&dim, &extent)) in dims.iter().zip(bound).enumerate() {
            let meant = match dim {
                // Callers decide it from run to run.
                Extent::Symbol(symbol) if lengths.get(symbol).is_some() => continue,
                Extent::Known(declared) => declared,
                Extent::Symbol(symbol) => *symbols.entry(symbol.to_owned()).or_insert(extent),
                Extent::Open => extent,
            };
            if meant != extent {
                return Err(Report::new(format!("{what} is given the shape {}", Shape(bound)))
                    .note(match dim {
                        Extent::Symbol(symbol) => {
                            format!("its dimension {at} is {symbol:?}, which is {meant} elsewhere")
                        }
                        _ => format!("the model declares {meant} for dimension {at}"),
                    })
                    .invalid());
            }
        }
        Ok(())
    }

    /// The length of each dimension.
    fn dims(&self, lengths: &Symbols) -> Dims {
        let length = |dim: &Extent<'_>| match dim {
            Extent::Symbol(symbol) => Some(Length::symbol(&lengths.get(symbol)?.name)),
            Extent::Known(_) | Extent::Open => None,
        };
        self.declared.dims.iter().flatten().map(length).collect()
    }

    fn ty(&self, symbols: &BTreeMap<String, i64>, lengths: &Symbols) -> Result<TensorType> {
        let Self { what, declared, .. } = self;
        let open = |which: String| {
            // Known extents are in the example.
            let extent = |dim: &Extent<'_>| match dim {
                Extent::Known(extent) => extent.to_string(),
                Extent::Symbol(symbol) if symbols.contains_key(*symbol) => {
                    symbols[*symbol].to_string()
                }
                Extent::Symbol(_) | Extent::Open => "N".to_owned(),
            };
            let dims = declared.dims.iter().flatten().map(extent).collect::<Vec<_>>();
            let example = if dims.is_empty() { "N".to_owned() } else { dims.join("x") };
            Report::new(format!("{what} has {which}"))
                .help(format!(
                    "every extent is needed, or how long it may be: --shape {}={example}, or --dim NAME=1..512",
                    self.name
                ))
                .unsupported()
        };
        let most = |dim: &Extent<'_>| match dim {
            Extent::Symbol(symbol) => lengths.get(symbol).map(|symbol| symbol.most as i64),
            Extent::Known(_) | Extent::Open => None,
        };
        let dims = match (&declared.dims, self.shape) {
            (None, Some(bound)) => bound.to_vec(),
            (Some(dims), Some(bound)) => {
                dims.iter().zip(bound).map(|(dim, &extent)| most(dim).unwrap_or(extent)).collect()
            }
            (None, None) => return Err(open("no shape".to_owned())),
            (Some(dims), None) => dims
                .iter()
                .enumerate()
                .map(|(at, dim)| match *dim {
                    Extent::Known(extent) => Ok(extent),
                    Extent::Symbol(symbol) => most(dim)
                        .or_else(|| symbols.get(symbol).copied())
                        .ok_or_else(|| open(format!("an unknown dimension {at}, {symbol:?}"))),
                    Extent::Open => Err(open(format!("an unknown dimension {at}"))),
                })
                .collect::<Result<_>>()?,
        };
        TensorType::new(declared.element, dims, what)
    }
}
