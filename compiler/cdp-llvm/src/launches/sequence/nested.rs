//! A kernel that launches and is run in its turn: its body stands once, in a function that the kernel and the one that runs
//! its records call. What a kernel does with records where it begins and ends is the kernel's alone.
//!
//! What is absent: which kernels are run in their turn, and where the function is put ([`super::super::carry`]).

use inkwell::values::FunctionValue;

use super::super::argument::Argument;
use super::super::child::EXTRAS;
use super::super::emit::{Text, quoted};
use super::{BEGIN, END, HEAD, NESTED, STATE};
use crate::raw::view::View;

/// What the names begin with of what a kernel does when it is launched.
pub(in super::super) const ENTRY: &str = "__cdp_entry_of_";
/// What the names begin with of what hands a grid's block to the function.
const GIVE: &str = "__cdp_give_";
/// What the names of the functions begin with.
const SHARED: &str = "__cdp_shared_";

/// The functions around a body, by the kernel's name.
pub(in super::super) struct Nested<'a> {
    pub kernel: &'a str,
    /// The body, with [`EXTRAS`] behind the kernel's parameters.
    pub body: &'a str,
    pub arguments: &'a [Argument],
    /// Which of [`EXTRAS`] the body uses.
    pub used: [bool; EXTRAS.len()],
    /// What the kernel tells [`BEGIN`].
    pub alone: u64,
}

impl Nested<'_> {
    /// What takes what the body does, and calls the function.
    pub fn give(&self) -> String {
        format!("{GIVE}{}", self.kernel)
    }

    /// What the kernel is to call, with its own parameters.
    pub fn entry(&self) -> String {
        format!("{ENTRY}{}", self.kernel)
    }

    /// The name of a kernel's body.
    pub fn name_of_body(kernel: &str) -> String {
        format!("{NESTED}{kernel}")
    }

    /// All of them, as LLVM IR.
    pub fn functions(&self) -> String {
        self.shared() + &self.given() + &self.entered()
    }

    fn extras(&self) -> impl Iterator<Item = usize> {
        self.used.into_iter().enumerate().filter_map(|(index, used)| used.then_some(index))
    }

    /// The kernel's parameters and all of [`EXTRAS`], as operands.
    fn all(&self) -> String {
        let own = self.arguments.iter().enumerate();
        let own = own.map(|(index, argument)| format!("{} %a{index}", argument.ty));
        let extras = (0..EXTRAS.len()).map(|index| format!("i32 %x{index}"));
        own.chain(extras).collect::<Vec<_>>().join(", ")
    }

    /// The function. As all pointers among kernels' arguments do, its own lead to global memory.
    fn shared(&self) -> String {
        let mut text = Text::default();
        let mut params = Vec::new();
        for (index, Argument { ty, .. }) in self.arguments.iter().enumerate() {
            if ty == "ptr" {
                params.push(format!("ptr addrspace(1) %global{index}"));
                text.line(&format!(
                    "%a{index} = addrspacecast ptr addrspace(1) %global{index} to ptr"
                ));
            } else {
                params.push(format!("{ty} %a{index}"));
            }
        }
        params.extend(self.extras().map(|index| format!("i32 %x{index}")));
        for index in (0..EXTRAS.len()).filter(|index| !self.used[*index]) {
            text.line(&format!("%x{index} = add i32 0, 0"));
        }
        text.line(&format!("call void {}({})", quoted(self.body), self.all()));
        text.line("ret void");
        format!(
            "define internal void {}({}) convergent noinline nounwind {{\nentry:\n{}}}\n",
            quoted(&format!("{SHARED}{}", self.kernel)),
            params.join(", "),
            text.out
        )
    }

    fn given(&self) -> String {
        let mut text = Text::default();
        let mut operands = Vec::new();
        for (index, Argument { ty, .. }) in self.arguments.iter().enumerate() {
            operands.push(match ty.as_str() {
                "ptr" => {
                    let cast = format!("addrspacecast ptr %a{index} to ptr addrspace(1)");
                    format!("ptr addrspace(1) {}", text.set(&cast))
                }
                ty => format!("{ty} %a{index}"),
            });
        }
        operands.extend(self.extras().map(|index| format!("i32 %x{index}")));
        let shared = quoted(&format!("{SHARED}{}", self.kernel));
        text.line(&format!("call void {shared}({})", operands.join(", ")));
        text.line("ret void");
        format!(
            "define internal void {}({}) alwaysinline nounwind {{\nentry:\n{}}}\n",
            quoted(&self.give()),
            self.all(),
            text.out
        )
    }

    fn entered(&self) -> String {
        let mut text = Text::default();
        text.line(&format!("call void @{BEGIN}({STATE}, i32 {})", self.alone));
        let registers = ["ctaid", "tid", "nctaid", "ntid"];
        let axes = registers.iter().flat_map(|name| ["x", "y", "z"].map(|axis| (name, axis)));
        for (index, (name, axis)) in axes.enumerate() {
            text.line(&format!("%x{index} = call i32 @llvm.nvvm.read.ptx.sreg.{name}.{axis}()"));
        }
        let row = text.set("mul i32 %x0, %x9");
        text.line(&format!("%x12 = add i32 {row}, %x3"));
        text.line(&format!("call void {}({})", quoted(&self.give()), self.all()));
        text.line(&format!("call void @{END}({HEAD}, {STATE})"));
        text.line("ret void");
        let own = self.arguments.iter().enumerate();
        let own = own.map(|(index, argument)| format!("{} %a{index}", argument.ty));
        format!(
            "define internal void {}({}) alwaysinline nounwind {{\nentry:\n{}}}\n",
            quoted(&self.entry()),
            own.collect::<Vec<_>>().join(", "),
            text.out
        )
    }
}

/// Takes from a kernel's body what a kernel does with records where it begins and ends. Yields what it says where it
/// begins, once.
pub(in super::super) fn without_records(body: FunctionValue<'_>) -> Option<u64> {
    let all = body.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let mut begins = Vec::new();
    for call in all.collect::<Vec<_>>() {
        let view = View::instruction(call);
        let called = view.callee().map(View::name).unwrap_or_default();
        if called == BEGIN {
            begins.push(view.operand(1).and_then(View::constant_int));
        }
        if [BEGIN, END].contains(&called.as_str()) {
            call.erase_from_basic_block();
        }
    }
    let [Some(alone)] = begins[..] else { return None };
    u64::try_from(alone).ok()
}
