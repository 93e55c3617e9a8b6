//! The stages with the real tools. They want what `cargo xtask setup` provides and fail without it:
//! a skipped test would hide that nothing was tested.

use cdp_toolchain::*;

fn toolchain() -> Toolchain {
    let toolchain = Toolchain::find(&SearchOptions::from_process()).unwrap();
    assert!(
        !toolchain.toolkits().is_empty(),
        "no CUDA toolkit; run `cargo xtask setup`: {:#?}",
        toolchain.searched()
    );
    toolchain
}

fn job() -> Job {
    Job::new(JobOptions::default()).unwrap()
}

fn arch(name: &str) -> Arch {
    Arch::parse(name).unwrap()
}

/// PTX of the oldest version that has the architecture, with this body.
fn ptx(arch: Arch, size: AddressSize, body: &str) -> String {
    let version = match (arch.number(), arch.suffix()) {
        (88 | 110, _) => "9.0",
        (_, ArchSuffix::Family) => "8.8",
        (103 | 121, _) => "8.8",
        (100.., _) => "8.7",
        (90, ArchSuffix::Specific) => "8.0",
        _ => "7.8",
    };
    format!(".version {version}\n.target {arch}\n.address_size {}\n{body}", size.bits())
}

const EMPTY_KERNEL: &str = ".visible .entry k() { ret; }";

/// A kernel that asks for a parameter buffer under either family of names.
fn launching(prefix: &str) -> String {
    format!(
        ".extern .func (.param .b64 r) {prefix}GetParameterBuffer(.param .b64 a, .param .b64 s);\n\
         .visible .entry parent(.param .u64 p) {{\n\
         .reg .b64 %a, %b; .param .b64 pa; .param .b64 ps; .param .b64 pr;\n\
         mov.b64 %a, 8; st.param.b64 [pa], %a; st.param.b64 [ps], %a;\n\
         call (pr), {prefix}GetParameterBuffer, (pa, ps);\n\
         ld.param.b64 %b, [pr]; ld.param.u64 %a, [p]; st.global.u64 [%a], %b; ret; }}\n"
    )
}

fn assembled(arch_name: &str, body: &str) -> Assembled {
    let arch = arch(arch_name);
    let options = AssembleOptions::new(arch, AddressSize::Bits64);
    assemble(&toolchain(), &job(), "case", &ptx(arch, AddressSize::Bits64, body), &options).unwrap()
}

fn linked(arch_name: &str, objects: &[DeviceObject]) -> Result<Linked, ToolError> {
    link(
        &toolchain(),
        &job(),
        "case",
        objects,
        &LinkOptions::new(arch(arch_name), AddressSize::Bits64),
    )
}

#[test]
fn every_architecture_that_doctor_promises_assembles_and_links() {
    let toolchain = toolchain();
    let report = doctor(&toolchain);
    let job = job();
    let mut linked_with_runtime = Vec::new();
    for support in &report.archs {
        let (arch, size) = (support.arch, support.address_size);
        let options = AssembleOptions::new(arch, size);
        let text = |body: &str| ptx(arch, size, body);
        if support.ptxas.is_none() {
            let error =
                assemble(&toolchain, &job, "none", &text(EMPTY_KERNEL), &options).unwrap_err();
            assert!(matches!(error, ToolError::Unsupported { .. }), "{arch}: {error}");
            continue;
        }
        let made = assemble(&toolchain, &job, "empty", &text(EMPTY_KERNEL), &options)
            .unwrap_or_else(|e| panic!("{arch} {size}: {e}"));
        let cubin = Cubin::read(&made.object.bytes).unwrap();
        assert_eq!((cubin.arch_number, cubin.address_size), (arch.number().into(), size));
        assert_eq!(cubin.kind, CubinKind::Relocatable);
        let link_options = LinkOptions::new(arch, size);
        match &support.link {
            LinkSupport::None(_) => {
                let error =
                    link(&toolchain, &job, "empty", &[made.object], &link_options).unwrap_err();
                assert!(matches!(error, ToolError::Unsupported { .. }), "{arch}: {error}");
            }
            LinkSupport::WithoutDeviceRuntime => {
                link(&toolchain, &job, "empty", &[made.object], &link_options).unwrap();
                let parent =
                    assemble(&toolchain, &job, "parent", &text(&launching("__cudaCDP2")), &options)
                        .unwrap();
                let error =
                    link(&toolchain, &job, "parent", &[parent.object], &link_options).unwrap_err();
                assert!(error.to_string().contains("no device runtime"), "{arch}: {error}");
            }
            LinkSupport::Full => {
                let parent =
                    assemble(&toolchain, &job, "parent", &text(&launching("__cudaCDP2")), &options)
                        .unwrap();
                let program = link(&toolchain, &job, "parent", &[parent.object], &link_options)
                    .unwrap_or_else(|e| panic!("{arch}: {e}"));
                assert!(program.cudadevrt_linked);
                linked_with_runtime.push(arch);
            }
        }
    }
    assert!(
        linked_with_runtime.contains(&Arch::SM_90) && linked_with_runtime.contains(&arch("sm_75"))
    );
}

