//! What memory a kernel touches, and how: every access with the place where its address begins, as far as that
//! can be told. An analysis; what follows from it for its siblings is [`super::independent`]'s business.
//!
//! What is absent: accesses that nobody else sees, to variables of the thread and to shared memory.

use std::collections::HashSet;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMOpcode};

use super::calls::{Callee, callee, register_of};
use super::form::{Form, Symbol, form};
use crate::raw::view::View;

/// Where an address begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// A pointer that the function takes.
    Parameter(u32),
    /// A pointer that lies in a struct that the kernel takes, at this offset.
    Field(u32, i64),
    /// A variable of the device.
    Variable(String),
    /// A struct that the kernel takes: its own.
    Struct(u32),
    /// Variables of the thread, and shared memory of its block.
    Own,
    /// Memory that no kernel writes.
    Constant,
    Unknown,
}

/// An address: where it begins, and the bytes from there, where those can be told.
#[derive(Clone)]
pub(super) struct Place<'ctx> {
    pub base: Base,
    pub offset: Option<Form<'ctx>>,
}

impl Place<'_> {
    fn unknown() -> Self {
        Place { base: Base::Unknown, offset: None }
    }

    /// Whether other grids can mean the place too.
    fn is_shared(&self) -> bool {
        !matches!(self.base, Base::Own | Base::Struct(_) | Base::Constant)
    }
}

/// How much of an address is looked at.
const MOST_STEPS: u32 = 100;

/// Where a look at an address has been.
#[derive(Default)]
struct Seen<'ctx> {
    phis: HashSet<View<'ctx>>,
    steps: u32,
    /// Whether the address is one that a pointer is loaded from.
    is_of_load: bool,
}

#[derive(Clone, PartialEq)]
pub(super) enum Act<'ctx> {
    Read,
    /// What is written, where that can be told.
    Write(Option<Stored<'ctx>>),
    /// An atomic operation that does nothing but change what is there.
    Reduce(LLVMAtomicRMWBinOp),
}

/// A value that is stored.
#[derive(Clone, PartialEq)]
pub(super) enum Stored<'ctx> {
    Sum(Form<'ctx>),
    Constant(View<'ctx>),
}

#[derive(Clone)]
pub(super) struct Access<'ctx> {
    pub place: Place<'ctx>,
    /// 0 where not known.
    pub bytes: u64,
    pub act: Act<'ctx>,
}

/// A function, and what its sums are made of.
pub(super) struct Function<'ctx> {
    view: View<'ctx>,
    launches: bool,
}

