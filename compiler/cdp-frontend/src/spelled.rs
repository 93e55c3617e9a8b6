//! Enums of which each variant is spelled one way: a table of variants and texts.

/// Declares such enums, each with the function that gives the text.
macro_rules! spelled {
    ($($(#[$meta:meta])* $name:ident, $(#[$doc:meta])* $text:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $spelling:literal,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $name {
            $(#[$doc])*
            pub fn $text(self) -> &'static str {
                match self {
                    $($name::$variant => $spelling,)*
                }
            }
        }
    )*};
}
pub(crate) use spelled;
