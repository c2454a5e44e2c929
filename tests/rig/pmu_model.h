/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RIG_PMU_MODEL_H
#define RIG_PMU_MODEL_H
/* See pmu_model.c; included by QEMU's own files. */

/* Raises the APIC's entry for counters; `masks`: it masks itself, as Intel's. */
typedef void pmu_deliver_fn(CPUX86State *env, bool masks);

void pmu_connect(pmu_deliver_fn *fn);
bool pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *v);
bool pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t v);
/* HLT, and its end. */
void pmu_halt(CPUX86State *env, bool halted);
/* RDPMC of counter n. */
bool pmu_rdpmc(CPUX86State *env, uint32_t n, uint64_t *v);

#endif
