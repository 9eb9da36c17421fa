import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { expect, test } from 'vitest';

test('the root connects where nothing of Node is', { timeout: 60_000 }, async () => {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('..', import.meta.url)),
    resolve: { conditions: ['ostler-source', 'browser', 'import', 'default'] },
    build: {
      write: false,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL('index.ts', import.meta.url)),
        formats: ['iife'],
        name: 'ostlerClient',
      },
    },
  });
  const [bundle] = Array.isArray(built) ? built : [];
  const code = bundle?.output[0].code ?? '';
  expect(code).not.toMatch(/__vite-browser-external|require\(/);
  // A browser's timers are numbers.
  const browser = {
    TextEncoder,
    TextDecoder,
    URL,
    AbortController,
    queueMicrotask,
    performance: { now: () => 0 },
    setTimeout: () => 1,
    clearTimeout: () => undefined,
    crypto: { randomUUID: () => '00000000-0000-4000-8000-000000000001' },
  };
  const context = createContext(browser);
  runInContext(code, context);
  const machineId: unknown = await runInContext(
    `
    class WebSocket {
      constructor() {
        this.listeners = {};
        queueMicrotask(() => this.tell('open', {}));
      }
      addEventListener(type, listener) { this.listeners[type] = listener; }
      tell(type, event) { this.listeners[type]?.(event); }
      close() {}
      send(text) {
        const { requestId } = JSON.parse(text);
        const answer = { type: 'hello_result', requestId, proto: 1, machineId: 'm',
          serverInstanceId: 's', capabilities: [], resumed: false, cursor: 3 };
        queueMicrotask(() => this.tell('message', { data: JSON.stringify(answer) }));
      }
    }
    const { connectClient, webSocketConnector } = ostlerClient;
    connectClient({ connector: webSocketConnector({ url: 'ws://here', WebSocket }), token: 't' })
      .then((client) => client.machineId + client.resumePoint.cursor);
  `,
    context,
  );
  expect(machineId).toBe('m3');
});
