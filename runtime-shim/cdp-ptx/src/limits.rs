//! The directives between a function's parameters and its body, each once: its field, its word, and what
//! follows it.

use crate::error::ParseError;

type Result<T> = std::result::Result<T, ParseError>;

/// Where the numbers of a directive come from.
pub(crate) trait Numbers {
    /// The next number, which the text names in messages.
    fn number_u32(&mut self, what: &str) -> Result<u32>;
    /// Is there one more? Takes the comma before it.
    fn comma_follows(&mut self) -> Result<bool>;
}

/// What a directive says.
trait Limit: Sized {
    fn read(numbers: &mut impl Numbers, what: &str) -> Result<Self>;
    fn write(&self, out: &mut String, word: &str);
}

impl Limit for bool {
    fn read(_: &mut impl Numbers, _: &str) -> Result<bool> {
        Ok(true)
    }

    fn write(&self, out: &mut String, word: &str) {
        if *self {
            *out += &format!(" .{word}");
        }
    }
}

impl Limit for Option<u32> {
    fn read(numbers: &mut impl Numbers, what: &str) -> Result<Option<u32>> {
        numbers.number_u32(what).map(Some)
    }

    fn write(&self, out: &mut String, word: &str) {
        if let Some(number) = self {
            *out += &format!(" .{word} {number}");
        }
    }
}

/// One to three numbers; missing ones are 1.
impl Limit for Option<[u32; 3]> {
    fn read(numbers: &mut impl Numbers, what: &str) -> Result<Option<[u32; 3]>> {
        let mut values = [numbers.number_u32(what)?, 1, 1];
        for value in &mut values[1..] {
            if !numbers.comma_follows()? {
                break;
            }
            *value = numbers.number_u32(what)?;
        }
        Ok(Some(values))
    }

    fn write(&self, out: &mut String, word: &str) {
        if let Some([x, y, z]) = self {
            *out += &format!(" .{word} {x}, {y}, {z}");
        }
    }
}

/// A row: field, type, word, and what its numbers are called in messages.
macro_rules! limits {
    (
        launch { $($launch:ident: $launch_ty:ty = $launch_word:literal of $launch_what:literal,)* }
        call { $($call:ident: $call_ty:ty = $call_word:literal of $call_what:literal,)* }
    ) => {
        /// Performance and launch directives of a function. Three numbers are x, y, z; missing ones are 1.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Limits {
            $(#[doc = concat!("`.", $launch_word, "`")] pub $launch: $launch_ty,)*
            $(#[doc = concat!("`.", $call_word, "`")] pub $call: $call_ty,)*
            /// `.attribute(.unified(uuid1, uuid2))`
            pub unified: Option<(u64, u64)>,
            /// `.pragma` strings of the function.
            pub pragmas: Vec<String>,
        }

        impl Limits {
            /// Is there a directive that only a defined kernel can have?
            pub fn has_launch_limits(&self) -> bool {
                let others = Limits { $($call: self.$call,)* unified: self.unified, ..Limits::default() };
                *self != others
            }

            /// Reads what follows a directive; false if it is not one of these.
            pub(crate) fn read(&mut self, numbers: &mut impl Numbers, word: &str) -> Result<bool> {
                match word {
                    $($launch_word => self.$launch = Limit::read(numbers, $launch_what)?,)*
                    $($call_word => self.$call = Limit::read(numbers, $call_what)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// Directives of kernels, which stand on definitions only.
            pub(crate) fn write_launch(&self, out: &mut String) {
                $(self.$launch.write(out, $launch_word);)*
            }

            /// Directives of device functions, which a declaration repeats.
            pub(crate) fn write_call(&self, out: &mut String) {
                $(self.$call.write(out, $call_word);)*
            }
        }
    };
}

limits! {
    launch {
        max_threads: Option<[u32; 3]> = "maxntid" of "the number of threads",
        required_threads: Option<[u32; 3]> = "reqntid" of "the number of threads",
        required_cluster_blocks: Option<[u32; 3]> = "reqnctapercluster" of "the number of blocks",
        min_blocks_per_sm: Option<u32> = "minnctapersm" of "the number of blocks",
        max_blocks_per_sm: Option<u32> = "maxnctapersm" of "the number of blocks",
        max_registers: Option<u32> = "maxnreg" of "the number of registers",
        max_cluster_rank: Option<u32> = "maxclusterrank" of "the rank",
        explicit_cluster: bool = "explicitcluster" of "",
        blocks_are_clusters: bool = "blocksareclusters" of "",
    }
    call {
        noreturn: bool = "noreturn" of "",
        abi_preserve: Option<u32> = "abi_preserve" of "the number of registers",
        abi_preserve_control: Option<u32> = "abi_preserve_control" of "the number of registers",
    }
}
