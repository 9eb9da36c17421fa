import { deliveries, narrow } from './deliveries.js';
import { dialogs } from './dialogs.js';

const pin = { engine: 'codex', version: '0.156.1' } as const;

deliveries(pin, narrow);
dialogs(pin, narrow);
