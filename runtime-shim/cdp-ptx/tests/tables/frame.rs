//! What the tables stand in: a module with everything that their lines name, and their alternatives. Shared
//! by the reader's tests and the CPU device's.

/// A module with one line of code in it.
pub fn module_with(line: &str) -> String {
    format!(
        "\
.version 8.8
.target sm_100a
.address_size 64
.global .align 16 .b8 gv[64];
.const .align 16 .b8 cv[64];
.shared .align 16 .b8 sv[64];
.func (.param .b32 rr) fun (.param .b32 aa) {{ ret; }}
.func (.reg .b32 rr) regfun (.reg .b32 aa, .reg .f32 bb) {{ ret; }}
.func plain () {{ ret; }}
.visible .entry k(.param .align 16 .b8 kp[64])
{{
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b128 %q<4>;
  .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .v4 .b32 vec;
  .local .align 16 .b8 lv[64];
  .param .b32 a0; .param .b32 r0;
L1:
  targets: .branchtargets L1, L2;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  callees: .calltargets fun;
  {line}
L2:
  ret;
}}
"
    )
}

/// Every combination of the alternatives in `{a|b}`.
pub fn expand(template: &str) -> Vec<String> {
    let group = template.find('{').and_then(|open| {
        let close = open + template[open..].find('}')?;
        Some((open, close))
    });
    let Some((open, close)) = group else {
        // Vectors are written `<a, b>` in the tables, so that braces are free.
        return vec![template.replace('<', "{").replace('>', "}")];
    };
    let alternatives = template[open + 1..close].split('|');
    alternatives
        .flat_map(|word| expand(&format!("{}{word}{}", &template[..open], &template[close + 1..])))
        .collect()
}
