// For `ostler up --engine-module`: the agents of the conformance cases.
import { simulatedEngine } from '@ostler/lab';

/** The same agent, but its record only tells in which order inputs and ends came, as some engines' does. */
const byOrder = {
  ...simulatedEngine,
  id: 'simulated_by_order',
  observe: (request) =>
    simulatedEngine.observe({
      ...request,
      onEvent: (event) =>
        request.onEvent(event.kind === 'turn_ended' ? { ...event, tie: 'order' } : event),
    }),
};

/** The same agent, but no form of a text with "unspeakable" in it keeps its meaning. */
const choosy = {
  ...simulatedEngine,
  id: 'simulated_choosy',
  reader(version) {
    const reader = simulatedEngine.reader(version);
    const prepared = reader.prepareBody.bind(reader);
    reader.prepareBody = (text, snapshot) =>
      text.includes('unspeakable')
        ? { kind: 'refused', reason: 'body_refused', message: 'Say it in other words.' }
        : prepared(text, snapshot);
    return reader;
  },
};

export const engines = [simulatedEngine, byOrder, choosy];
