//! Runs of instructions as machine code, made by somebody else.
//!
//! This crate finds out which runs are executed often, says in a text what they do ([`text`]), and calls the
//! code that a [`Maker`] makes of it in place of the interpreter. It makes no code itself, and knows nothing
//! of who does. The interpreter stays the judge: code does all of a stretch of a run or nothing, and leaves
//! to the interpreter what is not usual (an address outside of the allocations that the warp remembers,
//! shared memory that nobody has written, lanes that are elsewhere).
//!
//! What code meets when it is called is [`Context`]; the text's words are explained in [`text`].

pub mod text;

use std::fmt::Debug;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use crate::code::Context;
use crate::code::{Entry, Function, Run};

/// Makes machine code for this processor.
pub trait Maker: Debug + Send + Sync {
    /// Position-independent code of a run, which begins with its entry, a function of C that takes a pointer
    /// to a [`Context`] and gives how many of the run's instructions it did, counted from the first. `None`
    /// if there is no code for this one.
    fn make(&self, run: &str) -> Option<Vec<u8>>;
}

/// Native code, wanted.
#[derive(Clone, Debug)]
pub struct Native {
    /// Who makes it.
    pub maker: Arc<dyn Maker>,
    /// Make it when a run is first executed, and wait for it. Else it is made beside the interpreter, when a
    /// run has been executed often.
    pub at_once: bool,
}

/// How often a run is executed before code is made of it: then it has cost about what making code does, which
/// is half a millisecond of processor time for each instruction.
const OFTEN: u32 = 20_000;

type Job = (String, Arc<Run>);

/// Has code made of what is executed often.
#[derive(Debug)]
pub struct Workshop {
    native: Native,
    /// To the thread that waits for the maker, from the first job on. It ends when this goes.
    jobs: OnceLock<Mutex<Sender<Job>>>,
}

impl Workshop {
    /// One without work.
    pub fn new(native: Native) -> Workshop {
        Workshop { native, jobs: OnceLock::new() }
    }

    /// A run without code is executed. Gives the code if it is there at once.
    #[inline(always)]
    pub(crate) fn executed(&self, function: &Function, run: &Arc<Run>) -> Option<Entry> {
        let before = run.executed.load(Ordering::Relaxed);
        if before > OFTEN {
            return None;
        }
        // Threads may lose a step to each other; that one of them asks, and once, is settled by `ask`.
        run.executed.store(before + 1, Ordering::Relaxed);
        if before < OFTEN && !self.native.at_once { None } else { self.ask(function, run) }
    }

    #[cold]
    fn ask(&self, function: &Function, run: &Arc<Run>) -> Option<Entry> {
        if run.executed.swap(u32::MAX, Ordering::Relaxed) == u32::MAX {
            return None;
        }
        let text = text::of(function, run);
        if self.native.at_once {
            run.make(|| self.native.maker.make(&text));
            return run.entry();
        }
        let jobs = self.jobs.get_or_init(|| Mutex::new(begin(self.native.maker.clone())));
        // Without the thread, things stay as they are.
        let _ = jobs.lock().unwrap_or_else(PoisonError::into_inner).send((text, run.clone()));
        None
    }
}

fn begin(maker: Arc<dyn Maker>) -> Sender<Job> {
    let (sender, jobs) = channel::<Job>();
    let work = move || {
        for (text, run) in jobs {
            run.make(|| maker.make(&text));
        }
    };
    // A thread that cannot be had leaves the sender without receiver.
    let _ = std::thread::Builder::new().name("native code".to_string()).spawn(work);
    sender
}
