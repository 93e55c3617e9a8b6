//! The words that mean something to the parser: keywords, CUDA specifiers, and the C++ words that the subset
//! refuses; each with its spellings, and with what the documentation or a message says of it, in one row. Looked
//! up by symbol number, so that a token costs one array access.

use crate::diagnostics::Code;
use crate::intern::{Interner, Symbol};
use crate::lex::{self, TokenKind};

/// Declares the keywords: under what the documentation files them, what the parser sees, the spellings.
macro_rules! keywords {
    ($($heading:literal { $($(#[$doc:meta])* $word:ident = $spellings:literal,)* })*) => {
        /// What a word is.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Word {
            /// Not a keyword.
            Name,
            $($($(#[$doc])* $word,)*)*
            /// An operator spelled as a word.
            Spelled(TokenKind),
            /// A word of C that C++ does not have; it is reported, and read as this one.
            OnlyC(&'static str),
            /// A word of C++ (or C) that the subset leaves out.
            Refused(Refusal),
        }

        /// Spellings, what they are, and what the documentation files them under.
        pub const KEYWORDS: &[(&str, Word, &str)] =
            &[$($(($spellings, Word::$word, $heading),)*)*];
    };
}

keywords! {
    "Arithmetic types" {
        Type = "void bool char short int long float double signed unsigned wchar_t char16_t char32_t \
                __int128 __int128_t __uint128_t __signed__ __signed",
    }
    "Deduced types" { Auto = "auto", Typeof = "decltype typeof __typeof__ __typeof __decltype", }
    "Storage and linkage" {
        Storage = "extern static register inline constexpr mutable __inline __inline__",
    }
    "Declarations of types and names" {
        Typedef = "typedef", Record = "struct union class", Enum = "enum", Using = "using",
        Namespace = "namespace",
    }
    "Qualifiers" {
        Qualifier = "const volatile __restrict__ __restrict __const __const__ __volatile__ __volatile",
    }
    "CUDA specifiers" {
        /// A specifier without arguments.
        Attribute = "__global__ __device__ __host__ __constant__ __shared__ __managed__ __forceinline__ \
                     __noinline__ __grid_constant__",
        /// A specifier with arguments.
        AttributeCall = "__launch_bounds__ __maxnreg__ __align__ __cluster_dims__",
    }
    "Alignment and attributes" { Alignas = "alignas", GnuAttribute = "__attribute__ __attribute", }
    "Assertions" { StaticAssert = "static_assert", }
    "Statements" {
        If = "if", While = "while", Switch = "switch", For = "for", Do = "do", Else = "else",
        Return = "return", Case = "case", Default = "default", Goto = "goto",
    }
    "Expressions, jumps and constants" {
        Break = "break", Continue = "continue", Operator = "operator", New = "new", Delete = "delete",
        Sizeof = "sizeof", Alignof = "alignof __alignof__ __alignof", Offsetof = "__builtin_offsetof",
        VaArg = "__builtin_va_arg", NamedCast = "static_cast reinterpret_cast const_cast",
        Bool = "true false", Nullptr = "nullptr __null", Noexcept = "noexcept",
    }
    "Inline PTX" { Asm = "asm __asm__ __asm", }
    "Read and ignored" { Skip = "__extension__", }
}

/// Words of C, and what C++ has instead.
pub const ONLY_C: &[(&str, &str)] = &[
    ("_Bool", "bool"),
    ("_Static_assert", "static_assert"),
    ("_Alignas", "alignas"),
    ("_Alignof", "alignof"),
    ("_Atomic", "volatile"),
    ("__auto_type", "auto"),
    ("_Noreturn", "[[noreturn]]"),
];

const ACCESS: &str = "leave it out, and write `struct` for `class`: all members are public there";
const CODES: &str = "return an error code instead";
const KIND: &str = "use a function pointer, or a `switch` on a kind";
const LOCAL: &str =
    "in a kernel declare it without this word; in host code pass it to the functions that use it";
const PUBLIC: &str = "leave it out: all members are public";
const SETS: &str = "write one function or type for each set of types that you use";
const TRAP: &str = "return an error code, or end the kernel with `__trap()`";

/// Declares the refused words. A row: the spellings; the code; what is refused, with its verb, where `WORD` stands
/// for the word; what to write instead, unless it is empty.
macro_rules! refusals {
    ($($refusal:ident = $spellings:literal: $code:ident, $what:literal, $cure:expr;)*) => {
        /// Why a word is refused.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Refusal { $($refusal,)* }

        impl Refusal {
            /// The code; what is refused; what to write instead.
            pub fn report(self) -> (Code, &'static str, &'static str) {
                match self {
                    $(Refusal::$refusal => (Code::$code, $what, $cure),)*
                }
            }
        }

        /// Spellings, and why they are refused.
        pub const REFUSED: &[(&str, Refusal)] = &[$(($spellings, Refusal::$refusal),)*];
    };
}

refusals! {
    Template = "template": E0220, "templates are", SETS;
    Typename = "typename": E0220, "templates (WORD) are", "";
    Try = "try": E0227, "exceptions (WORD) are", CODES;
    Catch = "catch": E0227, "exceptions (WORD) are", CODES;
    Throw = "throw": E0227, "exceptions (WORD) are", TRAP;
    Label = "__label__": E0228, "labels of a block (WORD) are", "";
    Coroutine = "co_await co_yield co_return": E0230, "coroutines (WORD) are", "";
    TypeOfObject = "dynamic_cast typeid": E0231, "WORD is", "";
    This = "this": E0222, "WORD is", "";
    Virtual = "virtual": E0226, "virtual functions are", KIND;
    Friend = "friend": E0239, "WORD is", PUBLIC;
    Explicit = "explicit": E0223, "constructors (WORD) are", "";
    Constraint = "concept requires": E0234, "concepts and constraints (WORD) are", "";
    Export = "export": E0235, "modules (WORD) are", "";
    Access = "public protected private": E0224, "access control (WORD) is", ACCESS;
    Consteval = "consteval constinit": E0239, "WORD is", "write `constexpr` for a variable";
    ThreadLocal = "thread_local _Thread_local __thread":
        E0240, "thread-local variables (WORD) are", LOCAL;
    BlockSize = "__block_size__": E0239, "WORD is", "";
    Generic = "_Generic": E0239, "C's WORD is", "use overloaded functions";
    Type = "_Complex _Imaginary __complex__ _Float16 __float128 _Float128 __float80 _Decimal64":
        E0244, "the type WORD is", "";
}

impl Refusal {
    /// What stands around the word can be read without it.
    pub fn is_alone(self) -> bool {
        use Refusal::{Access, Consteval, ThreadLocal, Type, Typename};
        matches!(self, Access | Consteval | ThreadLocal | Type | Typename)
    }
}

impl Word {
    /// Whether the word begins a statement that is neither an expression nor a declaration.
    pub fn begins_statement(self) -> bool {
        use Word::{Asm, Break, Case, Continue, Do, Else, For, Goto, If, Return, Switch, While};
        matches!(self, Return | If | For | While | Do | Break | Continue | Switch | Case | Else)
            || matches!(self, Asm | Goto)
    }

    /// Whether parentheses stand behind the word, at the head of a statement.
    pub fn has_head(self) -> bool {
        matches!(self, Word::For | Word::If | Word::Switch | Word::While)
    }

    /// Whether the word alone is a declaration specifier that is no type.
    pub fn is_specifier(self) -> bool {
        use Word::{Alignas, Attribute, AttributeCall, GnuAttribute, Qualifier, Storage, Typedef};
        matches!(self, Storage | Typedef | Qualifier | Attribute | AttributeCall)
            || matches!(self, Alignas | GnuAttribute)
    }
}

/// Words by symbol.
pub struct Words {
    table: Vec<Word>,
}

impl Words {
    /// Interns them all.
    pub fn new(names: &mut Interner) -> Self {
        let mut words = Words { table: Vec::new() };
        KEYWORDS.iter().for_each(|(spellings, word, _)| words.add(names, spellings, *word));
        lex::OPERATORS.iter().for_each(|(word, kind)| words.add(names, word, Word::Spelled(*kind)));
        ONLY_C.iter().for_each(|(word, right)| words.add(names, word, Word::OnlyC(right)));
        REFUSED
            .iter()
            .for_each(|(spellings, why)| words.add(names, spellings, Word::Refused(*why)));
        words
    }

    fn add(&mut self, names: &mut Interner, spellings: &str, word: Word) {
        for spelling in spellings.split_whitespace() {
            let place = names.intern(spelling).0 as usize;
            if self.table.len() <= place {
                self.table.resize(place + 1, Word::Name);
            }
            self.table[place] = word;
        }
    }

    /// What a symbol is.
    pub fn get(&self, symbol: Symbol) -> Word {
        self.table.get(symbol.0 as usize).copied().unwrap_or(Word::Name)
    }
}
