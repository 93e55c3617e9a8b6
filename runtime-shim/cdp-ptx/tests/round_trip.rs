//! Whole files, from nvcc, clang and LLVM's llc (sources beside them in `data/`): they parse, and
//! what is printed parses to the same module. Some facts about them are checked one by one.

use cdp_ptx::inst::{CallTarget, Inst};
use cdp_ptx::*;

fn data(name: &str) -> String {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn load(name: &str) -> Module {
    parse(&data(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn files_round_trip() {
    let directory = format!("{}/tests/data", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("the data is there") {
        let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
        if !name.ends_with(".ptx") {
            continue;
        }
        let module = load(&name);
        let printed = print(&module);
        let again = parse(&printed).unwrap_or_else(|error| panic!("{name}: print: {error}"));
        assert!(again == module, "{name}: the print parses to another module");
        assert_eq!(print(&again), printed, "{name}: the second print differs");
        count += 1;
    }
    assert!(count >= 7, "only {count} files");
}

#[test]
fn nvcc_globals() {
    let module = load("kernels.nvcc-sm75.ptx");
    assert_eq!((module.target.sm, module.address_bits), (75, 64));
    let linked = &module.variables[module.variable("linked").expect("linked").index()];
    assert_eq!(linked.size_bytes(), 24);
    let init = linked.init.as_ref().expect("linked is initialised");
    assert_eq!(init.bytes[0], b'x');
    let counter = Symbol::Global(module.variable("counter").expect("counter"));
    assert!(init.relocations.iter().all(|r| r.symbol == counter && r.generic));
    assert_eq!(init.relocations[0].offset_bytes, 8);
    let dynamic = module.variables.iter().find(|v| v.name.contains("dynamic_shared"));
    let dynamic = dynamic.expect("dynamic_shared");
    assert!(dynamic.is_unsized() && dynamic.linkage == Linkage::Extern);
    assert_eq!((dynamic.space, dynamic.size_bytes()), (Space::Shared, 0));
    let table = &module.variables[module.variable("table").expect("table").index()];
    let bytes = &table.init.as_ref().expect("table is initialised").bytes;
    assert_eq!(bytes[8..16], 0.1f64.to_le_bytes());
}

#[test]
fn kernel_signature() {
    let module = load("kernels.clang-sm90.ptx");
    let mixed = &module.functions[module.function("mixed").expect("mixed").index()];
    assert_eq!(mixed.kind, FunctionKind::Kernel);
    let params = mixed.params.iter().map(|param| (param.align_bytes, param.size_bytes()));
    // float*, const float*, int, Point (8-aligned, 32 bytes), Function*
    assert_eq!(params.collect::<Vec<_>>(), [(8, 8), (8, 8), (4, 4), (8, 32), (8, 8)]);
    let bounded = module.functions.iter().find(|f| f.name.contains("bounded")).expect("bounded");
    assert_eq!(bounded.limits.max_threads, Some([256, 1, 1]));
    assert_eq!(bounded.limits.min_blocks_per_sm, Some(2));
}

#[test]
fn scopes_are_flattened() {
    let module = load("kernels.nvcc-sm75.ptx");
    let assembly = module.functions.iter().find(|f| f.name.contains("assembly")).expect("there");
    let body = assembly.body.as_ref().expect("defined");
    let q = body.registers.iter().filter(|r| r.name == "q").count();
    assert_eq!(q, 1, "predicates of blocks side by side are shared");
    let t: Vec<_> = body.registers.iter().filter(|r| r.name.starts_with('t')).collect();
    assert_eq!(t.len(), 2, "registers of different types are not: {t:?}");
    let done = body.labels.iter().filter(|l| l.name.starts_with("DONE")).count();
    assert_eq!(done, 2, "each block has its own label");
    for instruction in &body.instructions {
        if let Inst::Bra { target, .. } = instruction.inst {
            assert!((target.index()) < body.labels.len());
        }
    }
}

#[test]
fn launches_name_their_kernels() {
    let module = load("launches.nvcc-sm90-lineinfo.ptx");
    let parent = module.functions.iter().find(|f| f.name.contains("parent")).expect("parent");
    let body = parent.body.as_ref().expect("defined");
    let kernels = body.instructions.iter().filter(|i| {
        matches!(i.inst, Inst::Mov { src: Operand::Address { symbol: Symbol::Function(id), .. }, .. }
            if module.functions[id.index()].kind == FunctionKind::Kernel)
    });
    assert!(kernels.count() >= 2, "the addresses of two kernels are taken");
    let calls = body.instructions.iter().filter_map(|i| match &i.inst {
        Inst::Call { target: CallTarget::Direct(id), .. } => {
            Some(module.functions[id.index()].name.as_str())
        }
        _ => None,
    });
    let calls: Vec<&str> = calls.collect();
    assert!(calls.contains(&"__cudaCDP2GetParameterBufferV2"), "{calls:?}");
    assert!(calls.contains(&"__cudaCDP2LaunchDeviceV2"), "{calls:?}");
}

#[test]
fn source_lines() {
    for name in ["launches.nvcc-sm90-lineinfo.ptx", "launches.clang-sm80-lines.ptx"] {
        let module = load(name);
        let child = module.functions.iter().find(|f| f.name.contains("child")).expect("child");
        let body = child.body.as_ref().expect("defined");
        let add = body.instructions.iter().rfind(|i| matches!(i.inst, Inst::St { .. }));
        let location = add.expect("a store").location.expect("it has a line");
        let location = &body.locations[location.index()];
        assert_eq!(module.file(location.file).expect("there").path, "launches.cu");
        assert_eq!(location.line, 6, "{name}");
    }
    // The constructor of dim3 is inlined into `parent`.
    let module = load("launches.nvcc-sm90-lineinfo.ptx");
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    let mut inlined = bodies.flat_map(|b| &b.locations).filter_map(|l| l.inlined_at.as_ref());
    assert!(inlined.any(|at| at.function.is_some()), "inlined functions have names");
}

#[test]
fn llvm_initialisers() {
    let module = load("ir.llc-sm90.ptx");
    let packed = &module.variables[module.variable("c").expect("c").index()];
    let init = packed.init.as_ref().expect("c is initialised");
    assert_eq!(init.relocations.len(), 8, "a pointer at an odd offset is stored byte by byte");
    for (index, relocation) in init.relocations.iter().enumerate() {
        assert_eq!(relocation.offset_bytes, 1 + index as u64);
        assert_eq!((relocation.size_bytes, relocation.shift_bits), (1, 8 * index as u32));
        assert_eq!((relocation.addend, relocation.generic), (4, true));
    }
    assert_eq!(init.bytes[9], 5);
    let alias = &module.functions[module.function("other_name").expect("other_name").index()];
    assert_eq!(alias.alias_of, module.function("impl"));
    let die = &module.functions[module.function("die").expect("die").index()];
    assert!(die.limits.noreturn && die.linkage == Linkage::Extern);
}

#[test]
fn thirty_two_bits() {
    let module = load("ir.llc-sm60-32bit.ptx");
    assert_eq!(module.address_bits, 32);
    let pointers = &module.variables[module.variable("i").expect("i").index()];
    assert_eq!(pointers.size_bytes(), 8);
    let init = pointers.init.as_ref().expect("i is initialised");
    assert_eq!(init.relocations[0].size_bytes, 4);
}

#[test]
fn declared_later_or_twice() {
    let text = "\
.version 8.0
.target sm_80
.address_size 64
.extern .global .align 4 .u32 later[4];
.func (.param .b32 r) helper(.param .b32 a);
.global .align 8 .u64 pointer = generic(later)+4;
.visible .global .align 4 .u32 later[4] = {1, 2};
.visible .entry main() { ret; }
.func (.param .b32 r) helper(.param .b32 b) { ret; }
";
    let module = parse(text).expect("it is PTX");
    let later = &module.variables[0];
    assert_eq!((later.linkage, later.init.is_some()), (Linkage::Visible, true));
    assert_eq!(module.functions.len(), 2);
    assert!(module.functions[0].body.is_some(), "the definition takes the declaration's place");
    let printed = print(&module);
    assert!(parse(&printed).expect("it is PTX") == module, "{printed}");
}

#[test]
fn zeros_at_the_end_are_left_out_but_not_of_a_vector() {
    let text = "\
.version 8.0
.target sm_80
.global .align 8 .v2 .b32 vectors[4] = {{1, 2}, {3, 0}, {0, 0}};
.global .align 8 .v2 .b32 vector = {0, 0};
.global .align 4 .b32 rows[2][3] = {{1, 2, 3}, {4, 0, 0}};
";
    let printed = print(&parse(text).expect("it is PTX"));
    for shown in ["vectors[4] = {{1, 2}, {3, 0}};", "vector = {0, 0};", "= {{1, 2, 3}, {4}};"] {
        assert!(printed.contains(shown), "{shown} in {printed}");
    }
}

#[test]
fn debug_sections_are_passed_over() {
    let text = "\
.version 8.0
.target sm_80, debug
.address_size 64
.visible .entry main() {
.loc 2 7 3, function_name $L__s+2, inlined_at 2 9 1
  ret;
}
.file 2 \"a.cu\", 1, 2
.section .debug_abbrev { .b8 1, 2, 3 }
.section .debug_info { .b32 .debug_abbrev  .b64 tmp }
.section .debug_str { $L__s: .b8 120, 0, 102, 111, 111, 0 }
";
    let module = parse(text).expect("it is PTX");
    let body = module.functions[0].body.as_ref().expect("defined");
    let location = &body.locations[0];
    assert_eq!((location.line, location.column), (7, 3));
    let inlined = location.inlined_at.as_ref().expect("inlined");
    assert_eq!((inlined.function.as_deref(), inlined.line), (Some("foo"), 9));
    assert_eq!(module.files[0].stamp, Some((1, 2)));
    assert!(parse(&print(&module)).expect("it is PTX") == module);
}
