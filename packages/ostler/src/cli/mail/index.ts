export { mailCommand } from './mail-command.js';
