//! What becomes of the table's rows: the enum, the parser's and the printer's `match`, and the list for
//! other tools. How a single modifier or operand is read and written is in `syntax.rs`.

/// Walks the modifiers or the operands of a row, each of which `$item` reads or writes.
macro_rules! each {
    ($item:ident, $p:ident, $m:ident,) => {};
    ($item:ident, $p:ident, $m:ident, , $($rest:tt)*) => {
        each!($item, $p, $m, $($rest)*);
    };
    ($item:ident, $p:ident, $m:ident, $word:literal $($rest:tt)*) => {
        $item!($p, $m, $word);
        each!($item, $p, $m, $($rest)*);
    };
    ($item:ident, $p:ident, $m:ident,
     let $name:ident ($($spec:expr)?): $ty:ty = $value:expr $(, $($rest:tt)*)?) => {
        $item!($p, $m, let $name ($($spec)?): $ty = $value);
        each!($item, $p, $m, $($($rest)*)?);
    };
    ($item:ident, $p:ident, $m:ident, $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $item!($p, $m, $name = $value);
        each!($item, $p, $m, $($($rest)*)?);
    };
    ($item:ident, $p:ident, $m:ident, $name:ident ($($spec:expr)?) $($rest:tt)*) => {
        $item!($p, $m, $name ($($spec)?));
        each!($item, $p, $m, $($rest)*);
    };
    ($item:ident, $p:ident, $m:ident, $name:ident $($rest:tt)*) => {
        each!($item, $p, $m, $name () $($rest)*);
    };
}

/// A modifier, read into the variable of the same name.
macro_rules! read_modifier {
    ($p:ident, $m:ident, $word:literal) => {
        $m.word($word)?;
    };
    ($p:ident, $m:ident, let $name:ident $spec:tt: $ty:ty = $value:expr) => {
        let $name: $ty = Modifier::read($p, $m, $spec)?;
    };
    ($p:ident, $m:ident, $name:ident = $value:expr) => {
        $name = $value;
    };
    ($p:ident, $m:ident, $name:ident $spec:tt) => {
        $name = Modifier::read($p, $m, $spec)?;
    };
}

/// An operand: a field, or a variable that fields are made of.
macro_rules! read_operand {
    ($p:ident, $m:ident, $bracket:literal) => {
        $p.bracket($bracket)?;
    };
    ($p:ident, $m:ident, let $name:ident $spec:tt: $ty:ty = $value:expr) => {
        let $name: $ty = Arg::read($p, $spec)?;
    };
    ($p:ident, $m:ident, $name:ident = $value:expr) => {
        $name = $value;
    };
    ($p:ident, $m:ident, $name:ident $spec:tt) => {
        $name = Arg::read($p, $spec)?;
    };
}

/// What the table says that does not exist.
macro_rules! refuse {
    ($m:ident,) => {};
    ($m:ident, check $result:expr $(, $($rest:tt)*)?) => {
        $m.check($result)?;
        refuse!($m, $($($rest)*)?);
    };
    ($m:ident, $cond:expr => $why:expr $(, $($rest:tt)*)?) => {
        $m.require($cond, $why)?;
        refuse!($m, $($($rest)*)?);
    };
}

/// Sets the fields of one row: modifiers, what is refused of them, operands, what is refused then.
macro_rules! read_fields {
    ($p:ident, $m:ident,
     [$($mods:tt)*] $(where { $($check:tt)* })? ($($args:tt)*) $(where { $($after:tt)* })?) => {
        each!(read_modifier, $p, $m, $($mods)*);
        $m.finish()?;
        $(refuse!($m, $($check)*);)?
        $p.at_start = true;
        each!(read_operand, $p, $m, $($args)*);
        $(refuse!($m, $($after)*);)?
    };
}

