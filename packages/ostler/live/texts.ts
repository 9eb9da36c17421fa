export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Texts that engines are known to treat in their own ways. Each begins with its own number. */
export function awkwardTexts(tag: string): readonly NamedText[] {
  const named: [string, string][] = [
    ['trailing newline', `${tag} ends with a newline\n`],
    ['CRLF', `${tag} one\r\ntwo`],
    ['lone CR', `${tag} one\rtwo`],
    ['tabs', `${tag} a\tb\tc`],
    ['trailing backslash', `${tag} ends with \\`],
    ['two lines', `${tag} one\ntwo`],
    ['ten lines', Array.from({ length: 10 }, (_, line) => `${tag} line ${line}`).join('\n')],
    ['blank lines inside', `${tag} one\n\n\ntwo`],
    ['indented lines', `${tag} one\n    two\n  three`],
    ['900 characters', `${tag} ${'word '.repeat(180)}end`],
    ['1,200 characters', `${tag} ${'word '.repeat(240)}end`],
    ['emoji', `${tag} 👩‍👩‍👧‍👦 🇪🇺 👍🏽 ${'🙂'.repeat(60)}`],
    ['CJK', `${tag} 漢字かな交じり文 한국어 ${'漢'.repeat(120)}`],
    ['RTL', `${tag} שלום עולם مرحبا`],
    ['combining marks', `${tag} e\u0301 a\u0308 n\u0303`],
    ['zero width', `${tag} a\u200bb\u200dc\ufeffd`],
    ['line separator', `${tag} a\u2028b`],
    ['C1 inside UTF-8', `${tag} ${Buffer.from([0xc2, 0x9b]).toString()}31m red`],
    ['bracket end whole', `${tag} a\u001b[201~b`],
    ['bracket end nested', `${tag} a\u001b[20\u001b[201~1~b`],
    ['bracket end, C1 form', `${tag} a\u009b201~b`],
    ['escape sequences', `${tag} \u001b[31mred\u001b[0m \u0007bell`],
    ['collapse marker of one', `${tag} [Pasted text #1 +3 lines]`],
    ['collapse marker of the other', `${tag} [Pasted Content 1200 chars]`],
    ['at sign inside', `${tag} look at @file.txt please`],
    ['dollar at the end', `${tag} costs $skill`],
    ['at sign at the end', `${tag} look at @`],
    ['leading slash, a path', `/path/${tag}/file.txt is wrong`],
    ['leading slash, a word', `/nosuch-${tag} please`],
    ['a known command', '/help'],
    ['leading bang', `!echo ${tag}`],
    ['leading hash', `# ${tag}`],
    ['leading at', `@nothing-${tag} look`],
    ['leading ampersand', `& ${tag}`],
    ['leading question mark', `? ${tag}`],
    ['leading blank', `  ${tag} indented`],
    ['exit', 'exit'],
    ['quit', 'quit'],
    ['exit.', `exit. ${tag}`],
    ['the words of a dialog', `${tag} Do you want to proceed? 1. Yes Enter to confirm`],
    ['the digit one', `1 ${tag}`],
  ];
  return named.map(([name, text]) => ({ name, text }));
}

/** 16,384 bytes in lines of some 60 characters. */
export function manyLines(tag: string): string {
  const lines = Array.from({ length: 400 }, (_, line) => `${tag} ${line} ${'abcdefgh '.repeat(5)}`);
  return lines.join('\n').slice(0, 16_384).trimEnd();
}

/** 16,384 bytes in one line. */
export function oneLongLine(tag: string): string {
  return `${tag} ${'abcdefgh '.repeat(2_000)}`.slice(0, 16_383).trimEnd().concat('.');
}
