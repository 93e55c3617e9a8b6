//! Rounds: in each, the lanes of a warp run threads of a child, their own tiny one or together those of another lane's.
//!
//! What is absent: which children are run, and in which order ([`super::distribute`]).

use super::child::{Child, EXTRAS};
use super::distribute::Site;
use super::emit::{Text, moved, quoted};
use super::sums::DONE;

/// Values with which the first round begins.
pub(super) struct Round<'a> {
    pub from: &'a str,
    pub index: &'a str,
    pub step: &'a str,
    pub end: &'a str,
    pub waiting: &'a str,
}

impl Site<'_, '_> {
    /// The rounds: in each, every lane runs some threads of a child. In the first, if there is one, a
    /// lane's own; then, for each lane of `%waiting`, all lanes those of that one. Then control goes to
    /// `done`.
    pub(super) fn rounds(&self, child: &Child<'_>, first: Option<&Round<'_>>, text: &mut Text) {
        let in_order = first.is_none();
        text.label("next");
        let waiting = match first {
            Some(_) => "%left".to_string(),
            None => {
                text.line("%now = phi i32 [ %waiting, %check ], [ %left, %turn ]");
                "%now".to_string()
            }
        };
        // What the lane wrote before its launch is to be seen by those that work for it.
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        text.line(&format!("%from = call i32 @llvm.cttz.i32(i32 {waiting}, i1 true)"));
        let less = text.set(&format!("sub i32 {waiting}, 1"));
        text.line(&format!("%rest = and i32 {waiting}, {less}"));
        let end = text.shuffle("%mask", "%work", "%from");
        let dims: Vec<String> = ["gx", "gy", "gz", "bx", "by", "bz"]
            .iter()
            .enumerate()
            .map(|(index, name)| match uses_dim(child, index) && !self.uniform[index] {
                true => text.shuffle("%mask", &format!("%{name}"), "%from"),
                false => format!("%{name}"),
            })
            .collect();
        let moved: Vec<String> = self
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| moved(argument, index, text))
            .collect();
        text.line("br label %round");
        text.label("round");
        let phi = |text: &mut Text, name: &str, ty: &str, own: &str, other: &str| match first {
            Some(Round { from, .. }) => {
                text.line(&format!("%r.{name} = phi {ty} [ {own}, %{from} ], [ {other}, %next ]"))
            }
            None => text.line(&format!("%r.{name} = phi {ty} [ {other}, %next ]")),
        };
        let begin = first.map_or(["", "", "", ""], |r| [r.index, r.step, r.end, r.waiting]);
        phi(text, "index", "i32", begin[0], "%rank");
        phi(text, "step", "i32", begin[1], "%lanes");
        phi(text, "end", "i32", begin[2], &end);
        phi(text, "left", "i32", begin[3], "%rest");
        for (dim, name) in dims.iter().zip(["gx", "gy", "gz", "bx", "by", "bz"]) {
            phi(text, name, "i32", &format!("%{name}"), dim);
        }
        for (index, (argument, moved)) in self.arguments.iter().zip(&moved).enumerate() {
            phi(text, &format!("a{index}"), &argument.ty, &format!("%a{index}"), moved);
        }
        text.line("br label %loop");
        text.label("loop");
        text.line("%index = phi i32 [ %r.index, %round ], [ %index.next, %body ]");
        text.line("%more = icmp ult i32 %index, %r.end");
        text.line("br i1 %more, label %body, label %turn");
        text.label("body");
        self.call(child, text);
        text.line("%index.next = add nuw i32 %index, %r.step");
        text.line("br label %loop");
        text.label("turn");
        if in_order {
            summed(child, text);
            // The next child sees all that this one did.
            text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        }
        text.line("%left = or i32 %r.left, 0");
        let mut again = text.set("icmp ne i32 %left, 0");
        if in_order && self.is_timed(child) {
            let slow = self.exceeds("%budget", text);
            // All lanes go on together, or none.
            let votes = text.ballot(&slow);
            let in_time = text.set(&format!("icmp eq i32 {votes}, 0"));
            again = text.set(&format!("and i1 {again}, {in_time}"));
        }
        text.line(&format!("br i1 {again}, label %next, label %done"));
    }

    /// One thread of the child.
    fn call(&self, child: &Child<'_>, text: &mut Text) {
        let mut extras: Vec<String> = vec!["0".into(); EXTRAS.len()];
        for axis in 0..3 {
            let name = ["x", "y", "z"][axis];
            extras[6 + axis] = format!("%r.g{name}");
            extras[9 + axis] = format!("%r.b{name}");
        }
        extras[12] = "%index".into();
        if is_flat(child) {
            if child.used[0] {
                extras[0] = text.set("udiv i32 %index, %r.bx");
            }
            if child.used[3] {
                extras[3] = text.set("urem i32 %index, %r.bx");
            }
        } else {
            let plane = text.set("mul i32 %r.bx, %r.by");
            let size = text.set(&format!("mul i32 {plane}, %r.bz"));
            let thread = text.set(&format!("urem i32 %index, {size}"));
            let block = text.set(&format!("udiv i32 %index, {size}"));
            for (number, first, x, y) in
                [(block, 0, "%r.gx", "%r.gy"), (thread, 3, "%r.bx", "%r.by")]
            {
                extras[first] = text.set(&format!("urem i32 {number}, {x}"));
                let above = text.set(&format!("udiv i32 {number}, {x}"));
                extras[first + 1] = text.set(&format!("urem i32 {above}, {y}"));
                extras[first + 2] = text.set(&format!("udiv i32 {above}, {y}"));
            }
            let rows = text.set(&format!("mul i32 {}, %r.bx", extras[0]));
            extras[12] = text.set(&format!("add i32 {rows}, {}", extras[3]));
        }
        let mut operands: Vec<String> = self
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| format!("{} %r.a{index}", argument.ty))
            .collect();
        operands.extend(extras.iter().map(|value| format!("i32 {value}")));
        let body = quoted(&child.body.get_name().to_string_lossy());
        text.line(&format!("call void {body}({})", operands.join(", ")));
    }
}

/// What the lanes of `%mask` added up in registers goes to memory.
pub(super) fn summed(child: &Child<'_>, text: &mut Text) {
    if child.sums {
        text.line(&format!("call void @{DONE}(i32 %mask)"));
    }
}

/// A kernel that knows of x alone: its other dimensions must be 1, and a thread's number is its place.
pub(super) fn is_flat(child: &Child<'_>) -> bool {
    ![1, 2, 4, 5].iter().any(|index| child.used[*index])
}

/// Whether the lanes that work for another need that dimension (grid x, y, z, block x, y, z).
fn uses_dim(child: &Child<'_>, index: usize) -> bool {
    let asked = child.used[6 + index];
    match is_flat(child) {
        true => asked || (index == 3 && !child.is_linear()),
        false => true,
    }
}
