//! PTX in pieces, which ptxas assembles beside each other.
//!
//! ptxas works on one processor and takes most of the time of a build. A program that is linked anyhow may be assembled
//! in several objects: kernels know nothing of each other but their addresses, nor of variables that other files may
//! know. A function stays with those that mention it, since ptxas gives a caller the registers that its callee needs; the
//! machine code of each kernel is then the same as of the whole text.
//!
//! How it is cut depends on the text alone, never on the machine, so that the same program is the same cubin everywhere.

use std::collections::{HashMap, HashSet};

use cdp_llvm::outline::{Item, ItemKind, items};

/// Text that makes a piece: ptxas takes some 0.1 s for it.
const PIECE_BYTES: usize = 64 << 10;
/// More would cost more in starting ptxas than they bring.
const MOST_PIECES: usize = 8;
/// Text that ptxas must be spared by the largest piece's being smaller than the whole: as long as it takes to start.
const LEAST_SPARED_BYTES: usize = 6 << 10;
/// How the names of our own kernels begin, which no host code asks for.
const OURS: &str = "__cdp_";
/// What a definition begins with that other objects know.
const VISIBLE: [&str; 2] = [".visible", ".weak"];

/// The pieces of a text, each a module; `None` when it had better stay whole, or is not understood.
pub(crate) fn pieces(ptx: &str) -> Option<Vec<String>> {
    if ptx.len() < 2 * LEAST_SPARED_BYTES {
        return None;
    }
    let items = items(ptx).ok()?;
    let text = Text::new(&items)?;
    let owners = text.owners()?;
    let count = owners.values().max()? + 1;
    Some((0..count).map(|piece| text.piece(piece, &owners)).collect())
}

/// A text's items, and where each name is defined.
struct Text<'t> {
    items: &'t [Item<'t>],
    definitions: HashMap<&'t str, usize>,
}

