use super::super::{
    Lower, Mode, Overload, Pass, SigBase, Signature, all_functions, lookup_function,
};
use super::super::{is_type_name, signature};
use cdp_ir::FastMath;

/// Every lowering a row can have, conditions followed both ways.
fn lowerings(lower: &'static Lower, found: &mut Vec<&'static Lower>) {
    match lower {
        Lower::IfFtz(a, b) | Lower::IfFast(a, b) | Lower::IfSm(_, a, b) => {
            lowerings(a, found);
            lowerings(b, found);
        }
        other => found.push(other),
    }
}

#[test]
fn every_row_is_found_and_the_index_is_sparse() {
    for row in all_functions() {
        assert!(super::rows(row.name).any(|found| std::ptr::eq(found, row)), "{}", row.name);
    }
    assert!(super::INDEX.is_sparse(), "{} rows: a larger index", all_functions().count());
    assert_eq!(super::rows("no_such_function").count(), 0);
    assert_eq!(super::rows("").count(), 0);
}

#[test]
fn every_signature_parses_and_names_known_types() {
    for func in all_functions() {
        for overload in lookup_function(func.name) {
            let sig = overload.signature();
            for ty in sig.params.iter().map(|param| param.ty).chain([sig.ret]) {
                if let SigBase::Named(name) = ty.base {
                    assert!(is_type_name(name), "{}: {name}", func.name);
                }
            }
            let optional = sig.params.len() - sig.required_count();
            let tail = sig.params.iter().rev().take(optional);
            assert!(tail.clone().all(|param| param.default.is_some()), "{}", func.name);
        }
    }
}

#[test]
fn rows_are_written_out() {
    for func in all_functions() {
        assert!(func.summary.ends_with('.'), "{}: {}", func.name, func.summary);
        assert!(
            !func.types.is_empty() || !signature::mentions_family_type(func.signature),
            "{}",
            func.name
        );
    }
}

/// A template has a letter for each argument and result, and its text uses each operand.
#[test]
fn templates_agree_with_their_signatures() {
    for func in all_functions() {
        let mut found = Vec::new();
        lowerings(&func.device, &mut found);
        for lower in found {
            let Lower::Intrinsic(cdp_ir::Intrinsic::Ptx(template)) = lower else { continue };
            let sig = Signature::parse(func.signature, func.types.first().copied());
            assert_eq!(template.args.len(), sig.params.len(), "{}", func.name);
            let void =
                sig.ret.base == SigBase::Builtin(crate::ast::Basic::Void) && sig.ret.pointers == 0;
            assert_eq!(template.results.is_empty(), void, "{}", func.name);
            for index in 0..template.args.len() + template.results.len() {
                assert!(template.text.contains(&format!("${index}")), "{}: ${index}", func.name);
            }
        }
    }
}

/// Two overloads of one name in one pass never have the same parameters.
#[test]
fn overloads_differ() {
    let mut names: Vec<&str> = all_functions().map(|func| func.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let set: Vec<Overload> = lookup_function(name);
        for pass in [Pass::Device, Pass::Host] {
            let mode = Mode { pass, sm: 90, fast_math: FastMath::default() };
            let params: Vec<_> = set
                .iter()
                .filter(|overload| !matches!(overload.lower(&mode), Lower::Refuse("")))
                .filter(|overload| !overload.func.flags.explicit_type)
                .map(|overload| overload.signature().params)
                .map(|params| params.into_iter().map(|param| param.ty).collect::<Vec<_>>())
                .collect();
            for (index, one) in params.iter().enumerate() {
                assert!(!params[..index].contains(one), "{name} {one:?} twice");
            }
        }
    }
}

/// The device runtime's table and ours agree: each function has one row with its types, but for
/// what C++ declares as templates.
#[test]
fn the_device_runtime_is_there_whole() {
    for row in cdp_ir::runtime::RUNTIME_TABLE {
        let set = lookup_function(row.name);
        assert_eq!(set.len(), 1, "{}", row.name);
        assert_eq!(set[0].func.device, Lower::Runtime(row.func), "{}", row.name);
        let (ours, theirs) = (set[0].signature(), Signature::parse(row.prototype, None));
        assert_eq!(ours.ret, theirs.ret, "{}", row.name);
        assert_eq!(ours.params.len(), theirs.params.len(), "{}", row.name);
        for (our, their) in ours.params.iter().zip(&theirs.params) {
            let template = matches!(our.ty.base, SigBase::Any | SigBase::Kernel | SigBase::Symbol);
            assert!(template || our.ty == their.ty, "{}", row.name);
            assert_eq!(our.default, their.default, "{}", row.name);
        }
    }
}

/// What a body calls exists; a body never names the program's things.
#[test]
fn bodies_call_builtins_only() {
    const WORDS: &[&str] =
        &["if", "constexpr", "for", "while", "return", "asm", "volatile", "sizeof", "isnan"];
    for func in all_functions() {
        let mut found = Vec::new();
        lowerings(&func.device, &mut found);
        lowerings(&func.host, &mut found);
        for lower in found {
            let Lower::Inline(body) = lower else { continue };
            let mut quoted = false;
            let code: String = body
                .chars()
                .map(|c| {
                    quoted ^= c == '"';
                    if quoted { ' ' } else { c }
                })
                .collect();
            for (at, _) in code.match_indices('(') {
                let word = code[..at]
                    .trim_end()
                    .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .next()
                    .unwrap_or("");
                let called = !word.is_empty() && !WORDS.contains(&word);
                assert!(
                    !called || super::super::is_function_name(word),
                    "{} calls `{word}`",
                    func.name
                );
            }
        }
    }
}
