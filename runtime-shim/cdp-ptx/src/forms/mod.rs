//! Functions of the instructions that a row of the table cannot say, each with its two directions.

mod call;
mod copies;
mod data;
mod matrix;
mod memory;
mod sync;
mod texture;
mod video;
mod warpgroup;
