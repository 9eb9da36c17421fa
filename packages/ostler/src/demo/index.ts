export type {
  DemoReport,
  HistoryEntry,
  ModelReceived,
  ReportedReceipt,
  ReportedStep,
} from './demo-report.js';
export { type RunDemoOptions, runDemo } from './run-demo.js';
export { type DemoEngine, demoEngines, type DemoOptions, showDemo } from './show-demo.js';
