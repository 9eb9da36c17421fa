// For `ostler up --engine-module`: the agents of the conformance cases.
import { simulatedEngine } from '@ostler/lab';

export const engines = [simulatedEngine];
