//! Macros for the views of a machine. They read its facts eagerly, as passes ask often, and record
//! each fact that is asked for.

use crate::ir::{Attribute, Op, attr};

pub(super) fn text<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::string)
}

pub(super) fn symbol<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::symbol)
}

pub(super) fn number(op: Op<'_>, name: &str) -> Option<u64> {
    op.attr(name).and_then(attr::int).and_then(|value| u64::try_from(value).ok())
}

pub(super) fn float(op: Op<'_>, name: &str) -> Option<f64> {
    op.attr(name).and_then(attr::float)
}

pub(super) fn array<'c>(op: Op<'c>, name: &str) -> Option<Vec<Attribute<'c>>> {
    op.attr(name).and_then(attr::array)
}

pub(super) fn texts<'c>(op: Op<'c>, name: &str) -> Option<Vec<&'c str>> {
    op.attr(name).and_then(attr::strings)
}

/// A view onto one operation of a machine. Each fact is a method of the name of its attribute,
/// after which it counts as used; those behind `lists` are given as slices.
macro_rules! view {
    (
        $(#[$doc:meta])*
        $view:ident is $kind:literal, from |$from:ident| {
            $($(#[$fact_doc:meta])* $fact:ident: $ty:ty = $read:expr;)*
        }
        lists {
            $($(#[$list_doc:meta])* $list:ident: $element:ty = $read_list:expr;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $view<'c> {
            op: $crate::ir::Op<'c>,
            /// Its name.
            pub name: &'c str,
            used: $crate::device::used::Used,
            $($fact: $ty,)*
            $($list: Vec<$element>,)*
        }

        const _: () = {
            #[allow(non_camel_case_types)]
            enum Fact { $($fact,)* $($list,)* }
            const FACTS: &[&str] = &[$(stringify!($fact),)* $(stringify!($list),)*];

            impl<'c> $view<'c> {
                pub(super) fn read($from: $crate::ir::Op<'c>) -> Option<Self> {
                    Some(Self {
                        op: $from,
                        name: $from.symbol(),
                        used: $crate::device::used::Used::of($from, $kind, FACTS),
                        $($fact: $read,)*
                        $($list: $read_list,)*
                    })
                }

                /// The operation, for reports and copies; all of it counts as used.
                pub fn op(&self) -> $crate::ir::Op<'c> {
                    self.used.mark($crate::device::used::EVERYTHING);
                    self.op
                }

                $(
                    $(#[$fact_doc])*
                    pub fn $fact(&self) -> $ty {
                        self.used.mark(Fact::$fact as u32);
                        self.$fact
                    }
                )*
                $(
                    $(#[$list_doc])*
                    pub fn $list(&self) -> &[$element] {
                        self.used.mark(Fact::$list as u32);
                        &self.$list
                    }
                )*
            }
        };
    };
}

pub(super) use view;
