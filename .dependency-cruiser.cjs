// The floors of this tree. Imports go down only; rooms on one floor never import each other.
// A room is matched by its folder (relative imports, resolved imports) and by its package name
// (imports that did not resolve), so that neither spelling slips through.

const floors = [
  ['runtime'],
  ['protocol', 'terminal'],
  ['store', 'engines', 'client'],
  ['controller', 'mailbox', 'channel'],
  ['service'],
  ['gateway', 'daemon'],
  ['ostler'],
];
// Runtime is floor 0, open to all. Lab stands beside the house: it may import every room but the topmost.
const side = 'lab';

const testFile = '(\\.test\\.ts$|^packages/[^/]+/live/|/testing/|/conformance/)';
const demo = '^packages/ostler/src/demo/';
const folder = (rooms) => `^packages/(${rooms.join('|')})/`;
const anySpelling = (rooms) => {
  const names = rooms.map((room) => (room === 'ostler' ? 'ostler' : `@ostler/${room}`)).join('|');
  return `${folder(rooms)}|^(node_modules/)?(${names})(/|$)`;
};

function roomRules() {
  return floors
    .flatMap((rooms, floor) =>
      rooms.map((room) => {
        const above = floors.slice(floor + 1).flat();
        const beside = rooms.filter((other) => other !== room);
        const forbidden = [...above, ...beside];
        return {
          name: `floor-of-${room}`,
          comment: `${room} may import rooms on lower floors only`,
          severity: 'error',
          from: { path: folder([room]), pathNot: testFile },
          to: { path: forbidden.length > 0 ? anySpelling(forbidden) : '^$' },
        };
      }),
    )
    .filter((rule) => rule.to.path !== '^$');
}

module.exports = {
  forbidden: [
    ...roomRules(),
    {
      name: 'lab-stays-out',
      comment: 'only ostler may import lab; tests may too',
      severity: 'error',
      from: { path: folder(floors.flat().filter((room) => room !== 'ostler')), pathNot: testFile },
      to: { path: anySpelling([side]) },
    },
    {
      name: 'lab-is-lazy',
      comment: 'ostler imports lab only by import(), so that embedding does not load it',
      severity: 'error',
      from: { path: folder(['ostler']), pathNot: `${demo}|${testFile}` },
      to: { path: anySpelling([side]), dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'demo-is-lazy',
      comment: 'the demo imports lab, so the rest of ostler imports the demo by import() only',
      severity: 'error',
      from: { path: folder(['ostler']), pathNot: `${demo}|${testFile}` },
      to: { path: demo, dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lab-below-ostler',
      comment: 'lab may import every room but ostler itself, which imports lab',
      severity: 'error',
      from: { path: folder([side]), pathNot: testFile },
      to: { path: anySpelling(['ostler']) },
    },
    {
      name: 'native-terminal',
      comment: 'node-pty is reached through terminal only',
      severity: 'error',
      from: { pathNot: folder(['terminal']) },
      to: { path: '(^|node_modules/)node-pty(/|$)' },
    },
    {
      name: 'native-store',
      comment:
        "better-sqlite3 is reached through store, and through the client's inbox file (ADR 0010), only",
      severity: 'error',
      from: { pathNot: `${folder(['store'])}|^packages/client/src/node-inbox/` },
      to: { path: '(^|node_modules/)(@types/)?better-sqlite3(/|$)' },
    },
    {
      name: 'client-root-in-a-browser',
      comment: "the client's root does not reach for its sub-paths, which are for Node",
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: `^packages/client/src/node|${testFile}` },
      to: { path: '(^|node_modules/)(@types/)?ws(/|$)|^packages/client/src/node' },
    },
    {
      name: 'client-root-without-core',
      comment: "the client's root uses nothing of Node; its sub-paths may",
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: `^packages/client/src/node|${testFile}` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'rooms-have-doors',
      comment:
        'another room is imported by its package name, never by a relative path into its folder',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/',
        pathNot: '^packages/$1/',
        dependencyTypes: ['local'],
        dependencyTypesNot: ['aliased-workspace'],
      },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-unresolved',
      comment: 'every import leads somewhere',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/(dist|node_modules/\\.cache)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['ostler-source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};
