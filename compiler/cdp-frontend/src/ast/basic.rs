//! The arithmetic types of C++, and CUDA's: in the tree those that are written as words of C++, in the checker
//! all of them.

/// A row: the variant, its name in messages, its letters in symbols (Itanium C++ ABI, 5.1.5), and C's integer
/// conversion rank.
macro_rules! basics {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $letters:expr, $rank:literal;)*) => {
        /// The types without parts. `Half` and `BFloat16` are classes in CUDA's headers and are mangled and
        /// converted as such; here they are scalars, since the machine has them.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Basic {
            $($(#[$doc])* $variant,)*
        }

        impl Basic {
            /// All, in the order of the enum, which is the order of the first ids of the checker's types.
            pub const ALL: [Basic; [$($rank),*].len()] = [$(Basic::$variant),*];

            /// The name in messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(Basic::$variant => $name,)*
                }
            }

            /// The letters in symbols; none for classes of CUDA's headers.
            pub fn letters(self) -> Option<&'static str> {
                match self {
                    $(Basic::$variant => $letters,)*
                }
            }

            /// C's integer conversion rank.
            pub fn rank(self) -> u8 {
                match self {
                    $(Basic::$variant => $rank,)*
                }
            }
        }
    };
}

basics! {
    /// Stands for a type that could not be made out; an error has been given, and everything
    /// touching it stays silent.
    Error = "<error>", Some("v"), 7;
    Void = "void", Some("v"), 7;
    Nullptr = "std::nullptr_t", Some("Dn"), 7;
    Bool = "bool", Some("b"), 0;
    Char = "char", Some("c"), 1;
    SChar = "signed char", Some("a"), 1;
    UChar = "unsigned char", Some("h"), 1;
    WChar = "wchar_t", Some("w"), 3;
    Char8 = "char8_t", Some("Du"), 1;
    Char16 = "char16_t", Some("Ds"), 2;
    Char32 = "char32_t", Some("Di"), 3;
    Short = "short", Some("s"), 2;
    UShort = "unsigned short", Some("t"), 2;
    Int = "int", Some("i"), 3;
    UInt = "unsigned int", Some("j"), 3;
    Long = "long", Some("l"), 4;
    ULong = "unsigned long", Some("m"), 4;
    LongLong = "long long", Some("x"), 5;
    ULongLong = "unsigned long long", Some("y"), 5;
    Int128 = "__int128", Some("n"), 6;
    UInt128 = "unsigned __int128", Some("o"), 6;
    Half = "__half", None, 7;
    BFloat16 = "__nv_bfloat16", None, 7;
    Float = "float", Some("f"), 7;
    Double = "double", Some("d"), 7;
    /// Stands for `auto` until the initialiser is known.
    Auto = "auto", Some("v"), 7;
}

impl Basic {
    /// The type that a set of words means, in any order; `None` if they do not go together.
    pub fn of_words(words: &[&str]) -> Option<Basic> {
        let mut words: Vec<&str> = words.iter().map(|word| word.trim_matches('_')).collect();
        words.sort_unstable();
        Some(match words[..] {
            ["void"] => Basic::Void,
            ["bool"] => Basic::Bool,
            ["char"] => Basic::Char,
            ["char", "signed"] => Basic::SChar,
            ["char", "unsigned"] => Basic::UChar,
            ["short"] | ["int", "short"] | ["short", "signed"] | ["int", "short", "signed"] => {
                Basic::Short
            }
            ["short", "unsigned"] | ["int", "short", "unsigned"] => Basic::UShort,
            ["int"] | ["signed"] | ["int", "signed"] => Basic::Int,
            ["unsigned"] | ["int", "unsigned"] => Basic::UInt,
            ["long"] | ["int", "long"] | ["long", "signed"] | ["int", "long", "signed"] => {
                Basic::Long
            }
            ["long", "unsigned"] | ["int", "long", "unsigned"] => Basic::ULong,
            ["long", "long"] | ["int", "long", "long"] => Basic::LongLong,
            ["long", "long", "signed"] | ["int", "long", "long", "signed"] => Basic::LongLong,
            ["long", "long", "unsigned"] | ["int", "long", "long", "unsigned"] => Basic::ULongLong,
            ["int128"] | ["int128", "signed"] | ["int128_t"] => Basic::Int128,
            ["int128", "unsigned"] | ["uint128_t"] => Basic::UInt128,
            ["wchar_t"] => Basic::WChar,
            ["char8_t"] => Basic::Char8,
            ["char16_t"] => Basic::Char16,
            ["char32_t"] => Basic::Char32,
            ["float"] => Basic::Float,
            ["double"] => Basic::Double,
            _ => return None,
        })
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
