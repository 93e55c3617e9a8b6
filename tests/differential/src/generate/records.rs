//! Records whose members are random: bit-fields of all types and widths, unions without a name, arrays, records in records,
//! packed or aligned.
//!
//! A program has two, with functions that fill one, sum it up, and change it by value. What is read of a union is what all
//! compilers make of its bytes. Members without sign, or narrower than `int`, are counted up; others are only assigned.

use super::{INTEGERS, Maker};

/// A record of a program.
pub(super) struct Record {
    /// Its name, which also ends the names of its functions.
    pub(super) name: String,
    /// All that can be assigned and read.
    members: Vec<Member>,
    /// Members that have an address, in C's order.
    placed: Vec<String>,
    /// Members follow each other without padding.
    packed: bool,
    /// It asks for an alignment, or a member does. Such records and members are not in packed ones, of which nvcc's
    /// device code and the host's compilers make different layouts.
    aligned: bool,
}

/// A member that is a number: how it is reached from the record, its type, and how many bits it has.
struct Member {
    path: String,
    ty: &'static str,
    bits: u32,
    signed: bool,
    integer: bool,
}

/// Types of bit-fields: their place in [`INTEGERS`], and whether the sign counts.
const FIELDS: [(usize, bool); 8] =
    [(5, false), (4, true), (7, false), (6, true), (1, false), (2, true), (3, false), (8, false)];

impl Maker {
    /// Makes the program's records; gives their text.
    pub(super) fn declare_records(&mut self) -> String {
        let inner = self.record_type(0, None);
        let outer = self.record_type(1, Some(&inner.0));
        let text = inner.1 + &outer.1;
        self.records = vec![inner.0, outer.0];
        text
    }

    fn record_type(&mut self, number: usize, inner: Option<&Record>) -> (Record, String) {
        let name = format!("S{}_{number}", self.seed);
        let (attribute, pack) = *self.random.of(&[
            ("", ""),
            ("", ""),
            ("__attribute__((packed))", ""),
            ("alignas(16)", ""),
            ("__attribute__((packed, aligned(4)))", ""),
            ("", "2"),
        ]);
        let packed = attribute.contains("packed") || !pack.is_empty();
        let (members, placed) = (Vec::new(), Vec::new());
        let mut record = Record { name, members, placed, packed, aligned: !attribute.is_empty() };
        let inner = inner.filter(|inner| !packed || !inner.aligned);
        let (mut text, mut initial) = (String::new(), Vec::new());
        let count = 2 + self.random.below(6);
        for index in 0..count {
            self.member(index, inner, &mut record, &mut text, &mut initial);
        }
        if record.members.is_empty() {
            text += " unsigned last;";
            record.plain_member("last", 5);
            initial.push("7u".into());
        }
        let (push, pop) = match pack {
            "" => (String::new(), ""),
            most => (format!("#pragma pack(push, {most})\n"), "#pragma pack(pop)\n"),
        };
        let (name, initial) = (&record.name, initial.join(", "));
        let mut text = format!(
            "{push}struct {attribute} {name} {{{text} }};\n{pop}TABLE {name} known_{name} = {{{initial}}};\n"
        );
        text += &record.functions();
        (record, text)
    }