#[test]
fn setup_brings_old_architectures_and_32_bits() {
    let toolchain = toolchain();
    for (name, size) in [("sm_60", AddressSize::Bits64), ("sm_70", AddressSize::Bits32)] {
        let arch = arch(name);
        let text = ptx(arch, size, EMPTY_KERNEL);
        let made =
            assemble(&toolchain, &job(), "old", &text, &AssembleOptions::new(arch, size)).unwrap();
        assert_eq!(Cubin::read(&made.object.bytes).unwrap().kernels.len(), 1, "{name}");
    }
}

#[test]
fn reads_parameters_and_resources_back() {
    let body = ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[24], .param .u16 d)\n\
        .maxntid 128, 2, 1 { .reg .b32 %r<2>; .shared .align 4 .b8 s[100];\n\
        mov.u32 %r0, s; st.shared.u32 [%r0], %r0; ret; }\n\
        .visible .entry none() .reqntid 32 { ret; }\n\
        .visible .func helper() { ret; }";
    for name in ["sm_60", "sm_75", "sm_90", "sm_100", "sm_120"] {
        let made = assembled(name, body);
        let cubin = Cubin::read(&made.object.bytes).unwrap();
        let params: Vec<_> = cubin
            .kernel("k")
            .unwrap()
            .params
            .iter()
            .map(|p| (p.offset_bytes, p.size_bytes))
            .collect();
        assert_eq!(params, [(0, 1), (8, 8), (16, 24), (40, 2)], "{name}");
        let kernel = cubin.kernel("k").unwrap();
        assert_eq!(
            (kernel.param_bytes, kernel.max_threads),
            (Some(42), Some([128, 2, 1])),
            "{name}"
        );
        assert!(
            kernel.shared_bytes >= 100 && kernel.registers.is_some() && kernel.code_bytes > 0,
            "{kernel:?}"
        );
        assert_eq!(cubin.kernel("none").unwrap().params, []);
        assert_eq!(cubin.kernel("none").unwrap().required_threads, Some([32, 1, 1]), "{name}");
        assert_eq!(cubin.functions, ["helper"], "{name}");
        let whole = linked(name, std::slice::from_ref(&made.object)).unwrap().cubin.unwrap();
        assert_eq!(whole.kernel("k").unwrap().shared_bytes, 100, "{name}");
        assert_eq!(whole.kernel("k").unwrap().params, kernel.params, "{name}");
        let usage = made.usage.iter().find(|usage| usage.name == "k").unwrap();
        assert!(
            usage.is_kernel && usage.shared_bytes == 100 && usage.registers == kernel.registers,
            "{usage:?}"
        );
    }
}

