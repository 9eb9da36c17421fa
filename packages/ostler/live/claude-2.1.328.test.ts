import { deliveries, wide } from './deliveries.js';
import { dialogs } from './dialogs.js';

const pin = { engine: 'claude', version: '2.1.328' } as const;

deliveries(pin, wide);
dialogs(pin, wide);
