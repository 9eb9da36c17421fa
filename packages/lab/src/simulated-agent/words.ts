/** Words and colours that the simulated agent paints and its reader looks for. */
export const words = {
  footerIdle: '  Enter to send · the simulated agent',
  footerBusy: '  Esc to interrupt · the simulated agent',
  working: 'Working',
  queueHeading: '  Waiting:',
  queueItem: '    ↳ ',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  composerRule: '─',
  dialogRule: '━',
  option: '   ',
  selectedOption: ' › ',
  note: '   Note: ',
  popup: '   ▸ ',
  splash: 'Starting…',
  shellPrompt: '$ ',
} as const;

/** Palette numbers: what a colour means on this screen. */
export const colours = {
  marker: 6,
  working: 5,
  queue: 3,
  ghost: 8,
} as const;

export const sequences = {
  reset: '\u001b[0m',
  bold: '\u001b[1m',
  dim: '\u001b[2m',
  inverse: '\u001b[7m',
  foreground: (palette: number): string => `\u001b[38;5;${palette}m`,
} as const;
