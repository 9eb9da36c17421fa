import { createRequire } from 'node:module';

const { version: own } = createRequire(import.meta.url)('../../package.json') as {
  version: string;
};

/** Of the package this file came with. */
export const version: string = own;
