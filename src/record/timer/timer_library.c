// SPDX-License-Identifier: GPL-2.0-or-later
/* Provides the library for programs as a file in memory. */
#include "record/timer/timer_library.h"

/* make builds the file, in the folder where the compiler runs. */
#ifdef __x86_64__
__asm__(".pushsection .rodata\n"
	".balign 64\n"
	".local timer_library_begin\n"
	"timer_library_begin:\n"
	".incbin \"src/preload/timer.so\"\n"
	".local timer_library_end\n"
	"timer_library_end:\n"
	".popsection\n");
extern const uint8_t timer_library_begin[], timer_library_end[];

struct timer_library timer_library(void)
{
	return (struct timer_library){
		timer_library_begin,
		(size_t)(timer_library_end - timer_library_begin),
	};
}
#else
struct timer_library timer_library(void)
{
	return (struct timer_library){ NULL, 0 };
}
#endif
