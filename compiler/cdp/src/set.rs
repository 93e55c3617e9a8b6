//! Options by name, as text: for the C API, build scripts and configuration files. The names are those
//! of `cdpc`'s long options.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use cdp_frontend::preprocess::MacroOption;
use cdp_ir::{CdpVersion, FastMath};
use cdp_launch::RequestedAbi;
use cdp_llvm::{DebugInfo, LaunchOpt, LaunchTuning, OptLevel};
use cdp_toolchain::{AddressSize, Arch, Cudadevrt};

use crate::options::{CompileOptions, MathProperty};

/// Why an option was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionError {
    /// There is no such option.
    Unknown {
        /// As it was given.
        name: String,
    },
    /// The option has no such value.
    Value {
        /// The option.
        name: String,
        /// What was given.
        value: String,
        /// What it takes, in words.
        expected: String,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown { name } => {
                let names: Vec<_> = OPTIONS.iter().map(|(name, _)| *name).collect();
                write!(f, "there is no option `{name}`; there are {}", names.join(", "))
            }
            OptionError::Value { name, value, expected } => {
                write!(f, "`{value}` is no value for option `{name}`: {expected}")
            }
        }
    }
}

impl std::error::Error for OptionError {}

/// Every option with the values it takes.
pub const OPTIONS: &[(&str, &str)] = &[
    ("arch", "architectures with commas, sm_90 or sm_75,sm_90"),
    ("address-size", "32 or 64"),
    ("ptx-version", "6.3 to 9.0; without it what the target and the features used need"),
    ("cdp", "1 or 2, the version of the device runtime"),
    ("launch-abi", "auto, documented, documented-v2, cdp2 or cdp2-v2"),
    (
        "launch-opt",
        "off, safe (the default) or fast: what the launch optimiser may do from level 2 on",
    ),
    ("opt-level", "0 to 3"),
    ("default-stream", "legacy or per-thread"),
    ("use-fast-math", "true or false"),
    ("fmad", "true or false"),
    ("ftz", "true or false"),
    ("prec-div", "true or false"),
    ("prec-sqrt", "true or false"),
    ("debug", "none, lines or full"),
    (
        "watch-host",
        "true or false: whether host code tells the CPU device's checks what it reads and writes",
    ),
    ("maxrregcount", "a number of registers"),
    ("cudadevrt", "auto, always or never"),
    (
        "relocatable",
        "true or false: whether `.cu` files see each other's device variables; by default if their names differ",
    ),
    (
        "stands-alone",
        "true or false: whether objects register device code that no device link has taken in",
    ),
    ("threads", "how many threads compile a module; 0 for as many as there are"),
    ("fix", "true or false: mend inputs that declare kernels as functions"),
    ("include-dir", "a folder; each adds one"),
    ("disk-includes", "true or false: whether sources from memory may include files of the disk"),
    ("include", "a file to read before the source; each adds one"),
    ("define", "NAME or NAME=TEXT; each adds one"),
    ("undefine", "NAME; each adds one"),
    ("warning", "NAME, no-NAME, error, error=NAME or no-error=NAME, as after -W"),
    ("no-warnings", "true or false"),
    ("ptxas-arg", "an argument for ptxas; each adds one"),
    ("nvlink-arg", "an argument for nvlink; each adds one"),
    ("std", "the C++ standard of `.cu` files, gnu++17 or the like"),
    ("cache-dir", "a folder for what other builds can use too"),
    ("source-date-epoch", "seconds since 1970"),
];

/// The level of a name of `-flaunch-opt`.
fn launch_opt(name: &str) -> Option<LaunchOpt> {
    one_of(name, &[("off", LaunchOpt::Off), ("safe", LaunchOpt::Safe), ("fast", LaunchOpt::Fast)])
}

