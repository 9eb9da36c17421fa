import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The directory native modules are built against: the headers that came with the Node that runs
 * this. Null where there are none; npm then fetches them, or takes what it is set to.
 */
export function ownHeaders(node = process.execPath, version = process.versions.node) {
  const prefixes = [node, realpathSync(node)].map((path) => dirname(dirname(path)));
  const packaged = `node-${process.platform}-${process.arch}`;
  const places = prefixes.flatMap((prefix) => [
    prefix,
    join(prefix, 'node_modules', packaged),
    join(dirname(prefix), packaged),
  ]);
  return places.find((place) => headersVersion(place) === version) ?? null;
}

/** Of the headers below a directory, or null. */
export function headersVersion(place) {
  let text;
  try {
    text = readFileSync(join(place, 'include', 'node', 'node_version.h'), 'utf8');
  } catch {
    return null;
  }
  const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
  return [part('MAJOR'), part('MINOR'), part('PATCH')].join('.');
}
