//! The entry of a program: the loop that every block goes through.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};

use super::super::boxes::{compare, count, when};
use super::super::{Isa, storage};
use super::Form;
use super::table::{ARM, STEP, UNIT, WAIT};
use crate::nest::emit_sum;

/// Bytes of a word of the table, of a counter and of an address.
const WORD: u64 = 8;

/// Writes the entry and its table before an operation; `types` are those of the operands of each body.
pub fn write<'c>(
    context: &'c Context,
    before: Op<'c>,
    isa: Isa,
    form: &Form,
    types: &[Vec<Type<'c>>],
) {
    let mut b = Builder::before(context, before);
    let table = declare_table(&mut b, form);
    let (long, index) = (ty::int(context, 64), Type::index(context));
    let inputs = [long, words(context, form.blocks), words(context, form.bases)];
    let func = declare(&mut b, isa, form, &inputs);
    let block = b.block(func.region(0), &inputs);
    let mut b = b.into_block(block);
    let [epoch, counters, bases] = [0, 1, 2].map(|number| block.arg(number));
    let [thread, unit] = [isa.thread(&mut b), isa.block(&mut b)]
        .map(|number| b.op("arith.index_castui", &[number], &[index]).result(0));
    let symbol = [("name", attr::of_symbol(context, &form.table_symbol()))];
    let table = b.op_with("memref.get_global", &[], &[table], &symbol, 0).result(0);
    let entry = Entry { context, isa, form, types, table, epoch, counters, bases, thread, unit };
    let own = |b: &mut Builder<'c>, word: i64| {
        let at = emit_sum(b, &[(unit, UNIT as i64)], word);
        entry.place(b, at)
    };
    let [first, end, arm] = [0, 1, 2].map(|word| own(&mut b, word));
    let step = b.index(STEP as i64);
    count(&mut b, first, end, step, |b, at| entry.step(b, first, arm, at));
    b.op("func.return", &[], &[]);
}

/// Numbers of 64 bits in the memory that all units share.
fn words(context: &Context, count: u64) -> Type<'_> {
    ty::memref(&[count], ty::int(context, 64), Some(attr::of_int(context, 1)))
}

fn declare_table<'c>(b: &mut Builder<'c>, form: &Form) -> Type<'c> {
    let context = b.context();
    let count = form.table.words.len() as u64;
    let bytes: Vec<u8> = form.table.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let ty = words(context, count);
    let value = attr::dense(ty::tensor(&[count], ty::int(context, 64)), &bytes);
    let attributes = [
        ("sym_name", attr::of_string(context, &form.table_symbol())),
        ("sym_visibility", attr::of_string(context, "private")),
        ("type", attr::of_type(ty)),
        ("initial_value", value),
        ("constant", attr::unit(context)),
        ("alignment", attr::of_int(context, WORD as i64)),
    ];
    b.op_with("memref.global", &[], &[], &attributes, 0);
    ty
}

fn declare<'c>(b: &mut Builder<'c>, isa: Isa, form: &Form, inputs: &[Type<'c>]) -> Op<'c> {
    let context = b.context();
    let all = isa.size_attributes(form.threads).into_iter();
    let all = all
        .chain(isa.resident_attributes(form.registers))
        .map(|(name, value)| attr::of_strings(context, &[name, value.as_str()]));
    let all: Vec<_> = all.collect();
    let attributes = [
        ("sym_name", attr::of_string(context, &form.symbol)),
        ("function_type", attr::of_type(ty::of_function(context, inputs, &[]))),
        ("passthrough", attr::of_array(context, &all)),
    ];
    b.op_with("func.func", &[], &[], &attributes, 1)
}

struct Entry<'a, 'c> {
    context: &'c Context,
    isa: Isa,
    form: &'a Form,
    types: &'a [Vec<Type<'c>>],
    table: Val<'c>,
    epoch: Val<'c>,
    counters: Val<'c>,
    bases: Val<'c>,
    /// Its number in the block.
    thread: Val<'c>,
    unit: Val<'c>,
}

