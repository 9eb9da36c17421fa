import { MessageChannel } from 'node:worker_threads';

/** The clock's timers do not keep a process alive; this does, until it is disposed. */
export function keepAlive(): Disposable {
  const { port1 } = new MessageChannel();
  port1.ref();
  return { [Symbol.dispose]: () => port1.close() };
}
