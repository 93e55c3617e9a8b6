//! Reading device objects: kernels with their resources and parameter layouts, undefined symbols,
//! and which device runtime (CDP1 or CDP2) an object was made for.
//!
//! Takes relocatable objects (ptxas) and linked cubins (nvlink), old and new header forms, 32- and
//! 64-bit, and any hostile bytes: every read is checked. Code is not decoded.
//!
//! Attribute numbers and the header's flags are cdp-image's; record layouts were worked out from what
//! ptxas 11.8, 12.9 and 13.0 write, compared with what `cuobjdump -elf` prints for the same files.

use std::collections::BTreeMap;
use std::fmt;

use cdp_image::bytes::{u16_at, u32_at};
use cdp_image::cubin::{Attribute, MACHINE, arch_number_of_flags, attribute, attributes};
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, FileKind};

use crate::arch::{AddressSize, Arch};
use crate::device_runtime::{DeviceRuntimeUse, cdp_flavor, is_device_runtime_symbol};

/// Flag in `st_other` of a function that is a kernel.
pub(crate) const STO_CUDA_ENTRY: u8 = 0x10;
/// Symbol type of a device variable.
const STT_CUDA_OBJECT: elf::SymbolType = elf::SymbolType(13);
/// Section types of a kernel's shared memory and of the attribute sections.
const SHT_CUDA_INFO: u32 = 0x7000_0000;
/// What the system reserves of a block's shared memory, and the first architecture where linked
/// cubins count it in (sections of one program linked by nvlink 13.0 for sm_75 to sm_121).
const RESERVED_SHARED_BYTES: u64 = 1024;
const FIRST_ARCH_WITH_RESERVED_SHARED: u32 = 90;

/// Why an object could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CubinError {
    message: String,
}

impl CubinError {
    pub(crate) fn new(message: impl Into<String>) -> CubinError {
        CubinError { message: message.into() }
    }
}

impl fmt::Display for CubinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CubinError {}

impl From<object::read::Error> for CubinError {
    fn from(error: object::read::Error) -> CubinError {
        CubinError::new(error.to_string())
    }
}

/// Relocatable or linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubinKind {
    /// Made by `ptxas -c`: wants nvlink before a driver takes it.
    Relocatable,
    /// Made by nvlink, or by ptxas without `-c`: a driver loads it.
    Linked,
}

/// One parameter as the kernel reads it (EIATTR_KPARAM_INFO).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelParam {
    /// Position in the parameter list, from 0.
    pub ordinal: u32,
    /// Offset from the beginning of the parameter buffer, in bytes.
    pub offset_bytes: u32,
    /// Size in bytes.
    pub size_bytes: u32,
}

