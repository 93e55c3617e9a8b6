//! A fault as the interpreter sees it: lanes and instruction numbers. The scheduler turns it into a
//! [`crate::Report`], which has names.

use crate::memory::SiteRef;
use crate::report::ReportKind;

/// A lane (or several) of a warp that waits, for deadlock reports.
#[derive(Clone, Debug)]
pub struct WaitingLanes {
    /// Where the first of them is.
    pub site: SiteRef,
    /// Which lanes.
    pub lanes: u32,
    /// What for.
    pub what: String,
}

/// Something the program did wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What.
    pub kind: ReportKind,
    /// In a sentence.
    pub message: String,
    /// What CUDA itself says of it on standard error, whole lines.
    pub said: String,
    /// The cure.
    pub help: Option<String>,
    /// Lane that did it.
    pub lane: Option<u32>,
    /// Thread and instruction; filled in by the run loop.
    pub site: Option<SiteRef>,
    /// Address concerned.
    pub address: Option<u64>,
    /// Deadlocks: who waits.
    pub waiters: Vec<WaitingLanes>,
}

impl Fault {
    /// A fault of one lane.
    pub fn new(kind: ReportKind, lane: Option<u32>, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault {
            kind,
            message: message.into(),
            said: String::new(),
            help: None,
            lane,
            site: None,
            address: None,
            waiters: Vec::new(),
        })
    }

    /// The same with a cure.
    pub fn help(mut self: Box<Fault>, help: impl Into<String>) -> Box<Fault> {
        self.help = Some(help.into());
        self
    }

    /// The same with an address.
    pub fn at(mut self: Box<Fault>, address: u64) -> Box<Fault> {
        self.address = Some(address);
        self
    }
}
