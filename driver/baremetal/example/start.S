/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entry on a 64-bit ARM machine of QEMU: one processor, MMU off, stack behind .bss. */
	.section .text.start, "ax"
	.global _start
_start:
	mrs	x0, mpidr_el1
	and	x0, x0, #0xff
	cbnz	x0, halt
	adrp	x0, stack_end
	add	x0, x0, :lo12:stack_end
	mov	sp, x0
	adrp	x1, bss_start
	add	x1, x1, :lo12:bss_start
	adrp	x2, bss_end
	add	x2, x2, :lo12:bss_end
clear:
	cmp	x1, x2
	b.hs	run
	str	xzr, [x1], #8
	b	clear
run:
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	isb
	bl	main
	b	power_off

/* All exceptions are reported and end the machine. */
	.balign 2048
vectors:
	.rept	16
	.balign	128
	b	fault
	.endr
fault:
	mrs	x0, esr_el1
	mrs	x1, elr_el1
	bl	report_fault
	/* falls through */
	.global power_off
power_off:
	/* PSCI SYSTEM_OFF */
	movz	w0, #0x0008
	movk	w0, #0x8400, lsl #16
	hvc	#0
halt:
	wfe
	b	halt
