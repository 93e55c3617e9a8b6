//! Host code that tells the checks of its own accesses, and functions of the host in streams.

use std::ops::Range;
use std::sync::Arc;

use super::Emulator;
use crate::api::StreamId;
use crate::error::Error;
use crate::host_code::HostLog;

impl Emulator {
    /// Has the checks hear what host code notes in a log. Without a check that looks at memory nothing is heard.
    pub fn listen(&mut self, log: Arc<HostLog>) {
        let checks = self.core.config.checks;
        if checks.follow_memory() {
            self.core.machine_mut().host = Some(log);
        }
    }

    /// The addresses in which all memory lies that the device itself gives out.
    pub fn addresses(&self) -> Range<u64> {
        self.core.machine.memory.addresses()
    }

    /// Hears what host code noted until now. To be called before anything that host code asks for, because that may order.
    pub fn hear_host_code(&mut self) {
        self.core.hear_host();
    }

    /// Says whether it is a function in a stream that waits from now on, and not the host code that launches: what that
    /// function knows the other learns when they meet.
    pub fn set_function_waits(&mut self, waits: bool) {
        self.core.function_waits(waits);
    }

    /// A function in a stream has ended, of which the log tells what it did.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn function_did(&mut self, stream: StreamId) -> Result<(), Error> {
        self.core.function_did(stream)
    }
}
