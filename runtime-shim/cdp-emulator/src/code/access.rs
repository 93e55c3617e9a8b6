//! Accesses to memory: where, how wide, what they say about order, and what becomes of what they bring.

use cdp_ptx::{AccessOrder, AtomOrder, Scope};

/// A state space as the interpreter distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// Any, told by the address.
    Generic,
    /// Global or constant memory.
    Global,
    /// Constant memory.
    Const,
    /// Shared memory by offset.
    Shared,
    /// Shared memory of the cluster (`.shared::cluster`), by rank and offset.
    Cluster,
    /// Local memory by offset.
    Local,
    /// Kernel parameters by offset.
    Param,
    /// The function's own frame of local memory at a fixed offset (`imm`).
    Frame,
}

impl StateSpace {
    /// Memory of a block or thread, which other blocks (but those of the cluster, which runs as one) do
    /// not see.
    pub fn is_near(self) -> bool {
        matches!(
            self,
            StateSpace::Shared | StateSpace::Cluster | StateSpace::Local | StateSpace::Frame
        )
    }
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// State space.
    pub space: StateSpace,
    /// log2 of the bytes of one element.
    pub size_log2: u8,
    /// Elements: 1, 2, 4 or 8. For more than one, the rows are in [`super::Function::vectors`].
    pub count: u8,
    /// The address row has 64-bit values.
    pub wide_address: bool,
    /// The registers have 64 bits.
    pub wide_register: bool,
    /// Loads: sign-extend to the register.
    pub signed: bool,
    /// What is known of the addresses serves, or comes from, another access through the same row.
    pub base: Base,
    /// Whose accesses those of the lanes are.
    pub owners: Owners,
    /// Order and scope. What is not weak is ordered or volatile: other threads may be waited for
    /// through it.
    pub order: Order,
}

/// Whose access it is what a lane reads or writes: of a matrix in shared memory (`ldmatrix`, `stmatrix`) the lane's that gave
/// the address of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owners(u8);

impl Owners {
    /// Its own.
    pub const OWN: Owners = Owners(0);

    /// Of a part of a matrix, by its number: the rows that lanes have of it.
    pub fn of_matrix(matrix: usize, transposed: bool, part: usize) -> Owners {
        Owners(1 + (matrix << 2 | usize::from(transposed) << 1 | part) as u8)
    }

    /// The lane that gave the address, if it is not each lane itself.
    pub fn of_lane(self, lane: usize) -> Option<usize> {
        let code = usize::from(self.0.checked_sub(1)?);
        let row = if code >> 1 & 1 == 1 { lane % 4 * 2 + (code & 1) } else { lane / 4 };
        Some(8 * (code >> 2) + row)
    }
}

/// Whether accesses go through one row of addresses that nothing writes in between, without a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// No other one does.
    #[default]
    Alone,
    /// Another one will.
    First,
    /// Another one did.
    Again,
}

impl Access {
    /// No other thread sees it.
    #[inline(always)]
    pub fn is_private(self) -> bool {
        matches!(self.space, StateSpace::Local | StateSpace::Frame | StateSpace::Param)
    }
}

/// What an access or fence says about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sem {
    /// A plain access: two of them that conflict and are not ordered are a data race.
    Weak,
    /// A plain access to what does not change while the grid runs, as its code has it (`ld.global.nc`, `ldu`).
    Fixed,
    /// As relaxed for the memory; for people it says nothing of other threads.
    Volatile,
    /// Atomic with respect to others, and no more.
    Relaxed,
    /// What the writer released is visible afterwards.
    Acquire,
    /// What came before is visible to who acquires.
    Release,
    /// Both.
    AcqRel,
}

/// Among which threads an order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// `.cta`
    Block,
    /// `.cluster`, `.gpu`, `.sys`
    Device,
}

/// Order and scope of an access or fence, as the PTX has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Order.
    pub sem: Sem,
    /// Scope.
    pub reach: Reach,
}

impl Order {
    /// That of plain accesses.
    pub const WEAK: Order = Order { sem: Sem::Weak, reach: Reach::Device };
    /// That of loads that need not see what their grid writes.
    pub const FIXED: Order = Order { sem: Sem::Fixed, reach: Reach::Device };

    /// Not a plain access.
    pub fn is_strong(self) -> bool {
        !matches!(self.sem, Sem::Weak | Sem::Fixed)
    }

    /// The part for reads takes over what was released.
    pub fn acquires(self) -> bool {
        matches!(self.sem, Sem::Acquire | Sem::AcqRel)
    }

    /// The part for writes releases.
    pub fn releases(self) -> bool {
        matches!(self.sem, Sem::Release | Sem::AcqRel)
    }
}

impl From<Scope> for Reach {
    fn from(scope: Scope) -> Reach {
        match scope {
            Scope::Cta => Reach::Block,
            Scope::Cluster | Scope::Gpu | Scope::Sys => Reach::Device,
        }
    }
}

impl Order {
    /// That of a load or store; a volatile one has no scope.
    pub fn of_access(order: AccessOrder, scope: Option<Scope>) -> Order {
        let sem = match order {
            AccessOrder::Weak => return Order::WEAK,
            AccessOrder::Volatile => Sem::Volatile,
            AccessOrder::Relaxed | AccessOrder::Mmio => Sem::Relaxed,
            AccessOrder::Acquire => Sem::Acquire,
            AccessOrder::Release => Sem::Release,
        };
        Order { sem, reach: scope.map_or(Reach::Device, Reach::from) }
    }

    /// That of an atomic; PTX leaves out `.relaxed` and `.gpu`.
    pub fn of_atomic(order: Option<AtomOrder>, scope: Option<Scope>) -> Order {
        let sem = match order {
            None | Some(AtomOrder::Relaxed) => Sem::Relaxed,
            Some(AtomOrder::Acquire) => Sem::Acquire,
            Some(AtomOrder::Release) => Sem::Release,
            Some(AtomOrder::AcqRel) => Sem::AcqRel,
        };
        Order { sem, reach: scope.map_or(Reach::Device, Reach::from) }
    }
}

/// What becomes of the elements that a load brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// For each element which of its bytes are demanded, a bit a byte.
    pub strict: [u8; 8],
    /// Some element is copied.
    pub copied: bool,
}

impl Demand {
    /// Nobody looks at what is loaded, and it is not copied as it is.
    pub fn is_idle(&self) -> bool {
        !self.copied && self.strict == [0; 8]
    }

    /// The bytes that are demanded of an access of `count` elements of `size` bytes, a bit a byte.
    pub fn bytes(&self, size: u64, count: u64) -> u64 {
        (0..count.min(8)).fold(0, |all, element| {
            let shift = element * size;
            if shift >= 64 { all } else { all | u64::from(self.strict[element as usize]) << shift }
        })
    }
}
