//! What C++ has beyond C: overloads, references of all kinds, enumerations with a scope, operators, `constexpr` functions
//! and tables, ranges, namespaces and the lookup by arguments, default arguments, deduced types, `new`.
//!
//! A program has a namespace of its own ([`Maker::namespace`]), whose parts statements use ([`Maker::kinds`]). Calls of
//! overloads are never ambiguous: the types that others promote or convert to are always there. Arithmetic is unsigned.

use super::Maker;

/// Types of integers of which overloads may be absent: what is given then promotes to `int`.
const NARROW: [&str; 5] = ["signed char", "unsigned char", "short", "unsigned short", "bool"];

/// Overloads that are always there.
const WIDE: [&str; 5] = ["int", "unsigned", "long long", "word", "double"];

/// Pointers of which overloads may be absent: what is given then becomes `const void *`.
const POINTERS: [&str; 6] =
    ["void *", "unsigned *", "const unsigned *", "const struct Pair *", "const word *", "bool"];

/// What is given to them: an argument and what it needs before it.
const POINTED: [&str; 6] = ["a", "(const unsigned *)a", "&u0", "&p", "&w0", "(void *)&f0"];

impl Maker {
    /// The namespace of a program.
    pub(super) fn namespace(&mut self) -> String {
        let (x, y, z) = (self.small(), self.small(), self.small());
        let (under, second) = (
            *self.random.of(&["unsigned char", "short", "int", "word", "signed char"]),
            // None of the other values, and as a `signed char` too.
            101 + self.random.below(26),
        );
        let (op, other) =
            (*self.random.of(&["+", "-", "^", "*"]), *self.random.of(&["+", "-", "^", "|"]));
        let last = *self.random.of(&["unsigned", "unsigned char", "unsigned short"]);
        let (bits, mask) = (1 + self.random.below(7), 1 + self.random.below(255));
        let overloads = self.overloads();
        format!(
            "namespace n{seed} {{
enum class E : {under} {{ first = {x}, second = {second}, third }};
DEVICE constexpr E operator|(E a, E b) {{ return (E)((int)a | (int)b); }}
DEVICE constexpr E &operator^=(E &a, E b) {{ return a = (E)((int)a ^ (int)b); }}
DEVICE constexpr E next(E e) {{ switch (e) {{ case E::first: return E::second; case E::second: return E::third; default: return E::first; }} }}
struct R {{ unsigned a = {x}u; {last} b = {y}; E e = E::second; unsigned t[2] = {{{y}u, {z}u}}; }};
DEVICE constexpr R made(unsigned a, unsigned b = {x}u, E e = E::third) {{ return R{{a, ({last})b, e, {{b, a}}}}; }}
DEVICE constexpr R operator+(const R &l, const R &r) {{ return R{{l.a + r.a, ({last})(l.b {other} r.b), l.e, {{l.t[1], r.t[0]}}}}; }}
DEVICE constexpr R operator*(const R &l, unsigned by) {{ R r = l; r.a {op}= by; r.t[by & 1u] ^= l.a; return r; }}
DEVICE constexpr R operator*(unsigned by, R r) {{ r.a = by {op} r.a; r.b ^= {mask}; return r; }}
DEVICE constexpr R operator-(const R &l) {{ return made(0u - l.a, ~l.b); }}
DEVICE constexpr bool operator==(const R &l, const R &r) {{ return l.a == r.a && l.e == r.e; }}
DEVICE constexpr bool operator<(const R &l, const R &r) {{ return l.a < r.a || (l.a == r.a && l.b < r.b); }}
DEVICE constexpr R &operator+=(R &l, const R &r) {{ l.a += r.a * {y}u; l.t[0] {other}= r.t[1]; return l; }}
DEVICE constexpr R &operator++(R &r) {{ r.a += {z}u; return r; }}
DEVICE constexpr R operator++(R &r, int) {{ R before = r; ++r.b; return before; }}
DEVICE constexpr unsigned sum(const R &r) {{ unsigned s = r.a * 31u + r.b + (unsigned)r.e * {y}u; for (unsigned x : r.t) s = s * 7u + x; return s; }}
DEVICE constexpr void exchange(R &l, R &r) {{ R t = static_cast<R &&>(l); l = static_cast<R &&>(r); r = t; }}
DEVICE constexpr unsigned taken(R &&r) {{ r.a ^= {mask}u; return r.a + 1u; }}
DEVICE constexpr unsigned taken(const R &r) {{ return r.a * 3u; }}
DEVICE constexpr unsigned hashed(const char *s, unsigned h = {z}u) {{ while (*s) h = h * 33u {other} (unsigned char)*s++; return h; }}
DEVICE constexpr unsigned folded(const unsigned *p, int n) {{ unsigned s = {x}u; for (int k = 0; k < n; ++k) s = (s << {bits} | s >> (32 - {bits})) {op} p[k]; return s; }}
struct T {{ unsigned v[16]; }};
DEVICE constexpr T filled(unsigned by) {{ T t{{}}; unsigned c = by; for (unsigned &x : t.v) {{ c = c * 1664525u + {second}u; x = c & 1u ? c >> {bits} : c; }} return t; }}
TABLE constexpr T known = filled({z}u);
DEVICE auto half(unsigned x) {{ if constexpr (sizeof({last}) == 4) return x >> 1; else return ({last})x * 0.5; }}
inline namespace v1 {{ DEVICE unsigned version(unsigned x = {second}u) {{ return x + {y}u; }} }}
namespace deep {{ using namespace v1; constexpr unsigned k = {mask}u; DEVICE R &kept(R &r) {{ r.a += k; return r; }} DEVICE unsigned version(int x) {{ return (unsigned)x ^ k; }} }}
{overloads}}}
",
            seed = self.seed,
        )
    }

    fn small(&mut self) -> u64 {
        1 + self.random.below(100) as u64
    }

    /// Functions of one name for numbers, for pointers and for references, some of which are left out.
    fn overloads(&mut self) -> String {
        let mut text = String::new();
        let narrow: Vec<&str> = NARROW.into_iter().filter(|_| self.random.below(2) == 0).collect();
        for (number, ty) in WIDE.into_iter().chain(narrow).enumerate() {
            text += &format!(
                "DEVICE unsigned number({ty} x) {{ return (unsigned)(x != 0) * {}u + {}u; }}\n",
                2 * number + 3,
                (number + 1) * 100
            );
        }
        text += "DEVICE unsigned pointer(const void *) { return 1u; }\n";
        for (number, ty) in (2..).zip(POINTERS) {
            if self.random.below(2) == 0 {
                text += &format!("DEVICE unsigned pointer({ty}) {{ return {number}u; }}\n");
            }
        }
        text += "DEVICE unsigned bound(const unsigned &x) { return x + 1u; }\n";
        for (ty, by) in [("unsigned &", 3), ("unsigned &&", 5)] {
            if self.random.below(3) != 0 {
                text +=
                    &format!("DEVICE unsigned bound({ty}x) {{ x += {by}u; return x * {by}u; }}\n");
            }
        }
        text
    }

    /// A statement that uses the namespace, and a number that is there already: its own names hide a program's.
    pub(super) fn kinds(&mut self, which: usize) -> String {
        let value = self.integer(5, 1);
        format!("{{ const unsigned given = {value}; {} }}", self.kind(which))
    }

    fn kind(&mut self, which: usize) -> String {
        let n = format!("n{}", self.seed);
        let (some, other) = (self.small(), self.small());
        match self.random.below(15) {
            0 => self.called(which),
            1 | 2 => self.operators(which),
            3 => self.constant_expressions(which),
            4 => format!(
                "{{ {n}::E e = (u{which} & 1u) ? {n}::E::second : {n}::E{{{}}}; e ^= {n}::E::first; \
                 for (int n = (int)(u0 & 3u); n >= 0; n--) e = next(e); \
                 switch (e | {n}::E::first) {{ case {n}::E::third: u0 += {some}u; break; case {n}::E::first: u1 ^= {other}u; default: u{which}++; }} \
                 i{which} ^= (int)e; }}",
                some & 63
            ),
            5 => format!(
                "{{ unsigned m[2][3] = {{{{u0, {some}u}}, {{u1, 2u, given}}}}; for (auto &row : m) for (auto &&x : row) {{ \
                 if (x == {some}u) continue; x = x * 5u + {other}u; if (x & 64u) break; }} \
                 for (const auto &row : m) for (unsigned x : row) u{which} = u{which} * 31u + x; }}"
            ),
            6 => format!(
                "{{ {n}::R r[3] = {{{n}::made(given), {{}}, {n}::made(u1, {some}u)}}; unsigned s = 0; \
                 for (const auto &one : r) s ^= sum(one); for (auto one : r) s += one.b; for ({n}::R &one : r) one += r[1]; \
                 u{which} ^= s + sum(r[2]) + (unsigned)(r[0] < r[2]); }}"
            ),
            7 => format!(
                "{{ unsigned &x = u{which} & 2u ? u0 : a[u1 & 15]; const unsigned &y = given; unsigned &&z = u1 + {some}u; z ^= x; \
                 (x += y) *= 3u; ++(++x); (a[3], x) ^= z; unsigned *q = &x, *&k = q; k = &a[z & 15]; *q += {other}u; }}"
            ),
            8 => format!(
                "if ({n}::R r = {n}::made(given); sum(r) & 1u) u{which} += r.a; else if (auto x = u1 & 7u) u0 ^= x; else u1 += r.t[1];"
            ),
            9 => format!(
                "{{ unsigned *q = new unsigned[4]{{u0, {some}u, given}}; {n}::R *r = new {n}::R{{u1, 3}}, *d = new {n}::R; \
                 for (int n = 0; n < 4; n++) u{which} = u{which} * 3u + q[n]; r->a += d->a; u1 ^= sum(*r) + sum(*d); \
                 delete[] q; delete r; delete d; }}"
            ),
            10 => format!(
                "{{ namespace deep = {n}::deep; using {n}::version; using N = decltype({n}::half(u0)); N x = {n}::half(given); \
                 u{which} += version() + version(u1) + deep::version((int)u0) + {n}::v1::version() + (unsigned)(x > {some}); \
                 {n}::R r; deep::kept(deep::kept(r)).b ^= deep::k; u0 ^= sum(r); }}"
            ),
            11 => format!(
                "{{ {n}::R r = {n}::made(u0), s = {n}::made(given, {some}u); exchange(r, s); auto &&x = r; auto &&y = {n}::made(u1); \
                 u{which} ^= taken(static_cast<{n}::R &&>(r)) + taken(x) + taken(y) + taken({n}::made(3u)) + taken(static_cast<const {n}::R &>(s)); \
                 u1 += sum(r) + sum(u0 & 1u ? r : s); (u0 & 4u ? r : s) = -s; u0 ^= sum(r); }}"
            ),
            12 => format!(
                "u{which} ^= {n}::hashed(u0 & 1u ? \"grid\" : \"block\") + {n}::folded(a, {}) + {n}::filled(given).v[u1 & 15] + {n}::known.v[u0 & 15];",
                some & 15
            ),
            13 => format!(
                "{{ unsigned (*f)(unsigned) = {n}::number; unsigned (&g)(long long) = {n}::number; auto h = static_cast<unsigned (*)(double)>({n}::number); \
                 u{which} += f(given) + g(l0) * 3u + h(d0) * 5u; }}"
            ),
            _ => format!(
                "{{ unsigned x = u{which} & 15u; a[x++] = x; x = given & 7u; a[x] = a[x + 1u]++ + x; (a[x] ^= {some}u) += x++; u{which} ^= x; }}"
            ),
        }
    }

    /// Calls of overloads.
    fn called(&mut self, which: usize) -> String {
        let n = format!("n{}", self.seed);
        let letter = *self.random.of(&["c", "b", "s", "h", "i", "u", "l", "w", "y", "f", "d"]);
        let pointed = *self.random.of(&POINTED);
        let bound =
            *self.random.of(&["u0", "a[u1 & 15]", "u0 + 1u", "static_cast<unsigned &&>(u1)", "7u"]);
        let mixed = *self.random.of(&[
            "c0 + b1", "y0 + y1", "s0 * 1u", "f0 + i0", "h0 << 1", "-y1", "i0 + l1", "u0 + l1",
            "u1 * w0",
        ]);
        format!(
            "u{which} += {n}::number({letter}{which}) + {n}::number({mixed}) * 3u; u{which} = u{which} * 7u + {n}::pointer({pointed}); \
             {{ const unsigned x = given; w{which} ^= {n}::bound({bound}) + {n}::bound(x) * 3ull; }}"
        )
    }

    /// Operators of the program's own, found by their arguments.
    fn operators(&mut self, which: usize) -> String {
        let n = format!("n{}", self.seed);
        let (some, other) = (self.small(), self.small());
        // Those with an effect are alone in their statement.
        let mut operand = || *self.random.of(&["r", "s", "-s", "(r + s)", "r * 3u", "5u * s"]);
        let (first, second, third) = (operand(), operand(), operand());
        let changed = *self.random.of(&[
            "++r;",
            "r++;",
            "s += r;",
            "(s += r) += s;",
            "++(++s);",
            "r = s = -r;",
        ]);
        let chosen = *self.random.of(&["==", "<"]);
        format!(
            "{{ {n}::R r = {n}::made(given, {some}u), s{{u1, {}}}; {changed} r = {first} + {second} * u0; {n}::R t = {other}u * {third}; \
             if (t {chosen} {second}) s.e = next(t.e); u{which} ^= sum(r) + sum(s) * 3u + sum(t + r); }}",
            other & 127
        )
    }

    /// Values that are known when compiling, and the same of values that are not.
    fn constant_expressions(&mut self, which: usize) -> String {
        let n = format!("n{}", self.seed);
        let (some, other) = (self.small(), self.small());
        let word = *self.random.of(&["warp", "", "a grid", "cluster of blocks"]);
        format!(
            "{{ constexpr {n}::R x = {n}::made({some}u) + {n}::made({other}u, 2u) * 3u; constexpr unsigned h = {n}::hashed(\"{word}\"), \
             t[] = {{{n}::filled({other}u).v[{}], h, {n}::sum(x), {some}u}}; constexpr unsigned z = {n}::folded(t, 4); \
             unsigned m[(h & 7u) + 1u] = {{z}}; {n}::R y = {n}::made({some}u + (u0 & 0u)) + {n}::made({other}u, 2u) * 3u; \
             switch (u{which} & 3u) {{ case z & 3u: u0 += t[1]; break; case (z + 1u) & 3u: u1 ^= (unsigned)sizeof m; }} \
             if constexpr ((z & 1u) != 0) u{which} += m[0]; else u{which} ^= t[u1 & 3u]; w{which} += sum(y) ^ x.a ^ (unsigned)(x == y); }}",
            some & 15
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::generate::tests::{each_occurs, statements};

    #[test]
    fn each_kind_occurs() {
        let statements = statements((0..600).map(generate));
        let pieces = [
            "::number(",
            "::bound(static_cast<unsigned &&>(u1))",
            "constexpr unsigned z",
            "::E::third: u0",
            "for (auto &&x : row)",
            "for (auto one : r)",
            "(a[3], x)",
            "else if (auto x",
            "delete[] q",
            "namespace deep",
            "exchange(r, s)",
            "::hashed(u0",
            "static_cast<unsigned (*)(double)>",
            "a[x++] = x;",
            "r = s = -r;",
        ];
        each_occurs(&statements, &pieces);
    }
}
