; Text that is no LLVM IR.
; error: syntax.ll
; error: expected

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent( {
