//! The rules of a plan, each with the two facts that may disagree.

use super::{ALIGN, Alias, Base, CodeKind, Plan, Port};
use crate::length::{Length, Symbol, is_name};

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum PlanError {
    #[error("the plan has no execution unit")]
    NoUnits,
    #[error("{clusters} of {units} units stand for clusters, in {code} code")]
    Clusters { clusters: u32, units: u32, code: &'static str },
    #[error("the {what} of {bytes} bytes cannot be addressed")]
    TooLarge { what: &'static str, bytes: u64 },
    #[error("the size of {kind} `{name}` ({dtype}, shape {shape:?}) overflows")]
    PortTooLarge { kind: &'static str, name: String, dtype: crate::DType, shape: Vec<u64> },
    #[error("two {kind}s are named `{name}`")]
    PortTwice { kind: &'static str, name: String },
    #[error("buffer {buffer} is in {kind} {index}, and the plan has {count}")]
    NoPort { buffer: usize, kind: &'static str, index: u32, count: usize },
    #[error("buffer {buffer} ends at byte {offset} + {bytes} of {base:?}, which has {limit}")]
    BufferRange { buffer: usize, base: Base, offset: u64, bytes: u64, limit: u64 },
    #[error("buffer {buffer} begins at byte {offset} of {base:?}, not a multiple of {ALIGN}")]
    BufferAlign { buffer: usize, base: Base, offset: u64 },
    #[error("the symbol of kernel {kernel} is empty or holds a zero byte: {symbol:?}")]
    Symbol { kernel: usize, symbol: String },
    #[error("step {step} names {what} {index}, and the plan has {count}")]
    NoSuch { step: usize, what: &'static str, index: u32, count: usize },
    #[error("step {step} runs rTasks {begin} to {end}")]
    Tasks { step: usize, begin: u64, end: u64 },
    #[error("{found} steps have a least time, and the plan has {steps}")]
    LeastTimes { found: usize, steps: usize },
    #[error("share {share} is part {part} of {parts} of step {step}, and the plan has {steps}")]
    Share { share: usize, part: u32, parts: u32, step: u32, steps: usize },
    #[error("shift {shift} is of buffer {buffer}, out of order or none of the plan's {count}")]
    Shift { shift: usize, buffer: u32, count: usize },
    #[error(
        "find {find} reads symbol {symbol} from buffer {buffer} behind step {step}: one of them is not there, \
         holds no 64 bits that the whole step writes, or is in another find"
    )]
    Find { find: usize, step: u32, symbol: u32, buffer: u32 },
    #[error("step {step} asks for `{symbol}`, and does not wait for step {find}, which finds it")]
    Early { step: u32, symbol: String, find: u32 },
    #[error(
        "loop {number} repeats the steps {first} to {end}: there are {steps}, it cuts the one before in two, or its \
         name or condition is none"
    )]
    Loop { number: usize, first: u32, end: u32, steps: usize },
    #[error("{who} asks for `{symbol}`, which only steps {first} to {end} know")]
    Outside { who: String, symbol: String, first: u32, end: u32 },
    #[error("step {step} waits for step {wait}, and a loop begins or ends between")]
    WaitAcross { step: usize, wait: u32 },
    #[error("`{symbol}` is a length of an input, and data decide it")]
    FoundInput { symbol: String },
    #[error("{kind} `{name}` has {rank} dimensions, and {lengths} lengths")]
    Lengths { kind: &'static str, name: String, rank: usize, lengths: usize },
    #[error("`{length}` has a name that the plan does not explain; it has {known:?}")]
    Unexplained { length: Length, known: Vec<String> },
    #[error("the symbol `{symbol}` is no name, or none of its lengths is allowed")]
    NoLength { symbol: Symbol },
    #[error(
        "output {output} lies in input {input}; they are no two ports of one type, or in another alias"
    )]
    Alias { input: u32, output: u32 },
    #[error("buffer {buffer} is in input {input}, whose memory is that of output {output}")]
    AliasBuffer { buffer: usize, input: u32, output: u32 },
    #[error("{code} code has an output in the memory of an input; only native code does")]
    AliasCode { code: &'static str },
    #[error("{code} code has lengths that callers or data decide; only native code does")]
    Code { code: &'static str },
    #[error("step {step} waits for step {wait}, which does not come before it")]
    Wait { step: usize, wait: u32 },
    #[error(
        "launch {launch} begins with step {step}, and the one before with step {before}, of {steps}"
    )]
    Launch { launch: usize, step: u32, before: u32, steps: usize },
}

impl Plan {
    /// Holds the plan against every rule that the runtime relies on.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.units == 0 {
            return Err(PlanError::NoUnits);
        }
        let simulated = self.code == CodeKind::Simulated;
        if self.clusters > 0 && (self.clusters >= self.units || !simulated) {
            let (clusters, units, code) = (self.clusters, self.units, self.code.name());
            return Err(PlanError::Clusters { clusters, units, code });
        }
        let memories = [
            ("arena", self.arena_bytes),
            ("host arena", self.host_bytes),
            ("arena of a cluster", self.cluster_bytes),
            ("constants", self.constant_bytes),
        ];
        for (what, bytes) in memories {
            if bytes > i64::MAX as u64 - ALIGN {
                return Err(PlanError::TooLarge { what, bytes });
            }
        }
        let inputs = port_sizes("input", &self.inputs)?;
        let outputs = port_sizes("output", &self.outputs)?;
        self.check_buffers(&inputs, &outputs)?;
        for (kernel, k) in self.kernels.iter().enumerate() {
            if k.scratch_bytes > i64::MAX as u64 / (u64::from(self.units) * 2) {
                return Err(PlanError::TooLarge { what: "scratch", bytes: k.scratch_bytes });
            }
            if k.symbol.is_empty() || k.symbol.contains('\0') {
                return Err(PlanError::Symbol { kernel, symbol: k.symbol.clone() });
            }
        }
        self.check_steps()?;
        self.check_aliases()?;
        self.check_lengths_of()?;
        self.check_loops()?;
        self.check_finds()
    }

    fn check_aliases(&self) -> Result<(), PlanError> {
        for (number, &Alias { input, output }) in self.aliases.iter().enumerate() {
            let ports = [(&self.inputs, input), (&self.outputs, output)];
            let types = ports.map(|(ports, at)| Some(ports.get(at as usize)?.as_type()));
            let twice = |other: &Alias| other.input == input || other.output == output;
            if types[0].is_none()
                || types[0] != types[1]
                || self.aliases[..number].iter().any(twice)
            {
                return Err(PlanError::Alias { input, output });
            }
        }
        for (buffer, own) in self.buffers.iter().enumerate() {
            if let Base::Input(input) = own.base
                && let Some(output) = self.output_within(input as usize)
            {
                return Err(PlanError::AliasBuffer { buffer, input, output: output as u32 });
            }
        }
        match self.code {
            CodeKind::Native => Ok(()),
            _ if self.aliases.is_empty() => Ok(()),
            other => Err(PlanError::AliasCode { code: other.name() }),
        }
    }

    fn check_lengths_of(&self) -> Result<(), PlanError> {
        let lengths = &self.lengths;
        for (kind, ports, dims) in
            [("input", &self.inputs, &lengths.inputs), ("output", &self.outputs, &lengths.outputs)]
        {
            for (port, dims) in ports.iter().zip(dims).filter(|(_, dims)| !dims.is_empty()) {
                let (name, rank, lengths) = (port.name.clone(), port.shape.len(), dims.len());
                if rank != lengths {
                    return Err(PlanError::Lengths { kind, name, rank, lengths });
                }
            }
        }
        if self.has_lengths() && self.code != CodeKind::Native {
            return Err(PlanError::Code { code: self.code.name() });
        }
        let none = |symbol: &&Symbol| {
            let first = symbol.least.next_multiple_of(symbol.multiple.max(1));
            !is_name(&symbol.name) || first > symbol.most || symbol.most > i64::MAX as u64
        };
        if let Some(symbol) = lengths.symbols.iter().find(none) {
            return Err(PlanError::NoLength { symbol: symbol.clone() });
        }
        let known = |name: &str| lengths.symbols.iter().any(|symbol| symbol.name == name);
        let ports = lengths.inputs.iter().chain(&lengths.outputs).flatten();
        let shares = lengths.shares.iter().map(|own| &own.tasks);
        let shifts = lengths.shifts.iter().map(|own| &own.bytes);
        let rounds = lengths.loops.iter().filter_map(|own| own.rounds.as_ref());
        let all = ports.chain(&lengths.table).chain(shares).chain(shifts).chain(rounds);
        for length in all {
            if !length.symbols().into_iter().all(known) {
                let known = lengths.symbols.iter().map(|symbol| symbol.name.clone()).collect();
                return Err(PlanError::Unexplained { length: length.clone(), known });
            }
        }
        for (number, shift) in lengths.shifts.iter().enumerate() {
            let (buffer, count) = (shift.buffer, self.buffers.len());
            let before = number.checked_sub(1).map(|before| lengths.shifts[before].buffer);
            if buffer as usize >= count || before.is_some_and(|before| before >= buffer) {
                return Err(PlanError::Shift { shift: number, buffer, count });
            }
        }
        for (share, own) in lengths.shares.iter().enumerate() {
            let (part, parts, step, steps) = (own.part, own.parts, own.step, self.steps.len());
            if part >= parts || step as usize >= steps {
                return Err(PlanError::Share { share, part, parts, step, steps });
            }
        }
        Ok(())
    }

    fn check_buffers(&self, inputs: &[u64], outputs: &[u64]) -> Result<(), PlanError> {
        for (buffer, b) in self.buffers.iter().enumerate() {
            let port = |kind, sizes: &[u64], index: u32| {
                let missing = PlanError::NoPort { buffer, kind, index, count: sizes.len() };
                sizes.get(index as usize).copied().ok_or(missing)
            };
            let limit = match b.base {
                Base::Input(i) => port("input", inputs, i)?,
                Base::Output(i) => port("output", outputs, i)?,
                Base::Constant => self.constant_bytes,
                Base::Arena => self.arena_bytes,
                Base::Host => self.host_bytes,
                Base::Lengths => self.lengths.table.len() as u64 * 8,
                Base::Cluster(cluster) if cluster < self.clusters => self.cluster_bytes,
                Base::Cluster(index) => {
                    let (kind, count) = ("cluster", self.clusters as usize);
                    return Err(PlanError::NoPort { buffer, kind, index, count });
                }
            };
            if b.offset.checked_add(b.bytes).is_none_or(|end| end > limit) {
                let (base, offset, bytes) = (b.base, b.offset, b.bytes);
                return Err(PlanError::BufferRange { buffer, base, offset, bytes, limit });
            }
            // Code of a processor counts on it; a simulated machine says itself how it moves.
            let counts = self.code != CodeKind::Simulated;
            let placed = matches!(b.base, Base::Constant | Base::Arena | Base::Host);
            if counts && placed && b.offset % ALIGN != 0 {
                return Err(PlanError::BufferAlign { buffer, base: b.base, offset: b.offset });
            }
        }
        Ok(())
    }

    fn check_steps(&self) -> Result<(), PlanError> {
        let (found, steps) = (self.least_ps.len(), self.steps.len());
        if found != 0 && found != steps {
            return Err(PlanError::LeastTimes { found, steps });
        }
        let mut before = 0;
        for (number, &step) in self.launches.iter().enumerate() {
            let launch = number + 1;
            if step <= before || step as usize >= steps {
                return Err(PlanError::Launch { launch, step, before, steps });
            }
            before = step;
        }
        for (step, s) in self.steps.iter().enumerate() {
            let below = |what, index: u32, count: usize| {
                let missing = PlanError::NoSuch { step, what, index, count };
                if (index as usize) < count { Ok(()) } else { Err(missing) }
            };
            below("unit", s.unit, self.units as usize)?;
            below("kernel", s.kernel, self.kernels.len())?;
            below("operator", s.op, self.ops.len())?;
            for &b in &s.buffers {
                below("buffer", b, self.buffers.len())?;
            }
            if s.begin > s.end || s.end > i64::MAX as u64 {
                return Err(PlanError::Tasks { step, begin: s.begin, end: s.end });
            }
            if let Some(&wait) = s.waits.iter().find(|&&w| w as usize >= step) {
                return Err(PlanError::Wait { step, wait });
            }
        }
        Ok(())
    }
}

