//! Tensor instructions: where the elements of a matrix lie in the registers of a warp ([`fragment`]),
//! and what a product is, bit by bit ([`product`]).
//!
//! Everything here was fitted to, and is tested against, what an H200 makes of random fragments
//! (`tests/data/tensor.txt`).

pub mod fragment;
pub mod product;