/// A kernel and what it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Symbol name.
    pub name: String,
    /// Known by its name in this object only: a `static` kernel, or one of the device runtime's own.
    pub is_local: bool,
    /// Machine code, in bytes.
    pub code_bytes: u64,
    /// Registers a thread (EIATTR_REGCOUNT).
    pub registers: Option<u32>,
    /// Static shared memory a block, in bytes, without the 1,024 bytes that the system reserves in
    /// every block from sm_90 on and that linked cubins count in.
    pub shared_bytes: u64,
    /// Constant bank 0 (launch configuration and parameters), in bytes.
    pub constant0_bytes: u64,
    /// Local memory of the kernel's own frame a thread, in bytes (EIATTR_FRAME_SIZE).
    pub frame_bytes: Option<u32>,
    /// Least stack a thread needs, callees included, where the linker knows it (EIATTR_MIN_STACK_SIZE).
    pub min_stack_bytes: Option<u32>,
    /// Size of the whole parameter buffer (EIATTR_CBANK_PARAM_SIZE).
    pub param_bytes: Option<u32>,
    /// Where the parameters begin in constant bank 0 (EIATTR_PARAM_CBANK).
    pub param_base: Option<u32>,
    /// Parameters in order.
    pub params: Vec<KernelParam>,
    /// `.maxntid`, from `__launch_bounds__` (EIATTR_MAX_THREADS).
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid` (EIATTR_REQNTID).
    pub required_threads: Option<[u32; 3]>,
}

/// What a device object tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// Relocatable or linked.
    pub kind: CubinKind,
    /// 90 for sm_90; the header does not tell `sm_90a` from `sm_90`.
    pub arch_number: u32,
    /// Size of an address.
    pub address_size: AddressSize,
    /// Kernels, by name.
    pub kernels: Vec<KernelInfo>,
    /// Device functions defined here and visible to other objects, by name.
    pub functions: Vec<String>,
    /// Device variables defined here and visible to other objects, by name.
    pub variables: Vec<String>,
    /// The undefined symbols that are declared as functions and not as kernels, by name.
    pub declared_functions: Vec<String>,
    /// Symbols that must come from elsewhere, by name; weak ones, which may stay absent, are left out.
    pub undefined_symbols: Vec<String>,
}

impl Cubin {
    /// Whether the bytes are an ELF file of CUDA device code.
    pub fn is_cubin(bytes: &[u8]) -> bool {
        cdp_image::cubin::is_cubin(bytes)
    }

    /// Reads a relocatable device object or a linked cubin.
    ///
    /// # Errors
    /// [`CubinError`] saying what is wrong with the bytes.
    pub fn read(bytes: &[u8]) -> Result<Cubin, CubinError> {
        match FileKind::parse(bytes)? {
            FileKind::Elf32 => {
                Reader::<elf::FileHeader32<Endianness>>::new(bytes)?.read(AddressSize::Bits32)
            }
            FileKind::Elf64 => {
                Reader::<elf::FileHeader64<Endianness>>::new(bytes)?.read(AddressSize::Bits64)
            }
            _ => Err(CubinError::new("not an ELF file")),
        }
    }

    /// The kernel of this symbol name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The architecture, where it is a known one.
    pub fn arch(&self) -> Option<Arch> {
        Arch::from_number(self.arch_number)
    }

    /// Whether a symbol of the device runtime is undefined.
    pub fn needs_cudadevrt(&self) -> bool {
        self.undefined_symbols.iter().any(|name| is_device_runtime_symbol(name))
    }

    /// The device runtimes that this object was compiled for; two entries mean that it is itself a
    /// mixture.
    pub fn device_runtime(&self) -> Vec<DeviceRuntimeUse> {
        cdp_flavor(self.arch_number, self.undefined_symbols.iter().map(String::as_str))
    }
}

struct Symbol {
    name: String,
    size: u64,
    other: u8,
    is_function: bool,
    is_object: bool,
    is_undefined: bool,
    is_weak: bool,
    is_local: bool,
}

struct Reader<'data, H: FileHeader<Endian = Endianness>> {
    bytes: &'data [u8],
    header: &'data H,
    endian: Endianness,
}

impl<'data, H: FileHeader<Endian = Endianness>> Reader<'data, H> {
    fn new(bytes: &'data [u8]) -> Result<Self, CubinError> {
        let header = H::parse(bytes)?;
        let endian = header.endian()?;
        if header.e_machine(endian).0 != MACHINE {
            return Err(CubinError::new(format!(
                "an ELF file for machine {} and not for CUDA",
                header.e_machine(endian).0
            )));
        }
        if endian != Endianness::Little {
            return Err(CubinError::new("a big-endian device object"));
        }
        Ok(Reader { bytes, header, endian })
    }

    fn arch_number(&self) -> u32 {
        let abi_version = self.bytes.get(8).copied().unwrap_or(0);
        arch_number_of_flags(abi_version, self.header.e_flags(self.endian).0)
    }

    fn read(&self, address_size: AddressSize) -> Result<Cubin, CubinError> {
        let symbols = self.symbols()?;
        let mut kernels: BTreeMap<String, KernelInfo> = BTreeMap::new();
        for symbol in symbols
            .iter()
            .filter(|s| s.is_function && s.other & STO_CUDA_ENTRY != 0 && !s.is_undefined)
        {
            let kernel = KernelInfo {
                name: symbol.name.clone(),
                is_local: symbol.is_local,
                code_bytes: symbol.size,
                ..KernelInfo::default()
            };
            kernels.insert(symbol.name.clone(), kernel);
        }
        self.read_sections(&symbols, &mut kernels)?;
        let kind = match self.header.e_type(self.endian) {
            elf::ET_REL => CubinKind::Relocatable,
            elf::ET_EXEC => CubinKind::Linked,
            other => return Err(CubinError::new(format!("an ELF file of type {other:?}"))),
        };
        if kind == CubinKind::Linked && self.arch_number() >= FIRST_ARCH_WITH_RESERVED_SHARED {
            for kernel in kernels.values_mut() {
                kernel.shared_bytes = kernel.shared_bytes.saturating_sub(RESERVED_SHARED_BYTES);
            }
        }
        let names = |keep: &dyn Fn(&Symbol) -> bool| {
            let mut names: Vec<String> =
                symbols.iter().filter(|s| keep(s)).map(|s| s.name.clone()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        Ok(Cubin {
            kind,
            arch_number: self.arch_number(),
            address_size,
            functions: names(&|s| {
                s.is_function
                    && !s.is_undefined
                    && !s.is_local
                    && s.other & STO_CUDA_ENTRY == 0
                    && !s.name.is_empty()
            }),
            variables: names(&|s| {
                s.is_object && !s.is_undefined && !s.is_local && !s.name.is_empty()
            }),
            declared_functions: names(&|s| {
                s.is_function && s.is_undefined && !s.is_local && s.other & STO_CUDA_ENTRY == 0
            }),
            undefined_symbols: names(&|s| {
                s.is_undefined && !s.is_weak && !s.is_local && !s.name.is_empty()
            }),
            kernels: kernels.into_values().collect(),
        })
    }

    fn symbols(&self) -> Result<Vec<Symbol>, CubinError> {
        let sections = self.header.sections(self.endian, self.bytes)?;
        let table = sections.symbols(self.endian, self.bytes, elf::SHT_SYMTAB)?;
        let strings = table.strings();
        let read = |symbol: &H::Sym| {
            let name = symbol
                .name(self.endian, strings)
                .map(|name| String::from_utf8_lossy(name).into_owned());
            Ok(Symbol {
                name: name?,
                size: symbol.st_size(self.endian).into(),
                other: symbol.st_other().0,
                is_function: symbol.st_type() == elf::STT_FUNC,
                is_object: matches!(symbol.st_type(), elf::STT_OBJECT | STT_CUDA_OBJECT),
                is_undefined: symbol.is_undefined(self.endian),
                is_weak: symbol.st_bind() == elf::STB_WEAK,
                is_local: symbol.st_bind() == elf::STB_LOCAL,
            })
        };
        table.iter().map(read).collect()
    }

    fn read_sections(
        &self,
        symbols: &[Symbol],
        kernels: &mut BTreeMap<String, KernelInfo>,
    ) -> Result<(), CubinError> {
        let sections = self.header.sections(self.endian, self.bytes)?;
        for section in sections.iter() {
            let name =
                String::from_utf8_lossy(sections.section_name(self.endian, section)?).into_owned();
            let size: u64 = section.sh_size(self.endian).into();
            if section.sh_type(self.endian).0 == SHT_CUDA_INFO && name.starts_with(".nv.info") {
                let attributes = attributes(section.data(self.endian, self.bytes)?)
                    .map_err(|error| CubinError::new(error.to_string()))?;
                match name.strip_prefix(".nv.info.").and_then(|kernel| kernels.get_mut(kernel)) {
                    Some(kernel) => read_kernel_attributes(kernel, &attributes)?,
                    None if name == ".nv.info" => {
                        read_common_attributes(symbols, kernels, &attributes)
                    }
                    None => {}
                }
            } else if let Some(kernel) =
                name.strip_prefix(".nv.shared.").and_then(|kernel| kernels.get_mut(kernel))
            {
                kernel.shared_bytes = size;
            } else if let Some(kernel) =
                name.strip_prefix(".nv.constant0.").and_then(|k| kernels.get_mut(k))
            {
                kernel.constant0_bytes = size;
            }
        }
        Ok(())
    }
}

/// The section `.nv.info`: attributes of functions, each naming its symbol.
fn read_common_attributes(
    symbols: &[Symbol],
    kernels: &mut BTreeMap<String, KernelInfo>,
    attributes: &[Attribute<'_>],
) {
    for attribute in attributes {
        let (Some(index), value) = (u32_at(attribute.payload, 0), u32_at(attribute.payload, 4))
        else {
            continue;
        };
        let symbol = usize::try_from(index).ok().and_then(|index| symbols.get(index));
        let Some(kernel) = symbol.and_then(|symbol| kernels.get_mut(&symbol.name)) else {
            continue;
        };
        match attribute.number {
            attribute::REGCOUNT => kernel.registers = value,
            attribute::FRAME_SIZE => kernel.frame_bytes = value,
            attribute::MIN_STACK_SIZE => kernel.min_stack_bytes = value,
            _ => {}
        }
    }
}

/// The section `.nv.info.<kernel>`.
fn read_kernel_attributes(
    kernel: &mut KernelInfo,
    attributes: &[Attribute<'_>],
) -> Result<(), CubinError> {
    for attribute in attributes {
        let payload = attribute.payload;
        match attribute.number {
            attribute::KPARAM_INFO | attribute::KPARAM_INFO_V2 => {
                let (Some(ordinal), Some(offset), Some(last)) =
                    (u16_at(payload, 4), u16_at(payload, 6), u32_at(payload, 8))
                else {
                    return Err(CubinError::new(format!(
                        "a parameter record of kernel `{}` is cut off",
                        kernel.name
                    )));
                };
                // The older record packs pointer facts below the size: 8 bits of alignment, 4 of
                // space, 5 of bank, one unused.
                let size_bytes = if attribute.number == attribute::KPARAM_INFO {
                    last >> 18
                } else {
                    last & 0xffff
                };
                let param = KernelParam {
                    ordinal: ordinal.into(),
                    offset_bytes: offset.into(),
                    size_bytes,
                };
                kernel.params.push(param);
            }
            attribute::CBANK_PARAM_SIZE => kernel.param_bytes = Some(attribute.short.into()),
            attribute::PARAM_CBANK => kernel.param_base = u16_at(payload, 4).map(u32::from),
            attribute::MAX_THREADS => kernel.max_threads = dimensions(payload),
            attribute::REQNTID => kernel.required_threads = dimensions(payload),
            _ => {}
        }
    }
    kernel.params.sort_unstable();
    Ok(())
}

fn dimensions(payload: &[u8]) -> Option<[u32; 3]> {
    Some([u32_at(payload, 0)?, u32_at(payload, 4)?, u32_at(payload, 8)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cubin_is_an_error() {
        for bytes in [&b""[..], b"\x7fELF", b"hello", &[0u8; 64]] {
            assert!(Cubin::read(bytes).is_err());
        }
        let this_test = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let error = Cubin::read(&this_test).unwrap_err();
        assert!(error.to_string().contains("not for CUDA"), "{error}");
    }
}
