//! Builtin variables, types and constants.
use cdp_frontend::check::builtins::constants::{all_constants, enumerators};
use cdp_frontend::check::builtins::types::all_types;
use cdp_frontend::check::builtins::variables::VARIABLES;
use cdp_frontend::check::builtins::{BuiltinTypeDef, BuiltinTypeKind, Header, lookup_type};
use cdp_frontend::check::ctype::{Basic, CTypes};
use cdp_frontend::words::{KEYWORDS, Word};

use super::{Doc, code, codes_of};

/// `threadIdx` and its like.
pub fn builtin_variables(doc: &mut Doc) {
    doc.heading(2, "Builtin variables");
    doc.text("Device code only; none can be written to or has an address.");
    let rows: Vec<Vec<String>> = VARIABLES
        .iter()
        .map(|var| vec![code(&format!("const {} {}", var.ty, var.name)), var.summary.to_owned()])
        .collect();
    doc.table(&["Variable", "What it is"], &rows);
}

/// The arithmetic types, with sizes for both address sizes.
pub fn arithmetic(doc: &mut Doc) {
    doc.heading(2, "Arithmetic types");
    let (mut wide, mut narrow) = (CTypes::new(8), CTypes::new(4));
    let mut rows = Vec::new();
    for basic in Basic::ALL.into_iter().filter(|basic| can_be_written(*basic)) {
        let (layout, other) = (wide.layout(basic.into()), narrow.layout(basic.into()));
        let both = |wide: u64, narrow: u64| match wide == narrow {
            true => wide.to_string(),
            false => format!("{wide} ({narrow} with 32-bit addresses)"),
        };
        let header = lookup_type(basic.name(), 8).and_then(|def| def.header.file());
        rows.push(vec![
            code(basic.name()),
            both(layout.size, other.size),
            both(layout.align, other.align),
            header.map(code).unwrap_or_default(),
        ]);
    }
    doc.table(&["Type", "Bytes", "Alignment", "Header"], &rows);
}

/// Whether the words of its name are keywords, or the name a builtin type's.
fn can_be_written(basic: Basic) -> bool {
    let keyword = |name: &str| {
        KEYWORDS.iter().any(|(spellings, word, _)| {
            *word == Word::Type && spellings.split_whitespace().any(|known| known == name)
        })
    };
    (basic.is_arithmetic() || basic.is_half())
        && (basic.name().split(' ').all(keyword) || lookup_type(basic.name(), 8).is_some())
}

/// `float4` and its like.
pub fn vectors(doc: &mut Doc) {
    doc.heading(2, "Vector types");
    doc.text(
        "Structures with the fields `x`, `y`, `z`, `w`, each made by `make_` and its name. The numbers \
         are alignments in bytes.",
    );
    let mut families: Vec<(Basic, Vec<String>)> = Vec::new();
    for def in all_types() {
        let BuiltinTypeKind::Vector { elem, .. } = def.kind else { continue };
        let text = format!("`{}` {}", def.name, def.align);
        match families.iter_mut().find(|(known, _)| *known == elem) {
            Some((_, names)) => names.push(text),
            None => families.push((elem, vec![text])),
        }
    }
    let rows: Vec<Vec<String>> = families
        .into_iter()
        .map(|(elem, names)| vec![code(elem.name()), names.join(", ")])
        .collect();
    doc.table(&["Element", "Types"], &rows);
}

fn fields(list: &[(&str, &str)]) -> String {
    let field = |(ty, name): &(&str, &str)| match ty.split_once('[') {
        Some((ty, count)) => format!("{} {name}[{count};", ty.trim_end()),
        None => format!("{ty} {name};"),
    };
    list.iter().map(field).collect::<Vec<_>>().join(" ")
}

fn definition(def: &BuiltinTypeDef) -> Option<String> {
    Some(match def.kind {
        BuiltinTypeKind::Vector { .. } | BuiltinTypeKind::Half | BuiltinTypeKind::BFloat16 => {
            return None;
        }
        BuiltinTypeKind::Enum { .. } => return None,
        BuiltinTypeKind::Record { fields: list } => format!("`struct {{ {} }}`", fields(list)),
        BuiltinTypeKind::Union { fields: list } => format!("`union {{ {} }}`", fields(list)),
        BuiltinTypeKind::Dim3 => {
            "three `unsigned`, `x`, `y`, `z`, 1 when left out; converts from an integer and `uint3`"
                .to_owned()
        }
        BuiltinTypeKind::HalfPair { elem } => format!("two `{elem}`, `x` and `y`"),
        BuiltinTypeKind::Opaque => "a structure behind a handle".to_owned(),
        BuiltinTypeKind::Alias(text) => code(text),
    })
}

/// Structures, handles and typedefs.
pub fn api_types(doc: &mut Doc) {
    doc.heading(2, "Structures, handles and typedefs");
    doc.text("Layouts are CUDA 13.0's, for 64-bit addresses.");
    let rows: Vec<Vec<String>> = all_types()
        .filter_map(|def| {
            let text = definition(&def)?;
            let needs = match def.header {
                Header::None => String::new(),
                header => format!(" (`{}`)", header.file().unwrap_or_default()),
            };
            Some(vec![code(def.name), text + &needs])
        })
        .collect();
    doc.table(&["Type", "What it is"], &rows);
}

/// Enumerations with their values.
pub fn enumerations(doc: &mut Doc) {
    doc.heading(2, "Enumerations");
    let mut rows = Vec::new();
    for def in all_types() {
        let BuiltinTypeKind::Enum { underlying } = def.kind else { continue };
        let values: Vec<String> = enumerators(def.name)
            .map(|constant| format!("`{}` {}", constant.name, constant.value))
            .collect();
        rows.push(vec![code(def.name), code(underlying.name()), values.join(", ")]);
    }
    doc.table(&["Enumeration", "Type", "Enumerators"], &rows);
}

/// What CUDA's headers define as macros.
pub fn constants(doc: &mut Doc) {
    doc.heading(2, "Constants");
    doc.text("What CUDA's headers define as macros and programs use as values.");
    let is_enum = |name: &str| {
        lookup_type(name, 8).is_some_and(|def| matches!(def.kind, BuiltinTypeKind::Enum { .. }))
    };
    let mut types: Vec<(&str, Vec<String>)> = Vec::new();
    for constant in all_constants().filter(|constant| !is_enum(constant.ty)) {
        let text = match constant.value {
            0x10000.. => format!("`{}` 0x{:x}", constant.name, constant.value),
            value => format!("`{}` {value}", constant.name),
        };
        match types.iter_mut().find(|(known, _)| *known == constant.ty) {
            Some((_, list)) => list.push(text),
            None => types.push((constant.ty, vec![text])),
        }
    }
    let rows: Vec<Vec<String>> =
        types.into_iter().map(|(ty, list)| vec![codes_of([ty]), list.join(", ")]).collect();
    doc.table(&["Type", "Names and values"], &rows);
}
