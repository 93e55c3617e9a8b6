//! The frame of a function: a place for each register, and for each variable in local memory.

use cdp_ptx as ptx;

use super::{Decoded, Decoder, named};
use crate::code::{Shape, Slot};

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

    pub(super) fn place_registers(&mut self) -> Decoded {
        for register in &self.body.registers {
            let place = match register.ty.bits() {
                1 => RegPlace::Pred(0),
                64 => RegPlace::Wide(self.take(Shape::Wide)),
                128 => {
                    let low = self.take(Shape::Wide);
                    self.take(Shape::Wide);
                    RegPlace::Quad(low)
                }
                _ => RegPlace::Narrow(self.take(Shape::Narrow)),
            };
            self.registers.push(place);
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
            self.param_offsets = self.source.param_layout().0.iter().map(|p| p.0 as u32).collect();
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