/// One row's way from text.
macro_rules! read_row {
    ($p:ident, $m:ident, $variant:ident { $($field:ident: $ty:ty),* }, { [$($row:tt)*] $($rest:tt)* }) => {{
        $(let $field: $ty;)*
        read_fields!($p, $m, [$($row)*] $($rest)*);
        Ok(Inst::$variant { $($field),* })
    }};
    ($p:ident, $m:ident, $variant:ident ($boxed:ty), { $(#[$doc:meta])* struct $($row:tt)* }) => {
        read_row!($p, $m, $variant ($boxed), { $($row)* })
    };
    ($p:ident, $m:ident, $variant:ident ($boxed:ty),
     { $body:ident { $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $($row:tt)* }) => {{
        $(let $field: $ty;)*
        read_fields!($p, $m, $($row)*);
        let body: $boxed = $body { $($field),* }.into();
        Ok(Inst::$variant(body))
    }};
    // Which fields there are is the function's matter.
    ($p:ident, $m:ident, $variant:ident $fields:tt, { by $function:ident }) => {{
        $p.at_start = true;
        $p.$function($m)
    }};
}

/// A modifier, written from the variable of the same name.
macro_rules! write_modifier {
    ($p:ident, $m:ident, $word:literal) => {
        $p.word($word);
    };
    ($p:ident, $m:ident, let $name:ident $spec:tt: $ty:ty = $value:expr) => {
        let $name: $ty = $value;
        Modifier::write(&$name, $p, $spec);
    };
    ($p:ident, $m:ident, $name:ident = $value:expr) => {
        let _ = $name;
    };
    ($p:ident, $m:ident, $name:ident $spec:tt) => {
        let $name = *$name;
        Modifier::write(&$name, $p, $spec);
    };
}

/// An operand, written from the variable of the same name.
macro_rules! write_operand {
    ($p:ident, $m:ident, $bracket:literal) => {
        $p.bracket($bracket);
    };
    ($p:ident, $m:ident, let $name:ident $spec:tt: $ty:ty = $value:expr) => {
        let $name: $ty = $value;
        Arg::write(&$name, $p, $spec);
    };
    ($p:ident, $m:ident, $name:ident = $value:expr) => {
        let _ = $name;
    };
    ($p:ident, $m:ident, $name:ident $spec:tt) => {
        Arg::write($name, $p, $spec);
    };
}

/// One row's way to text.
macro_rules! write_row {
    ($p:ident, $inst:ident, [$opcode:literal $($other:literal)*], $variant:ident { $($field:ident: $ty:ty),* },
     { [$($mods:tt)*] $(where $check:tt)? ($($args:tt)*) $(where $after:tt)? }) => {{
        let Inst::$variant { $($field),* } = $inst else { unreachable!("the row of this variant") };
        $p.mnemonic($opcode);
        each!(write_modifier, $p, $p, $($mods)*);
        each!(write_operand, $p, $p, $($args)*);
    }};
    ($p:ident, $inst:ident, $opcodes:tt, $variant:ident ($boxed:ty),
     { $(#[$doc:meta])* struct $($row:tt)* }) => {
        write_row!($p, $inst, $opcodes, $variant ($boxed), { $($row)* })
    };
    ($p:ident, $inst:ident, [$opcode:literal $($other:literal)*], $variant:ident ($boxed:ty),
     { $body:ident { $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? }
       [$($mods:tt)*] $(where $check:tt)? ($($args:tt)*) $(where $after:tt)? }) => {{
        let Inst::$variant(body) = $inst else { unreachable!("the row of this variant") };
        let body: &$body = body;
        let $body { $($field),* } = body;
        $p.mnemonic($opcode);
        each!(write_modifier, $p, $p, $($mods)*);
        each!(write_operand, $p, $p, $($args)*);
    }};
    ($p:ident, $inst:ident, $opcodes:tt, $variant:ident $fields:tt, { by $function:ident }) => {
        $p.$function($inst)
    };
}

/// The body of a variant, where its row declares it.
macro_rules! body {
    ({ $(#[$meta:meta])* struct $body:ident { $($(#[$doc:meta])* $field:ident: $ty:ty),* $(,)? } $($rest:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // As for `Inst`.
        pub struct $body {
            $($(#[$doc])* pub $field: $ty,)*
        }
    };
    ($others:tt) => {};
}

/// Declares words of one kind that go together.
macro_rules! sets {
    ($($(#[$doc:meta])* $name:ident: $ty:ident = $($word:ident)*;)*) => {$(
        $(#[$doc])*
        pub(crate) const $name: &[$ty] = &[$($ty::$word),*];
    )*};
}

/// The table. A row:
///
/// ```text
/// /// What it does.
/// Variant { field: Type, ... } = "opcode" | "other" since (7, 0, 80) when guard => {
///     [modifiers] where { what must hold => "why not" } (operands) where { ... }
/// }
/// ```
///
/// Variants of one syntax stand together, with commas. A modifier is a word, or a field with the words it may be in parentheses; an operand is a field with
/// its type in parentheses. `let name(...): Type = value` is a modifier that no field holds: read into
/// `name`, written from `value`. `field = value` is a field that the text does not say. Of rows with one
/// opcode the first whose guard holds is taken. `let` and `=` are possible between operands as well; `"["` and
/// `"]"` stand for themselves. `since` is the ISA version and the architecture that the
/// first of its forms came with. `Variant(Type)` has the fields in braces of its body,
/// which a row with `struct` declares, and `{ by function }`
/// names the function of parser and printer that does what rows cannot say.
macro_rules! instructions {
    ($($family:literal { $($(
        $(#[$doc:meta])*
        $name:ident $(($boxed:ty))? $({ $($field:ident: $ty:ty),* $(,)? })?
            = $($opcode:literal)|+ $(since($major:literal, $minor:literal, $sm:literal))?
              $(when $guard:expr)?
    ),+ => $syntax:tt )* })*) => {
        /// An instruction: one variant for each kind of work, every modifier an enum or a flag, every operand
        /// resolved. Meant for an exhaustive `match` in an executor.
        ///
        /// What has no variant here is refused when the text is parsed. Semantics are those of the PTX ISA
        /// manual, chapter "Instruction Set"; the comments only say what the fields mean. Registers may be
        /// wider than the instruction's type for `ld`, `st`, `cvt`, `tex`, `suld` and `sust`; for the rest the
        /// parser has checked that the widths agree.
        ///
        /// A field has the same meaning in every variant that has it, unless the variant says otherwise:
        ///
        /// | field | what |
        /// | --- | --- |
        /// | `ty` | type of the operation, which sources and destination have |
        /// | `dst_ty`, `src_ty`, `a_ty`, `b_ty`, `c_ty` | type of one operand, where they differ |
        /// | `dst`, `dsts` | destination; [`Dst`] may be the sink `_` |
        /// | `src`, `srcs`, `a`, `b`, `c` | sources, in the order of the text |
        /// | `pred` | a predicate beside: destination of [`Dst`] or [`Reg`], source as [`PredOperand`] |
        /// | `space`, `addr` | state space of the access, and where |
        /// | `mode` | the modifier that chooses between ways of computing |
        /// | `rounding` | rounding modifier as written |
        /// | `ftz` | `.ftz`: subnormal inputs and results become zero of the same sign |
        /// | `sat`, `satfinite` | `.sat`: clamped to the type's range, floats to 0.0 .. 1.0; `.satfinite`: to the largest finite number |
        /// | `relu` | `.relu`: negative results become 0 |
        /// | `part` | which half of the product |
        /// | `carry_in`, `carry_out` | reads, writes the condition code `CC.CF` |
        /// | `pos`, `len`, `amount` | `.u32`, in bits |
        /// | `mask` | lanes that take part, a bit each; `None` for the forms without `.sync` |
        /// | `uniform` | `.uni`: all threads of the warp agree, a promise |
        /// | `cache`, `policy` | hints, which change no result |
        /// | `size_bytes`, `align_bytes` | constants of the text, in bytes |
        /// | `text`, `why` | the statement as written, and what is not known about it |
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // The list above is the one home of what a field means.
        pub enum Inst {
            $($($($(#[$doc])* $name $(($boxed))? $({ $($field: $ty),* })?,)+)*)*
            /// An instruction that is not known (made by [`crate::parse_lenient`] only), and why.
            Unknown { text: Box<str>, why: Box<str> },
        }

        $($(body! { $syntax })*)*

        /// The rows of the table, in its order.
        pub const ROWS: &[Row] = &[$($($(Row {
            family: $family,
            variant: stringify!($name),
            opcodes: &[$($opcode),+],
            since: &[$((($major, $minor), $sm))?],
            syntax: stringify!($syntax),
        },)+)*)*];

        impl<'a> Parser<'a> {
            /// Reads an instruction after its opcode, up to its semicolon.
            #[allow(unreachable_patterns)]
            pub fn parse_inst(
                &mut self,
                word: Token<'a>,
            ) -> Result<Inst> {
                let mods = &mut self.mods(word)?;
                let inst = match word.text {
                    $($($($($opcode)|+ $(if ($guard)(mods))? => {
                        #[allow(unused_variables)]
                        fn row<'a>(
                            p: &mut Parser<'a>,
                            m: &mut Mods<'a>,
                        ) -> Result<Inst> {
                            read_row!(p, m, $name $(($boxed))? $({ $($field: $ty),* })?, $syntax)
                        }
                        $(self.since(mods, ($major, $minor), $sm)?;)?
                        row(self, mods)
                    })+)*)*
                    _ => self.unknown_instruction(mods),
                };
                inst.map_err(|error| self.explain(mods, error))
            }
        }

        impl Printer<'_> {
            /// The instruction with its semicolon.
            pub fn inst(&mut self, inst: &Inst) {
                let p = self;
                p.start = p.out.len();
                p.pending = " ";
                match inst {
                    Inst::Unknown { text, why: _ } => p.mnemonic(text),
                    $($($(Inst::$name { .. } => {
                        write_row!(p, inst, [$($opcode)+], $name $(($boxed))? $({ $($field: $ty),* })?, $syntax)
                    })+)*)*
                }
                p.out.push(';');
            }
        }
    };
}
