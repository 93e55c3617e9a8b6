//! What can be chosen about the CPU device from outside of a program: the environment variables
//! that `cdpc run` sets for it and a user may set too.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cdp_emulator::native::Native;
use cdp_emulator::{CheckAction, Checks, Config, WarpScheduling};

/// How reports are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MessageFormat {
    /// For people, several lines a report.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// Checks that follow every access. They make programs run several times slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckSet {
    /// `race`: accesses that conflict and that nothing orders.
    pub races: bool,
    /// `init`: reads of memory that nobody has written.
    pub init: bool,
    /// `bounds`: accesses that run from one variable or allocation into another.
    pub bounds: bool,
    /// `leak`: memory that is never released.
    pub leak: bool,
    /// `divide`: integers divided by zero.
    pub divide: bool,
    /// `sync`: exchanges between lanes of a warp whose result PTX leaves open.
    pub sync: bool,
    /// `siblings`: conflicts between grids that one block launched into one stream.
    pub siblings: bool,
}

impl CheckSet {
    /// Whether accesses to memory are looked at.
    pub fn follow_memory(&self) -> bool {
        self.races || self.siblings || self.init || self.bounds
    }

    /// The names of the checks, for messages.
    pub const NAMES: &str = "race, init, bounds, leak, divide, sync, siblings or all";

    /// A list of names with commas. `all` is everything that is a mistake of the program.
    ///
    /// # Errors
    /// The name that is none.
    pub fn parse(list: &str) -> Result<CheckSet, String> {
        let mut set = CheckSet::default();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "race" => set.races = true,
                "init" => set.init = true,
                "bounds" => set.bounds = true,
                "leak" => set.leak = true,
                "divide" => set.divide = true,
                "sync" => set.sync = true,
                "all" => {
                    let siblings = set.siblings;
                    let [races, init, bounds, leak, divide, sync] = [true; 6];
                    set = CheckSet { races, init, bounds, leak, divide, sync, siblings };
                }
                "siblings" => set.siblings = true,
                other => return Err(other.to_string()),
            }
        }
        Ok(set)
    }

    /// As [`CheckSet::parse`] reads it.
    pub fn list(self) -> String {
        let names = [
            (self.races, "race"),
            (self.init, "init"),
            (self.bounds, "bounds"),
            (self.leak, "leak"),
            (self.divide, "divide"),
            (self.sync, "sync"),
            (self.siblings, "siblings"),
        ];
        let chosen: Vec<&str> = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        chosen.join(",")
    }
}

/// When runs of instructions become machine code, if somebody makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NativeCode {
    /// Never.
    Never,
    /// Beside the interpreter, when they have been executed often.
    #[default]
    Often,
    /// Before they are first executed; for tests.
    Always,
}

impl NativeCode {
    /// As [`NativeCode::parse`] reads them.
    pub const NAMES: &str = "never, often or always";

    /// What a word means.
    pub fn parse(word: &str) -> Option<NativeCode> {
        let all = [NativeCode::Never, NativeCode::Often, NativeCode::Always];
        all.into_iter().find(|native| native.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            NativeCode::Never => "never",
            NativeCode::Often => "often",
            NativeCode::Always => "always",
        }
    }
}

/// Choices about the CPU device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuOptions {
    /// `CDP_MESSAGE_FORMAT=human|json`
    pub message_format: MessageFormat,
    /// `CDP_SCHEDULE_SEED=N`: another legal order for each N.
    pub schedule_seed: Option<u64>,
    /// `CDP_MAX_INSTRUCTIONS=N`: thread-instructions after which the program is stopped, give or take
    /// a stretch of code without loops and calls.
    pub max_instructions: Option<u64>,
    /// `CDP_TIMEOUT=SECONDS`: time after which the program is stopped.
    pub timeout: Option<Duration>,
    /// `CDP_TRACE=FILE`: the launch tree as Chrome trace JSON.
    pub trace: Option<PathBuf>,
    /// `CDP_REPORT=FILE`: a page with tree, timeline, table and findings.
    pub report: Option<PathBuf>,
    /// `CDP_PROFILE=1`: tables of the kernels and of the launches on standard error when the process ends.
    pub profile: bool,
    /// `CDP_THREADS=N`: host threads; 0 for as many as the machine has.
    pub host_threads: usize,
    /// `CDP_WARP_SCHEDULING=independent|lockstep|apart`
    pub warps: WarpScheduling,
    /// `CDP_CHECK=race,...`: further checks.
    pub checks: CheckSet,
    /// `CDP_NATIVE=never|often|always`
    pub native: NativeCode,
    /// `CDP_NATIVE_SOCKET=FILE`: where somebody makes machine code. `cdpc run` says it to its program.
    pub native_socket: Option<PathBuf>,
}

