export { type McpCommandOptions, mcpCommand } from './mcp-command.js';
