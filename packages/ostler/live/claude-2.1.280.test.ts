import { deliveries, narrow } from './deliveries.js';
import { dialogs } from './dialogs.js';

const pin = { engine: 'claude', version: '2.1.280' } as const;

deliveries(pin, narrow);
dialogs(pin, narrow);
