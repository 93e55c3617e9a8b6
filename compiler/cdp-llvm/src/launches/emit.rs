//! Pieces of LLVM IR as text: what the functions that launch sites become are put together from.
//!
//! What is absent: what is put together, and why that is right ([`super::distribute`]).

use std::fmt::Write;

use super::argument::Argument;
use super::child::scalar_bits;

/// The variable of a block with the lock, and whether a child was really launched.
pub(super) const ORDER: &str = "__cdp_order";
/// The block's flag: whether a child was really launched.
pub(super) const FLAG: &str =
    "ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4)";

/// A name as LLVM IR has it.
pub(super) fn quoted(name: &str) -> String {
    let mut out = String::from("@\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => drop(write!(out, "\\{byte:02X}")),
            _ => out.push(byte as char),
        }
    }
    out + "\""
}

/// LLVM IR in the making.
#[derive(Default)]
pub(super) struct Text {
    pub out: String,
    next: u32,
}

impl Text {
    pub fn line(&mut self, line: &str) {
        self.out += "  ";
        self.out += line;
        self.out.push('\n');
    }

    pub fn label(&mut self, label: &str) {
        self.out += label;
        self.out += ":\n";
    }

    /// A value with a name of its own.
    pub fn set(&mut self, value: &str) -> String {
        let name = format!("%v{}", self.next);
        self.next += 1;
        self.line(&format!("{name} = {value}"));
        name
    }

    /// Whether all of these hold.
    pub fn all(&mut self, conditions: &[String]) -> String {
        let (first, rest) =
            conditions.split_first().map_or(("true".to_string(), &[][..]), |(f, r)| (f.clone(), r));
        rest.iter().fold(first, |all, next| self.set(&format!("and i1 {all}, {next}")))
    }

    /// The word that lane `from` of the lanes `mask` has.
    pub fn shuffle(&mut self, mask: &str, word: &str, from: &str) -> String {
        self.set(&format!(
            "call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 {mask}, i32 {word}, i32 {from}, i32 31)"
        ))
    }

    /// The same of 64 bits.
    pub fn shuffle_wide(&mut self, mask: &str, wide: &str, from: &str) -> String {
        let low = self.set(&format!("trunc i64 {wide} to i32"));
        let high = self.set(&format!("lshr i64 {wide}, 32"));
        let high = self.set(&format!("trunc i64 {high} to i32"));
        let (low, high) = (self.shuffle(mask, &low, from), self.shuffle(mask, &high, from));
        let low = self.set(&format!("zext i32 {low} to i64"));
        let high = self.set(&format!("zext i32 {high} to i64"));
        let high = self.set(&format!("shl i64 {high}, 32"));
        self.set(&format!("or i64 {high}, {low}"))
    }

    /// The first lane of `%mask`.
    pub fn leader(&mut self) -> String {
        self.set("call i32 @llvm.cttz.i32(i32 %mask, i1 true)")
    }

    /// Names how many of the lanes `mask` are below this one.
    pub fn rank(&mut self, name: &str, mask: &str) {
        let below = self.set("call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()");
        let below = self.set(&format!("and i32 {mask}, {below}"));
        self.line(&format!("{name} = call i32 @llvm.ctpop.i32(i32 {below})"));
    }

    /// Room for a copy of each of these arguments that goes by address: `%copy` and the argument's number.
    pub fn room_for_copies<'a>(&mut self, arguments: impl Iterator<Item = (usize, &'a Argument)>) {
        for (index, argument) in arguments {
            if let Some((bytes, align)) = argument.by_value {
                self.line(&format!("%copy{index} = alloca [{bytes} x i8], align {align}"));
            }
        }
    }

    /// The address so many bytes behind another; `bytes` is an operand of 64 bits.
    pub fn behind(&mut self, address: &str, bytes: impl std::fmt::Display) -> String {
        self.set(&format!("getelementptr i8, ptr {address}, i64 {bytes}"))
    }

    /// A kernel's argument that points to global memory, as all pointers among kernels' arguments do: code that knows
    /// this needs no loads and atomic operations that look where an address leads.
    pub fn generic(&mut self, global: &str) -> String {
        self.set(&format!("addrspacecast ptr addrspace(1) {global} to ptr"))
    }

    /// Which lanes of `%mask` say yes.
    pub fn ballot(&mut self, condition: &str) -> String {
        self.ballot_of("%mask", condition)
    }

    /// Which lanes of a mask say yes. ptxas makes a vote of all lanes that are at that place, where groups with masks
    /// of their own are brought together there.
    pub fn ballot_of(&mut self, mask: &str, condition: &str) -> String {
        let votes =
            self.set(&format!("call i32 @llvm.nvvm.vote.ballot.sync(i32 {mask}, i1 {condition})"));
        self.set(&format!("and i32 {votes}, {mask}"))
    }
}

pub(super) fn within(text: &mut Text, name: &str, most: u32) -> String {
    let less = text.set(&format!("sub i32 %{name}, 1"));
    text.set(&format!("icmp ult i32 {less}, {most}"))
}