    /// One more member.
    fn member(
        &mut self,
        index: usize,
        inner: Option<&Record>,
        record: &mut Record,
        text: &mut String,
        initial: &mut Vec<String>,
    ) {
        let name = format!("m{index}");
        let value = 1 + self.random.below(60);
        match self.random.below(12) {
            0..=4 => {
                let (ty, signed) = *self.random.of(&FIELDS);
                let (spelled, _, most) = INTEGERS[ty];
                let least = if signed { 2 } else { 1 };
                let bits = least + self.random.below((most - least + 1) as usize) as u32;
                *text += &format!(" {spelled} {name} : {bits};");
                let known = value as u64 & ((1u64 << (bits - u32::from(signed)).min(6)) - 1);
                initial.push(known.to_string());
                record.members.push(Member {
                    path: name,
                    ty: spelled,
                    bits,
                    signed,
                    integer: true,
                });
                // nvcc's device code ends no packed record there, as the host's compilers do.
                if self.random.below(6) == 0 && !record.packed {
                    *text += &format!(" {spelled} : {};", self.random.below(2) * most as usize / 2);
                }
            }
            5 | 6 => {
                let ty = self.random.below(9);
                let spelled = INTEGERS[ty].0;
                let aligned = self.random.below(4) == 0 && !record.packed;
                let align = if aligned { "alignas(8) " } else { "" };
                record.aligned |= aligned;
                *text += &format!(" {align}{spelled} {name};");
                initial.push(if ty == 8 { "true".into() } else { value.to_string() });
                record.plain_member(&name, ty);
            }
            7 => {
                let (ty, suffix) = *self.random.of(&[("float", "f"), ("double", "")]);
                *text += &format!(" {ty} {name};");
                initial.push(format!("{value}.5{suffix}"));
                record.placed.push(name.clone());
                record.members.push(Member {
                    path: name,
                    ty,
                    bits: 64,
                    signed: true,
                    integer: false,
                });
            }
            8 | 9 => {
                let (ty, count) = (self.random.below(8), 2 + self.random.below(3));
                *text += &format!(" {} {name}[{count}];", INTEGERS[ty].0);
                initial.push(format!("{{{value}, 3}}"));
                for element in 0..2 {
                    record.plain_member(&format!("{name}[{element}]"), ty);
                }
                record.plain_member(&format!("{name}[u1 % {count}u]"), ty);
            }
            10 => {
                *text += &format!(
                    " union {{ unsigned {name}; unsigned char {name}b[4]; struct {{ short {name}l; unsigned short {name}h : 9; unsigned short {name}i : 7; }}; }};"
                );
                initial.push(format!("{{{value}u}}"));
                for (part, ty) in [("", 5), ("b[u0 & 3u]", 1), ("l", 2)] {
                    record.plain_member(&format!("{name}{part}"), ty);
                }
                let path = format!("{name}h");
                record.members.push(Member {
                    path,
                    ty: "unsigned short",
                    bits: 9,
                    signed: false,
                    integer: true,
                });
            }
            _ => {
                let Some(inner) = inner else { return };
                *text += &format!(" struct {} {name};", inner.name);
                initial.push("{}".into());
                for member in &inner.members {
                    let path = format!("{name}.{}", member.path);
                    record.members.push(Member { path, ..*member });
                }
            }
        }
    }

    /// A statement about one of the records.
    pub(super) fn of_records(&mut self, which: usize) -> String {
        let record = self.random.below(self.records.len());
        let name = self.records[record].name.clone();
        let (value, wide) = (self.integer(5, 1), self.integer(7, 1));
        let body = match self.random.below(7) {
            0 => format!("fill(s, {wide}); {} z = s;", self.change(record, "s.")),
            1 => format!(
                "{name} rows[3] = {{known_{name}, {{}}, s}}; fill(rows[u0 % 3u], given); {} \
                 rows[1] = rows[u1 % 3u]; for (const auto &row : rows) u1 = u1 * 5u + sum(row); z = rows[1];",
                self.change(record, "rows[u0 % 3u].")
            ),
            2 => format!(
                "z = turned(s, (unsigned)given); {} z = turned(turned(z, 3u), u0);",
                self.change(record, "z.")
            ),
            3 => format!(
                "{name} *q = u0 & 1u ? &s : &z, **e = &q; fill(*q, given); {} *(u1 & 1u ? &s : &z) = **e; \
                 unsigned char bytes[sizeof(s)]; memcpy(bytes, *e, sizeof bytes); memcpy(&z, bytes, sizeof z);",
                self.change(record, "q->")
            ),
            // nvcc is wrong about a bit-field, or a packed member, of one of two records that a condition chooses.
            4 => format!("(u0 & 2u ? s : z) = known_{name}; {}", self.change(record, "s.")),
            5 => format!("{} {}", self.read(record, which), self.change(record, "z.")),
            _ => format!(
                "for (unsigned n = 0; n < (u0 & 3u) + 1u; n++) {{ {} {} z = turned(s, n); }}",
                self.change(record, "s."),
                self.read(record, 1 - which)
            ),
        };
        format!(
            "{{ const word given = {value}; {name} s = known_{name}, z{{}}; fill(s, given * 77u); {body} u{which} ^= sum(s) + sum(z) * 3u; }}"
        )
    }

