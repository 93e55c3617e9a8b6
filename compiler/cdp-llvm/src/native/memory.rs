//! Accesses to memory in native code: addresses of all lanes pass one check, for all accesses through the same
//! row, and the lanes of a vector that follow each other or go to one place are one move. What is checked is what the
//! interpreter checks for a whole warp (`cdp_emulator`'s `exec::memory::whole`); native code may give up more
//! often, never less.

use std::fmt::Write;

use super::context::{LOADS, SHARED_ACCESSES, STORES};
use super::emit::{Addresses, Function};
use super::graph::{Id, Stretch};
use super::read::{Access, Memory};
use super::write::{Writer, vector};

/// Accesses of one kind through one row of addresses.
pub struct Group {
    /// The addresses.
    pub address: Id,
    /// Of an element.
    pub bytes: u32,
    memory: Memory,
    store: bool,
    /// Numbers of the accesses in the stretch.
    accesses: Vec<usize>,
}

/// What was found out about a group's addresses, as names of values.
pub struct Found {
    lie: Lie,
    /// The address of the first lane of each vector.
    heads: Vec<String>,
}

/// How the addresses of lanes lie.
enum Lie {
    /// There is one for all.
    Same,
    /// They follow each other.
    Row,
    /// 32 in memory, and conditions.
    Each {
        addresses: String,
        /// The lanes follow each other, in each vector.
        row: String,
        /// They go to one place, in each vector.
        same: String,
    },
}

