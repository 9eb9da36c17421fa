import { expect, test } from 'vitest';
import { parseKeys } from './model-keys.js';

const open = '\u001b[200~';
const close = '\u001b[201~';

test('pastes, named keys and typed text are told apart', () => {
  expect(parseKeys(`ab${open}x\ry${close}\r\u001b[A\u001b\u0015`, false)).toEqual([
    { kind: 'type', text: 'ab' },
    { kind: 'paste', text: 'x\ny', open: false },
    { kind: 'enter' },
    { kind: 'up' },
    { kind: 'escape' },
    { kind: 'erase' },
  ]);
});

test('a paste that was cut swallows what comes until its bracket is closed', () => {
  expect(parseKeys(`${open}half`, false)).toEqual([{ kind: 'paste', text: 'half', open: true }]);
  expect(parseKeys(`\r${open}next${close}\r`, true)).toEqual([
    { kind: 'paste', text: '\nnext', open: false },
    { kind: 'enter' },
  ]);
});