    /// Changes a member or two.
    fn change(&mut self, record: usize, place: &str) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.below(2) {
            let index = self.random.below(self.records[record].members.len());
            let op = self.random.below(9);
            let plus = 1 + self.random.below(7);
            let member = &self.records[record].members[index];
            let (path, ty) = (format!("{place}{}", member.path), member.ty);
            let (counts, narrow) = (member.counts(), member.bits < 32);
            text += &match op {
                _ if !member.integer => format!("{path} = {path} * 0.5f + (float)(given & 255u); "),
                0 | 1 => format!("{path} = ({ty})given; "),
                2 if counts => format!("u0 += (unsigned)({path}++); "),
                3 if counts => format!("u1 ^= (unsigned)--{path}; u1 += (unsigned){path}--; "),
                4 if counts && ty != "bool" => format!("{path} += {plus}; "),
                5 if ty != "bool" => format!("w0 += (word)({path} ^= ({ty})u1); "),
                6 => format!("w1 ^= (word)({path} = ({ty})(given * {plus}u)) * 3u; "),
                7 if !member.signed && ty != "bool" => {
                    format!("{path} >>= {}; ", plus.min(member.bits as usize) - 1)
                }
                _ if narrow => format!("{path} = {path} & {plus}; "),
                _ => format!("{path} = ({ty})({path} ^ ({ty})given); "),
            };
        }
        text
    }

    /// Reads a member as an operand, where it is what it promotes to.
    fn read(&mut self, record: usize, which: usize) -> String {
        let index = self.random.below(self.records[record].members.len());
        let op = self.random.below(6);
        let member = &self.records[record].members[index];
        let path = format!("s.{}", member.path);
        if !member.integer {
            return format!("y{which} = {path} < 3.0f || {path} != {path};");
        }
        let narrow = member.bits < 29;
        match op {
            0 => format!("y{which} = {path} > -1;"),
            1 if narrow => format!("l{which} ^= ({path} - 5) / 2;"),
            2 if narrow => format!("d{which} += -{path};"),
            // g++ computes with as many bits as a wide bit-field has.
            3 if member.bits <= 32 || member.bits == 64 => {
                format!("w{which} += (word)(~{path} >> 1);")
            }
            4 if narrow => format!("l{which} += {path} * 3 - (unsigned char)u0 < {path};"),
            5 if narrow => format!("w{which} ^= (word)(y0 ? {path} : -1);"),
            _ => format!("u{which} += {path} ? 3u : (unsigned)sizeof(+{path});"),
        }
    }
}

impl Member {
    /// Whether one more is within its type as it is computed with.
    fn counts(&self) -> bool {
        self.integer && self.ty != "bool" && (!self.signed || self.bits < 31)
    }
}

impl Record {
    fn plain_member(&mut self, path: &str, ty: usize) {
        let (name, _, bits) = INTEGERS[ty];
        if !path.contains("[u") {
            self.placed.push(path.split('[').next().unwrap_or(path).to_owned());
        }
        let signed = matches!(ty, 0 | 2 | 4 | 6);
        self.members.push(Member { path: path.to_owned(), ty: name, bits, signed, integer: true });
    }

    /// Functions of a record: one that fills it, one that sums up all of it and its layout, one that changes a copy.
    fn functions(&self) -> String {
        let name = &self.name;
        // An index that is a variable names one of those before it.
        let known = || self.members.iter().filter(|member| !member.path.contains("[u"));
        let mut text = format!("DEVICE static void fill({name} &s, word x)\n{{\n");
        for member in known() {
            let (path, ty) = (&member.path, member.ty);
            text += "    x = x * 6364136223846793005ull + 1442695040888963407ull;\n";
            text += &match member.integer {
                true => format!("    s.{path} = ({ty})(x >> 23);\n"),
                false => format!("    s.{path} = ({ty})(x >> 44) * 0.25f;\n"),
            };
        }
        text += &format!(
            "}}\nDEVICE static unsigned sum(const {name} &s)\n{{\n    word x = sizeof(s) * 64u + alignof({name});\n"
        );
        for path in &self.placed {
            text += &format!("    x = x * 3u + offsetof({name}, {path});\n");
        }
        for member in known() {
            let path = &member.path;
            text += &match member.integer {
                true => format!("    x = x * 1099511628211ull + (word)s.{path};\n"),
                false => format!("    x = x * 31u + bits_of(({})s.{path});\n", member.ty),
            };
        }
        text += "    return (unsigned)(x ^ x >> 32);\n}\n";
        text + &format!(
            "DEVICE static {name} turned({name} s, unsigned by) {{ {name} o = s; word x = by + sum(s); if (by & 1u) fill(o, x); else s = o; return by & 2u ? o : s; }}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::each_occurs;

    #[test]
    fn records_have_all_kinds_of_members_and_layouts() {
        let programs: Vec<_> = (0..200).map(generate).collect();
        let parts =
            programs.iter().flat_map(|program| program.functions.iter().chain(&program.statements));
        let text: String = parts.cloned().collect();
        each_occurs(
            &text,
            &[
                "long long m0 : ",
                "bool m1 : ",
                " : 0;",
                "union { unsigned m",
                "_0 m",
                "[u1 % 3u] = ",
                "packed",
                "alignas(16)",
                "#pragma pack(push, 2)",
                "alignas(8) ",
                "rows[1] = rows[u1 % 3u]",
                "memcpy(bytes, *e",
                "(u0 & 2u ? s : z) = ",
            ],
        );
    }
}
