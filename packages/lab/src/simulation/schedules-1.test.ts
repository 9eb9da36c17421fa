import { runSchedules } from './testing/run-schedules.js';

runSchedules({ from: 1, count: 10_000 });
