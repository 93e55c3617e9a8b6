//! The smallest program on which the judges still disagree.

use crate::Program;

/// Leaves out launches and statements while `interesting` says that what remains still shows the fault:
/// halves first, then smaller parts, then single ones, until none can go.
pub fn reduce(program: &Program, mut interesting: impl FnMut(&Program) -> bool) -> Program {
    // The first launch runs the statements.
    let mut best = without(program, 1, |program| &mut program.launches, &mut interesting);
    for index in 1..best.launches.len() {
        if best.launches[index].kernel.is_some() {
            best = without(
                &best,
                0,
                |program| &mut program.launches[index].kernel.get_or_insert_default().parts,
                &mut interesting,
            );
        }
    }
    without(&best, 0, |program| &mut program.statements, &mut interesting)
}

/// Leaves out what a list has from `first` on.
fn without<T>(
    program: &Program,
    first: usize,
    list: impl Fn(&mut Program) -> &mut Vec<T>,
    interesting: &mut impl FnMut(&Program) -> bool,
) -> Program {
    let mut best = program.clone();
    let mut part = list(&mut best).len().div_ceil(2).max(1);
    loop {
        let mut shrunk = false;
        let mut at = first;
        while at < list(&mut best).len() {
            let mut candidate = best.clone();
            let end = (at + part).min(list(&mut candidate).len());
            list(&mut candidate).drain(at..end);
            if interesting(&candidate) {
                best = candidate;
                shrunk = true;
            } else {
                at += part;
            }
        }
        match (shrunk, part) {
            (false, 1) => return best,
            _ => part = (part / 2).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn only_the_guilty_statements_stay() {
        let mut program = generate(7);
        program.statements = (0..20).map(|index| format!("u0 += {index};")).collect();
        let guilty = ["u0 += 3;", "u0 += 17;"];
        let shows = |program: &Program| {
            guilty.iter().all(|line| program.statements.iter().any(|other| other == line))
        };
        assert_eq!(reduce(&program, shows).statements, guilty);
    }

    #[test]
    fn only_the_guilty_parts_of_a_kernel_stay() {
        let with_parts = |program: &Program| {
            let mut parts = program.launches.iter().filter_map(|launch| launch.kernel.as_ref());
            parts.find(|kernel| kernel.parts.len() > 4).map(|kernel| kernel.parts[3].clone())
        };
        let (program, guilty) = (0..100)
            .map(generate)
            .find_map(|program| with_parts(&program).map(|guilty| (program, guilty)))
            .expect("a kernel of five parts");
        let kernels = |program: &Program| {
            let kernels = program.launches.iter().filter_map(|launch| launch.kernel.as_ref());
            kernels.map(|kernel| kernel.parts.clone()).collect::<Vec<_>>()
        };
        let shows = |program: &Program| kernels(program).concat().contains(&guilty);
        assert_eq!(kernels(&reduce(&program, shows)), [[guilty.clone()]]);
    }
}
