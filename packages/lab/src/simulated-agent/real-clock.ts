import type { Clock } from '@ostler/runtime';

/** The program's own clock. Its timers keep the process alive, unlike the house's. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    let active = true;
    const handle = setTimeout(() => {
      active = false;
      callback();
    }, delayMs);
    return {
      get active() {
        return active;
      },
      [Symbol.dispose]() {
        active = false;
        clearTimeout(handle);
      },
    };
  },
};
