//! Floating-point arithmetic beyond what the host's instructions give: other roundings, half
//! formats, exact conversions, and the approximate functions.

pub mod approx;
pub mod soft;
