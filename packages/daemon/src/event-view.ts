import {
  inputStatusCapability,
  type OstlerEvent,
  type Receipt,
  turnCorrelationCapability,
} from '@ostler/protocol';

/** Capabilities a hello may choose. */
export const knownCapabilities: readonly string[] = [
  inputStatusCapability,
  turnCorrelationCapability,
  'terminal.attach.v1',
];

/** What one connection may see of receipts and events, by its device and its last hello. */
export interface View {
  readonly deviceId: string;
  readonly capabilities: ReadonlySet<string>;
  /** Whose delivery it is, or null where it is no longer known. */
  readonly ownerOf: (deliveryId: string) => string | null;
}

export function receiptFor(view: View, receipt: Receipt): Receipt {
  if (view.capabilities.has(inputStatusCapability)) return receipt;
  const { input: _, ...plain } = receipt;
  return plain;
}

/** The event as this connection sees it, or null where it doesn't. */
export function eventFor(
  view: View,
  event: OstlerEvent,
  deviceId: string | null,
): OstlerEvent | null {
  if (deviceId !== null && deviceId !== view.deviceId) return null;
  switch (event.kind) {
    case 'receipt.updated': {
      const { receipt } = event.payload as unknown as { readonly receipt: Receipt };
      return { ...event, payload: { receipt: receiptFor(view, receipt) } };
    }
    case 'turn.started': {
      const { deliveryIds } = event.payload as { readonly deliveryIds: readonly string[] };
      const own = deliveryIds.filter((id) => view.ownerOf(id) === view.deviceId);
      return { ...event, payload: { ...event.payload, deliveryIds: own } };
    }
    case 'turn.result':
      return view.capabilities.has(turnCorrelationCapability) ? event : null;
    default:
      return event;
  }
}
