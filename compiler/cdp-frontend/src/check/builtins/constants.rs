//! Builtin constants: the runtime API's enumerators, and what its headers define as macros.
//!
//! They are declared with the types (`types/*.cuh`, in the language of `build/declarations/types.rs`).

use super::index::Index;

/// A builtin constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinConst {
    pub name: &'static str,
    /// Type text; an enumeration for an enumerator.
    pub ty: &'static str,
    pub value: i128,
}

/// Constants of one type.
struct ConstTable {
    ty: &'static str,
    rows: &'static [(&'static str, i64)],
}

static TABLES: &[ConstTable] = TABLES_CONST;
const TABLES_CONST: &[ConstTable] = include!(concat!(env!("OUT_DIR"), "/constants.rs"));

static INDEX: Index<1024> = index();

#[allow(long_running_const_eval)]
const fn index() -> Index<1024> {
    let mut index = Index::EMPTY;
    let mut table = 0;
    while table < TABLES_CONST.len() {
        let rows = TABLES_CONST[table].rows;
        let mut row = 0;
        while row < rows.len() {
            index.insert(rows[row].0, table, row);
            row += 1;
        }
        table += 1;
    }
    index
}

/// Looks up a constant.
pub fn lookup_constant(name: &str) -> Option<BuiltinConst> {
    // All of them begin so; most names a program asks for do not.
    if !name.starts_with("cuda") && !name.starts_with("CUDA") {
        return None;
    }
    INDEX
        .candidates(name)
        .map(|(table, row)| (&TABLES[table], row))
        .find(|(table, row)| table.rows[*row].0 == name)
        .map(|(table, row)| constant(table, row))
}

/// The enumerators of an enumeration, in order; empty for another type.
pub fn enumerators(enum_name: &str) -> impl Iterator<Item = BuiltinConst> + '_ {
    TABLES
        .iter()
        .filter(move |table| table.ty == enum_name)
        .flat_map(|table| (0..table.rows.len()).map(move |row| constant(table, row)))
}

/// Every constant.
pub fn all_constants() -> impl Iterator<Item = BuiltinConst> {
    TABLES.iter().flat_map(|table| (0..table.rows.len()).map(move |row| constant(table, row)))
}

fn constant(table: &'static ConstTable, row: usize) -> BuiltinConst {
    let (name, value) = table.rows[row];
    BuiltinConst { name, ty: table.ty, value: i128::from(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_found_and_typed() {
        let mut count = 0;
        let mut seen = std::collections::HashSet::new();
        for constant in all_constants() {
            count += 1;
            assert!(seen.insert(constant.name), "{} twice", constant.name);
            assert_eq!(lookup_constant(constant.name), Some(constant));
            let ty = super::super::SigType::parse(constant.ty, None);
            if let super::super::SigBase::Named(name) = ty.base {
                assert!(super::super::is_type_name(name), "{name}");
            }
        }
        assert!(INDEX.is_sparse(), "{count} constants: a larger index");
        assert_eq!(lookup_constant("cudaNoSuchThing"), None);
        assert_eq!(
            lookup_constant("cudaErrorLaunchPendingCountExceeded").map(|c| c.value),
            Some(69)
        );
        assert_eq!(enumerators("cudaMemcpyKind").count(), 5);
    }
}
