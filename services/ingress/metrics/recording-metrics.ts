import { Counter, Gauge, type Registry } from 'prom-client';
import type { RecordingOutcome } from '../recording/lost-recordings.ts';
import type { TracedOutcome } from '../recording/recorded-traces.ts';

const outcomes: readonly RecordingOutcome[] = ['kept', 'full', 'gone', 'lost'];

export function createRecordingCounter(registry: Registry): (outcome: RecordingOutcome) => void {
  const counter = new Counter({
    name: 'rtr_recorded_requests_total',
    help: 'Requests that were recorded: kept; not kept because there was no room (full) or the owner was removed meanwhile (gone); and lost because Redis did not take them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of outcomes) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}

const tracedOutcomes: readonly TracedOutcome[] = ['queued', 'full', 'late', 'failed', 'gone', 'lost'];

export function createTracedCounter(registry: Registry): (outcome: TracedOutcome) => void {
  const counter = new Counter({
    name: 'rtr_traced_recordings_total',
    help: 'Spans of recorded requests to which messages were to be added: queued to be sent with the messages; or without messages because there was no room (full), the span had ended (late), the messages could not be read (failed), the owner was removed meanwhile (gone) or Redis did not take the recording (lost)',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of tracedOutcomes) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}

export function registerRecorderMetrics(registry: Registry, recorder: { readonly heldBytes: number }): void {
  const held: Gauge = new Gauge({
    name: 'rtr_recording_held_bytes',
    help: 'Bytes of bodies and answers held until they are written as recordings',
    registers: [registry],
    collect: () => held.set(recorder.heldBytes),
  });
}
