import { describe, expect, test } from 'vitest';
import { clip, textWidth, wrap } from './cells.js';
import { Draft } from './draft.js';
import { type KeyInput, KeyParser } from './key-parser.js';
import { composerWindow } from './paint.js';
import { parseScript } from './parse-script.js';

describe('cells', () => {
  test('wide characters never cross the edge', () => {
    expect(wrap('ab日本', 4)).toEqual(['ab日', '本']);
    expect(wrap('a\tb', 3)).toEqual(['a  ', '  b']);
    expect(textWidth('e\u0301🙂')).toBe(3);
    expect(clip('abcdef', 4)).toBe('abc…');
  });
});

describe('draft', () => {
  test('the layout is the plain wrap of its text, with the cursor on it', () => {
    const draft = new Draft();
    draft.type('hello\r\nwide 日本語');
    const rows = draft.layout(6).rows.map((row) => row.map((span) => span.text).join(''));
    expect(rows.map((row) => row.trimEnd())).toEqual(
      wrap(draft.text, 6).map((row) => row.trimEnd()),
    );
    expect(draft.layout(6)).toMatchObject({ cursorRow: 2, cursorColumn: 6 });
  });

  test('control characters are dropped, a collapsed paste is one step', () => {
    const draft = new Draft();
    draft.paste('a\u0007\u001bb', { characters: 100, newlines: null, style: 'sized' });
    expect(draft.text).toBe('ab');
    const big = 'y'.repeat(101);
    draft.paste(big, { characters: 100, newlines: null, style: 'sized' });
    draft.paste(big, { characters: 100, newlines: null, style: 'sized' });
    expect(draft.visibleText).toBe('ab[Pasted Content 101 chars][Pasted Content 101 chars #2]');
    draft.backspace();
    expect(draft.text).toBe(`ab${big}`);
    draft.move(-1);
    draft.deleteToStart();
    expect(draft.text).toBe(big);
  });

  test('the window follows the cursor', () => {
    expect(composerWindow(12, 11, 24, 4)).toEqual({ above: 8, shown: 4, below: 0 });
    expect(composerWindow(12, 0, 24, 4)).toEqual({ above: 0, shown: 4, below: 8 });
    expect(composerWindow(12, 11, 8, 20)).toEqual({ above: 10, shown: 2, below: 0 });
  });
});

describe('key parser', () => {
  test('any chunk border gives the same keys', () => {
    const input =
      'a\u001b[200~one\u001b[3Jtwo\r\u001b[201~\r\u001b[A\u001b[I\u001b]11;rgb:0/0/0\u0007日\u0003';
    const whole = keysOf([input]);
    expect(whole.map((key) => (key.kind === 'key' ? key.name : key.kind))).toEqual([
      'text',
      'paste',
      'enter',
      'up',
      'sequence',
      'sequence',
      'text',
      'ctrl_c',
    ]);
    for (let at = 1; at < input.length; at += 1) {
      expect(keysOf([input.slice(0, at), input.slice(at)])).toEqual(whole);
    }
  });

  test('a lone escape is the key once nothing follows', () => {
    const parser = new KeyParser();
    expect(parser.push('\u001b', true)).toEqual([]);
    expect(parser.incomplete).toBe(true);
    expect(parser.flush()).toEqual([{ kind: 'key', name: 'escape', raw: '\u001b' }]);
  });

  function keysOf(chunks: readonly string[]): KeyInput[] {
    const parser = new KeyParser();
    const out: KeyInput[] = [];
    for (const chunk of chunks) {
      for (const key of parser.push(chunk, true)) {
        const last = out.at(-1);
        if (last?.kind === 'text' && key.kind === 'text') {
          out[out.length - 1] = {
            kind: 'text',
            text: last.text + key.text,
            raw: last.raw + key.raw,
          };
        } else out.push(key);
      }
    }
    return out;
  }
});

describe('script', () => {
  test('an empty script has every default; an unknown field is refused', () => {
    expect(parseScript({})).toMatchObject({ busyRule: 'steering', swallowEnters: 0, plan: [] });
    expect(parseScript({ look: { collapse: null } }).look.collapse).toBeNull();
    expect(() => parseScript('{"busyrule":"steering"}')).toThrow(
      expect.objectContaining({ code: 'SIMULATED_SCRIPT_INVALID' }),
    );
    expect(() => parseScript('no json')).toThrow(
      expect.objectContaining({ code: 'SIMULATED_SCRIPT_INVALID' }),
    );
  });
});
