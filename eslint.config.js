import tseslint from 'typescript-eslint';

// Restrictions are written as syntax where a type is not needed: they hold for every spelling, and they are cheap.

const timeMessage = 'Time comes from the Clock of @ostler/runtime, so that tests can turn it.';
const chanceMessage = 'Ids come from the Ids of @ostler/runtime, so that tests can foresee them.';
const timers = ['setTimeout', 'setInterval'];

const globalClocks = [
  ...timers.map((name) => ({ name, message: timeMessage })),
  { name: 'performance', message: timeMessage },
];
const clockMembers = [
  { object: 'Date', property: 'now', message: timeMessage },
  { object: 'AbortSignal', property: 'timeout', message: timeMessage },
  { object: 'process', property: 'hrtime', message: timeMessage },
  ...['globalThis', 'global'].flatMap((object) =>
    [...timers, 'performance'].map((property) => ({ object, property, message: timeMessage })),
  ),
  { object: 'Math', property: 'random', message: chanceMessage },
  { object: 'crypto', property: 'randomUUID', message: chanceMessage },
];
const clockModules = ['timers', 'timers/promises', 'perf_hooks'].flatMap((name) =>
  [name, `node:${name}`].map((module) => ({ name: module, message: timeMessage })),
);

const shapes = [
  { selector: 'ExportAllDeclaration', message: 'Name what is exported: no `export *`.' },
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'ExportSpecifier[exported.name="default"]', message: 'Named exports only.' },
  { selector: 'TSParameterProperty', message: 'Write the field and its assignment out.' },
  { selector: 'TSEnumDeclaration', message: 'Use a union of literals.' },
];
const dates = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: timeMessage },
  { selector: 'CallExpression[callee.name="Date"]', message: timeMessage },
];
const vendors = '/claude|codex|gemini|opencode/i';
const vendorMessage =
  'Names of agent CLIs live in packages/engines (and lab, live tests, the demo).';
const vendorWords = [
  {
    selector: `:not(ImportDeclaration, ImportExpression, ExportNamedDeclaration, TSLiteralType) > Literal[value=${vendors}]`,
    message: vendorMessage,
  },
  { selector: `TemplateElement[value.cooked=${vendors}]`, message: vendorMessage },
];

const tests = [
  'packages/*/src/**/*.test.ts',
  'packages/*/src/**/testing/**/*.ts',
  'packages/*/live/**/*.ts',
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '.engines/**',
      '.ostler/**',
      'coverage/**',
      'fixtures/**',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['packages/**/*.ts', 'docs/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: ['tools/tsconfig.tests.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { minimumDescriptionLength: 10_000 }],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreUsingDeclarations: true },
      ],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-globals': ['error', ...globalClocks],
      'no-restricted-properties': ['error', ...clockMembers],
      'no-restricted-imports': ['error', { paths: clockModules }],
      'no-restricted-syntax': ['error', ...shapes, ...dates, ...vendorWords],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: [
      'packages/engines/**/*.ts',
      'packages/lab/**/*.ts',
      // Help texts name the engines they are examples of.
      'packages/ostler/src/cli/main.ts',
      'packages/ostler/src/demo/**/*.ts',
      'packages/ostler/src/bench/**/*.ts',
      'packages/ostler/src/bench/**/*.ts',
      'docs/**/*.ts',
      ...tests,
    ],
    rules: { 'no-restricted-syntax': ['error', ...shapes, ...dates] },
  },
  { files: ['docs/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // Where the real clock and real randomness are; a child program of the lab has a clock of its own.
    files: [
      'packages/runtime/src/clock.ts',
      'packages/runtime/src/ids.ts',
      'packages/lab/src/simulated-agent/real-clock.ts',
    ],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-syntax': ['error', ...shapes],
    },
  },
  {
    files: ['tools/**/*.mjs'],
    rules: {
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', ...shapes],
      eqeqeq: 'error',
      'prefer-const': 'error',
    },
  },
);