impl Group {
    /// The accesses of a stretch, in groups.
    pub fn of(stretch: &Stretch) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, placed) in stretch.accesses.iter().enumerate() {
            let access = &placed.access;
            let key = (placed.address, access.bytes, access.memory, access.store);
            match groups.iter_mut().find(|g| (g.address, g.bytes, g.memory, g.store) == key) {
                Some(group) => group.accesses.push(index),
                None => groups.push(Group {
                    address: placed.address,
                    bytes: access.bytes,
                    memory: access.memory,
                    store: access.store,
                    accesses: vec![index],
                }),
            }
        }
        groups
    }

    /// The group of an access.
    pub fn find(groups: &[Group], access: usize) -> Option<usize> {
        groups.iter().position(|group| group.accesses.contains(&access))
    }

    fn is_shared(&self) -> bool {
        self.memory != Memory::Global
    }

    /// Puts a vector's addresses into memory, and adds to the sums of these names what they lack of following each
    /// other, and of being the same.
    pub fn follow(
        &self,
        w: &mut Writer<'_>,
        address: &str,
        space: &str,
        name: &str,
        [row, same]: [&str; 2],
    ) {
        let (ty, lanes) = (w.ty("i64"), w.lanes);
        let address = match self.memory {
            Memory::Shared => w.cast("zext", "i32", address, "i64"),
            _ => address.to_string(),
        };
        let at = w.set(format_args!("getelementptr i8, ptr {space}, i64 %{name}c64"));
        let _ = writeln!(w.out, "  store {ty} {address}, ptr {at}, align 64");
        let head = w.set(format_args!(
            "shufflevector {ty} {address}, {ty} poison, <{lanes} x i32> zeroinitializer"
        ));
        let apart = w.two("sub", "i64", &address, &head);
        let ahead: Vec<String> =
            (0..lanes).map(|lane| format!("i64 {}", lane as u32 * self.bytes)).collect();
        let stray = w.two("xor", "i64", &apart, &format!("<{}>", ahead.join(", ")));
        let _ = writeln!(w.out, "  %{row}n = or {ty} %{row}, {stray}");
        let _ = writeln!(w.out, "  %{same}n = or {ty} %{same}, {apart}");
    }

    /// Looks at the addresses; the function goes on if native code may use them.
    pub fn look(&self, f: &mut Function, stretch: &Stretch, addresses: &Addresses) -> Found {
        let (space, row, same) = match addresses {
            Addresses::Each { space, row, same } => (space, row, same),
            Addresses::Same(address) => {
                let address = self.widened(f, address);
                self.check(f, stretch, [&address, &address, &address]);
                return Found { lie: Lie::Same, heads: vec![address] };
            }
            Addresses::Row(address) => {
                let first = self.widened(f, address);
                let last = f.set(format_args!("add i64 {first}, {}", 31 * self.bytes));
                self.check(f, stretch, [&first, &last, &first]);
                let step = f.lanes as u32 * self.bytes;
                let count = vectors(f);
                let head = |at| f.set(format_args!("add i64 {first}, {}", at * step));
                let heads = (0..count).map(head).collect();
                return Found { lie: Lie::Row, heads };
            }
        };
        let lanes = f.lanes;
        let none = |f: &mut Function, value: &str| {
            let any = f.set(format_args!(
                "call i64 @llvm.vector.reduce.or.v{lanes}i64(<{lanes} x i64> {value})"
            ));
            f.set(format_args!("icmp eq i64 {any}, 0"))
        };
        let (row, same) = (none(f, row), none(f, same));
        let heads: Vec<String> =
            (0..vectors(f)).map(|at| self.lane(f, space, at * lanes as u32)).collect();
        let bounds = self.bounds(f, space, &row, &same, &heads);
        self.check(f, stretch, [&bounds[0], &bounds[1], &bounds[2]]);
        Found { lie: Lie::Each { addresses: space.clone(), row, same }, heads }
    }

    /// An address or offset in 64 bits.
    fn widened(&self, f: &mut Function, address: &str) -> String {
        match self.memory {
            Memory::Shared => f.set(format_args!("zext i32 {address} to i64")),
            _ => address.to_string(),
        }
    }

    /// One of 32 addresses.
    fn lane(&self, f: &mut Function, addresses: &str, lane: u32) -> String {
        let at = f.set(format_args!("getelementptr i8, ptr {addresses}, i64 {}", lane * 8));
        f.set(format_args!("load i64, ptr {at}, align 8"))
    }

    /// The lowest and the highest address, and all bits that are set in any.
    fn bounds(
        &self,
        f: &mut Function,
        space: &str,
        row: &str,
        same: &str,
        heads: &[String],
    ) -> [String; 3] {
        let of_heads = |f: &mut Function, call: &str| {
            let mut all = heads[0].clone();
            for head in &heads[1..] {
                all = f.set(format_args!("{call}(i64 {all}, i64 {head})"));
            }
            all
        };
        let low = of_heads(f, "call i64 @llvm.umin.i64");
        let high = of_heads(f, "call i64 @llvm.umax.i64");
        let mut bits = heads[0].clone();
        for head in &heads[1..] {
            bits = f.set(format_args!("or i64 {bits}, {head}"));
        }
        let step = (f.lanes as u32 - 1) * self.bytes;
        let reach = f.set(format_args!("select i1 {row}, i64 {step}, i64 0"));
        let high = f.set(format_args!("add i64 {high}, {reach}"));
        let simple = f.set(format_args!("or i1 {row}, {same}"));
        let label = simple.trim_start_matches('%').to_string();
        f.block(&format!("{label}l"));
        f.line(format_args!("br i1 {simple}, label %{label}k, label %{label}o, !prof !0"));
        let _ = writeln!(f.body, "{label}o:");
        let all = f.set(format_args!("call {{ i64, i64, i64 }} @extremes(ptr {space})"));
        let parts =
            [0, 1, 2].map(|n| f.set(format_args!("extractvalue {{ i64, i64, i64 }} {all}, {n}")));
        f.block(&format!("{label}k"));
        let [a, b, c] = parts;
        [(low, a), (high, b), (bits, c)].map(|(simple, other)| {
            f.set(format_args!("phi i64 [ {simple}, %{label}l ], [ {other}, %{label}o ]"))
        })
    }

    /// Checks that all accesses lie where they may. `bits` are all that are set in the first address of any vector: the
    /// highest address may have wrapped on its way from there.
    fn check(&self, f: &mut Function, stretch: &Stretch, [low, high, bits]: [&str; 3]) {
        let added =
            || self.accesses.iter().map(|&index| i64::from(stretch.accesses[index].access.added));
        let (least, most) = (added().min().unwrap_or(0), added().max().unwrap_or(0));
        let added_bits = added().fold(0, |all, added| all | added) & (i64::from(self.bytes) - 1);
        let stray = f.set(format_args!("or i64 {bits}, {added_bits}"));
        let stray = f.set(format_args!("and i64 {stray}, {}", self.bytes - 1));
        let aligned = f.set(format_args!("icmp eq i64 {stray}, 0"));
        f.go_on_if(&aligned, stretch.first);
        let first = f.set(format_args!("add i64 {low}, {least}"));
        let end = f.set(format_args!("add i64 {high}, {}", most + i64::from(self.bytes)));
        if self.is_shared() {
            // Offsets below 2^31, so that sums do not wrap.
            let any = f.set(format_args!("or i64 {bits}, {high}"));
            let small = f.set(format_args!("icmp ult i64 {any}, {}", 1u64 << 31));
            f.go_on_if(&small, stretch.first);
            let above = f.set(format_args!("icmp sge i64 {first}, 0"));
            let below =
                f.set(format_args!("icmp sle i64 {end}, %field{}", super::context::SHARED_BYTES));
            let inside = f.set(format_args!("and i1 {above}, {below}"));
            return f.go_on_if(&inside, stretch.first);
        }
        // No allocation is that high, and sums of what is lower do not wrap.
        let any = f.set(format_args!("or i64 {first}, {end}"));
        let any = f.set(format_args!("or i64 {any}, {bits}"));
        let small = f.set(format_args!("icmp ult i64 {any}, {}", 1u64 << 60));
        f.go_on_if(&small, stretch.first);
        let slot = self.accesses.first().map_or(0, |&index| stretch.accesses[index].access.slot);
        self.remembered(f, stretch, slot, &first, &end);
    }

    fn remembered(&self, f: &mut Function, stretch: &Stretch, slot: u32, first: &str, end: &str) {
        let allocations = format!("%field{}", super::context::ALLOCATIONS);
        let field = if self.store { 16 } else { 8 };
        let at = |f: &mut Function, offset| {
            let at = f.set(format_args!("getelementptr i8, ptr {allocations}, i64 {offset}"));
            f.set(format_args!("load i64, ptr {at}"))
        };
        let (low, high) = (at(f, slot * 24), at(f, slot * 24 + field));
        let above = f.set(format_args!("icmp uge i64 {first}, {low}"));
        let below = f.set(format_args!("icmp ule i64 {end}, {high}"));
        let has = f.set(format_args!("and i1 {above}, {below}"));
        let label = has.trim_start_matches('%').to_string();
        f.line(format_args!("br i1 {has}, label %{label}k, label %{label}o, !prof !0"));
        let _ = writeln!(f.body, "{label}o:");
        let (find, write) = (super::context::FIND, u32::from(self.store));
        let found = f.set(format_args!(
            "call i32 %field{find}(ptr %context, i64 {first}, i64 {end}, i32 {slot}, i32 {write})"
        ));
        let other = f.set(format_args!("icmp ne i32 {found}, 0"));
        f.line(format_args!("br i1 {other}, label %{label}k, label %{label}n"));
        let _ = write!(f.body, "{label}n:\n  ret i32 {}\n{label}k:\n", stretch.first);
    }

    /// Counts the accesses, which will be made.
    pub fn count(&self, f: &mut Function, stretch: &Stretch, found: &Found) {
        let (field, sum) = if self.is_shared() {
            (SHARED_ACCESSES, self.accesses.len().to_string())
        } else {
            let full = self.whole_row(f, found);
            let mut sum = "0".to_string();
            for &index in &self.accesses {
                let segments = self.segments(f, found, &full, stretch.accesses[index].access.added);
                sum = f.set(format_args!("add i64 {sum}, {segments}"));
            }
            (if self.store { STORES } else { LOADS }, sum)
        };
        f.add_to(field, &sum);
    }

    /// Reads something of each line of memory that the first access reads, by instructions of their own.
    /// A processor that finds each of them stepping evenly through memory from one execution of the run to the next
    /// fetches ahead; of the loads in the loop, one instruction for all vectors, it cannot tell: reading 16 MiB
    /// in steps of 64 KiB took three times as long.
    pub fn touch(&self, f: &mut Function, stretch: &Stretch, found: &Found) {
        if self.is_shared() || self.store {
            return;
        }
        let added = self.accesses.first().map_or(0, |&index| stretch.accesses[index].access.added);
        // Of one line of 64 bytes each, if they are a row.
        for lane in (0..32).step_by(64 / self.bytes as usize) {
            let address = match &found.lie {
                Lie::Same if lane > 0 => break,
                Lie::Same => found.heads[0].clone(),
                Lie::Row => {
                    f.set(format_args!("add i64 {}, {}", found.heads[0], lane * self.bytes))
                }
                Lie::Each { addresses, .. } => self.lane(f, addresses, lane),
            };
            let at = f.set(format_args!("add i64 {address}, {added}"));
            let at = f.set(format_args!("inttoptr i64 {at} to ptr"));
            f.set(format_args!("load volatile i32, ptr {at}, align 4"));
        }
    }

    /// All lanes follow each other.
    fn whole_row(&self, f: &mut Function, found: &Found) -> String {
        let Lie::Each { row, .. } = &found.lie else {
            return matches!(found.lie, Lie::Row).to_string();
        };
        let mut full = row.clone();
        for (at, head) in found.heads.iter().enumerate().skip(1) {
            let ahead = (at * f.lanes) as u32 * self.bytes;
            let wanted = f.set(format_args!("add i64 {}, {ahead}", found.heads[0]));
            let follows = f.set(format_args!("icmp eq i64 {head}, {wanted}"));
            full = f.set(format_args!("and i1 {full}, {follows}"));
        }
        full
    }

    /// Segments of 128 bytes that an access goes to, as the interpreter counts them.
    fn segments(&self, f: &mut Function, found: &Found, full: &str, added: i32) -> String {
        if let Lie::Same = found.lie {
            return "1".to_string();
        }
        let first = f.set(format_args!("add i64 {}, {added}", found.heads[0]));
        let Lie::Each { addresses, .. } = &found.lie else {
            return self.segments_of_row(f, &first);
        };
        let label = first.trim_start_matches('%').to_string();
        f.line(format_args!("br i1 {full}, label %{label}f, label %{label}o"));
        let _ = writeln!(f.body, "{label}f:");
        let of_row = self.segments_of_row(f, &first);
        let _ = write!(f.body, "  br label %{label}e\n{label}o:\n");
        let other = f.set(format_args!("call i64 @segments(ptr {addresses}, i64 {added})"));
        f.block(&format!("{label}e"));
        f.set(format_args!("phi i64 [ {of_row}, %{label}f ], [ {other}, %{label}o ]"))
    }

    fn segments_of_row(&self, f: &mut Function, first: &str) -> String {
        let last = f.set(format_args!("add i64 {first}, {}", self.bytes * 32 - 1));
        let (last, begin) =
            (f.set(format_args!("lshr i64 {last}, 7")), f.set(format_args!("lshr i64 {first}, 7")));
        let between = f.set(format_args!("sub i64 {last}, {begin}"));
        f.set(format_args!("add i64 {between}, 1"))
    }

    /// A vector of a load, in the loop of this name.
    pub fn load(
        &self,
        w: &mut Writer<'_>,
        found: &Found,
        access: &Access,
        label: &str,
        name: &str,
    ) -> String {
        let lane = if self.bytes == 8 { "i64" } else { "i32" };
        let (ty, bytes) = (w.ty(lane), self.bytes);
        let (addresses, row, same) = match &found.lie {
            Lie::Same => {
                let at = self.pointer(w, &found.heads[0], access);
                let one = w.set(format_args!("load {lane}, ptr {at}, align {bytes}"));
                return w.broadcast(lane, &one);
            }
            Lie::Row => {
                let at = self.pointer(w, &found.heads[0], access);
                let at =
                    w.set(format_args!("getelementptr i8, ptr {at}, i64 %{name}c{}", bytes * 8));
                return w.set(format_args!("load {ty}, ptr {at}, align {bytes}"));
            }
            Lie::Each { addresses, row, same } => (addresses, row, same),
        };
        let here = w.set(format_args!("getelementptr i8, ptr {addresses}, i64 %{name}c64"));
        let head = w.set(format_args!("load i64, ptr {here}, align 64"));
        let at = self.pointer(w, &head, access);
        let _ = write!(w.out, "  br i1 {row}, label %{label}r, label %{label}t\n{label}r:\n");
        let whole = w.set(format_args!("load {ty}, ptr {at}, align {bytes}"));
        let _ = write!(
            w.out,
            "  br label %{label}e\n{label}t:\n  br i1 {same}, label %{label}s, label %{label}o\n{label}s:\n"
        );
        let one = w.set(format_args!("load {lane}, ptr {at}, align {bytes}"));
        let one = w.broadcast(lane, &one);
        let _ = write!(w.out, "  br label %{label}e\n{label}o:\n");
        let base = self.base(w, access);
        let other = w.set(format_args!("call {ty} @gather{bytes}(ptr {here}, i64 {base})"));
        let _ = write!(w.out, "  br label %{label}e\n{label}e:\n");
        w.set(format_args!(
            "phi {ty} [ {whole}, %{label}r ], [ {one}, %{label}s ], [ {other}, %{label}o ]"
        ))
    }

    /// A store of all lanes, of what was put aside.
    pub fn store(
        &self,
        f: &mut Function,
        found: &Found,
        access: &Access,
        space: &str,
        label: &str,
    ) {
        let (lane, bytes) = (if self.bytes == 8 { "i64" } else { "i32" }, self.bytes);
        if let Lie::Same = found.lie {
            // Of lanes that write one place the last one stays.
            let from = f.set(format_args!("getelementptr i8, ptr {space}, i64 {}", 31 * bytes));
            let last = f.set(format_args!("load {lane}, ptr {from}, align {bytes}"));
            let at = f.with_writer(|w| self.pointer(w, &found.heads[0], access));
            return f.line(format_args!("store {lane} {last}, ptr {at}, align {bytes}"));
        }
        let (ty, lanes) = (vector(f.lanes, lane), f.lanes as u32);
        for (part, head) in (0u32..).zip(&found.heads) {
            let label = format!("{label}q{part}");
            let from =
                f.set(format_args!("getelementptr i8, ptr {space}, i64 {}", part * lanes * bytes));
            let value = f.set(format_args!("load {ty}, ptr {from}, align 32"));
            let at = f.with_writer(|w| self.pointer(w, head, access));
            let Lie::Each { addresses, row, .. } = &found.lie else {
                f.line(format_args!("store {ty} {value}, ptr {at}, align {bytes}"));
                continue;
            };
            f.line(format_args!("br i1 {row}, label %{label}r, label %{label}o"));
            let _ = writeln!(f.body, "{label}r:");
            f.line(format_args!("store {ty} {value}, ptr {at}, align {bytes}"));
            f.line(format_args!("br label %{label}e"));
            let _ = writeln!(f.body, "{label}o:");
            let here =
                f.set(format_args!("getelementptr i8, ptr {addresses}, i64 {}", part * lanes * 8));
            let base = f.with_writer(|w| self.base(w, access));
            f.line(format_args!("call void @scatter{bytes}(ptr {here}, i64 {base}, {ty} {value})"));
            f.block(&format!("{label}e"));
        }
    }

    /// What is added to an address or offset.
    fn base(&self, w: &mut Writer<'_>, access: &Access) -> String {
        match self.is_shared() {
            true => {
                w.set(format_args!("add i64 %field{}, {}", super::context::SHARED, access.added))
            }
            false => w.set(format_args!("add i64 0, {}", access.added)),
        }
    }

    fn pointer(&self, w: &mut Writer<'_>, address: &str, access: &Access) -> String {
        let base = self.base(w, access);
        let sum = w.set(format_args!("add i64 {address}, {base}"));
        w.set(format_args!("inttoptr i64 {sum} to ptr"))
    }
}