impl<'t> Text<'t> {
    fn new(items: &'t [Item<'t>]) -> Option<Text<'t>> {
        let mut text = Text { items, definitions: HashMap::new() };
        for (index, item) in items.iter().enumerate() {
            let known = match item.kind {
                ItemKind::Header => true,
                ItemKind::Kernel | ItemKind::Function => item.is_complete && !item.name.is_empty(),
                ItemKind::Other => item.is_complete && is_variable(item),
                ItemKind::Section => false,
            };
            if !known || text.defines(item) && text.definitions.insert(item.name, index).is_some() {
                return None;
            }
        }
        Some(text)
    }

    fn defines(&self, item: &Item<'_>) -> bool {
        match item.kind {
            ItemKind::Header | ItemKind::Section => false,
            ItemKind::Kernel | ItemKind::Function => item.has_body,
            ItemKind::Other => !item.is_extern,
        }
    }

    /// Whether other objects know an item by its name as it is.
    fn is_known(&self, item: &Item<'_>) -> bool {
        VISIBLE.iter().any(|word| item.text.starts_with(word))
    }

    /// Whether code of other pieces may know an item by its name.
    fn is_for_all(&self, item: &Item<'_>) -> bool {
        let is_visible = self.is_known(item);
        match item.kind {
            ItemKind::Kernel => is_visible || item.name.starts_with(OURS),
            ItemKind::Other => is_visible,
            _ => false,
        }
    }

    /// The piece of each definition; `None` when cutting does not pay.
    fn owners(&self) -> Option<HashMap<usize, usize>> {
        let groups = self.groups();
        let total: usize = groups.iter().map(|group| self.bytes(group)).sum();
        let count = total.div_ceil(PIECE_BYTES).clamp(2, MOST_PIECES).min(groups.len());
        let mut by_size: Vec<&Vec<usize>> = groups.iter().collect();
        by_size.sort_by_key(|group| (std::cmp::Reverse(self.bytes(group)), group[0]));
        let (mut sizes, mut owners) = (vec![0; count], HashMap::new());
        for group in by_size {
            let (piece, size) = sizes.iter_mut().enumerate().min_by_key(|(_, size)| **size)?;
            *size += self.bytes(group);
            owners.extend(group.iter().map(|&index| (index, piece)));
        }
        let largest = sizes.into_iter().max()?;
        (total >= largest + LEAST_SPARED_BYTES).then_some(owners)
    }

    fn bytes(&self, group: &[usize]) -> usize {
        let functions = group.iter().map(|&index| &self.items[index]).filter(|item| item.has_body);
        functions.map(|item| item.text.len()).sum()
    }

    /// The definitions that must stay together, in the order of the text.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut leader: Vec<usize> = (0..self.items.len()).collect();
        fn find(leader: &[usize], mut at: usize) -> usize {
            while leader[at] != at {
                at = leader[at];
            }
            at
        }
        for (index, item) in self.items.iter().enumerate().filter(|(_, item)| self.defines(item)) {
            for other in item.names().filter_map(|name| self.definitions.get(name)) {
                // What a variable begins with is no kernel of another object.
                if !item.has_body || !self.is_for_all(&self.items[*other]) {
                    let (one, two) = (find(&leader, index), find(&leader, *other));
                    leader[one.max(two)] = one.min(two);
                }
            }
        }
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, item) in self.items.iter().enumerate() {
            if self.defines(item) {
                groups.entry(find(&leader, index)).or_default().push(index);
            }
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        groups.sort();
        groups
    }

    /// A piece's text: its definitions, and declarations of what they mention.
    fn piece(&self, piece: usize, owners: &HashMap<usize, usize>) -> String {
        let is_own = |index: &usize| owners.get(index) == Some(&piece);
        let mentioned: HashSet<&str> = (self.items.iter().enumerate())
            .filter(|(index, _)| is_own(index))
            .flat_map(|(_, item)| item.names())
            .collect();
        let mut out = String::new();
        let mut declared = HashSet::new();
        for (index, item) in self.items.iter().enumerate() {
            let home = self.definitions.get(item.name);
            let is_needed = item.kind == ItemKind::Header || mentioned.contains(item.name);
            if is_own(&index) || is_needed && home.is_none_or(is_own) {
                let is_for_all = home.is_some_and(|&home| self.is_for_all(&self.items[home]));
                if is_for_all && !self.is_known(item) {
                    out += ".visible ";
                }
                out += item.text;
            } else if is_needed && declared.insert(item.name) {
                out += &self.declaration(home.map_or(item, |&home| &self.items[home]));
            }
            out.push('\n');
        }
        out
    }

    /// The declaration of what another piece has: a kernel's parameters, a variable without what it begins with.
    fn declaration(&self, item: &Item<'_>) -> String {
        let words = item.text.trim_end_matches(';');
        let words = VISIBLE.iter().find_map(|word| words.strip_prefix(word)).unwrap_or(words);
        let head = words.split(['{', '=']).next().unwrap_or_default();
        let parameters = head.rfind(')').filter(|_| item.is_function());
        let end = parameters.map_or(head.len(), |at| at + 1);
        format!(".extern {};", head[..end].trim())
    }
}

