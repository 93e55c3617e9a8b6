//! What PTX of this compiler says of its launches, in a comment, which tools of CUDA pass over.
//!
//! A launch that the optimiser has made a part of its parent is none any more, so that a checker of races finds nothing
//! between the two. Who checks such a program is told so; that is all that hangs on the comment.

const OPTIMISED: &str = "// Some launches became a part of who launches.\n";

/// PTX that says that some of its launches were optimised.
pub fn mark_optimised(ptx: &str) -> String {
    [OPTIMISED, ptx].concat()
}

/// Whether PTX says so.
pub fn are_optimised(ptx: &str) -> bool {
    ptx.starts_with(OPTIMISED) || ptx.contains(&["\n", OPTIMISED].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_is_seen() {
        let ptx = "//\n.version 8.0\n";
        assert!(!are_optimised(ptx));
        assert!(are_optimised(&mark_optimised(ptx)));
        assert!(are_optimised(&["// first\n", &mark_optimised(ptx)].concat()));
    }
}