/// How many vectors have the lanes of a warp.
fn vectors(f: &Function) -> u32 {
    32 / f.lanes as u32
}

/// What loads and stores of lanes that go anywhere call: `gather4`, `scatter4` and those of eight bytes.
pub fn helpers(lanes: usize) -> String {
    let mut text = String::new();
    for (bytes, lane) in [(4, "i32"), (8, "i64")] {
        let ty = vector(lanes, lane);
        let _ = writeln!(
            text,
            "define internal {ty} @gather{bytes}(ptr %addresses, i64 %base) alwaysinline nounwind {{"
        );
        let mut so_far = "poison".to_string();
        for n in 0..lanes {
            place(&mut text, n);
            let _ = writeln!(text, "  %x{n} = load {lane}, ptr %p{n}, align {bytes}");
            let _ = writeln!(text, "  %v{n} = insertelement {ty} {so_far}, {lane} %x{n}, i32 {n}");
            so_far = format!("%v{n}");
        }
        let _ = writeln!(text, "  ret {ty} {so_far}\n}}\n");
        let _ = writeln!(
            text,
            "define internal void @scatter{bytes}(ptr %addresses, i64 %base, {ty} %all) alwaysinline nounwind {{"
        );
        for n in 0..lanes {
            place(&mut text, n);
            let _ = writeln!(text, "  %x{n} = extractelement {ty} %all, i32 {n}");
            let _ = writeln!(text, "  store {lane} %x{n}, ptr %p{n}, align {bytes}");
        }
        text += "  ret void\n}\n\n";
    }
    text + "!0 = !{!\"branch_weights\", i32 1000, i32 1}\n"
}

fn place(text: &mut String, n: usize) {
    let _ = writeln!(text, "  %q{n} = getelementptr i64, ptr %addresses, i64 {n}");
    let _ = writeln!(text, "  %a{n} = load i64, ptr %q{n}, align 8");
    let _ = writeln!(text, "  %s{n} = add i64 %a{n}, %base");
    let _ = writeln!(text, "  %p{n} = inttoptr i64 %s{n} to ptr");
}
