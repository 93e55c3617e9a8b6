//! Enums whose variants are spelled: a table of variants and texts, the usual one first.

/// Declares such enums, each with the function that gives the text.
macro_rules! spelled {
    ($($(#[$meta:meta])* $name:ident, $(#[$doc:meta])* $text:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $spelling:literal $(| $other:literal)*,)*
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

            /// The variant of a text.
            #[allow(dead_code, reason = "of some only the text is asked for")]
            pub fn of(text: &str) -> Option<Self> {
                Some(match text {
                    $($spelling $(| $other)* => $name::$variant,)*
                    _ => return None,
                })
            }
        }
    )*};
}
pub(crate) use spelled;
