//! Machine code and its containers: cubins, fat binaries, objects, libraries.

use cdp::InputKind;
use cdp_image::{cubin, fatbin};
use cdp_toolchain::{Cubin, ObjectParts, is_archive, list_images};

/// Reads bytes as each of the containers; what is read lies inside.
pub fn image(data: &[u8]) {
    let _ = InputKind::sniff(data);
    let _ = (is_archive(data), cdp_toolchain::is_fatbin(data), Cubin::is_cubin(data));
    let _ = (cubin::is_cubin(data), cubin::arch_number(data), cubin::claimed_bytes(data));
    if let Ok(attributes) = cubin::attributes(data) {
        let bytes: usize = attributes.iter().map(|attribute| attribute.payload.len()).sum();
        assert!(bytes <= data.len(), "attributes of {bytes} bytes in {}", data.len());
    }
    let _ = (fatbin::claimed_bytes(data), fatbin::newest_ptx(data));
    for entries in std::iter::once(fatbin::entries(data)).chain(fatbin::all_entries(data)) {
        assert!(entries.len() <= data.len(), "{} entries", entries.len());
    }
    let containers: usize = fatbin::containers(data).iter().map(|part| part.len()).sum();
    assert!(containers <= data.len(), "containers of {containers} bytes in {}", data.len());
    for kind in [fatbin::EntryKind::Ptx, fatbin::EntryKind::MachineCode] {
        let _ = fatbin::architectures(data, kind);
    }
    let _ = (list_images(data), ObjectParts::of(data));
    if let Ok(cubin) = Cubin::read(data) {
        let _ = format!("{cubin:?}");
    }
}
