// Source of rustc.ll, made by
//   rustc +nightly --target nvptx64-nvidia-cuda -O --emit=llvm-ir rustc.rs -o rustc.ll
// With `core` for the target at hand, the lines about `no_core` and `lang` go.
#![feature(abi_ptx, no_core, lang_items)]
#![allow(internal_features)]
#![no_core]
#![crate_type = "lib"]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for f32 {}
impl Copy for f64 {}
impl<T> Copy for *mut T {}

#[repr(C)]
pub struct Point {
    x: f64,
    weight: f32,
}

#[repr(C)]
pub struct Values {
    x: f64,
    weight: f32,
    scale: f32,
}

unsafe extern "C" {
    #[link_name = "cdp.launch"]
    fn launch_child(
        kernel: extern "ptx-kernel" fn(Point, f32, *mut Values),
        gx: u32,
        gy: u32,
        gz: u32,
        bx: u32,
        by: u32,
        bz: u32,
        shared_bytes: u32,
        stream: *mut u8,
        point: Point,
        scale: f32,
        out: *mut Values,
    ) -> i32;
}

#[unsafe(no_mangle)]
pub extern "ptx-kernel" fn child(point: Point, scale: f32, out: *mut Values) {
    // Without `core` there is no arithmetic; the fields themselves show that they arrived.
    unsafe { *out = Values { x: point.x, weight: point.weight, scale } };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn parent(out: *mut Values) {
    let point = Point { x: 21.0, weight: 2.0 };
    unsafe {
        launch_child(child, 1, 1, 1, 1, 1, 1, 0, 0 as *mut u8, point, 0.5, out);
    }
}
