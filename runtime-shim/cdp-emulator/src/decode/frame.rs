//! The frame of a function: a place for each register, and for each variable in local memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cdp_ptx as ptx;

use super::reuse::{self, Life, Use};
use super::{Decoded, Decoder, named};
use crate::code::{Shape, Slot};
use crate::load::param_layout;

/// A virtual register's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegPlace {
    /// 32 words.
    Narrow(u32),
    /// 64 words.
    Wide(u32),
    /// Twice 64 words: the low halves, then the high ones.
    Quad(u32),
    /// One word.
    Pred(u32),
}

impl Decoder<'_> {
    /// A new place in the frame.
    pub(super) fn take(&mut self, shape: Shape) -> u32 {
        let at = self.out.frame_words;
        self.layout.place(at, shape);
        // Predicates get a whole row too: those made here are few, and rows stay aligned.
        self.out.frame_words = at.saturating_add(shape.words().next_multiple_of(32));
        at
    }

    /// Gives every register a place. First those whose contents count from the beginning of the function,
    /// which frames set to zero, then those that are written before they are read.
    pub(super) fn place_registers(&mut self) -> Decoded {
        let uses = reuse::uses(self.source, self.body, &self.meeting);
        for (register, Use { life, .. }) in self.body.registers.iter().zip(&uses) {
            let at_once = *life == Life::FromStart;
            let place = match register.ty.bits() {
                1 => RegPlace::Pred(0),
                128 => {
                    let low = self.take(Shape::Wide);
                    self.take(Shape::Wide);
                    RegPlace::Quad(low)
                }
                // Those of others are placed below.
                64 => RegPlace::Wide(if at_once { self.take(Shape::Wide) } else { 0 }),
                _ => RegPlace::Narrow(if at_once { self.take(Shape::Narrow) } else { 0 }),
            };
            self.registers.push(place);
        }
        let carries = |i: &ptx::Instruction| {
            use ptx::Inst::{AddCarry, MadCarry, SubCarry};
            matches!(i.inst, AddCarry { .. } | SubCarry { .. } | MadCarry { .. })
        };
        if self.body.instructions.iter().any(carries) {
            self.carry_row();
        }
        // Predicates come last, so that rows stay aligned to 128 bytes; whole rows of them.
        let mut next = self.out.frame_words;
        self.out.true_pred = next;
        self.layout.place(next, Shape::Pred);
        for place in &mut self.registers {
            if let RegPlace::Pred(word) = place {
                next = next.saturating_add(1);
                *word = next;
                self.layout.place(next, Shape::Pred);
            }
        }
        self.out.frame_words = next.saturating_add(1).next_multiple_of(32);
        self.out.zeroed_words = self.out.frame_words;
        self.place_written(&uses);
        let has_atomics =
            |i: &ptx::Instruction| matches!(&i.inst, ptx::Inst::Atom(a) if a.dst.is_some());
        self.unread = vec![false; self.registers.len()];
        if self.body.instructions.iter().any(has_atomics) {
            self.unread.fill(true);
            for instruction in &self.body.instructions {
                named::mark_read(instruction, &mut self.unread);
            }
        }
        Ok(())
    }

    /// Places the registers that are written before they are read. One row serves many that live within a
    /// basic block.
    fn place_written(&mut self, uses: &[Use]) {
        let mut spans = Vec::new();
        for (reg, Use { life, .. }) in uses.iter().enumerate() {
            match (*life, self.registers[reg]) {
                (_, RegPlace::Pred(_) | RegPlace::Quad(_)) | (Life::FromStart, _) => {}
                (Life::Written, RegPlace::Narrow(_)) => {
                    self.registers[reg] = RegPlace::Narrow(self.take(Shape::Narrow));
                }
                (Life::Written, RegPlace::Wide(_)) => {
                    self.registers[reg] = RegPlace::Wide(self.take(Shape::Wide));
                }
                (Life::Within(first, last), _) => spans.push((first, reg, last)),
            }
        }
        spans.sort_unstable();
        // Rows by width, each with the last instruction that names who has it; the soonest free one on top.
        let mut rows: [BinaryHeap<Reverse<(u32, u32)>>; 2] = Default::default();
        for (first, reg, last) in spans {
            let wide = matches!(self.registers[reg], RegPlace::Wide(_));
            let rows = &mut rows[usize::from(wide)];
            let is_free = rows.peek().is_some_and(|Reverse((until, _))| *until < first);
            let free = if is_free { rows.pop() } else { None };
            let row = free.map_or_else(|| self.take(Shape::row(wide)), |Reverse((_, row))| row);
            rows.push(Reverse((last, row)));
            self.out.tenants.push((row, first, last));
            self.registers[reg] = if wide { RegPlace::Wide(row) } else { RegPlace::Narrow(row) };
        }
        // Others have a row for themselves.
        for (place, Use { life, first, last }) in self.registers.iter().zip(uses) {
            match (life, *place) {
                (_, RegPlace::Pred(row))
                | (Life::FromStart | Life::Written, RegPlace::Narrow(row) | RegPlace::Wide(row)) => {
                    self.out.tenants.push((row, *first, *last));
                }
                _ => {}
            }
        }
        self.out.tenants.sort_unstable();
    }

    /// Lays out the local frame: parameters and results of a device function, call parameters,
    /// local variables.
    pub(super) fn place_locals(&mut self) -> Decoded {
        // More than this cannot be had, and sums of such sizes do not overflow.
        const MOST: u64 = 512 << 10;
        let mut end = 0u64;
        let (gaps, locals) = (self.links.check_bounds, &mut self.out.locals);
        let mut place = |size: u64, align: u64| {
            let at = end.next_multiple_of(align.clamp(4, 4096));
            let size = size.min(MOST);
            end = (at + size.next_multiple_of(4)).min(2 * MOST);
            if gaps {
                locals.push((at as u32, size as u32));
                end += crate::check::bounds::gap(size);
            }
            at
        };
        if !self.out.is_kernel {
            for (params, offsets, slots) in [
                (&self.source.params, &mut self.param_offsets, &mut self.out.params),
                (&self.source.returns, &mut self.return_offsets, &mut self.out.returns),
            ] {
                for param in params {
                    let offset = place(param.size_bytes(), u64::from(param.align_bytes)) as u32;
                    offsets.push(offset);
                    slots.push(match param.storage {
                        ptx::ParamStorage::Register(Some(reg)) => match self.registers[reg.index()]
                        {
                            RegPlace::Narrow(row) => Slot::Row { row, wide: false },
                            RegPlace::Wide(row) => Slot::Row { row, wide: true },
                            RegPlace::Pred(word) => Slot::Pred { word },
                            RegPlace::Quad(_) => {
                                return Err("a parameter in a 128-bit register".to_string());
                            }
                        },
                        ptx::ParamStorage::Register(None) | ptx::ParamStorage::Memory => {
                            Slot::Memory {
                                offset_bytes: offset,
                                size_bytes: param.size_bytes() as u32,
                            }
                        }
                    });
                }
            }
        } else {
            self.param_offsets = param_layout(self.source).0.iter().map(|p| p.0 as u32).collect();
        }
        for (index, variable) in self.body.variables.iter().enumerate() {
            let (size, align) = (variable.size_bytes(), u64::from(variable.align_bytes));
            match variable.space {
                ptx::Space::Param | ptx::Space::ParamFunc | ptx::Space::ParamEntry => {
                    self.local_offsets[index] = Some(place(size, align) as u32);
                }
                ptx::Space::Local => {
                    let at = place(size, align) as u32;
                    self.local_offsets[index] = Some(at);
                    if self.links.check_init {
                        self.out.unwritten_locals.push((at, size.min(MOST) as u32));
                    }
                    self.out.stack_bytes =
                        self.out.stack_bytes.saturating_add(size.min(MOST) as u32);
                }
                ptx::Space::Global
                | ptx::Space::Const
                | ptx::Space::Shared
                | ptx::Space::SharedCluster
                | ptx::Space::Generic => {}
            }
        }
        if end > MOST {
            return Err(format!(
                "more than {MOST} bytes of local memory a thread, which is all it can have"
            ));
        }
        // Frames begin at multiples of 16 bytes, so that vectors in them are aligned.
        self.out.local_words = (end.next_multiple_of(16) / 4) as u32;
        Ok(())
    }
}
