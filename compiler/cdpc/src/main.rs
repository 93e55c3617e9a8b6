//! The command `cdpc`. All of it is in the library, so that tests can be the command too.

fn main() {
    cdpc::leave(cdpc::run(std::env::args_os()));
}
