; error: the kernel has type ptr addrspace(16), not ptr
target triple = "nvptx64-nvidia-cuda"
declare i32 @cdp.launch(...)

define ptx_kernel void @child() addrspace(16) {
  ret void
}

define ptx_kernel void @parent() {
  %e = call i32 (...) @cdp.launch(ptr addrspace(16) @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  ret void
}
