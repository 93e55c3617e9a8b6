//! Functions that CUDA and the C library have and `.cdp` leaves out: each is refused by its name,
//! with what to use instead. What this is not: functions that only one side of the program has, whose
//! rows say so themselves ([`super::Lower::Refuse`]).

/// Paragraphs of functions: what they belong to and what to use instead, and below it their names.
const LIST: &str = include_str!("outside.txt");

/// Each paragraph: what its functions belong to, what to use instead (empty when there is nothing), the names.
fn paragraphs() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let paragraphs = LIST.split("\n\n").filter_map(|text| text.split_once('\n'));
    paragraphs.filter_map(|(head, names)| {
        let (library, cure) = head.split_once('|')?;
        Some((library.trim(), cure.trim(), names))
    })
}

/// Every name listed, each one known to [`outside`]; the driver API is known by its names' form.
pub fn listed() -> impl Iterator<Item = &'static str> {
    paragraphs().flat_map(|(.., names)| names.split_whitespace())
}

/// Whether CUDA or the C library has this function and `.cdp` does not: what it belongs to, and
/// what to use instead (empty when there is nothing).
pub fn outside(name: &str) -> Option<(&'static str, &'static str)> {
    let listed = |names: &str| names.split_whitespace().any(|known| known == name);
    if let Some((library, cure, _)) = paragraphs().find(|(.., names)| listed(names)) {
        return Some((library, cure));
    }
    // `cuInit`, and not `cudaX` or `cubX`.
    name.strip_prefix("cu")?.starts_with(|c: char| c.is_ascii_uppercase()).then_some((
        "CUDA's driver API",
        "use the runtime API: functions whose names begin with `cuda`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known_and_none_is_a_builtin() {
        let mut names: Vec<&str> = listed().collect();
        assert!(names.len() > 200);
        assert!(!names.iter().any(|name| super::super::is_function_name(name)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(outside("cudaGraphCreate").is_some_and(|(_, cure)| cure.contains("parent kernel")));
        assert!(outside("setjmp").is_some_and(|(what, _)| what == "the C library"));
        assert!(outside("cuInit").is_some_and(|(what, _)| what.contains("driver")));
        assert!(outside("cudaMalloc").is_none() && outside("current").is_none());
    }
}