#[test]
fn outputs_do_not_depend_on_folders_or_names() {
    let toolchain = toolchain();
    let build = |stem: &str, job: &Job| {
        let text = ptx(Arch::SM_90, AddressSize::Bits64, &launching("__cudaCDP2"));
        let options = AssembleOptions::new(Arch::SM_90, AddressSize::Bits64);
        let made = assemble(&toolchain, job, stem, &text, &options).unwrap();
        let object = made.object.bytes.clone();
        let link_options = LinkOptions::new(Arch::SM_90, AddressSize::Bits64);
        (object, link(&toolchain, job, stem, &[made.object], &link_options).unwrap().bytes)
    };
    let first = build("a", &job());
    let keep = tempfile::tempdir().unwrap();
    let kept =
        Job::new(JobOptions { keep: Some(keep.path().join("x/y")), ..JobOptions::default() })
            .unwrap();
    assert!(first == build("another name", &kept));
    let names: Vec<_> = std::fs::read_dir(keep.path().join("x/y"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    for name in ["another_name.sm_90.ptx", "another_name.sm_90.o", "another_name.sm_90.cubin"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    // The toolkit's place must not show either.
    let root = toolchain
        .assembler(Arch::SM_90, AddressSize::Bits64)
        .unwrap()
        .root
        .to_string_lossy()
        .into_owned();
    assert!(!first.1.windows(root.len()).any(|window| window == root.as_bytes()));
}

#[test]
fn cudadevrt_is_linked_only_when_needed() {
    let plain = linked("sm_90", &[assembled("sm_90", EMPTY_KERNEL).object]).unwrap();
    assert!(!plain.cudadevrt_linked && plain.bytes.len() < 20_000);
    let parent = linked("sm_90", &[assembled("sm_90", &launching("cuda")).object]).unwrap();
    assert!(parent.cudadevrt_linked);
    let cubin = parent.cubin.unwrap();
    assert_eq!(cubin.kind, CubinKind::Linked);
    assert!(cubin.kernel("parent").is_some() && !cubin.needs_cudadevrt());
}

#[test]
fn mixed_device_runtimes_are_refused_below_sm_90_only() {
    let second = launching("__cudaCDP2").replace("parent", "other");
    let objects =
        |name| [assembled(name, &launching("cuda")).object, assembled(name, &second).object];
    let error = linked("sm_80", &objects("sm_80")).unwrap_err();
    let ToolError::MixedCdp { cdp1, cdp2 } = &error else { panic!("{error}") };
    assert_eq!(
        (cdp1.1.as_str(), cdp2.1.as_str()),
        ("cudaGetParameterBuffer", "__cudaCDP2GetParameterBuffer")
    );
    linked("sm_90", &objects("sm_90")).unwrap();
}

#[test]
fn failures_are_explained() {
    let kind = |error: ToolError| error.explanation().map(|explanation| explanation.kind);
    let never = LinkOptions {
        cudadevrt: Cudadevrt::Never,
        ..LinkOptions::new(Arch::SM_90, AddressSize::Bits64)
    };
    let parent = assembled("sm_90", &launching("__cudaCDP2")).object;
    let error = link(&toolchain(), &job(), "x", std::slice::from_ref(&parent), &never).unwrap_err();
    assert!(error.to_string().contains("Undefined reference"), "{error}");
    assert_eq!(kind(error), Some(FailureKind::CudadevrtNotLinked));

    let user = assembled(
        "sm_90",
        ".extern .func far(.param .b64 x);\n.visible .entry k(.param .u64 p) { .reg .b64 %r<2>;\n\
         mov.b64 %r0, far; ld.param.u64 %r1, [p]; st.global.u64 [%r1], %r0; ret; }",
    );
    let definition = assembled("sm_90", ".visible .entry far(.param .b64 x) { ret; }");
    let error = linked("sm_90", &[user.object.clone(), definition.object]).unwrap_err();
    assert_eq!(kind(error), Some(FailureKind::KernelDeclaredAsFunction));
    assert_eq!(
        kind(linked("sm_90", &[user.object]).unwrap_err()),
        Some(FailureKind::UndefinedSymbol)
    );
    assert_eq!(kind(linked("sm_80", &[parent]).unwrap_err()), Some(FailureKind::ArchMismatch));

    let text = ptx(
        Arch::SM_90,
        AddressSize::Bits64,
        ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n\
         .visible .entry k() { .param .b32 r0; call.uni (r0), cudaDeviceSynchronize; ret; }",
    );
    let options = AssembleOptions::new(Arch::SM_90, AddressSize::Bits64);
    let error = assemble(&toolchain(), &job(), "x", &text, &options).unwrap_err();
    assert_eq!(kind(error), Some(FailureKind::DeviceSynchronize));
    let error = assemble(&toolchain(), &job(), "x", "garbage", &options).unwrap_err();
    assert!(
        error.tool() == Some(Tool::Ptxas) && error.to_string().contains("Missing .version"),
        "{error}"
    );
    assert_eq!(error.explanation(), None);
}

/// Objects of nvcc carry device code inside host objects, compressed.
#[test]
fn looks_into_objects_of_nvcc() {
    let toolchain = toolchain();
    let temp = tempfile::tempdir().unwrap();
    let compile = |name: &str, text: &str, extra: &[&str]| {
        let source = temp.path().join(format!("{name}.cu"));
        let object = temp.path().join(format!("{name}.o"));
        std::fs::write(&source, text).unwrap();
        let mut nvcc = std::process::Command::new(toolchain.nvcc().expect("no nvcc"));
        nvcc.args(["-dc", "-arch=sm_80"]).args(extra).arg(&source).arg("-o").arg(&object);
        let said = nvcc.output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        DeviceObject::from_bytes(&format!("{name}.o"), std::fs::read(object).unwrap()).unwrap()
    };
    let launching_text = "__global__ void a() {} __global__ void b() { a<<<1, 1>>>(); }";
    let plain = compile("plain", "__global__ void c() {}", &[]);
    let second = compile("second", launching_text, &[]);
    let program = linked("sm_80", std::slice::from_ref(&plain)).unwrap();
    assert!(!program.cudadevrt_linked && program.cubin.unwrap().kernel("_Z1cv").is_some());
    let program = linked("sm_80", &[plain, second.clone()]).unwrap();
    assert!(program.cudadevrt_linked);
    let first = assembled("sm_80", &launching("cuda")).object;
    let error = linked("sm_80", &[first, second]).unwrap_err();
    let ToolError::MixedCdp { cdp2, .. } = &error else { panic!("{error}") };
    assert_eq!(cdp2.0, "second.o");
}

/// sm_50 to sm_72 go through the device linker of CUDA 12.9, which is another program.
#[test]
fn old_architectures_link_and_fail_alike() {
    let kind = |error: ToolError| error.explanation().map(|explanation| explanation.kind);
    let parent = assembled("sm_70", &launching("cuda")).object;
    let program = linked("sm_70", std::slice::from_ref(&parent)).unwrap();
    let cubin = program.cubin.unwrap();
    assert!(program.cudadevrt_linked && !cubin.needs_cudadevrt());
    assert_eq!((cubin.kind, cubin.arch_number), (CubinKind::Linked, 70));
    assert_eq!(cubin.kernel("parent").unwrap().params.len(), 1);

    let again = linked("sm_70", std::slice::from_ref(&parent)).unwrap();
    assert!(again.bytes == program.bytes);

    let twice = linked("sm_70", &[parent.clone(), parent.clone()]).unwrap_err();
    assert_eq!(kind(twice), Some(FailureKind::MultipleDefinition));
    let never = LinkOptions {
        cudadevrt: Cudadevrt::Never,
        ..LinkOptions::new(arch("sm_70"), AddressSize::Bits64)
    };
    let error = link(&toolchain(), &job(), "x", std::slice::from_ref(&parent), &never).unwrap_err();
    assert_eq!(kind(error), Some(FailureKind::CudadevrtNotLinked));
    assert_eq!(kind(linked("sm_60", &[parent]).unwrap_err()), Some(FailureKind::ArchMismatch));
    // No toolkit has a device runtime for sm_72.
    let error = linked("sm_72", &[assembled("sm_72", &launching("cuda")).object]).unwrap_err();
    assert!(error.to_string().contains("no device runtime for sm_72"), "{error}");
}

/// A library with one member.
fn library(object: &DeviceObject) -> DeviceObject {
    let mut bytes = b"!<arch>\n".to_vec();
    let (name, size) = ("member.o/", object.bytes.len());
    bytes.extend(format!("{name:<16}{0:<12}{0:<6}{0:<6}{1:<8}{size:<10}`\n", 0, 644).into_bytes());
    bytes.extend(&object.bytes);
    DeviceObject::from_bytes("libmember.a", bytes).unwrap()
}

/// By the linker of every toolkit: what is wanted of a library, and nothing else.
#[test]
fn members_of_libraries_are_linked_when_they_are_wanted() {
    for arch in ["sm_70", "sm_75", "sm_90"] {
        let user = ".extern .func (.param .b32 r) helper();\n.visible .entry user(.param .u64 p) {\n\
            .param .b32 r; .reg .b64 %a; .reg .b32 %b; call (r), helper; ld.param.b32 %b, [r];\n\
            ld.param.u64 %a, [p]; st.global.u32 [%a], %b; ret; }\n";
        let helper = ".visible .func (.param .b32 r) helper() { st.param.b32 [r], 3; ret; }\n\
            .visible .entry other() { ret; }\n";
        let library = library(&assembled(arch, helper).object);
        let kernels = |objects: &[DeviceObject]| -> Vec<String> {
            let cubin =
                linked(arch, objects).unwrap_or_else(|e| panic!("{arch}: {e}")).cubin.unwrap();
            cubin.kernels.into_iter().map(|kernel| kernel.name).collect()
        };
        assert_eq!(kernels(&[assembled(arch, user).object, library.clone()]), ["other", "user"]);
        let own = assembled(arch, EMPTY_KERNEL).object;
        assert_eq!(kernels(&[own, library]), ["k"], "{arch}");
    }
}

#[test]
fn a_dry_run_gives_the_same_commands() {
    let toolchain = toolchain();
    let commands = |dry_run| {
        let keep = std::env::temp_dir().join(format!("cdp-toolchain-dry-{}", std::process::id()));
        let job =
            Job::new(JobOptions { dry_run, keep: Some(keep.clone()), ..JobOptions::default() })
                .unwrap();
        let text = ptx(Arch::SM_90, AddressSize::Bits64, &launching("__cudaCDP2"));
        let options = AssembleOptions::new(Arch::SM_90, AddressSize::Bits64);
        let made = assemble(&toolchain, &job, "a", &text, &options).unwrap();
        link(
            &toolchain,
            &job,
            "a",
            &[made.object],
            &LinkOptions::new(Arch::SM_90, AddressSize::Bits64),
        )
        .unwrap();
        let commands = job.commands();
        let _ = std::fs::remove_dir_all(keep);
        commands
    };
    let (real, dry) = (commands(false), commands(true));
    assert_eq!(real, dry);
    assert!(dry[1].to_string().contains("libcudadevrt.a"), "{}", dry[1]);
}

#[test]
fn fat_binaries_are_packed_and_listed() {
    let cubin = linked("sm_90", &[assembled("sm_90", EMPTY_KERNEL).object]).unwrap().bytes;
    let text = ptx(Arch::SM_90, AddressSize::Bits64, EMPTY_KERNEL).into_bytes();
    let images = [
        FatbinInput { kind: ImageKind::Elf, arch: Arch::SM_90, bytes: cubin },
        FatbinInput { kind: ImageKind::Ptx, arch: Arch::SM_90, bytes: text },
    ];
    for compress in [false, true] {
        let options =
            FatbinOptions { address_size: AddressSize::Bits64, compress, relocatable: false };
        let bytes = fatbinary(&toolchain(), &job(), "fat", &images, options).unwrap();
        assert!(is_fatbin(&bytes));
        let mut kinds: Vec<_> =
            list_images(&bytes).unwrap().iter().map(|i| (i.kind, i.arch_number)).collect();
        kinds.sort_by_key(|(kind, _)| *kind == ImageKind::Elf);
        assert_eq!(kinds, [(ImageKind::Ptx, 90), (ImageKind::Elf, 90)]);
    }
}

#[test]
fn links_host_programs() {
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("main.c");
    std::fs::write(&source, "int main(void) { return 7; }").unwrap();
    let options = HostLinkOptions { files: vec![source], ..HostLinkOptions::default() };
    let bytes = host_link::<Vec<u8>>(&job(), "main", &[], &options).unwrap();
    assert!(bytes.starts_with(b"\x7fELF"));
}

/// Damaged objects: every truncation of a small object, and many random bytes changed. The reader must
/// return, whatever it says.
#[test]
fn damaged_objects_never_panic() {
    let object = assembled("sm_90", &launching("__cudaCDP2")).object.bytes;
    let narrow = {
        let text = ptx(arch("sm_70"), AddressSize::Bits32, EMPTY_KERNEL);
        let options = AssembleOptions::new(arch("sm_70"), AddressSize::Bits32);
        assemble(&toolchain(), &job(), "x", &text, &options).unwrap().object.bytes
    };
    for bytes in [&object, &narrow] {
        for length in 0..bytes.len() {
            let _ = Cubin::read(&bytes[..length]);
            let _ = DeviceObject::from_bytes("cut", bytes[..length].to_vec());
        }
        // A fixed linear congruential generator: the same damage on every run.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + next() % 4 {
                let offset = next() % damaged.len();
                damaged[offset] = next() as u8;
            }
            let _ = Cubin::read(&damaged);
        }
    }
}

#[test]
fn an_explicit_toolkit_must_exist() {
    let options =
        SearchOptions { cuda_path: Some("/nonexistent".into()), ..SearchOptions::from_process() };
    let error = Toolchain::find(&options).unwrap_err();
    assert!(error.to_string().contains("--cuda-path /nonexistent: no such folder"), "{error}");
}

#[test]
fn without_any_toolkit_the_error_names_every_place() {
    let options = SearchOptions { start_dirs: vec!["/".into()], ..SearchOptions::default() };
    let toolchain = Toolchain::find(&options).unwrap();
    let error = toolchain.ptxas_for(Arch::SM_90, AddressSize::Bits64).unwrap_err().to_string();
    for place in ["CUDA_HOME: not set", "PATH: not set", ".toolchain: none above /"] {
        assert!(error.contains(place), "{error}");
    }
}
