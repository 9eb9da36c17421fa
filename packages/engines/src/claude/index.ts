export { claudeEngine, createClaudeEngine } from './engine.js';
export { claudeFingerprint, unwrapPastedContent } from './fingerprint.js';
export { ClaudeReader } from './reader.js';
export { ClaudeRecord } from './record.js';
