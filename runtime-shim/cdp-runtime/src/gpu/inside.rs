//! Kernels with a twin: a version that the compiler made of them which runs all children inside the grid and knows no device
//! runtime, so that its host launches it sooner (`cdp-llvm`, `launches/inside`). Both do the same for every input. Here it is
//! decided which one a grid is of; nothing but time rests on that.
//!
//! A grid that meets a child larger than those that lanes run anyway says so in a word of the host's memory. What it said is
//! known when the host has waited for it: for a stream, an event, the device or a copy. After [`CALM`] grids in a row of which
//! it is known, and that met none, the twin is taken, as long as each is waited for before the next; after a large child the
//! kernel, and the twin again after twice as many grids. Who waits for another stream may take an older answer for a newer
//! one, which takes time and does no harm.
//!
//! The kernel alone is launched with attributes, in programs that call the driver themselves, whose waits are not seen, in
//! graphs of the driver, and when the program has set an attribute of the function. Occupancy, attributes and names are
//! asked of the kernel too.

use std::ffi::CString;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use super::driver::{Driver, Handle};

/// What the twin's name has behind the kernel's, and the name of the variable with the place of the host's word. The compiler
/// has them too.
pub const TWIN: &str = "__cdp_inside";
const WORD: &str = "__cdp_met";

/// Grids in a row without large children, before the twin is taken: more than a search of a graph without long ways has, since
/// one large child in a twin takes what hundreds of such grids gain.
const CALM: u32 = 24;
/// The most that are asked for after the twin has met large children.
const MOST_CALM: u32 = 1 << 20;
/// Bytes from one word to the next: others' words are in other lines of the host's caches.
const STRIDE: usize = 64;

/// `CU_MEMHOSTALLOC_PORTABLE` and `CU_MEMHOSTALLOC_DEVICEMAP`
const MAPPED: u32 = 1 | 2;
/// `CUfunction_attribute`, driver manual.
const MAX_THREADS: u32 = 0;
const SHARED_BYTES: u32 = 1;

/// The words of a module's kernels with twins, in host memory that its grids write.
pub struct Words {
    /// What the driver gave.
    page: usize,
    /// The kernels, in the order of their words.
    kernels: Vec<String>,
}

impl Words {
    /// Gives the kernels of a module that has just been loaded their words, if any has a twin. The context is current.
    pub fn give<'a>(
        driver: &Driver,
        module: Handle,
        kernels: impl Iterator<Item = &'a String>,
    ) -> Option<Words> {
        let twins = kernels.filter_map(|name| name.strip_suffix(TWIN));
        let kernels: Vec<String> = twins.map(str::to_owned).collect();
        if kernels.is_empty() {
            return None;
        }
        let mut page: *mut c_void = std::ptr::null_mut();
        let bytes = kernels.len() * STRIDE;
        // SAFETY: target valid.
        let status = unsafe { (driver.cuMemHostAlloc)(&mut page, bytes, MAPPED) };
        if status != 0 {
            return None;
        }
        // SAFETY: so many bytes were given.
        unsafe { page.cast::<u8>().write_bytes(0, bytes) };
        let mut words = Words { page: page as usize, kernels };
        // One without its word stays without its twin.
        let told = |index: usize, kernel: &str| {
            let place = (page as usize + index * STRIDE) as u64;
            let name = CString::new(format!("{kernel}{WORD}")).ok()?;
            let (mut address, mut size) = (0, 0);
            // SAFETY: the module is alive, the targets valid; the variable's first eight bytes are the word's place.
            let status = unsafe {
                match (driver.cuModuleGetGlobal_v2)(&mut address, &mut size, module, name.as_ptr())
                {
                    0 if size >= 8 => {
                        (driver.cuMemcpyHtoD_v2)(address, (&raw const place).cast(), 8)
                    }
                    other => other.max(1),
                }
            };
            (status == 0).then_some(())
        };
        for index in 0..words.kernels.len() {
            if told(index, &words.kernels[index]).is_none() {
                words.kernels[index].clear();
            }
        }
        Some(words)
    }

    /// The twin of a kernel, where it may be launched in each way in which the kernel may.
    pub fn twin(
        &self,
        driver: &Driver,
        module: Handle,
        symbol: &str,
        kernel: Handle,
    ) -> Option<Twin> {
        let index = self.kernels.iter().position(|name| name == symbol)?;
        let name = CString::new(format!("{symbol}{TWIN}")).ok()?;
        let mut function: Handle = std::ptr::null_mut();
        // SAFETY: the module is alive, the target valid.
        let status = unsafe { (driver.cuModuleGetFunction)(&mut function, module, name.as_ptr()) };
        let attribute = |function, attribute| {
            let mut value = 0;
            // SAFETY: both functions are alive, the target is valid.
            let status = unsafe { (driver.cuFuncGetAttribute)(&mut value, attribute, function) };
            (status == 0).then_some(value)
        };
        (status == 0).then_some(())?;
        let fits = attribute(function, MAX_THREADS)? >= attribute(kernel, MAX_THREADS)?
            && attribute(function, SHARED_BYTES)? <= attribute(kernel, SHARED_BYTES)?;
        let word = self.page + index * STRIDE;
        fits.then(|| Twin { function: function as u64, word, choice: Choice::default() })
    }

    /// Gives the memory back, when the module is gone.
    pub fn free(self, driver: &Driver) {
        // SAFETY: the driver gave it, and it waits for what runs. Nobody knows of it any more.
        unsafe { (driver.cuMemFreeHost)(self.page as *mut c_void) };
    }
}

