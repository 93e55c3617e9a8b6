//! Functions of the instructions that a row of the table cannot say, each with its two directions.

mod call;
mod data;
