import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap in use once everything that can go is gone. */
export function heapInUseBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
