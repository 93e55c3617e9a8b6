//! Builtin constants: the runtime API's enumerators, and what its headers define as macros.
//!
//! Values are CUDA 13.0's; they were printed by a program, not copied from its headers.

use super::index::Index;

mod attributes;
mod enumerators;
mod errors;
mod macros;

/// A builtin constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinConst {
    pub name: &'static str,
    /// Type text; an enumeration for an enumerator.
    pub ty: &'static str,
    pub value: i128,
}

/// Constants of one type.
pub(super) struct ConstTable {
    ty: &'static str,
    rows: &'static [(&'static str, i64)],
}

static TABLES: &[ConstTable] = TABLES_CONST;
const TABLES_CONST: &[ConstTable] = &[
    errors::ERRORS,
    attributes::ATTRIBUTES,
    enumerators::MEMCPY_KIND,
    enumerators::LIMIT,
    enumerators::FUNC_CACHE,
    enumerators::SHARED_MEM_CONFIG,
    enumerators::SHARED_CARVEOUT,
    enumerators::COMPUTE_MODE,
    enumerators::FUNC_ATTRIBUTE,
    enumerators::MEMORY_TYPE,
    enumerators::MEMORY_ADVISE,
    enumerators::MEM_LOCATION_TYPE,
    enumerators::CG_SCOPE,
    enumerators::SURFACE_BOUNDARY_MODE,
    enumerators::SURFACE_FORMAT_MODE,
    enumerators::TEXTURE_ADDRESS_MODE,
    enumerators::TEXTURE_FILTER_MODE,
    enumerators::TEXTURE_READ_MODE,
    enumerators::CHANNEL_FORMAT_KIND,
    enumerators::RESOURCE_TYPE,
    enumerators::RESOURCE_VIEW_FORMAT,
    enumerators::STREAM_CAPTURE_STATUS,
    enumerators::STREAM_CAPTURE_MODE,
    enumerators::GRAPH_KERNEL_NODE_FIELD,
    enumerators::GRAPH_CONDITIONAL_HANDLE_FLAGS,
    enumerators::ACCESS_PROPERTY,
    enumerators::CLUSTER_SCHEDULING_POLICY,
    enumerators::ROUND_MODE,
    macros::INTS,
    macros::STREAMS,
];

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
