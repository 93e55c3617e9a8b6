//! The words that mean something to the parser: keywords, CUDA specifiers, and the C++ words that
//! the subset refuses. Looked up by symbol number, so that a token costs one array access.

use crate::diagnostics::Code;
use crate::intern::{Interner, Symbol};
use crate::lex::TokenKind;

/// What a word is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// Not a keyword.
    Name,
    /// `int`, `unsigned`, ...
    Type,
    Auto,
    /// `static`, `extern`, `inline`, ...
    Storage,
    Typedef,
    /// `const`, `volatile`, `__restrict__`
    Qualifier,
    /// `__global__` and other specifiers without arguments.
    Attribute,
    /// `__launch_bounds__` and other specifiers with arguments.
    AttributeCall,
    Alignas,
    GnuAttribute,
    /// `struct`, `union`, `class`
    Record,
    Enum,
    Typeof,
    Using,
    Namespace,
    StaticAssert,
    If,
    Else,
    While,
    Do,
    Switch,
    For,
    Return,
    Case,
    Goto,
    Default,
    Break,
    Continue,
    Asm,
    Operator,
    New,
    Delete,
    Sizeof,
    Alignof,
    Offsetof,
    VaArg,
    Bool,
    Nullptr,
    Noexcept,
    /// `static_cast` and the like.
    NamedCast,
    /// An operator spelled as a word.
    Spelled(TokenKind),
    /// `__extension__`
    Skip,
    /// A word of C that C++ does not have; it is reported, and read as this one.
    OnlyC(&'static str),
    /// A word of C++ (or C) that the subset leaves out.
    Refused(Refusal),
}

impl Word {
    /// Whether the word begins a statement that is neither an expression nor a declaration.
    pub fn begins_statement(self) -> bool {
        use Word::{Break, Case, Continue, Do, Else, For, If, Return, Switch, While};
        matches!(self, Return | If | For | While | Do | Break | Continue | Switch | Case | Else)
    }

    /// Whether the word alone is a declaration specifier that is no type.
    pub fn is_specifier(self) -> bool {
        matches!(
            self,
            Word::Storage
                | Word::Typedef
                | Word::Qualifier
                | Word::Attribute
                | Word::AttributeCall
                | Word::Alignas
                | Word::GnuAttribute
        )
    }
}

/// Why a word is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    Template,
    Typename,
    Try,
    Catch,
    Throw,
    Label,
    Coroutine,
    DynamicCast,
    Typeid,
    This,
    Virtual,
    Friend,
    Explicit,
    Concept,
    Requires,
    Export,
    Access,
    Consteval,
    /// A type outside the subset.
    Type,
    /// `_Generic`
    Generic,
}

/// What the parser passes of a word that it refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// The word: what follows can be read without it.
    Alone,
    /// The word and the arguments behind it.
    Operand,
    /// The rest of the expression.
    Expression,
    /// The rest of the declaration or statement.
    Item,
}

impl Refusal {
    /// The code; what is refused, with its verb, where `WORD` stands for the word; what to write instead,
    /// unless it is empty; what is passed.
    pub fn report(self) -> (Code, &'static str, &'static str, Passed) {
        use Passed::{Alone, Expression, Item, Operand};
        const ACCESS: &str = "leave it out: all members are public in a `struct`";
        const KIND: &str = "use a function pointer, or a `switch` on a kind";
        const SETS: &str = "write one function or type for each set of types that you use";
        match self {
            Refusal::Template => (Code::E0220, "templates are", SETS, Item),
            Refusal::Typename => (Code::E0220, "templates (WORD) are", "", Alone),
            Refusal::This => (Code::E0222, "WORD is", "", Operand),
            Refusal::Explicit => (Code::E0223, "constructors (WORD) are", "", Item),
            Refusal::Access => (Code::E0224, "access control (WORD) is", ACCESS, Alone),
            Refusal::Virtual => (Code::E0226, "virtual functions are", KIND, Item),
            Refusal::Try | Refusal::Catch => {
                (Code::E0227, "exceptions (WORD) are", "return an error code instead", Alone)
            }
            Refusal::Throw => {
                let cure = "return an error code, or end the kernel with `__trap()`";
                (Code::E0227, "exceptions (WORD) are", cure, Expression)
            }
            Refusal::Label => (Code::E0228, "labels of a block (WORD) are", "", Item),
            Refusal::Coroutine => (Code::E0230, "coroutines (WORD) are", "", Expression),
            Refusal::DynamicCast | Refusal::Typeid => (Code::E0231, "WORD is", "", Operand),
            Refusal::Concept | Refusal::Requires => {
                (Code::E0234, "concepts and constraints (WORD) are", "", Item)
            }
            Refusal::Export => (Code::E0235, "modules (WORD) are", "", Item),
            Refusal::Friend => {
                (Code::E0239, "WORD is", "leave it out: all members are public", Item)
            }
            Refusal::Consteval => {
                (Code::E0239, "WORD is", "write `constexpr` for a variable", Alone)
            }
            Refusal::Generic => (Code::E0239, "C's WORD is", "use overloaded functions", Operand),
            Refusal::Type => (Code::E0244, "the type WORD is", "", Alone),
        }
    }
}

/// Words by symbol.
pub struct Words {
    table: Vec<Word>,
}

impl Words {
    /// Interns them all.
    pub fn new(names: &mut Interner) -> Self {
        let mut table = Vec::new();
        for (spellings, word) in WORDS {
            for spelling in spellings.split_whitespace() {
                let place = names.intern(spelling).0 as usize;
                if table.len() <= place {
                    table.resize(place + 1, Word::Name);
                }
                table[place] = *word;
            }
        }
        Words { table }
    }