impl CpuOptions {
    /// Reads the environment. What cannot be understood is left out and said in the second result.
    pub fn from_env() -> (CpuOptions, Vec<String>) {
        CpuOptions::read(|name| std::env::var_os(name))
    }

    fn read(get: impl Fn(&str) -> Option<OsString>) -> (CpuOptions, Vec<String>) {
        let mut complaints = Vec::new();
        let mut options = CpuOptions::default();
        let text = |name: &str| {
            get(name).map(|value| value.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
        };
        let mut complain = |name: &str, value: &str, wanted: &str| {
            complaints.push(format!("{name}={value} is ignored: {wanted} is expected"));
        };
        match text("CDP_MESSAGE_FORMAT").as_deref() {
            None | Some("human" | "short") => {}
            Some("json") => options.message_format = MessageFormat::Json,
            Some(other) => complain("CDP_MESSAGE_FORMAT", other, "human or json"),
        }
        match text("CDP_WARP_SCHEDULING").as_deref() {
            None | Some("independent") => {}
            Some("lockstep") => options.warps = WarpScheduling::Lockstep,
            Some("apart") => options.warps = WarpScheduling::Apart,
            Some(other) => complain("CDP_WARP_SCHEDULING", other, "independent, lockstep or apart"),
        }
        match text("CDP_PROFILE").as_deref() {
            None | Some("0") => {}
            Some("1") => options.profile = true,
            Some(other) => complain("CDP_PROFILE", other, "0 or 1"),
        }
        if let Some(list) = text("CDP_CHECK") {
            match CheckSet::parse(&list) {
                Ok(set) => options.checks = set,
                Err(_) => complain("CDP_CHECK", &list, CheckSet::NAMES),
            }
        }
        if let Some(word) = text("CDP_NATIVE") {
            match NativeCode::parse(&word) {
                Some(native) => options.native = native,
                None => complain("CDP_NATIVE", &word, NativeCode::NAMES),
            }
        }
        let mut number = |name: &str| -> Option<u64> {
            let value = text(name)?;
            let parsed = value.replace('_', "").parse().ok();
            if parsed.is_none() {
                complain(name, &value, "a whole number");
            }
            parsed
        };
        options.schedule_seed = number("CDP_SCHEDULE_SEED");
        options.max_instructions = number("CDP_MAX_INSTRUCTIONS");
        options.host_threads = number("CDP_THREADS").unwrap_or(0) as usize;
        options.timeout = text("CDP_TIMEOUT").and_then(|value| match value.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds < 1e9 => Some(Duration::from_secs_f64(seconds)),
            _ => {
                complain("CDP_TIMEOUT", &value, "a positive number of seconds");
                None
            }
        });
        let file = |name: &str| get(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        options.trace = file("CDP_TRACE");
        options.report = file("CDP_REPORT");
        options.native_socket = file("CDP_NATIVE_SOCKET");
        (options, complaints)
    }

    /// Something is asked for that the CPU device alone does: a check, a schedule, a bound on instructions, a trace, a
    /// report, counters. Where both devices would do, the program runs there then.
    pub fn ask_for_cpu(&self) -> bool {
        self.checks != CheckSet::default()
            || self.schedule_seed.is_some()
            || self.max_instructions.is_some()
            || self.trace.is_some()
            || self.report.is_some()
            || self.profile
            || self.warps != WarpScheduling::Independent
    }

    /// The variables that make another process's [`CpuOptions::from_env`] give these options.
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let mut env: Vec<(&'static str, OsString)> = Vec::new();
        let mut put = |name, value: Option<OsString>| env.extend(value.map(|value| (name, value)));
        put(
            "CDP_MESSAGE_FORMAT",
            (self.message_format == MessageFormat::Json).then(|| "json".into()),
        );
        put("CDP_SCHEDULE_SEED", self.schedule_seed.map(|n| n.to_string().into()));
        put("CDP_MAX_INSTRUCTIONS", self.max_instructions.map(|n| n.to_string().into()));
        put("CDP_TIMEOUT", self.timeout.map(|time| time.as_secs_f64().to_string().into()));
        put("CDP_TRACE", self.trace.clone().map(PathBuf::into_os_string));
        put("CDP_REPORT", self.report.clone().map(PathBuf::into_os_string));
        put("CDP_PROFILE", self.profile.then(|| "1".into()));
        put("CDP_THREADS", (self.host_threads > 0).then(|| self.host_threads.to_string().into()));
        let warps = match self.warps {
            WarpScheduling::Independent => None,
            WarpScheduling::Lockstep => Some("lockstep".into()),
            WarpScheduling::Apart => Some("apart".into()),
        };
        put("CDP_WARP_SCHEDULING", warps);
        let checks = self.checks.list();
        put("CDP_CHECK", (!checks.is_empty()).then(|| checks.into()));
        let native = (self.native != NativeCode::default()).then(|| self.native.word().into());
        put("CDP_NATIVE", native);
        put("CDP_NATIVE_SOCKET", self.native_socket.clone().map(PathBuf::into_os_string));
        env
    }

    /// The emulator's configuration. `compute_capability` is 90 for 9.0.
    pub fn config(&self, compute_capability: u32) -> Config {
        Config {
            schedule_seed: self.schedule_seed,
            host_threads: self.host_threads,
            max_instructions: self.max_instructions,
            timeout: self.timeout,
            trace: self.trace.is_some() || self.report.is_some() || self.profile,
            warp_scheduling: self.warps,
            compute_capability,
            native: self.native_code(),
            checks: Checks {
                // Right programs read ahead and drop what they read (CUB's merges); and a read that comes too
                // early is often half of a race: both are told.
                uninitialized_shared: match (self.checks.init, self.checks.races) {
                    (true, false) => CheckAction::Stop,
                    (true, true) => CheckAction::Tell,
                    (false, _) => CheckAction::Warn,
                },
                races: self.checks.races,
                siblings: self.checks.siblings,
                uninitialized: self.checks.init,
                bounds: self.checks.bounds,
                leaks: self.checks.leak,
                divisions: self.checks.divide,
                exchanges: self.checks.sync,
                ..Checks::default()
            },
            ..Config::default()
        }
    }

    /// Who makes machine code, if somebody does and it is wanted.
    #[cfg(unix)]
    fn native_code(&self) -> Option<Native> {
        let socket = self.native_socket.as_ref().filter(|_| self.native != NativeCode::Never)?;
        let maker = Arc::new(super::native::Remote::new(socket));
        Some(Native { maker, at_once: self.native == NativeCode::Always })
    }

    #[cfg(not(unix))]
    fn native_code(&self) -> Option<Native> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let options = CpuOptions {
            message_format: MessageFormat::Json,
            schedule_seed: Some(7),
            max_instructions: Some(1_000_000),
            timeout: Some(Duration::from_millis(1500)),
            trace: Some("a b.json".into()),
            report: Some("a b.html".into()),
            profile: true,
            host_threads: 3,
            warps: WarpScheduling::Apart,
            checks: CheckSet { races: true, siblings: true, ..CheckSet::default() },
            native: NativeCode::Always,
            native_socket: Some("a b.socket".into()),
        };
        let env = options.to_env();
        let get = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, v)| v.clone());
        assert_eq!(CpuOptions::read(get), (options, Vec::new()));
        assert_eq!(CpuOptions::read(|_| None), (CpuOptions::default(), Vec::new()));
    }

    #[test]
    fn what_the_cpu_device_alone_does_asks_for_it() {
        let with = |name: &'static str, value: &'static str| {
            CpuOptions::read(move |asked| (asked == name).then(|| value.into())).0.ask_for_cpu()
        };
        assert!(
            with("CDP_CHECK", "race") && with("CDP_REPORT", "a.html") && with("CDP_PROFILE", "1")
        );
        assert!(with("CDP_SCHEDULE_SEED", "0") && with("CDP_TRACE", "a.json"));
        assert!(!with("CDP_TIMEOUT", "3") && !with("CDP_THREADS", "2") && !with("CDP_CHECK", ""));
        assert!(!with("CDP_MESSAGE_FORMAT", "json") && !with("CDP_NATIVE", "never"));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let get = |name: &str| match name {
            "CDP_TIMEOUT" => Some("soon".into()),
            "CDP_SCHEDULE_SEED" => Some("1_000".into()),
            _ => None,
        };
        let (options, complaints) = CpuOptions::read(get);
        assert_eq!(options.schedule_seed, Some(1000));
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("CDP_TIMEOUT=soon is ignored"));
    }
}
