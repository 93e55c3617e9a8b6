; A name that PTX cannot spell. That of an internal function is LLVM's to change.
; error: `@my.kernel` cannot be named so in PTX

target triple = "nvptx64-nvidia-cuda"

declare void @not.used()

define internal void @my.helper() {
  ret void
}

define ptx_kernel void @my.kernel(ptr %out) {
  call void @my.helper()
  ret void
}