pub(super) fn product(text: &mut Text, names: [&str; 3]) -> String {
    let [x, y, z] = names.map(|name| text.set(&format!("zext i32 %{name} to i64")));
    let plane = text.set(&format!("mul i64 {x}, {y}"));
    text.set(&format!("mul i64 {plane}, {z}"))
}

/// The argument of lane `%from`.
pub(super) fn moved(argument: &Argument, index: usize, text: &mut Text) -> String {
    let own = format!("%a{index}");
    if argument.uniform {
        return own;
    }
    if let Some((bytes, align)) = argument.by_value {
        return moved_bytes(index, bytes, align, text);
    }
    let ty = &argument.ty;
    let bits = scalar_bits(ty).unwrap_or(32);
    let (to, back) = match ty.as_str() {
        "ptr" => ("ptrtoint", "ptr"),
        ty if ty.starts_with('i') => ("", ""),
        _ => ("bitcast", "bitcast"),
    };
    let raw = match to {
        "" => own,
        cast => text.set(&format!("{cast} {ty} {own} to i{bits}")),
    };
    let number = match bits {
        64 => text.shuffle_wide("%mask", &raw, "%from"),
        32 => text.shuffle("%mask", &raw, "%from"),
        bits => {
            let word = text.set(&format!("zext i{bits} {raw} to i32"));
            let word = text.shuffle("%mask", &word, "%from");
            text.set(&format!("trunc i32 {word} to i{bits}"))
        }
    };
    match back {
        "" => number,
        "ptr" => {
            let global = text.set(&format!("inttoptr i64 {number} to ptr addrspace(1)"));
            text.generic(&global)
        }
        cast => text.set(&format!("{cast} i{bits} {number} to {ty}")),
    }
}

/// A copy of the bytes at an address of lane `%from`, in as wide pieces as the alignment allows.
fn moved_bytes(index: usize, bytes: u64, align: u64, text: &mut Text) -> String {
    let (own, copy) = (format!("%a{index}"), format!("%copy{index}"));
    let widest = align.min(4);
    let mut at = 0;
    while at < bytes {
        let mut piece = widest;
        while piece > bytes - at {
            piece /= 2;
        }
        let bits = piece * 8;
        let from = text.set(&format!("getelementptr i8, ptr {own}, i64 {at}"));
        let value = text.set(&format!("load i{bits}, ptr {from}, align {piece}"));
        let word = match bits {
            32 => value,
            _ => text.set(&format!("zext i{bits} {value} to i32")),
        };
        let word = text.shuffle("%mask", &word, "%from");
        let value = match bits {
            32 => word,
            _ => text.set(&format!("trunc i32 {word} to i{bits}")),
        };
        let to = text.set(&format!("getelementptr i8, ptr {copy}, i64 {at}"));
        text.line(&format!("store i{bits} {value}, ptr {to}, align {piece}"));
        at += piece;
    }
    copy
}

/// One lane of those that are here takes the block's lock for all.
pub(super) fn lock(text: &mut Text) {
    let lane = text.set("call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
    let first = text.leader();
    text.line(&format!("%leader = icmp eq i32 {lane}, {first}"));
    text.line("br i1 %leader, label %spin, label %locked");
    text.label("spin");
    text.line(&format!(
        "%held = atomicrmw xchg ptr addrspace(3) @{ORDER}, i32 1 syncscope(\"block\") monotonic, align 4"
    ));
    text.line("%free = icmp eq i32 %held, 0");
    text.line("br i1 %free, label %locked, label %spin");
    text.label("locked");
    text.line("fence syncscope(\"block\") acq_rel");
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
}

/// Gives the lock back; `launches` says whether one of the lanes goes on to a real launch.
pub(super) fn unlock(text: &mut Text, launches: &str) {
    text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
    text.line("br i1 %leader, label %release, label %released");
    text.label("release");
    text.line(&format!("br i1 {launches}, label %mark, label %unlock"));
    text.label("mark");
    text.line(&format!("store volatile i32 1, {FLAG}, align 4"));
    text.line("br label %unlock");
    text.label("unlock");
    text.line("fence syncscope(\"block\") acq_rel");
    text.line(&format!(
        "%was = atomicrmw xchg ptr addrspace(3) @{ORDER}, i32 0 syncscope(\"block\") monotonic, align 4"
    ));
    text.line("br label %released");
    text.label("released");
}

/// A launch as the lowering takes it: the kernel, the dimensions of grid and block and the bytes of shared
/// memory, the stream, the arguments. Yields its error.
pub(super) fn launch(
    kernel: &str,
    words: [&str; 7],
    stream: &str,
    arguments: &[Argument],
    values: &[String],
    text: &mut Text,
) -> String {
    let mut operands = vec![format!("ptr {}", quoted(kernel))];
    operands.extend(words.iter().map(|word| format!("i32 {word}")));
    operands.push(stream.to_string());
    for (Argument { ty, by_value, .. }, value) in arguments.iter().zip(values) {
        operands.push(match by_value {
            Some((bytes, align)) => format!("ptr byval([{bytes} x i8]) align {align} {value}"),
            None => format!("{ty} {value}"),
        });
    }
    text.set(&format!("call i32 (...) @cdp.launch({})", operands.join(", ")))
}
