import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, test } from 'vitest';
import { root } from './root.mjs';

const source = 'packages/controller/src/case.ts';
const syntax = 'no-restricted-syntax';

// file, text, the rule that must speak (or null)
const cases = [
  [source, 'export const now = () => Date.now();', 'no-restricted-properties'],
  [source, 'export const now = () => new Date();', syntax],
  [source, 'export const at = (ms: number) => new Date(ms);', null],
  [source, 'setTimeout(() => undefined, 1);', 'no-restricted-globals'],
  [source, 'globalThis.setInterval(() => undefined, 1);', 'no-restricted-properties'],
  [source, 'export const now = () => performance.now();', 'no-restricted-globals'],
  [
    source,
    "import { setTimeout } from 'node:timers/promises'; await setTimeout(1);",
    'no-restricted-imports',
  ],
  [source, 'export const late = () => AbortSignal.timeout(5);', 'no-restricted-properties'],
  [source, 'export const chance = () => Math.random();', 'no-restricted-properties'],
  [
    'packages/controller/src/case.test.ts',
    'setTimeout(() => undefined, 1);',
    'no-restricted-globals',
  ],
  ['packages/runtime/src/clock.ts', 'setTimeout(() => undefined, 1);', null],
  [source, 'export default 1;', syntax],
  [source, "export * from './other.js';", syntax],
  [source, 'export const a = (x: any) => x;', '@typescript-eslint/no-explicit-any'],
  [source, 'try { f(); } catch {}', 'no-empty'],
  [source, 'export class A { constructor(readonly b: string) {} }', syntax],
  [source, 'const unused = 1;', '@typescript-eslint/no-unused-vars'],
  [source, '// @ts-expect-error: because\nf();', '@typescript-eslint/ban-ts-comment'],
  [source, "export const engine = 'claude';", syntax],
  [source, 'export const engine = `the Codex of ${1}`;', syntax],
  [source, "import { codex } from '@ostler/engines/codex'; codex();", null],
  ['packages/engines/src/case.ts', "export const engine = 'gemini';", null],
  ['packages/controller/src/case.test.ts', "export const engine = 'opencode';", null],
];

const withoutTypes = new ESLint({
  cwd: root,
  overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
});
const withTypes = new ESLint({
  cwd: root,
  overrideConfig: [
    {
      files: ['**/*.ts'],
      languageOptions: {
        parserOptions: { project: false, projectService: { allowDefaultProject: [source] } },
      },
    },
  ],
});

async function rulesThatSpoke(eslint, filePath, text) {
  const [result] = await eslint.lintText(text, { filePath });
  return result.messages.map((message) => message.ruleId);
}

describe('the lint rules', () => {
  test.each(cases)('%s: %s breaks %s', async (filePath, text, rule) => {
    const rules = await rulesThatSpoke(withoutTypes, filePath, text);
    expect(rules).toEqual(rule === null ? [] : expect.arrayContaining([rule]));
  });

  test('a promise that nobody waits for breaks no-floating-promises', {
    timeout: 60_000,
  }, async () => {
    const rules = await rulesThatSpoke(withTypes, source, 'Promise.resolve(1);');
    expect(rules).toEqual(['@typescript-eslint/no-floating-promises']);
  });
});
