//! The checker: from the syntax tree to checked IR.

pub mod ctype;
