import { simulatedEngine } from '@ostler/lab';

/** The simulated agent under the name of an engine that can have mail. */
export const engines = [{ ...simulatedEngine, id: 'claude' }];
