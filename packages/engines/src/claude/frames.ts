/** A paste of more than 800 characters, or of three line breaks, is shown as a marker and submitted in a wrapper. */
export const maxFrameCharacters: number = 700;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Cuts a text into pastes that Claude Code shows as they are: at most one line
 * break each, which is also what the smallest screens allow (claude 2.1.328,
 * fixtures/claude/2.1.328/s20-chunked.cast). No grapheme is cut unless it is
 * longer than a frame by itself.
 */
export function splitFrames(text: string): string[] {
  const frames: string[] = [];
  for (const piece of text.split(/(?<=\n)/).flatMap(splitImageNames)) {
    if (piece.length <= maxFrameCharacters) frames.push(piece);
    else frames.push(...splitLine(piece));
  }
  return frames;
}

/**
 * A frame that is the path of an existing image becomes an attachment; in two
 * frames it stays text (claude 2.1.328, fixtures/claude/2.1.328/image-path.cast).
 */
function splitImageNames(line: string): string[] {
  return line.split(/(?<=\S)(?=\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|svg|pdf)\b)/i);
}

function splitLine(line: string): string[] {
  const frames: string[] = [];
  let frame = '';
  for (const { segment } of segmenter.segment(line)) {
    for (const part of segment.length > maxFrameCharacters ? segment : [segment]) {
      if (frame.length + part.length > maxFrameCharacters) {
        frames.push(frame);
        frame = '';
      }
      frame += part;
    }
  }
  frames.push(frame);
  return frames;
}
