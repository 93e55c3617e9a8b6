//! The arithmetic types of C++, and CUDA's: in the tree those that are written as words of C++, in the checker
//! all of them.

/// The types without parts. `Half` and `BFloat16` are classes in CUDA's headers and are mangled and
/// converted as such; here they are scalars, since the machine has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Basic {
    /// Stands for a type that could not be made out; an error has been given, and everything
    /// touching it stays silent.
    Error,
    Void,
    Nullptr,
    Bool,
    Char,
    SChar,
    UChar,
    WChar,
    Char8,
    Char16,
    Char32,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
    /// `__half`
    Half,
    /// `__nv_bfloat16`
    BFloat16,
    Float,
    Double,
    /// Stands for `auto` until the initialiser is known.
    Auto,
}

impl Basic {
    /// All, in the order of the enum, which is the order of the first ids of the checker's types.
    pub const ALL: [Basic; 26] = [
        Basic::Error,
        Basic::Void,
        Basic::Nullptr,
        Basic::Bool,
        Basic::Char,
        Basic::SChar,
        Basic::UChar,
        Basic::WChar,
        Basic::Char8,
        Basic::Char16,
        Basic::Char32,
        Basic::Short,
        Basic::UShort,
        Basic::Int,
        Basic::UInt,
        Basic::Long,
        Basic::ULong,
        Basic::LongLong,
        Basic::ULongLong,
        Basic::Int128,
        Basic::UInt128,
        Basic::Half,
        Basic::BFloat16,
        Basic::Float,
        Basic::Double,
        Basic::Auto,
    ];

    /// The type of C++ that this text names as [`Self::name`] does; `unsigned` is one too.
    pub fn named(text: &str) -> Option<Basic> {
        let text = if text == "unsigned" { "unsigned int" } else { text };
        Basic::ALL
            .into_iter()
            .filter(|basic| basic.is_arithmetic() || *basic == Basic::Void)
            .find(|basic| basic.name() == text)
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Basic::Error => "<error>",
            Basic::Void => "void",
            Basic::Nullptr => "std::nullptr_t",
            Basic::Bool => "bool",
            Basic::Char => "char",
            Basic::SChar => "signed char",
            Basic::UChar => "unsigned char",
            Basic::WChar => "wchar_t",
            Basic::Char8 => "char8_t",
            Basic::Char16 => "char16_t",
            Basic::Char32 => "char32_t",
            Basic::Short => "short",
            Basic::UShort => "unsigned short",
            Basic::Int => "int",
            Basic::UInt => "unsigned int",
            Basic::Long => "long",
            Basic::ULong => "unsigned long",
            Basic::LongLong => "long long",
            Basic::ULongLong => "unsigned long long",
            Basic::Int128 => "__int128",
            Basic::UInt128 => "unsigned __int128",
            Basic::Half => "__half",
            Basic::BFloat16 => "__nv_bfloat16",
            Basic::Float => "float",
            Basic::Double => "double",
            Basic::Auto => "auto",
        }
    }

    /// Whether it is an integer type (`bool` and characters included).
    pub fn is_integer(self) -> bool {
        (Basic::Bool..=Basic::UInt128).contains(&self)
    }

    /// `float` and `double`: C's floating types, without CUDA's 16-bit classes.
    pub fn is_floating(self) -> bool {
        matches!(self, Basic::Float | Basic::Double)
    }

    /// CUDA's 16-bit floating classes.
    pub fn is_half(self) -> bool {
        matches!(self, Basic::Half | Basic::BFloat16)
    }

    pub fn is_arithmetic(self) -> bool {
        self.is_integer() || self.is_floating()
    }

    /// Signedness of an integer type; `bool` is unsigned.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Basic::Char
                | Basic::SChar
                | Basic::WChar
                | Basic::Short
                | Basic::Int
                | Basic::Long
                | Basic::LongLong
                | Basic::Int128
        )
    }

    /// The unsigned type of the same rank.
    pub fn to_unsigned(self) -> Basic {
        match self {
            Basic::Char | Basic::SChar => Basic::UChar,
            Basic::Short => Basic::UShort,
            Basic::Int => Basic::UInt,
            Basic::Long => Basic::ULong,
            Basic::LongLong => Basic::ULongLong,
            Basic::Int128 => Basic::UInt128,
            other => other,
        }
    }

    /// C's integer conversion rank.
    pub fn rank(self) -> u8 {
        match self {
            Basic::Bool => 0,
            Basic::Char | Basic::SChar | Basic::UChar | Basic::Char8 => 1,
            Basic::Short | Basic::UShort | Basic::Char16 => 2,
            Basic::Int | Basic::UInt | Basic::WChar | Basic::Char32 => 3,
            Basic::Long | Basic::ULong => 4,
            Basic::LongLong | Basic::ULongLong => 5,
            Basic::Int128 | Basic::UInt128 => 6,
            _ => 7,
        }
    }

    /// What a type of at most `int`'s rank promotes to.
    pub fn promoted(self) -> Basic {
        match self {
            Basic::Bool
            | Basic::Char
            | Basic::SChar
            | Basic::UChar
            | Basic::Char8
            | Basic::Short
            | Basic::UShort
            | Basic::Char16
            | Basic::WChar => Basic::Int,
            Basic::Char32 => Basic::UInt,
            other => other,
        }
    }
}
