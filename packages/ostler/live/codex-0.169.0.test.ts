import { deliveries, wide } from './deliveries.js';
import { dialogs } from './dialogs.js';

const pin = { engine: 'codex', version: '0.169.0' } as const;

deliveries(pin, wide);
dialogs(pin, wide);