fn is_variable(item: &Item<'_>) -> bool {
    const SPACES: [&str; 3] = [".global", ".const", ".shared"];
    let mut words = item.text.split_whitespace();
    let first = words.find(|word| ![".visible", ".extern", ".weak"].contains(word));
    !item.name.is_empty() && first.is_some_and(|word| SPACES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

    /// A kernel or function of about so many bytes, with these instructions.
    fn long(head: &str, bytes: usize, body: &str) -> String {
        let filler = "\tadd.s32 %r1, %r1, 1;\n";
        format!("{head}\n{{\n{}{body}\tret;\n}}\n", filler.repeat(bytes / filler.len()))
    }

    #[test]
    fn kernels_that_share_a_name_stay_together() {
        let parent = long(
            ".visible .entry parent(\n\t.param .u64 p\n)\n.maxntid 128, 1, 1",
            9000,
            "\tmov.b64 %rd1, child;\n\tmov.b64 %rd2, __cdp_own;\n\tmov.b64 %rd3, $str;\n\tmov.b64 %rd4, n;\n",
        );
        let child = long(
            ".visible .entry child(\n\t.param .u32 q\n)\n.maxnreg 64",
            9000,
            "\tcall f, ();\n\tmov.b64 %rd4, n;\n",
        );
        let own =
            long(".entry __cdp_own()", 2000, "\tmov.b64 %rd3, $str;\n\tmov.b64 %rd4, child;\n");
        let function = long(".func f()", 100, "");
        let declared = ".extern .func vprintf();\n.func f();\n.entry __cdp_own();\n.global .b8 $str[2] = {1, 2};\n.visible .const .align 4 .u32 n[2] = {1, 2};\n";
        let text = format!("{HEAD}{declared}{parent}{child}{own}{function}");
        let pieces = pieces(&text).expect("two pieces");
        let [first, second] = &pieces[..] else { panic!("{} pieces", pieces.len()) };
        for piece in &pieces {
            assert!(piece.starts_with(".version") && !piece.contains("vprintf"), "{piece}");
        }
        assert!(first.contains(".visible .entry parent(") && first.contains("$str[2]"), "{first}");
        assert!(first.contains(".visible .entry __cdp_own()\n{"), "{first}");
        assert!(first.contains(".extern .entry child(\n\t.param .u32 q\n);"), "{first}");
        assert!(first.contains("\n.extern .const .align 4 .u32 n[2];\n"), "{first}");
        assert!(!first.contains(".func f()"), "{first}");
        assert!(second.contains(".maxnreg 64") && second.contains(".func f();"), "{second}");
        assert!(second.contains(".visible .const .align 4 .u32 n[2] = {1, 2};"), "{second}");
        assert!(!second.contains("parent") && !second.contains("$str"), "{second}");
    }

    #[test]
    fn weak_kernels_and_managed_variables_are_known_to_all() {
        let set =
            long(".weak .entry __cdp_memset(\n\t.param .u64 p\n)", 9000, "\tmov.b64 %rd1, n;\n");
        let parent = long(
            ".visible .entry parent()",
            8000,
            "\tmov.b64 %rd1, __cdp_memset;\n\tmov.b64 %rd1, n;\n",
        );
        let managed = ".visible .global .attribute(.managed) .align 4 .u32 n = 1;\n";
        let pieces = pieces(&format!("{HEAD}{managed}{set}{parent}")).expect("two pieces");
        let [first, second] = &pieces[..] else { panic!("{} pieces", pieces.len()) };
        assert!(first.contains("\n.weak .entry __cdp_memset(\n\t.param .u64 p\n)\n{"), "{first}");
        assert!(second.contains(".extern .entry __cdp_memset(\n\t.param .u64 p\n);"), "{second}");
        let declared = "\n.extern .global .attribute(.managed) .align 4 .u32 n;\n";
        assert_eq!(pieces.iter().filter(|piece| piece.contains(declared)).count(), 1);
    }

    #[test]
    fn what_must_stay_whole_does() {
        let kernel =
            |name: &str, body: &str| long(&format!(".visible .entry {name}()"), 7000, body);
        let both = |head: &str, body: &str| {
            format!("{HEAD}{head}{}{}", kernel("a", body), kernel("b", body))
        };
        assert_eq!(pieces(&both("", "")).map(|pieces| pieces.len()), Some(2));
        // A variable or function of both; a kernel of this file alone; little beside one kernel; what is no item of code.
        assert_eq!(pieces(&both(".global .u32 n;\n", "\tld.global.u32 %r1, [n];\n")), None);
        let callee = long(".func f()", 10, "");
        assert_eq!(pieces(&both(&callee, "\tcall f, ();\n")), None);
        let hidden = long(".entry hidden()", 10, "");
        assert_eq!(pieces(&both(&hidden, "\tmov.b64 %rd1, hidden;\n")), None);
        assert_eq!(pieces(&format!("{HEAD}{}{callee}", kernel("a", ""))), None);
        assert_eq!(pieces(&both(".section .debug_loc { .b8 1 }\n", "")), None);
        assert_eq!(
            pieces(&both(
                ".visible .global .u64 t[1] = {a};\n.visible .global .u64 u[2] = {t, b};\n",
                ""
            )),
            None
        );
        assert_eq!(pieces(&both("", "")[..11000]), None);
    }
}
