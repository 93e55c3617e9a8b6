; IR that parses and does not verify.
; error: invalid.ll
; error: not valid LLVM IR

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel i32 @parent(ptr %out) {
  %a = add i32 %b, 1
  %b = add i32 %a, 1
  ret i32 %b
}
