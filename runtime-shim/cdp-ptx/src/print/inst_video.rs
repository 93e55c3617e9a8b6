//! Video instructions as text.

use super::Printer;
use crate::inst::*;
use crate::types::*;

use ScalarType::B32;

impl Printer<'_> {
    pub fn video(&mut self, inst: &Inst) {
        match inst {
            Inst::Video(video) => self.video_scalar(video),
            Inst::VideoMad(mad) => self.video_mad(mad),
            Inst::VideoSimd(simd) => self.video_simd(simd),
            _ => unreachable!("`inst` sends only video instructions here"),
        }
    }

    /// Opcode, lane count, types and what depends on the operation.
    fn video_head(
        &mut self,
        op: VideoOp,
        lanes: &str,
        dst_ty: ScalarType,
        a_ty: ScalarType,
        b_ty: ScalarType,
        sat: bool,
    ) {
        self.mnemonic(match op {
            VideoOp::Add => "vadd",
            VideoOp::Sub => "vsub",
            VideoOp::AbsDiff => "vabsdiff",
            VideoOp::Min => "vmin",
            VideoOp::Max => "vmax",
            VideoOp::Average => "vavrg",
            VideoOp::Shl(_) => "vshl",
            VideoOp::Shr(_) => "vshr",
            VideoOp::Set(_) => "vset",
        });
        self.mnemonic(lanes);
        if !matches!(op, VideoOp::Set(_)) {
            self.word(dst_ty.as_str());
        }
        self.words(&[a_ty.as_str(), b_ty.as_str()]);
        self.flag(sat, "sat");
        match op {
            VideoOp::Shl(mode) | VideoOp::Shr(mode) => self.word(mode.as_str()),
            VideoOp::Set(cmp) => self.word(cmp.as_str()),
            _ => {}
        }
    }

    fn select(&mut self, select: VideoSelect) {
        match select {
            VideoSelect::Whole => {}
            VideoSelect::Byte(n) => self.word(&format!("b{n}")),
            VideoSelect::Half(n) => self.word(&format!("h{n}")),
        }
    }

    fn video_scalar(&mut self, v: &Video) {
        self.video_head(v.op, "", v.dst_ty, v.a_ty, v.b_ty, v.sat);
        if let VideoMerge::Op(op) = v.merge {
            self.word(op.as_str());
        }
        self.out.push(' ');
        self.reg(v.dst);
        if let VideoMerge::Insert(select) = v.merge {
            self.select(select);
        }
        for (operand, select) in [&v.a, &v.b] {
            self.out.push_str(", ");
            self.operand(operand, B32);
            self.select(*select);
        }
        if let Some(c) = &v.c {
            self.out.push_str(", ");
            self.operand(c, B32);
        }
        self.out.push(';');
    }

    fn video_mad(&mut self, v: &VideoMad) {
        self.mnemonic("vmad");
        self.words(&[v.dst_ty.as_str(), v.a_ty.as_str(), v.b_ty.as_str()]);
        self.flag(v.plus_one, "po");
        self.flag(v.sat, "sat");
        self.flag(v.shift_bits == 7, "shr7");
        self.flag(v.shift_bits == 15, "shr15");
        self.out.push(' ');
        self.reg(v.dst);
        self.out.push_str(if v.negate_product { ", -" } else { ", " });
        self.operand(&v.a.0, B32);
        self.select(v.a.1);
        self.out.push_str(", ");
        self.operand(&v.b.0, B32);
        self.select(v.b.1);
        self.out.push_str(if v.negate_c { ", -" } else { ", " });
        self.operand(&v.c, B32);
        self.out.push(';');
    }

    fn video_simd(&mut self, v: &VideoSimd) {
        let lanes = v.lanes as usize;
        self.video_head(v.op, if lanes == 2 { "2" } else { "4" }, v.dst_ty, v.a_ty, v.b_ty, v.sat);
        self.flag(v.accumulate, "add");
        self.out.push(' ');
        self.reg(v.dst);
        let letter = if lanes == 2 { ".h" } else { ".b" };
        let digits = |chosen: Vec<u8>| -> String {
            let digits: String = chosen.iter().rev().map(|n| char::from(b'0' + n)).collect();
            format!("{letter}{digits}")
        };
        let mask = (0..lanes as u8).filter(|lane| v.write_mask & (1 << lane) != 0).collect();
        self.out.push_str(&digits(mask));
        for (operand, select) in [(&v.a, &v.a_select), (&v.b, &v.b_select)] {
            self.out.push_str(", ");
            self.operand(operand, B32);
            // A constant has no elements to choose from.
            if matches!(operand, Operand::Reg(_)) {
                self.out.push_str(&digits(select[..lanes].to_vec()));
            }
        }
        self.out.push_str(", ");
        self.operand(&v.c, B32);
        self.out.push(';');
    }
}