/// Sets constants of the launch optimiser by name, `threshold=4,own=1`. For measurements and tests; no
/// option that users are told of.
pub fn set_launch_tuning(tuning: &mut LaunchTuning, text: &str) -> Option<()> {
    for word in text.split(',') {
        let (name, value) = word.split_once('=')?;
        let value: u32 = value.parse().ok()?;
        match name {
            "own" => tuning.own = value,
            "dealt" => tuning.dealt = value,
            "dealt-steps" => tuning.dealt_steps = value,
            "threshold" => tuning.threshold = Some(value),
            "least-steps" => tuning.least_steps = value,
            "least-steps-ordered" => tuning.least_steps_ordered = value,
            "few-steps-ordered" => tuning.few_steps_ordered = value,
            "most-steps" => tuning.most_steps = value,
            "most-steps-in-order" => tuning.most_steps_in_order = value,
            "parents-shift" => tuning.parents_shift = value,
            "sums" => tuning.sums = value,
            "ranges" => tuning.ranges = value,
            "late" => tuning.late = value,
            "gather" => tuning.gather = value,
            "crowd" => tuning.crowd = value,
            "crowd-steps" => tuning.crowd_steps = value,
            "queue" => tuning.queue = value,
            "queue-records" => tuning.queue_records = value,
            "queue-large" => tuning.queue_large = value,
            "large-parents" => tuning.large_parents = value,
            "added" => tuning.added = value,
            "pool" => tuning.pool = value,
            "pool-steps" => tuning.pool_steps = value,
            "pool-part" => tuning.pool_part = value,
            "inside" => tuning.inside = value,
            "quiet" => tuning.quiet = value,
            "first" => tuning.first = value,
            "waves-of-leaves" => tuning.waves_of_leaves = value,
            "waves" => tuning.waves = value,
            "pack" => tuning.pack = value,
            "patience" => tuning.patience = value,
            "sequence" => tuning.sequence = value,
            "turn-blocks" => tuning.turn_blocks = value,
            "pace" => tuning.pace = value,
            "stack" => tuning.stack = value,
            "stack-cycles" => tuning.stack_cycles = value,
            "stack-warp" => tuning.stack_warp = value,
            "stack-warp-long" => tuning.stack_warp_long = value,
            "stack-warp-cycles" => tuning.stack_warp_cycles = value,
            "stack-in-order" => tuning.stack_in_order = value,
            "parents-shift-in-order" => tuning.parents_shift_in_order = value,
            _ => return None,
        }
    }
    Some(())
}

impl CompileOptions {
    /// Sets an option by its name in [`OPTIONS`]; those that say so add to a list, the others
    /// replace what was there.
    ///
    /// # Errors
    /// The name or the value is none; nothing was set.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let Some((_, expected)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
            return Err(OptionError::Unknown { name: name.to_string() });
        };
        let set = self.set_known(name, value);
        set.ok_or_else(|| OptionError::Value {
            name: name.to_string(),
            value: value.to_string(),
            expected: expected.to_string(),
        })
    }

    /// `None` for a value that the option does not have.
    fn set_known(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "arch" => self.archs = archs(value)?,
            "address-size" => {
                self.address_size =
                    one_of(value, &[("32", AddressSize::Bits32), ("64", AddressSize::Bits64)])?;
            }
            "cdp" => {
                self.cdp =
                    Some(one_of(value, &[("1", CdpVersion::Cdp1), ("2", CdpVersion::Cdp2)])?);
            }
            "ptx-version" => self.ptx_version = Some(value.parse().ok()?),
            "launch-abi" => self.launch_abi = value.parse::<RequestedAbi>().ok()?,
            "launch-opt" => self.launch_opt = launch_opt(value)?,
            "opt-level" => {
                self.opt_level = one_of(
                    value,
                    &[
                        ("0", OptLevel::O0),
                        ("1", OptLevel::O1),
                        ("2", OptLevel::O2),
                        ("3", OptLevel::O3),
                    ],
                )?;
                self.host_opt_level = Some(self.opt_level);
            }
            "default-stream" => {
                self.per_thread_default_stream =
                    one_of(value, &[("legacy", false), ("null", false), ("per-thread", true)])?;
            }
            "debug" => {
                self.debug = one_of(
                    value,
                    &[
                        ("none", DebugInfo::None),
                        ("lines", DebugInfo::Lines),
                        ("full", DebugInfo::Full),
                    ],
                )?;
            }
            "watch-host" => self.watch_host = bool_of(value)?,
            "maxrregcount" => self.max_registers = Some(number(value)?),
            "cudadevrt" => {
                self.cudadevrt = one_of(
                    value,
                    &[
                        ("auto", Cudadevrt::Auto),
                        ("always", Cudadevrt::Always),
                        ("never", Cudadevrt::Never),
                    ],
                )?;
            }
            "stands-alone" => self.stands_alone = bool_of(value)?,
            "relocatable" => self.relocatable = Some(bool_of(value)?),
            "threads" => self.threads = number(value)?,
            "fix" => self.mend_declarations = bool_of(value)?,
            "disk-includes" => self.disk_includes = bool_of(value)?,
            "include-dir" => self.include_dirs.push(PathBuf::from(value)),
            "include" => self.forced_includes.push(PathBuf::from(value)),
            "define" => self.macros.push(MacroOption::Define(value.to_string())),
            "undefine" => self.macros.push(MacroOption::Undefine(value.to_string())),
            "warning" => self.warnings.apply(value).ok()?,
            "no-warnings" => self.warnings.silent = bool_of(value)?,
            "ptxas-arg" => self.ptxas_args.push(value.to_string()),
            "nvlink-arg" => self.nvlink_args.push(value.to_string()),
            "std" => self.cxx_standard = Some(value.to_string()),
            "cache-dir" => self.cache_dir = Some(PathBuf::from(value)),
            "source-date-epoch" => self.source_date_epoch = Some(number(value)?),
            "use-fast-math" => self.set_fast_math(bool_of(value)?),
            _ => self.set_math_property(name, bool_of(value)?)?,
        }
        Some(())
    }

    /// What is said of one property counts more than what is said of all, in whatever order, as with nvcc.
    fn set_fast_math(&mut self, value: bool) {
        self.fast_math = if value { FastMath::FAST } else { FastMath::default() };
        for (property, value) in &self.said_of_math {
            *property(&mut self.fast_math) = *value;
        }
    }

    fn set_math_property(&mut self, name: &str, value: bool) -> Option<()> {
        let property: MathProperty = match name {
            "fmad" => |math| &mut math.fmad,
            "ftz" => |math| &mut math.ftz,
            "prec-div" => |math| &mut math.prec_div,
            "prec-sqrt" => |math| &mut math.prec_sqrt,
            _ => return None,
        };
        *property(&mut self.fast_math) = value;
        self.said_of_math.push((property, value));
        Some(())
    }
}

