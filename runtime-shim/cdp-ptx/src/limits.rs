//! The directives between a function's parameters and its body, each once: its field, its word and the numbers
//! after it.

/// What a directive says.
trait Limit: Sized {
    /// From the numbers after the word, if it has so many.
    fn of(numbers: &[u32]) -> Option<Self>;
    /// The numbers to write, if the directive is there.
    fn numbers(&self) -> Option<Vec<u32>>;
}

impl Limit for bool {
    fn of(numbers: &[u32]) -> Option<bool> {
        numbers.is_empty().then_some(true)
    }

    fn numbers(&self) -> Option<Vec<u32>> {
        self.then(Vec::new)
    }
}

impl Limit for Option<u32> {
    fn of(numbers: &[u32]) -> Option<Option<u32>> {
        <[u32; 1]>::try_from(numbers).ok().map(|[number]| Some(number))
    }

    fn numbers(&self) -> Option<Vec<u32>> {
        self.map(|number| vec![number])
    }
}

/// One to three numbers; missing ones are 1.
impl Limit for Option<[u32; 3]> {
    fn of(numbers: &[u32]) -> Option<Option<[u32; 3]>> {
        let mut values = [1; 3];
        values.get_mut(..numbers.len())?.copy_from_slice(numbers);
        (!numbers.is_empty()).then_some(Some(values))
    }

    fn numbers(&self) -> Option<Vec<u32>> {
        self.map(Vec::from)
    }
}

fn write(out: &mut String, word: &str, limit: &impl Limit) {
    let Some(numbers) = limit.numbers() else { return };
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let blank = if numbers.is_empty() { "" } else { " " };
    *out += &format!(" .{word}{blank}{}", numbers.join(", "));
}

/// A row: field, type, word.
macro_rules! limits {
    (
        launch { $($launch:ident: $launch_ty:ty = $launch_word:literal,)* }
        call { $($call:ident: $call_ty:ty = $call_word:literal,)* }
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

            /// Takes a directive, or says what is wrong with it.
            pub(crate) fn set(&mut self, word: &str, numbers: &[u32]) -> Result<(), &'static str> {
                let other = "has another number of arguments";
                match word {
                    $($launch_word => self.$launch = Limit::of(numbers).ok_or(other)?,)*
                    $($call_word => self.$call = Limit::of(numbers).ok_or(other)?,)*
                    _ => return Err("is not known"),
                }
                Ok(())
            }

            /// Directives of kernels, which stand on definitions only.
            pub(crate) fn write_launch(&self, out: &mut String) {
                $(write(out, $launch_word, &self.$launch);)*
            }

            /// Directives of device functions, which a declaration repeats.
            pub(crate) fn write_call(&self, out: &mut String) {
                $(write(out, $call_word, &self.$call);)*
            }
        }
    };
}

limits! {
    launch {
        max_threads: Option<[u32; 3]> = "maxntid",
        required_threads: Option<[u32; 3]> = "reqntid",
        required_cluster_blocks: Option<[u32; 3]> = "reqnctapercluster",
        min_blocks_per_sm: Option<u32> = "minnctapersm",
        max_blocks_per_sm: Option<u32> = "maxnctapersm",
        max_registers: Option<u32> = "maxnreg",
        max_cluster_rank: Option<u32> = "maxclusterrank",
        explicit_cluster: bool = "explicitcluster",
        blocks_are_clusters: bool = "blocksareclusters",
    }
    call {
        noreturn: bool = "noreturn",
        abi_preserve: Option<u32> = "abi_preserve",
        abi_preserve_control: Option<u32> = "abi_preserve_control",
    }
}
