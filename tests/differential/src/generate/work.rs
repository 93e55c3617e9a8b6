//! Pieces of work in the shapes that kernels have: rounds over the last words of a message, searches with a stack,
//! insertion, loops with several ways out, choices by ranges, tables of records and of pointers.
//!
//! Each is a statement of plain C++ with unsigned arithmetic, whose indices are masked.

use super::Maker;

impl Maker {
    pub(super) fn work(&mut self, which: usize) -> String {
        let (some, other) = (1 + self.random.below(15), 1 + self.random.below(15));
        match self.random.below(9) {
            0 => self.rounds(which),
            1 => self.search(which),
            // Sorts by insertion, up to a number of elements that may be known.
            2 => {
                let most = *self.random.of(&["8", "16", "(int)(u1 & 15)", "(i0 & 7) + 2"]);
                format!(
                    "for (int n = 1; n < {most}; n++) {{ unsigned x = a[n]; int m = n - 1; \
                     while (m >= 0 && a[m] > x) {{ a[m + 1] = a[m]; m--; }} a[m + 1] = x; }} u{which} ^= a[{some}];"
                )
            }
            // Leaves two loops at once, or goes on with the outer one.
            3 => {
                self.labels += 1;
                let label = self.labels;
                format!(
                    "{{ for (int n = 0; n < {some}; n++) {{ for (unsigned m = u0 & 3; m < 9; m += 2) {{ \
                     if ((a[(n + m) & 15] & 7) == {}) goto out{label}; if (a[m & 15] & 1) break; u{which} += m; }} \
                     w0 += (word)n; }} out{label}: u1 += {other}u; }}",
                    some & 7
                )
            }
            // Both ends of a range, of floats that are not numbers too.
            4 => {
                let (ty, zero) = *self.random.of(&[("f", "0.0f"), ("d", "0.0")]);
                let (low, high) = (some as i64 - 8, some + other);
                let condition = *self.random.of(&["<", ">=", "<="]);
                format!(
                    "if ({ty}{which} {condition} {low} || {ty}{which} > {high}) {ty}{which} = -{ty}{which}; \
                     {ty}0 = {ty}0 > {zero} && {ty}0 < {high} ? {ty}1 : {ty}0; u1 += {ty}0 == {ty}0;"
                )
            }
            // Wraps around, counts down, and stops at what it finds.
            5 => format!(
                "{{ unsigned n = 0u - {some}u; int found = -1; do {{ if ((a[n & 15] ^ u{which}) % {other}u == 0u) \
                 {{ found = (int)(n & 255); break; }} }} while (++n != {other}u); i{which} ^= found; }}"
            ),
            // Rows of records, one of which is chosen, changed and copied.
            6 => format!(
                "{{ struct Pair rows[2][3]; for (int n = 0; n < 6; n++) {{ rows[n / 3][n % 3] = p; \
                 rows[n / 3][n % 3].first = (int)a[n]; }} struct Pair *one = rows[u0 & 1] + u1 % 3u; \
                 one->third ^= {some}; rows[1 - (u0 & 1)][{}] = *one; p = rows[i{which} & 1][(u1 >> 2) % 3u]; }}",
                other % 3
            ),
            // Pointers in an array, through which two arrays and their difference are reached.
            7 => format!(
                "{{ unsigned *ends[2] = {{a + {}, a + (u{which} & 15)}}; unsigned **end = ends + (i0 & 1); \
                 **end += 3u; u1 ^= *ends[1 - (i0 & 1)]; i1 ^= (int)(ends[1] - ends[0]); }}",
                some & 15
            ),
            // Sums of what came before, in place.
            _ => format!(
                "for (unsigned d = 1; d < 16u; d *= 2) {{ unsigned before[16]; for (int n = 0; n < 16; n++) \
                 before[n] = a[n]; for (unsigned n = d; n < 16u; n++) a[n] = before[n] + before[n - d]; }} u{which} += a[{some}];"
            ),
        }
    }

    /// Rounds as those of a hash, with other functions in later ones.
    fn rounds(&mut self, which: usize) -> String {
        let turns = *self.random.of(&["16", "40", "64", "80", "(int)(u0 & 31) + 16"]);
        let (first, second) = (1 + self.random.below(15), 1 + self.random.below(15));
        let (turn, limit) = (1 + self.random.below(31), 8 + self.random.below(40));
        format!(
            "{{ unsigned x = u0, y = u1, z = {turn}u; for (int n = 0; n < {turns}; n++) {{ \
             if (n >= 16) {{ unsigned next = a[(n + {first}) & 15] ^ a[(n + {second}) & 15] ^ a[n & 15]; \
             a[n & 15] = next << {turn} | next >> (32 - {turn}); }} \
             unsigned f = n < {limit} ? (x & y) | (~x & z) : x ^ y ^ z; \
             f += a[n & 15] + (x << 5 | x >> 27); z = y; y = x; x = f; }} u{which} ^= x + y * 3u + z; }}"
        )
    }

    /// What a search in depth finds whose open ends are records on a stack.
    fn search(&mut self, which: usize) -> String {
        let (deepest, room) = (3 + self.random.below(4), 10 + self.random.below(60));
        format!(
            "{{ struct Pair open[12]; int top = 0, best = 0; struct Pair none = {{0, 0.0, 0}}; open[top++] = none; \
             while (top > 0) {{ struct Pair e = open[--top]; if (e.third > best) best = e.third; \
             if (e.first == {deepest}) continue; unsigned weight = (a[e.first & 15] & 15) + 1u; \
             e.first++; open[top++] = e; e.second += weight; e.third += (unsigned char)(weight * 3u % 7u); \
             if (e.second <= {room}) open[top++] = e; }} \
             i{which} ^= best; }}"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::{each_occurs, statements};

    #[test]
    fn each_piece_of_work_occurs() {
        let statements = statements((0..400).map(generate));
        let pieces = [
            "unsigned next = a[",
            "struct Pair open[12]",
            "a[m + 1] = x;",
            "goto out",
            " ? f1 : f0;",
            "int found = -1",
            "struct Pair rows[2][3]",
            "unsigned *ends[2]",
            "unsigned before[16]",
        ];
        each_occurs(&statements, &pieces);
    }
}