impl<'c> Entry<'_, 'c> {
    /// The word at a place of the table.
    fn word(&self, b: &mut Builder<'c>, at: Val<'c>) -> Val<'c> {
        storage::load(b, self.table, &[at])
    }

    /// The word at a place of the table, as an index.
    fn place(&self, b: &mut Builder<'c>, at: Val<'c>) -> Val<'c> {
        let (word, index) = (self.word(b, at), Type::index(self.context));
        b.op("arith.index_cast", &[word], &[index]).result(0)
    }

    /// The step whose words begin at `at`, the first of the unit being at `first`.
    fn step(&self, b: &mut Builder<'c>, first: Val<'c>, arm: Val<'c>, at: Val<'c>) {
        let next = |b: &mut Builder<'c>, word: i64| emit_sum(b, &[(at, 1)], word);
        let [at_end, at_waits, at_signal] = [1, 2, 3].map(|word| next(b, word));
        let [begin, end] = [at, at_end].map(|at| self.word(b, at));
        let waits = self.place(b, at_waits);
        let zero = b.index(0);
        let some = compare(b, "ne", waits, zero);
        when(b, Some(some), |b| self.wait(b, waits));

        let done = emit_sum(b, &[(at, 1), (first, -1)], 0);
        let (index, ratio) = (Type::index(self.context), b.index((STEP / ARM) as i64));
        let done = b.op("arith.divui", &[done, ratio], &[index]).result(0);
        let row = emit_sum(b, &[(arm, 1), (done, 1)], 0);
        let at_operands = emit_sum(b, &[(row, 1)], 1);
        let [body, operands] = [row, at_operands].map(|at| self.place(b, at));
        self.call(b, body, begin, end, operands);

        self.isa.meet_before_telling(b);
        let signal = self.word(b, at_signal);
        let none = b.integer(ty::int(self.context, 64), 0);
        let told = compare(b, "ne", signal, none);
        when(b, Some(told), |b| {
            let one = b.index(1);
            let first = compare(b, "ult", self.thread, one);
            when(b, Some(first), |b| self.tell(b, signal));
        });
    }

    /// Waits for the units of a list, a thread for each.
    fn wait(&self, b: &mut Builder<'c>, list: Val<'c>) {
        let length = self.place(b, list);
        let (zero, one) = (b.index(0), b.index(1));
        count(b, zero, length, one, |b, number| {
            let word = |b: &mut Builder<'c>, word: i64| {
                emit_sum(b, &[(list, 1), (number, WAIT as i64)], 1 + word)
            };
            let [at_first, at_end, at_number] = [0, 1, 2].map(|number| word(b, number));
            let [first, end] = [at_first, at_end].map(|at| self.place(b, at));
            let number = self.word(b, at_number);
            let long = ty::int(self.context, 64);
            let wanted = b.op("arith.addi", &[self.epoch, number], &[long]).result(0);
            let mine = emit_sum(b, &[(first, 1), (self.thread, 1)], 0);
            let threads = b.index(self.form.threads as i64);
            count(b, mine, end, threads, |b, other| {
                // Its own steps are done in their order.
                let foreign = compare(b, "ne", other, self.unit);
                when(b, Some(foreign), |b| self.spin(b, other, wanted));
            });
        });
        self.isa.meet_after_hearing(b);
    }

    /// Reads the counter of a unit until it is there.
    fn spin(&self, b: &mut Builder<'c>, other: Val<'c>, wanted: Val<'c>) {
        let counter = self.counter(b, other);
        let again = b.op_with("scf.while", &[], &[], &[], 2);
        let block = b.block(again.region(0), &[]);
        let mut inside = Builder::at_end(self.context, block);
        let long = ty::int(self.context, 64);
        let found = inside.op_with("llvm.load", &[counter], &[long], &self.ordered(4), 0).result(0);
        let early = compare(&mut inside, "slt", found, wanted);
        inside.op("scf.condition", &[early], &[]);
        let block = b.block(again.region(1), &[]);
        Builder::at_end(self.context, block).op("scf.yield", &[], &[]);
    }

    /// Says that a step is done.
    fn tell(&self, b: &mut Builder<'c>, number: Val<'c>) {
        let counter = self.counter(b, self.unit);
        let long = ty::int(self.context, 64);
        let value = b.op("arith.addi", &[self.epoch, number], &[long]).result(0);
        b.op_with("llvm.store", &[value, counter], &[], &self.ordered(5), 0);
    }

    /// Attributes of an access of LLVM's ordering number 4, acquire, or 5, release.
    fn ordered(&self, ordering: i64) -> [(&'static str, weft_dialects::ir::Attribute<'c>); 3] {
        let context = self.context;
        [
            ("ordering", attr::of_int(context, ordering)),
            ("syncscope", attr::of_string(context, self.isa.device_scope())),
            ("alignment", attr::of_int(context, WORD as i64)),
        ]
    }

    /// Returns the address of a unit's counter.
    fn counter(&self, b: &mut Builder<'c>, unit: Val<'c>) -> Val<'c> {
        let index = Type::index(self.context);
        let extract = "memref.extract_aligned_pointer_as_index";
        let base = b.op(extract, &[self.counters], &[index]).result(0);
        let at = emit_sum(b, &[(base, 1), (unit, WORD as i64)], 0);
        let at = b.op("arith.index_cast", &[at], &[ty::int(self.context, 64)]).result(0);
        b.op("llvm.inttoptr", &[at], &[llvm::pointer(self.context, 1)]).result(0)
    }

    /// Calls the function of a body with its operands.
    fn call(
        &self,
        b: &mut Builder<'c>,
        body: Val<'c>,
        begin: Val<'c>,
        end: Val<'c>,
        operands: Val<'c>,
    ) {
        let cases: Vec<i64> = (0..self.form.bodies.len() as i64).collect();
        let cases_attr = [("cases", attr::of_ints(self.context, &cases))];
        let switch = b.op_with("scf.index_switch", &[body], &[], &cases_attr, 1 + cases.len());
        let none = b.block(switch.region(0), &[]);
        Builder::at_end(self.context, none).op("scf.yield", &[], &[]);
        for (number, body) in self.form.bodies.iter().enumerate() {
            let block = b.block(switch.region(1 + number), &[]);
            let mut inside = Builder::at_end(self.context, block);
            // Threads beyond those of the kernel wait for the others behind it.
            let narrow = (body.launch.threads < self.form.threads).then(|| {
                let threads = inside.index(body.launch.threads as i64);
                compare(&mut inside, "ult", self.thread, threads)
            });
            when(&mut inside, narrow, |b| {
                let mut values = vec![begin, end];
                for (operand, &ty) in self.types[number].iter().enumerate() {
                    let at = emit_sum(b, &[(operands, 1)], 2 * operand as i64);
                    values.push(self.operand(b, at, ty));
                }
                let callee = attr::of_symbol(self.context, &self.form.function(body));
                b.op_with("func.call", &values, &[], &[("callee", callee)], 0);
            });
            inside.op("scf.yield", &[], &[]);
        }
    }

    /// The operand whose base and offset stand at a place of the table, as a row of elements.
    fn operand(&self, b: &mut Builder<'c>, at: Val<'c>, ty: Type<'c>) -> Val<'c> {
        let (context, long) = (self.context, ty::int(self.context, 64));
        let base = self.place(b, at);
        let base = storage::load(b, self.bases, &[base]);
        let at = emit_sum(b, &[(at, 1)], 1);
        let offset = self.word(b, at);
        let address = b.op("arith.addi", &[base, offset], &[long]).result(0);
        let pointer = llvm::pointer(context, 1);
        let address = b.op("llvm.inttoptr", &[address], &[pointer]).result(0);
        // As MLIR holds a memref: both pointers, offset, size, stride. Nothing but the second
        // is passed to a function.
        let one = llvm::array(long, 1);
        let fields = [pointer, pointer, long, one, one];
        let whole = llvm::r#struct(context, &fields, false);
        let mut held = b.op("llvm.mlir.poison", &[], &[whole]).result(0);
        for field in [0, 1] {
            let position = [("position", attr::of_ints(context, &[field]))];
            held =
                b.op_with("llvm.insertvalue", &[held, address], &[whole], &position, 0).result(0);
        }
        let row = storage::flat(context, ty, Some(1));
        b.op("builtin.unrealized_conversion_cast", &[held], &[row]).result(0)
    }
}
