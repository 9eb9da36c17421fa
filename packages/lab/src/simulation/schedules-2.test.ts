import { runSchedules } from './testing/run-schedules.js';

runSchedules({ from: 10_001, count: 10_000 });
