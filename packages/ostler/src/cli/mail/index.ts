export { type MailCommandOptions, mailCommand } from './mail-command.js';
