// What `ostler up --engine-module` is given by the benchmark.
import type { Engine } from '@ostler/engines';

const { simulatedEngine } = await import('@ostler/lab');

export const engines: readonly Engine[] = [simulatedEngine];
