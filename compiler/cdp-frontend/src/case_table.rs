//! Tables of cases, for tests: texts, and indented below each what comes of it. Not here: any case.

/// Fails unless below each text of the table stands what `outcome` makes of it, `-` where that is nothing, and
/// unless there are so many texts. Lines of comments and empty ones count for nothing.
pub fn assert_table(table: &str, least: usize, outcome: impl Fn(&str) -> String) {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut lines = lines.peekable();
    let (mut count, mut wrong) = (0, String::new());
    while lines.peek().is_some() {
        let text = std::iter::from_fn(|| lines.next_if(|line| !line.starts_with(' ')));
        let text = text.collect::<Vec<_>>().join("\n");
        let wanted = std::iter::from_fn(|| lines.next_if(|line| line.starts_with(' ')));
        let wanted: Vec<&str> =
            wanted.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        let made = outcome(&text);
        let mut found: Vec<&str> = made.lines().collect();
        if found.is_empty() {
            found.push("-");
        }
        if found != wanted {
            wrong += &format!("{text}\n    {}\n", found.join("\n    "));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "these are so now:\n{wrong}");
    assert!(count >= least, "the table shrank to {count} cases");
}
