/** Replaces each path by another of the same length, so that the screen's layout stays. */
export function sameLengthScrub(
  text: string,
  replacements: readonly (readonly [from: string, to: string])[],
): string {
  return replacements.reduce((result, [from, to]) => {
    const fitted = to.slice(0, from.length).padEnd(from.length, 'x');
    return result.replaceAll(from, fitted);
  }, text);
}
