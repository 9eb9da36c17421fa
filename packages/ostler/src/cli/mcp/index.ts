export { mcpCommand } from './mcp-command.js';
