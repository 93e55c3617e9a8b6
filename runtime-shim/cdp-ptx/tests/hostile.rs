//! Texts that mean harm: nothing panics, and time and memory stay in proportion to the text.

use std::time::{Duration, Instant};

use cdp_ptx::{Module, ParseError, parse, print};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A reproducible source of numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Parses, and prints what parses; a text that parses must round-trip.
fn try_out(text: &str) -> Option<Module> {
    let module = parse(text).ok()?;
    let printed = print(&module);
    let again = parse(&printed).unwrap_or_else(|error| panic!("print: {error}\n{text}\n{printed}"));
    assert!(again == module, "another module:\n{text}\n{printed}");
    Some(module)
}

fn seeds() -> Vec<String> {
    let directory = format!("{}/tests/data", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(directory).expect("the data is there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut paths: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "ptx")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect()
}

#[test]
fn truncated_files() {
    for text in seeds() {
        for end in (0..text.len()).step_by(97) {
            if text.is_char_boundary(end) {
                let _ = try_out(&text[..end]);
            }
        }
    }
}

#[test]
fn mutated_files() {
    let mut random = Random(0x5EED);
    let words = "{ } ; , ( ) [ ] : @ % - 0x 99999999999999999999 .reg .param .loc .global .b8 .v4 call bra _ \
                 generic( \" /* \0 é -1 0f 4294967296 < > .align = { .f16x2 .pred";
    let words: Vec<&str> = words.split(' ').collect();
    for text in seeds() {
        for _ in 0..150 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.next() as u8,
                    1 => {
                        let end = (at + random.below(30)).min(bytes.len());
                        bytes.drain(at..end);
                    }
                    2 => {
                        let word = words[random.below(words.len())];
                        bytes.splice(at..at, word.bytes());
                    }
                    _ => {
                        let from = random.below(bytes.len());
                        let to = (from + random.below(60)).min(bytes.len());
                        let piece = bytes[from..to].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let _ = try_out(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn random_tokens() {
    let mut random = Random(7);
    let words: Vec<String> = seeds()
        .iter()
        .flat_map(|text| text.split_whitespace().map(str::to_string).collect::<Vec<_>>())
        .collect();
    for _ in 0..3000 {
        let mut text = format!("{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; ");
        for _ in 0..random.below(40) {
            text.push_str(&words[random.below(words.len())]);
            text.push(' ');
        }
        let _ = try_out(&text);
        let _ = try_out(&format!("{text} }}"));
    }
}

/// Parses within a generous multiple of what the length deserves.
#[track_caller]
fn within_bounds(text: &str) -> Result<Module, ParseError> {
    let start = Instant::now();
    let result = parse(text);
    let limit = Duration::from_millis(1500 + text.len() as u64 / 200);
    let elapsed = start.elapsed();
    assert!(elapsed < limit, "{} bytes took {elapsed:?}", text.len());
    result
}

fn in_kernel(body: &str) -> String {
    format!("{HEADER}.visible .entry k()\n{{\n{body}\n}}\n")
}

#[test]
fn deep_nesting_is_refused() {
    let many = 100_000;
    for text in [
        in_kernel(&"{".repeat(many)),
        in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "(".repeat(many))),
        in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "-".repeat(many))),
        in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "~(.s64)".repeat(many))),
        in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "1?".repeat(many))),
        in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "1?1:".repeat(many))),
        format!("{HEADER}.global .b8 x{} = {};", "[1]".repeat(many), "{".repeat(many)),
        format!("{HEADER}.global .b8 x[4] = {};", "{".repeat(many)),
        format!("{HEADER}.section .debug_info {}", "{".repeat(many)),
    ] {
        assert!(within_bounds(&text).is_err());
    }
    let sum = in_kernel(&format!(".reg .b32 %r; mov.b32 %r, {}1;", "1+".repeat(many)));
    assert!(within_bounds(&sum).is_ok(), "a long sum is not deep");
}

#[test]
fn large_numbers_cost_nothing() {
    let text = in_kernel(
        ".reg .b32 %r<4294967295>; .local .b8 a[1099511627776]; .local .b8 b[1099511627776];
         mov.b32 %r4294967294, %r0;",
    );
    let module = within_bounds(&text).expect("only two registers are used");
    let body = module.functions[0].body.as_ref().expect("defined");
    assert_eq!(body.registers.len(), 2);
    let text = format!("{HEADER}.global .b8 x[1000][1000000000] = {{{{1}}, {{2}}}};");
    assert!(within_bounds(&text).is_err(), "initialisers far apart would fill the memory");
    let text = format!("{HEADER}.global .b8 x[1000][1000] = {{{{1}}, {{2}}}};");
    let module = within_bounds(&text).expect("these are near");
    let init = module.variables[0].init.as_ref().expect("initialised");
    assert_eq!((init.bytes.len(), init.bytes[1000]), (1001, 2));
}

#[test]
fn clashing_names_stay_linear() {
    let mut text = String::new();
    for index in 0..40_000 {
        let ty = if index % 2 == 0 { "b32" } else { "b64" };
        text.push_str(&format!(
            "{{ .reg .{ty} a; .reg .{ty} a${index}; mov.{ty} a, a${index}; }}\n"
        ));
    }
    let module = within_bounds(&in_kernel(&text)).expect("it is PTX");
    assert!(within_bounds(&print(&module)).expect("it is PTX") == module);
    let mut text = String::new();
    for index in 0..40_000 {
        let bytes = index % 7 + 1;
        text.push_str(&format!(
            "{{ .param .b8 a[{bytes}]; .param .b8 a$1[{bytes}]; bra L; L: }}\n"
        ));
    }
    within_bounds(&in_kernel(&text)).expect("it is PTX");
}

#[test]
fn long_lines_and_many_labels_stay_linear() {
    let mut text = String::from(".reg .pred %p<2>; ");
    for index in 0..60_000 {
        text.push_str(&format!("@%p1 bra L{}; L{index}: ", (index * 7919) % 60_000));
    }
    // All on one line: columns must not be counted anew for each instruction.
    let module = within_bounds(&in_kernel(&text)).expect("it is PTX");
    let body = module.functions[0].body.as_ref().expect("defined");
    assert_eq!(body.labels.len(), 60_000);
    let text = format!("{}bra X; X: {}", "{ ".repeat(60), "} ".repeat(60));
    within_bounds(&in_kernel(&text)).expect("labels are found through many scopes");
}

#[test]
fn many_modifiers_and_operands_are_refused() {
    let text = in_kernel(&format!(".reg .b32 %r; add{}.u32 %r, %r, %r;", ".sat".repeat(100_000)));
    assert!(within_bounds(&text).is_err());
    let list = "%r,".repeat(100_000);
    let text = in_kernel(&format!(".reg .b32 %r; st.v4.b32 [%r], {{{list}%r}};"));
    assert!(within_bounds(&text).is_err());
    let text = in_kernel(&format!(".reg .b32 %r; mov.b64 {{{list}%r}}, %r;"));
    assert!(within_bounds(&text).is_err());
    let name = "x".repeat(1 << 20);
    let error = within_bounds(&in_kernel(&format!("bra {name};"))).expect_err("no such label");
    assert!(error.message.len() < 300, "messages do not repeat huge names");
    let error = within_bounds(&in_kernel(&format!("{name} 1;"))).expect_err("no instruction");
    assert!(error.message.len() < 300, "messages do not repeat huge names");
}