/// The twin of a kernel.
pub struct Twin {
    /// The driver's.
    pub function: u64,
    /// Where the host's word is, as long as the module is loaded.
    word: usize,
    choice: Choice,
}

impl Twin {
    /// Whether the next grid is to be of the twin, when the host has waited so often.
    pub fn is_taken(&mut self, waits: u64) -> bool {
        let word = self.word as *const AtomicU32;
        // SAFETY: the page is there as long as the kernel is known, and words are of four bytes; the device writes it at once.
        self.choice.next(waits, || unsafe { &*word }.swap(0, Ordering::Relaxed) != 0)
    }
}

/// What is known of a kernel's grids.
struct Choice {
    /// How often the host had waited when it launched the last one.
    waits: Option<u64>,
    /// How many in a row met no large child.
    calm: u32,
    /// After how many the twin is taken.
    wanted: u32,
    /// Whether it was since somebody looked.
    taken: bool,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { waits: None, calm: 0, wanted: CALM, taken: false }
    }
}

impl Choice {
    /// Whether the next grid is to be of the twin; `met` says once whether one met a large child.
    fn next(&mut self, waits: u64, met: impl FnOnce() -> bool) -> bool {
        let before = self.waits.replace(waits);
        if before.is_none_or(|before| before == waits) {
            return false;
        }
        match met() {
            true => {
                self.calm = 0;
                if self.taken {
                    self.wanted = (2 * self.wanted).min(MOST_CALM);
                }
            }
            false => self.calm = self.calm.saturating_add(1),
        }
        self.taken = self.calm >= self.wanted;
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u64 = CALM as u64;

    /// Which of so many grids are the twin's, where the host waits after each, and those of these numbers meet large children.
    fn taken(grids: u64, large: &[u64]) -> Vec<u64> {
        let mut choice = Choice::default();
        let twins = (0..grids).filter(|grid| choice.next(*grid, || large.contains(&(grid - 1))));
        twins.collect()
    }

    #[test]
    fn after_grids_without_large_children() {
        assert_eq!(taken(FIRST + 2, &[]), [FIRST, FIRST + 1]);
        assert_eq!(taken(FIRST + 6, &[3]), [FIRST + 4, FIRST + 5]);
        let now_and_then: Vec<u64> = (0..10).map(|large| large * (FIRST - 1)).collect();
        assert!(taken(9 * FIRST, &now_and_then).is_empty());
    }

    #[test]
    fn later_after_it_met_one() {
        // Twice as many grids follow the twin's first before it is taken again.
        let again = 3 * FIRST + 1;
        assert_eq!(taken(again + 2, &[FIRST]), [FIRST, again, again + 1]);
        // What the kernel itself meets asks for no more than at first.
        assert_eq!(taken(FIRST + 6, &[0, 1, 2, 3]), [FIRST + 4, FIRST + 5]);
    }

    #[test]
    fn never_where_nobody_waits() {
        let mut choice = Choice::default();
        assert!((0..100).all(|_| !choice.next(7, || panic!("nobody knows"))));
        // Two grids for each time that the host waits: the second is the kernel's.
        let taken: Vec<bool> =
            (0..2 * FIRST + 8).map(|grid| choice.next(8 + grid / 2, || false)).collect();
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 5);
        assert!(taken.chunks(2).all(|pair| !pair[1]));
    }
}
