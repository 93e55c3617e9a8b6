//! Generates the parser from its grammar.

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .use_cargo_dir_conventions()
        .process()
        .expect("the grammar has conflicts: see the report above");
}
