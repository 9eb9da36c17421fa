import { simulatedEngine } from '@ostler/lab';

export const engines = [simulatedEngine];
