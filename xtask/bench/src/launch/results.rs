//! What `run.sh` printed, as times by row, contender and variant.

use std::collections::BTreeMap;

use xtask::failure::{Failure, Outcome};

use super::{CONTENDERS, ROWS, Row};

/// Times of one program by one contender, over all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    pub best_ms: f64,
    /// The medians of the processes.
    medians_ms: Vec<f64>,
    sum: String,
}

impl Times {
    /// The median of the processes' medians.
    pub fn median_ms(&self) -> f64 {
        let mut all = self.medians_ms.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// All that is known.
#[derive(Default)]
pub struct Results {
    /// The GPU and its driver.
    pub machine: String,
    /// By row, contender and variant.
    times: BTreeMap<(String, String, String), Times>,
    /// By program, contender and name of the fact.
    facts: BTreeMap<(String, String, String), f64>,
    /// Programs that failed, in words.
    pub problems: Vec<String>,
}

impl Results {
    /// Reads what one or more runs printed.
    ///
    /// # Errors
    /// When there is no time in it.
    pub fn read(texts: &[String]) -> Outcome<Results> {
        let mut results = Results::default();
        for text in texts {
            results.add(text);
        }
        match results.times.is_empty() {
            true => Err(Failure::new("the results hold no line `time ...`")),
            false => Ok(results),
        }
    }

    fn add(&mut self, text: &str) {
        let mut now = (String::new(), String::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["machine", ..] => self.machine = words[1..].join(" "),
                ["run", row, contender] => now = (row.into(), contender.into()),
                ["fact", program, contender, name, number] => {
                    let key = (program.into(), contender.into(), name.into());
                    self.facts.insert(key, number.parse().unwrap_or(f64::NAN));
                }
                ["time", _, variant, sum, best, median] => {
                    let (Ok(best), Ok(median)) = (best.parse::<f64>(), median.parse()) else {
                        continue;
                    };
                    let key = (now.0.clone(), now.1.clone(), variant.into());
                    let times = self.times.entry(key).or_insert_with(|| Times {
                        best_ms: best,
                        medians_ms: Vec::new(),
                        sum: sum.into(),
                    });
                    times.best_ms = times.best_ms.min(best);
                    times.medians_ms.push(median);
                }
                ["ended", ..] | [] => {}
                _ => self.problems.push(format!("{} {}: {line}", now.0, now.1)),
            }
        }
    }

    /// The rows that ran, in their order.
    pub fn rows(&self) -> Vec<Row> {
        let ran = |row: &&Row| self.times.keys().any(|(name, ..)| *name == row.name());
        ROWS.iter().filter(ran).copied().collect()
    }

    /// Times of the naive variant by a contender, or of another variant by the faster of nvcc and us.
    pub fn times(&self, row: &Row, column: &str) -> Option<&Times> {
        let get = |contender: &str, variant: &str| {
            self.times.get(&(row.name(), contender.to_owned(), variant.to_owned()))
        };
        if CONTENDERS.iter().any(|contender| contender.name == column) {
            return get(column, "naive");
        }
        let both = [get("nvcc", column), get("off", column)];
        both.into_iter().flatten().min_by(|a, b| a.best_ms.total_cmp(&b.best_ms))
    }

    /// How many times as fast as `from` a program is at `to`.
    pub fn speedup(&self, row: &Row, from: &str, to: &str) -> Option<f64> {
        Some(self.times(row, from)?.best_ms / self.times(row, to)?.best_ms)
    }

    /// The geometric mean of the speedups over the programs, each of which is the mean of its inputs.
    pub fn mean(&self, from: &str, to: &str) -> Option<f64> {
        let mut programs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for row in self.rows() {
            if let Some(speedup) = self.speedup(&row, from, to) {
                programs.entry(row.program).or_default().push(speedup.ln());
            }
        }
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let logs: Vec<f64> = programs.values().map(|logs| mean(logs)).collect();
        (!logs.is_empty()).then(|| mean(&logs).exp())
    }

    /// A fact of a program's executable.
    pub fn fact(&self, program: &str, contender: &str, name: &str) -> Option<f64> {
        self.facts.get(&(program.into(), contender.into(), name.into())).copied()
    }

    /// Rows of which two contenders or variants gave different sums.
    pub fn disagreements(&self) -> Vec<String> {
        let differs = |row: &Row| {
            let name = row.name();
            let mut of_row = self.times.iter().filter(|((found, ..), _)| *found == name);
            let first = of_row.next().map(|(_, times)| &times.sum);
            of_row.any(|(_, times)| Some(&times.sum) != first)
        };
        self.rows().iter().filter(|row| differs(row)).map(Row::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "machine H200\nfact bfs nvcc cubin 1000\n\
        run bfs-16-rmat nvcc\ntime bfs naive 7 30.0 31.0\ntime bfs flat 7 2.0 2.5\n\
        run bfs-16-rmat off\ntime bfs naive 7 29.0 29.5\ntime bfs flat 7 1.5 1.6\n\
        run bfs-16-rmat fast\ntime bfs naive 7 1.0 3.0\n\
        run bfs-16-road fast\nfailed 124\n\
        run bfs-16-rmat fast\ntime bfs naive 7 0.5 2.0\nended in round 1 after 2 s\n";

    #[test]
    fn rounds_are_put_together() {
        let results = Results::read(&[TEXT.to_owned()]).unwrap();
        let row = results.rows()[0];
        assert_eq!(row.name(), "bfs-16-rmat");
        let fast = results.times(&row, "fast").unwrap();
        assert_eq!((fast.best_ms, fast.median_ms()), (0.5, 3.0));
        assert_eq!(results.speedup(&row, "nvcc", "fast"), Some(60.0));
        assert_eq!(results.fact("bfs", "nvcc", "cubin"), Some(1000.0));
        assert_eq!(results.problems, ["bfs-16-road fast: failed 124"]);
        assert!(results.disagreements().is_empty());
    }

    #[test]
    fn flat_is_the_faster_of_two_compilers() {
        let results = Results::read(&[TEXT.to_owned()]).unwrap();
        let row = results.rows()[0];
        assert_eq!(results.times(&row, "flat").unwrap().best_ms, 1.5);
        assert_eq!(results.mean("flat", "fast"), Some(3.0000000000000004));
    }

    #[test]
    fn sums_that_differ_are_told() {
        let other = TEXT.replace("time bfs naive 7 0.5", "time bfs naive 8 0.5");
        let results = Results::read(&[other.replace("naive 7 1.0", "naive 8 1.0")]).unwrap();
        assert_eq!(results.disagreements(), ["bfs-16-rmat"]);
    }
}
