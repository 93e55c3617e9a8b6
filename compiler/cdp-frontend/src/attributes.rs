//! GNU and standard attributes by name: `__attribute__((noinline))`, `[[noreturn]]`. CUDA's own words
//! (`__launch_bounds__`) are in the parser's table of words. An attribute that is in neither table is
//! read and has no effect, as none of the others changes what a program does.

/// An attribute that means something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    NoInline,
    AlwaysInline,
    NoReturn,
    Packed,
    Aligned,
}

/// Names without the underscores that may stand around them, and one sentence for the
/// documentation.
pub const KNOWN: &[(&str, Known, &str)] = &[
    ("noinline", Known::NoInline, "The function is never inlined."),
    ("always_inline", Known::AlwaysInline, "The function is inlined wherever it is called."),
    ("noreturn", Known::NoReturn, "The function does not return."),
    ("packed", Known::Packed, "A record without padding; GNU spelling only."),
    ("aligned", Known::Aligned, "An alignment in bytes, as `alignas`; GNU spelling only."),
];

/// The attribute of this name.
pub fn known(name: &str) -> Option<Known> {
    KNOWN.iter().find(|(known, ..)| *known == name).map(|(_, attribute, _)| *attribute)
}

/// Whether an attribute changes what a program means, and the subset leaves it out.
pub fn is_refused(name: &str) -> bool {
    const REFUSED: &str = "alias cleanup constructor destructor ext_vector_type ifunc init_priority mode \
                           scalar_storage_order section tls_model transparent_union vector_size weak weakref";
    REFUSED.split(' ').any(|refused| refused == name)
}
