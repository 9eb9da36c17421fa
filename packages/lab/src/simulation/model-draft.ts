/** A part of a draft, and the write it came by. */
export interface Piece {
  readonly text: string;
  readonly from: number;
  readonly kind: 'paste' | 'typed';
}

export const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('');

/** What of a draft came from whom. */
export class ModelDraft {
  pieces: readonly Piece[] = [];

  get empty(): boolean {
    return this.pieces.length === 0;
  }

  get text(): string {
    return textOf(this.pieces);
  }

  add(piece: Piece): void {
    const last = this.pieces.at(-1);
    this.pieces =
      last?.from === piece.from && last.kind === piece.kind
        ? [...this.pieces.slice(0, -1), { ...piece, text: last.text + piece.text }]
        : [...this.pieces, piece];
  }

  clear(): void {
    this.pieces = [];
  }
}