    /// What a symbol is.
    pub fn get(&self, symbol: Symbol) -> Word {
        self.table.get(symbol.0 as usize).copied().unwrap_or(Word::Name)
    }
}

use Word as W;

/// Words that the parser reads and the checker refuses wherever they stand, with the code and a
/// declaration that shows it; for the documentation, whose test compiles the declaration.
pub(crate) const REFUSED_BY_CHECKER: &[(&str, Code, &str)] = &[
    ("thread_local", Code::E0240, "thread_local int x;"),
    ("__thread", Code::E0240, "__thread int x;"),
    ("_Thread_local", Code::E0240, "_Thread_local int x;"),
    ("__block_size__", Code::E0239, "__global__ void __block_size__(32) k() {}"),
];

/// Spellings, and what they are.
pub(crate) const WORDS: &[(&str, Word)] = &[
    (
        "void bool char short int long float double signed unsigned wchar_t char16_t char32_t \
         __int128 __int128_t __uint128_t __signed__ __signed",
        W::Type,
    ),
    ("auto", W::Auto),
    (
        "extern static register thread_local _Thread_local inline constexpr mutable __inline __inline__ \
         __thread",
        W::Storage,
    ),
    ("typedef", W::Typedef),
    (
        "const volatile __restrict__ __restrict __const __const__ __volatile__ __volatile",
        W::Qualifier,
    ),
    (
        "__global__ __device__ __host__ __constant__ __shared__ __managed__ __forceinline__ \
         __noinline__ __grid_constant__",
        W::Attribute,
    ),
    ("__launch_bounds__ __maxnreg__ __align__ __cluster_dims__ __block_size__", W::AttributeCall),
    ("alignas", W::Alignas),
    ("__attribute__ __attribute", W::GnuAttribute),
    ("struct union class", W::Record),
    ("enum", W::Enum),
    ("decltype typeof __typeof__ __typeof __decltype", W::Typeof),
    ("using", W::Using),
    ("namespace", W::Namespace),
    ("static_assert", W::StaticAssert),
    ("if", W::If),
    ("while", W::While),
    ("switch", W::Switch),
    ("for", W::For),
    ("do", W::Do),
    ("else", W::Else),
    ("return", W::Return),
    ("case", W::Case),
    ("default", W::Default),
    ("break", W::Break),
    ("continue", W::Continue),
    ("asm __asm__ __asm", W::Asm),
    ("operator", W::Operator),
    ("new", W::New),
    ("delete", W::Delete),
    ("sizeof", W::Sizeof),
    ("alignof __alignof__ __alignof", W::Alignof),
    ("__builtin_offsetof", W::Offsetof),
    ("__builtin_va_arg", W::VaArg),
    ("static_cast reinterpret_cast const_cast", W::NamedCast),
    ("true false", W::Bool),
    ("nullptr __null", W::Nullptr),
    ("noexcept", W::Noexcept),
    ("and", W::Spelled(TokenKind::AndAnd)),
    ("or", W::Spelled(TokenKind::OrOr)),
    ("xor", W::Spelled(TokenKind::Caret)),
    ("bitor", W::Spelled(TokenKind::Pipe)),
    ("not_eq", W::Spelled(TokenKind::Ne)),
    ("not", W::Spelled(TokenKind::Bang)),
    ("compl", W::Spelled(TokenKind::Tilde)),
    ("bitand", W::Spelled(TokenKind::Amp)),
    ("and_eq", W::Spelled(TokenKind::AmpEq)),
    ("or_eq", W::Spelled(TokenKind::PipeEq)),
    ("xor_eq", W::Spelled(TokenKind::CaretEq)),
    ("__extension__", W::Skip),
    ("template", W::Refused(Refusal::Template)),
    ("typename", W::Refused(Refusal::Typename)),
    ("try", W::Refused(Refusal::Try)),
    ("catch", W::Refused(Refusal::Catch)),
    ("throw", W::Refused(Refusal::Throw)),
    ("goto", W::Goto),
    ("__label__", W::Refused(Refusal::Label)),
    ("co_await co_yield co_return", W::Refused(Refusal::Coroutine)),
    ("dynamic_cast", W::Refused(Refusal::DynamicCast)),
    ("typeid", W::Refused(Refusal::Typeid)),
    ("this", W::Refused(Refusal::This)),
    ("virtual", W::Refused(Refusal::Virtual)),
    ("friend", W::Refused(Refusal::Friend)),
    ("explicit", W::Refused(Refusal::Explicit)),
    ("concept", W::Refused(Refusal::Concept)),
    ("requires", W::Refused(Refusal::Requires)),
    ("export", W::Refused(Refusal::Export)),
    ("public protected private", W::Refused(Refusal::Access)),
    ("consteval constinit", W::Refused(Refusal::Consteval)),
    ("_Bool", W::OnlyC("bool")),
    ("_Static_assert", W::OnlyC("static_assert")),
    ("_Alignas", W::OnlyC("alignas")),
    ("_Alignof", W::OnlyC("alignof")),
    ("_Generic", W::Refused(Refusal::Generic)),
    ("_Atomic", W::OnlyC("volatile")),
    ("__auto_type", W::OnlyC("auto")),
    ("_Noreturn", W::OnlyC("[[noreturn]]")),
    (
        "_Complex _Imaginary __complex__ _Float16 __float128 _Float128 __float80 _Decimal64",
        W::Refused(Refusal::Type),
    ),
];
