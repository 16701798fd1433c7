// What kernels in assembler begin and end with. Their descriptors are their own.
.macro ENTRY name
.text
.globl \name
.p2align 8
.type \name,@function
\name:
.endm

.macro END_OF_CODE name
  s_endpgm
.size \name, .-\name
.endm
