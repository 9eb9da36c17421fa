const maxHeldCharacters = 4_096;

/** A whole control sequence, string or other escape at the start of a text; or the beginning of one. */
const sequence =
  /^\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/;
const beginning = /^\u001b(?:\[[0-?]*[ -/]*|[\]P^_X][^\u0007\u001b]*\u001b?|[ -/]*)$/;

/**
 * What asks a terminal to answer: status and cursor reports, attributes, versions, modes,
 * colours, keyboard flags, sizes, capabilities, settings, clipboard.
 */
const question =
  /^\u001b(?:\[(?:\??[0-9;]*n|[>=]?[0-9;]*c|>[0-9;]*q|\??[0-9;]*\$p|\?u|1[1345689]t|2[01]t|[01]?x)|\](?:[0-9;]*;\?|52;[^;]*;\?).*|P(?:\+q|\$q).*|Z)/s;

/**
 * Takes questions out of an agent's output: its own terminal has answered them, and the
 * viewer's terminal would answer once more, as keys.
 */
export class QueryFilter {
  #held = '';

  /** Bytes as latin1 text, so that no character is cut. */
  take(text: string): string {
    let rest = this.#held + text;
    this.#held = '';
    let out = '';
    for (;;) {
      const at = rest.indexOf('\u001b');
      if (at < 0) return out + rest;
      out += rest.slice(0, at);
      rest = rest.slice(at);
      const whole = sequence.exec(rest)?.[0];
      if (whole !== undefined) {
        if (!question.test(whole)) out += whole;
        rest = rest.slice(whole.length);
      } else if (rest.length <= maxHeldCharacters && beginning.test(rest)) {
        this.#held = rest;
        return out;
      } else {
        out += rest.slice(0, 1);
        rest = rest.slice(1);
      }
    }
  }
}