fn one_of<T: Copy>(value: &str, values: &[(&str, T)]) -> Option<T> {
    values.iter().find(|(known, _)| *known == value).map(|(_, meaning)| *meaning)
}

fn bool_of(value: &str) -> Option<bool> {
    one_of(
        value,
        &[
            ("true", true),
            ("1", true),
            ("yes", true),
            ("on", true),
            ("false", false),
            ("0", false),
            ("no", false),
            ("off", false),
        ],
    )
}

fn number<T: FromStr>(value: &str) -> Option<T> {
    value.parse().ok()
}

fn archs(value: &str) -> Option<Vec<Arch>> {
    let mut archs = Vec::new();
    for name in value.split(',') {
        let arch = Arch::parse(name.trim()).ok()?;
        if !archs.contains(&arch) {
            archs.push(arch);
        }
    }
    Some(archs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that each option takes.
    fn good(name: &str) -> &'static str {
        match name {
            "arch" => "sm_75, sm_90a",
            "address-size" => "64",
            "ptx-version" => "8.0",
            "cdp" => "1",
            "launch-abi" => "cdp2",
            "launch-opt" => "fast",
            "opt-level" => "0",
            "default-stream" => "per-thread",
            "debug" => "lines",
            "maxrregcount" | "threads" => "32",
            "cudadevrt" => "never",
            "define" => "N=3",
            "undefine" => "N",
            "warning" => "error",
            "source-date-epoch" => "0",
            "include-dir" | "include" | "ptxas-arg" | "nvlink-arg" => "-v",
            _ => "yes",
        }
    }

    #[test]
    fn a_level_that_is_asked_for_counts_for_host_code_too() {
        let mut options = CompileOptions::default();
        assert_eq!(options.host_opt_level, None);
        options.set("opt-level", "3").unwrap();
        assert_eq!(options.host_opt_level, Some(OptLevel::O3));
    }

    #[test]
    fn what_is_said_of_one_property_counts_more_than_what_is_said_of_all() {
        let math = |words: &[(&str, &str)]| {
            let mut options = CompileOptions::default();
            words.iter().for_each(|(name, value)| options.set(name, value).unwrap());
            options.fast_math
        };
        let wanted = FastMath { ftz: false, prec_sqrt: true, ..FastMath::FAST };
        let (all, one, other) = (("use-fast-math", "on"), ("ftz", "off"), ("prec-sqrt", "on"));
        for words in [[all, one, other], [one, all, other], [one, other, all]] {
            assert_eq!(math(&words), wanted, "{words:?}");
        }
        assert_eq!(math(&[one, ("ftz", "on"), all]), FastMath::FAST);
        assert_eq!(math(&[all, ("use-fast-math", "off")]), FastMath::default());
    }

    #[test]
    fn every_option_is_set() {
        for (name, _) in OPTIONS {
            let mut options = CompileOptions::default();
            let before = format!("{options:?}");
            options.set(name, good(name)).unwrap_or_else(|error| panic!("{error}"));
            let unchanged_by_default = matches!(*name, "address-size");
            let flips = matches!(*name, "fmad" | "prec-div" | "prec-sqrt" | "disk-includes");
            if flips {
                options.set(name, "off").unwrap();
            }
            assert_eq!(format!("{options:?}") == before, unchanged_by_default, "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let mut options = CompileOptions::default();
        let unknown = options.set("archh", "sm_90").unwrap_err().to_string();
        assert!(unknown.contains("`archh`") && unknown.contains("launch-abi"), "{unknown}");
        for (name, _) in OPTIONS {
            let free = [
                "include-dir",
                "include",
                "define",
                "undefine",
                "ptxas-arg",
                "nvlink-arg",
                "std",
                "cache-dir",
            ];
            if !free.contains(name) {
                let error = options.set(name, "no such value").unwrap_err().to_string();
                assert!(error.contains(name) && error.contains("no such value"), "{error}");
            }
        }
        assert_eq!(format!("{options:?}"), format!("{:?}", CompileOptions::default()));
    }
}