impl<'ctx> Function<'ctx> {
    /// A function whose sums are made of its parameters.
    pub fn new(view: View<'ctx>) -> Function<'ctx> {
        Function { view, launches: false }
    }

    /// A kernel that launches: its sums are made of what is the same for a whole block, and of the thread's index.
    pub fn parent(view: View<'ctx>) -> Function<'ctx> {
        Function { view, launches: true }
    }

    fn has(&self, parameter: u32, name: &str) -> bool {
        let kind = Attribute::get_named_enum_kind_id(name);
        self.view.as_function().is_some_and(|function| {
            function.get_enum_attribute(AttributeLoc::Param(parameter), kind).is_some()
        })
    }

    /// Whether a pointer of the function is the only way to what it leads to (`__restrict__`).
    pub fn is_restrict(&self, parameter: u32) -> bool {
        self.has(parameter, "noalias") && !self.has(parameter, "byval")
    }

    /// The places that an address may mean.
    pub fn places(&self, address: View<'ctx>) -> Vec<Place<'ctx>> {
        let mut found = Vec::new();
        self.collect(address, &mut Seen::default(), &mut found);
        if found.is_empty() {
            found.push(Place::unknown());
        }
        found
    }

    fn collect(&self, address: View<'ctx>, seen: &mut Seen<'ctx>, found: &mut Vec<Place<'ctx>>) {
        let begin = |base: Base| Place { base, offset: Some(Form::range(0, 0)) };
        seen.steps += 1;
        if seen.steps > MOST_STEPS {
            found.push(Place::unknown());
            return;
        }
        if let Some(index) = address.parameter_index() {
            found.push(begin(match self.has(index, "byval") {
                true => Base::Struct(index),
                false => Base::Parameter(index),
            }));
            return;
        }
        if let Some(space) = address.global_space() {
            found.push(begin(match space {
                0 | 1 => Base::Variable(address.name()),
                3 => Base::Own,
                4 => Base::Constant,
                _ => Base::Unknown,
            }));
            return;
        }
        if let Some((constant, parts)) = address.offset(self.view) {
            let by = self.sum(constant, &parts);
            let mut inner = Vec::new();
            if let Some(first) = address.operand(0) {
                self.collect(first, seen, &mut inner);
            }
            found.extend(inner.into_iter().map(|Place { base, offset }| {
                let offset = offset.zip(by.as_ref()).and_then(|(begin, by)| begin.plus(by, 1));
                Place { base, offset }
            }));
            return;
        }
        match address.opcode().or_else(|| address.constant_opcode()) {
            Some(LLVMOpcode::LLVMAlloca) => found.push(begin(Base::Own)),
            Some(
                LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMFreeze,
            ) => match address.operand(0) {
                Some(inner) => self.collect(inner, seen, found),
                None => found.push(Place::unknown()),
            },
            Some(LLVMOpcode::LLVMSelect) => {
                for choice in address.operands().into_iter().skip(1) {
                    self.collect(choice, seen, found);
                }
            }
            Some(LLVMOpcode::LLVMPHI) => {
                // Round a loop the pointer comes here again, moved by who knows how much.
                if !seen.phis.insert(address) {
                    return;
                }
                let mut inner = Vec::new();
                for incoming in address.operands() {
                    self.collect(incoming, seen, &mut inner);
                }
                found.extend(inner.into_iter().map(|place| Place { offset: None, ..place }));
            }
            // What is loaded is no struct of the kernel's, so that what is loaded through it need not be looked at: a
            // list is walked by a load that leads to itself.
            Some(LLVMOpcode::LLVMLoad) if seen.is_of_load => found.push(Place::unknown()),
            Some(LLVMOpcode::LLVMLoad) => {
                found.push(self.loaded(address).unwrap_or(Place::unknown()))
            }
            _ => found.push(Place::unknown()),
        }
    }

    /// A pointer that is loaded from a struct that the kernel takes.
    fn loaded(&self, load: View<'ctx>) -> Option<Place<'ctx>> {
        let mut places = Vec::new();
        let mut seen = Seen { is_of_load: true, ..Seen::default() };
        self.collect(load.operand(0)?, &mut seen, &mut places);
        let [Place { base: Base::Struct(index), offset: Some(offset) }] = &places[..] else {
            return None;
        };
        let at = offset.fixed().filter(|_| self.is_unchanged(*index))?;
        Some(Place { base: Base::Field(*index, at), offset: Some(Form::range(0, 0)) })
    }

    /// Whether nothing but loads happens to a struct that the kernel takes, in functions that it calls neither.
    pub fn is_unchanged(&self, parameter: u32) -> bool {
        let Some(parameter) = self.view.parameter(parameter) else { return false };
        let (mut seen, mut work) = (HashSet::from([parameter]), vec![parameter]);
        while let Some(value) = work.pop() {
            for user in value.users() {
                let next = match user.opcode() {
                    Some(LLVMOpcode::LLVMLoad) => continue,
                    Some(LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMAddrSpaceCast) => {
                        vec![user]
                    }
                    Some(LLVMOpcode::LLVMCall) => match handed_to(user, value) {
                        Some(parameters) => parameters,
                        None => return false,
                    },
                    _ => return false,
                };
                work.extend(next.into_iter().filter(|value| seen.insert(*value)));
            }
        }
        true
    }

    fn sum(&self, constant: i64, parts: &[(View<'ctx>, i64)]) -> Option<Form<'ctx>> {
        let mut sum = Form::range(constant, constant);
        for (index, scale) in parts {
            // An index counts as a signed number of its own width.
            sum = sum.plus(&self.form(*index)?.within(index.bits()?), *scale)?;
        }
        Some(sum)
    }

    /// An integer as a sum.
    pub fn form(&self, value: View<'ctx>) -> Option<Form<'ctx>> {
        form(value, &|value| {
            if self.launches {
                return self.own_leaf(value);
            }
            if let Some(index) = value.parameter_index() {
                return value.bits().map(|_| Form::symbol(Symbol::Parameter(index)));
            }
            is_register(value, "tid").then(|| Form::range(0, 1023))
        })
    }

    fn own_leaf(&self, value: View<'ctx>) -> Option<Form<'ctx>> {
        if value.opcode() == Some(LLVMOpcode::LLVMCall) && is_thread_x(value) {
            return Some(Form::symbol(Symbol::Thread));
        }
        let uniform = value.bits().is_some() && self.is_uniform(value, 0);
        uniform.then(|| Form::symbol(Symbol::Uniform(value)))
    }

    /// Whether a value is the same for all threads of a block, whenever they look at it.
    pub fn is_uniform(&self, value: View<'ctx>, depth: u32) -> bool {
        if value.is_constant() {
            // Not what may be something else each time.
            return value.constant_int().is_some();
        }
        if let Some(index) = value.parameter_index() {
            return !self.has(index, "byval");
        }
        match value.opcode() {
            Some(LLVMOpcode::LLVMCall) => {
                ["ctaid", "nctaid", "ntid"].iter().any(|name| is_register(value, name))
            }
            Some(LLVMOpcode::LLVMLoad) => {
                match value.operand(0).map(|from| self.places(from)).as_deref() {
                    Some([Place { base: Base::Struct(index), offset: Some(at) }]) => {
                        at.fixed().is_some() && self.is_unchanged(*index)
                    }
                    _ => false,
                }
            }
            _ if computes(value) => {
                depth < 8
                    && value
                        .operands()
                        .into_iter()
                        .all(|operand| self.is_uniform(operand, depth + 1))
            }
            _ => false,
        }
    }
}

/// The parameters of a function of this file that get an address at a call; none where the call only reads what is there.
/// `None` where it may do something else.
fn handed_to<'ctx>(call: View<'ctx>, address: View<'ctx>) -> Option<Vec<View<'ctx>>> {
    let called = call.callee()?;
    let name = called.name();
    // What launches become reads what they take.
    let reads = [crate::kernel::LAUNCH, "__cdp_site_", "llvm.lifetime."];
    let copies = name.starts_with("llvm.memcpy.") && call.operand(0) != Some(address);
    if copies || reads.iter().any(|start| name.starts_with(start)) {
        return Some(Vec::new());
    }
    match callee(called) {
        Callee::Defined(function) => {
            let places = call.operands().into_iter().enumerate();
            let given = places.filter(|(_, operand)| *operand == address);
            given.map(|(index, _)| function.parameter(index as u32)).collect()
        }
        _ => None,
    }
}

/// Whether a value is an integer that its operands alone determine.
pub(super) fn computes(value: View<'_>) -> bool {
    use LLVMOpcode::{
        LLVMAShr, LLVMAdd, LLVMAnd, LLVMICmp, LLVMLShr, LLVMMul, LLVMOr, LLVMSDiv, LLVMSExt,
        LLVMSRem, LLVMSelect, LLVMShl, LLVMSub, LLVMTrunc, LLVMUDiv, LLVMURem, LLVMXor, LLVMZExt,
    };
    matches!(
        value.opcode(),
        Some(
            LLVMAShr
                | LLVMAdd
                | LLVMAnd
                | LLVMICmp
                | LLVMLShr
                | LLVMMul
                | LLVMOr
                | LLVMSDiv
                | LLVMSExt
                | LLVMSRem
                | LLVMSelect
                | LLVMShl
                | LLVMSub
                | LLVMTrunc
                | LLVMUDiv
                | LLVMURem
                | LLVMXor
                | LLVMZExt
        )
    )
}

/// Whether a value is a special register of this name, of any axis.
fn is_register(value: View<'_>, name: &str) -> bool {
    register_of(value)
        .is_some_and(|found| found.split_once('.').is_some_and(|(found, _)| found == name))
}

fn is_thread_x(value: View<'_>) -> bool {
    register_of(value).is_some_and(|found| found == "tid.x")
}

/// What is made of a kernel's own launches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Launching {
    /// A kernel that launches is refused.
    Refused,
    /// What it launches is somebody else's business.
    LeftOut,
}

/// What a kernel touches; in words, why that cannot be told, or what it does beside.
pub(super) fn accesses<'ctx>(
    function: View<'ctx>,
    launching: Launching,
) -> Result<Vec<Access<'ctx>>, String> {
    let mut found = Vec::new();
    walk(function, launching, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn walk<'ctx>(
    view: View<'ctx>,
    launching: Launching,
    callers: &mut Vec<View<'ctx>>,
    found: &mut Vec<Access<'ctx>>,
) -> Result<(), String> {
    if callers.contains(&view) {
        return Err(format!("calls `{}`, which calls itself", view.name()));
    }
    callers.push(view);
    let function = Function::new(view);
    for instruction in view.instructions() {
        use LLVMOpcode::{
            LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMCall, LLVMCallBr, LLVMFence, LLVMInvoke,
            LLVMLoad, LLVMStore,
        };
        match instruction.opcode() {
            Some(LLVMLoad | LLVMStore) if instruction.is_volatile() || instruction.is_ordered() => {
                return Err("has volatile or atomic accesses".into());
            }
            Some(LLVMLoad) => {
                add(&function, instruction.operand(0), instruction, &Act::Read, found);
            }
            Some(LLVMStore) => {
                let act = Act::Write(stored(&function, instruction, 0));
                add(&function, instruction.operand(1), instruction, &act, found);
            }
            Some(LLVMAtomicRMW) if instruction.exchanges() => {
                let act = Act::Write(stored(&function, instruction, 1));
                add(&function, instruction.operand(0), instruction, &act, found);
            }
            Some(LLVMAtomicRMW) => {
                let kind = instruction.reduction().ok_or(
                    "looks at what its atomic operations find, or has some that are not the whole \
                     device's",
                )?;
                add(&function, instruction.operand(0), instruction, &Act::Reduce(kind), found);
            }
            Some(LLVMAtomicCmpXchg) => {
                return Err("looks at what its atomic operations find".into());
            }
            Some(LLVMFence) => return Err("has a fence".into()),
            Some(LLVMCall | LLVMInvoke | LLVMCallBr) => {
                call(&function, instruction, launching, callers, found)?;
            }
            _ => {}
        }
    }
    callers.pop();
    Ok(())
}

/// The access of an instruction, unless nobody else can see it.
fn add<'ctx>(
    function: &Function<'ctx>,
    address: Option<View<'ctx>>,
    instruction: View<'ctx>,
    act: &Act<'ctx>,
    found: &mut Vec<Access<'ctx>>,
) {
    let places = match address {
        Some(address) => function.places(address),
        None => vec![Place::unknown()],
    };
    let bytes = instruction.touched_bytes();
    found.extend(places.into_iter().filter(Place::is_shared).map(|place| Access {
        place,
        bytes,
        act: act.clone(),
    }));
}

/// What is stored, the operand `index`: a number that the arguments tell, at an address that is a multiple of its size, as
/// that of an atomic operation is.
fn stored<'ctx>(function: &Function<'ctx>, store: View<'ctx>, index: u32) -> Option<Stored<'ctx>> {
    let value = store.operand(index)?;
    let bytes = store.touched_bytes();
    let whole = store.opcode() != Some(LLVMOpcode::LLVMStore) || store.store_alignment() >= bytes;
    if !whole || !matches!(bytes, 1 | 2 | 4 | 8) {
        return None;
    }
    match value.bits() {
        Some(bits) if u64::from(bits) == bytes * 8 => function.form(value).map(Stored::Sum),
        _ => (value.is_constant() && value.as_function().is_none())
            .then_some(Stored::Constant(value)),
    }
}

fn call<'ctx>(
    function: &Function<'ctx>,
    instruction: View<'ctx>,
    launching: Launching,
    callers: &mut Vec<View<'ctx>>,
    found: &mut Vec<Access<'ctx>>,
) -> Result<(), String> {
    let called = instruction.callee().ok_or("calls in an unusual way")?;
    let name = called.name();
    let mut operand = |index: u32, act: Act<'ctx>| {
        add(function, instruction.operand(index), instruction, &act, found);
    };
    match callee(called) {
        Callee::Harmless if called.is_assembly() => {
            // It may load by any of its operands.
            found.push(Access { place: Place::unknown(), bytes: 0, act: Act::Read });
        }
        Callee::Harmless if name.starts_with("llvm.mem") => {
            operand(0, Act::Write(None));
            if !name.starts_with("llvm.memset.") {
                operand(1, Act::Read);
            }
        }
        Callee::Harmless if name.starts_with("__nv_") => {
            // Results by address go into variables of the thread.
            let pointers = instruction.operands().into_iter().filter(|value| value.is_pointer());
            for pointer in pointers.filter(|pointer| pointer.as_function().is_none()) {
                add(function, Some(pointer), instruction, &Act::Write(None), found);
            }
        }
        Callee::Harmless => {
            let quiet =
                ["llvm.lifetime.", "llvm.dbg.", "llvm.assume", "llvm.experimental.noalias."];
            if !called.touches_no_memory() && !quiet.iter().any(|start| name.starts_with(start)) {
                return Err(format!("calls `{name}`"));
            }
        }
        Callee::Barrier => {}
        Callee::Warp => {
            let known = ["shfl.", "vote.", "match.", "activemask", "bar.warp.", "redux."];
            let bare = name.strip_prefix("llvm.nvvm.").unwrap_or(&name);
            if !known.iter().any(|start| bare.starts_with(start)) {
                return Err(format!("calls `{name}`"));
            }
        }
        Callee::Register(_) => {}
        Callee::Defined(next) => {
            let mut inner = Vec::new();
            walk(next, launching, callers, &mut inner)?;
            for Access { place, bytes, act } in inner {
                // Offsets and values are in terms of the parameters of the function that is called.
                let act =
                    if let Act::Write(Some(Stored::Sum(_))) = act { Act::Write(None) } else { act };
                let argument =
                    |index| instruction.operand(index).map(|value| function.places(value));
                let places = match place.base {
                    Base::Parameter(index) => argument(index).unwrap_or(vec![Place::unknown()]),
                    Base::Variable(_) => vec![place],
                    _ => vec![Place::unknown()],
                };
                let shared = places.into_iter().filter(Place::is_shared);
                found.extend(shared.map(|Place { base, .. }| Access {
                    place: Place { base, offset: None },
                    bytes,
                    act: act.clone(),
                }));
            }
        }
        Callee::Launch if launching == Launching::LeftOut => {}
        Callee::Launch => {
            return Err("launches kernels itself, of which more would wait at a time than in \
                        order, and there may be no room for them"
                .into());
        }
        Callee::Print => return Err("prints".into()),
        Callee::Texture => return Err("uses textures or surfaces".into()),
        Callee::Assembly => return Err("has inline PTX".into()),
        Callee::Pointer => return Err("calls through a pointer".into()),
        Callee::Runtime(func) => return Err(format!("calls `{}`", func.name())),
        Callee::Unknown(name) => return Err(format!("calls `{name}`, which is not known here")),
    }
    Ok(())
}
