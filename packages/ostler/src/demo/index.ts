export { runDemo } from './run-demo.js';
