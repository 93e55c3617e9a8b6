//! Whether all grids below a kernel's have its own blocks' shape and one block each, so that whoever runs one of them can
//! run all below it without a launch. An analysis.

use inkwell::values::FunctionValue;

use super::super::emit::Text;
use super::super::parent::{LaunchSite, sites_of};
use crate::raw::view::View;

/// What a kernel launches itself with, as far as the shape goes: the same all the way down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Constant(i32),
    /// A parameter, which it hands on as it is.
    Parameter(u32),
}

/// The block's dimensions and the bytes of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Shape([Word; 4]);

/// The shape of all grids below a kernel, which launches nothing but itself.
pub(in super::super) fn inherited(kernel: FunctionValue<'_>) -> Option<Shape> {
    let sites = sites_of(kernel);
    let (first, others) = sites.split_first()?;
    let shape = of(kernel, first)?;
    others.iter().all(|site| of(kernel, site).as_ref() == Some(&shape)).then_some(shape)
}

/// The shape that one of a kernel's sites gives to all below it.
fn of<'ctx>(kernel: FunctionValue<'ctx>, site: &LaunchSite<'ctx>) -> Option<Shape> {
    let constant = |index: usize| View::value(*site.operands.get(index)?).constant_int();
    let one_block = (1..4).all(|axis| constant(axis) == Some(1));
    if site.kernel() != Some(kernel) || !one_block {
        return None;
    }
    let word = |index: usize| {
        if let Some(number) = constant(index) {
            return i32::try_from(number).ok().map(Word::Constant);
        }
        let parameter = View::value(*site.operands.get(index)?).parameter_index()?;
        let handed_on = View::value(*site.operands.get(9 + parameter as usize)?);
        (handed_on.parameter_index() == Some(parameter)).then_some(Word::Parameter(parameter))
    };
    Some(Shape([word(4)?, word(5)?, word(6)?, word(7)?]))
}

impl Shape {
    /// Whether a launch of the kernel at a site has the shape that those below it will have.
    pub fn is_kept(&self, text: &mut Text) -> String {
        let given = ["bx", "by", "bz", "shared"];
        let mut kept = String::from("true");
        for (word, name) in self.0.iter().zip(given) {
            let below = match word {
                Word::Constant(number) => number.to_string(),
                Word::Parameter(index) => format!("%a{index}"),
            };
            let same = text.set(&format!("icmp eq i32 %{name}, {below}"));
            kept = text.set(&format!("and i1 {kept}, {same}"));
        }
        kept
    }
}