fn port_sizes(kind: &'static str, ports: &[Port]) -> Result<Vec<u64>, PlanError> {
    let mut names = std::collections::BTreeSet::new();
    ports
        .iter()
        .map(|p| {
            if !names.insert(&p.name) {
                return Err(PlanError::PortTwice { kind, name: p.name.clone() });
            }
            p.bytes().ok_or_else(|| PlanError::PortTooLarge {
                kind,
                name: p.name.clone(),
                dtype: p.dtype,
                shape: p.shape.clone(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::plan::{Buffer, Kernel, Share, Shift, Step};

    /// y = f(x) on two units, the second of which waits for the first.
    fn plan() -> Plan {
        let port = |name: &str| Port { name: name.into(), dtype: DType::F32, shape: vec![4, 8] };
        let step = |unit, waits| Step {
            unit,
            kernel: 0,
            begin: 0,
            end: 2,
            buffers: vec![0, 1, 2],
            waits,
            op: 0,
        };
        Plan {
            name: "test".into(),
            units: 2,
            arena_bytes: 256,
            inputs: vec![port("x")],
            outputs: vec![port("y")],
            buffers: vec![
                Buffer { base: Base::Input(0), offset: 0, bytes: 128 },
                Buffer { base: Base::Arena, offset: 64, bytes: 192 },
                Buffer { base: Base::Output(0), offset: 4, bytes: 124 },
            ],
            kernels: vec![Kernel { symbol: "k".into(), scratch_bytes: 0 }],
            steps: vec![step(0, vec![]), step(1, vec![0])],
            ops: vec!["op".into()],
            ..Plan::default()
        }
    }

    #[test]
    fn accepts_a_good_plan() {
        assert_eq!(plan().validate(), Ok(()));
    }

    /// Breaks one thing and returns the refusal.
    fn broken(change: impl FnOnce(&mut Plan)) -> String {
        let mut p = plan();
        change(&mut p);
        p.validate().expect_err("the plan is broken").to_string()
    }

    #[test]
    fn refuses_by_name() {
        assert!(broken(|p| p.units = 0).contains("no execution unit"));
        assert!(broken(|p| p.clusters = 1).contains("1 of 2 units stand for clusters, in native"));
        assert!(broken(|p| p.buffers[0].base = Base::Cluster(0)).contains("the plan has 0"));
        assert!(broken(|p| p.arena_bytes = u64::MAX).contains("cannot be addressed"));
        assert!(broken(|p| p.inputs[0].shape = vec![1 << 40, 1 << 40]).contains("overflows"));
        assert!(broken(|p| p.outputs.push(p.outputs[0].clone())).contains("two outputs"));
        assert!(broken(|p| p.buffers[0].base = Base::Input(3)).contains("input 3"));
        assert!(broken(|p| p.buffers[2].bytes = 125).contains("ends at byte 4 + 125"));
        assert!(broken(|p| p.buffers[1].offset = u64::MAX).contains("ends at byte"));
        assert!(
            broken(|p| (p.buffers[1].offset, p.buffers[1].bytes) = (32, 8))
                .contains("multiple of 64")
        );
        assert!(broken(|p| p.kernels[0].symbol.clear()).contains("symbol"));
        assert!(broken(|p| p.kernels[0].scratch_bytes = u64::MAX).contains("cannot be addressed"));
        assert!(broken(|p| p.steps[0].unit = 2).contains("unit 2"));
        assert!(broken(|p| p.steps[0].kernel = 1).contains("kernel 1"));
        assert!(broken(|p| p.steps[0].buffers.push(9)).contains("buffer 9"));
        assert!(broken(|p| p.steps[0].op = 1).contains("operator 1"));
        assert!(broken(|p| p.steps[0].begin = 3).contains("rTasks 3 to 2"));
        assert!(broken(|p| p.steps[1].waits.push(1)).contains("waits for step 1"));
        let length = |text: &str| text.parse::<Length>().expect("a length");
        assert!(broken(|p| p.lengths.table.push(length("n"))).contains("`n` has a name"));
        let part = |p: &mut Plan, part, parts, step| {
            p.lengths.shares.push(Share { step, tasks: length("2"), part, parts });
        };
        assert!(broken(|p| part(p, 2, 2, 0)).contains("part 2 of 2 of step 0"));
        assert!(broken(|p| part(p, 0, 2, 5)).contains("step 5, and the plan has 2"));
        assert!(
            broken(|p| p.lengths.inputs.push(vec![length("4")])).contains("2 dimensions, and 1")
        );
        let shift = |p: &mut Plan, buffer| {
            p.lengths.shifts.push(Shift { buffer, bytes: length("8") });
        };
        assert!(broken(|p| shift(p, 3)).contains("shift 0 is of buffer 3"));
        assert!(
            broken(|p| {
                shift(p, 1);
                shift(p, 1);
            })
            .contains("shift 1 is of buffer 1")
        );
        let symbol = |least, most, multiple| Symbol { name: "n".into(), least, most, multiple };
        assert!(
            broken(|p| p.lengths.symbols.push(symbol(5, 7, 8))).contains("none of its lengths")
        );
        assert!(
            broken(|p| {
                p.lengths.symbols.push(symbol(1, 7, 1));
                p.code = CodeKind::Ptx;
            })
            .contains("PTX code has lengths")
        );
    }

    #[test]
    fn an_empty_port_has_no_bytes() {
        let port = Port { name: "e".into(), dtype: DType::F32, shape: vec![u64::MAX, u64::MAX, 0] };
        assert_eq!(port.bytes(), Some(0));
    }
}
