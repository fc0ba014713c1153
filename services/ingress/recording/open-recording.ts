import { toRecordingBounds } from '#shared/accounts/recordings/recording-settings.ts';
import { Recordings } from '#shared/accounts/recordings/recordings.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { IngressContext } from '../context.ts';
import { createRecordingCounter, createTracedCounter, registerRecorderMetrics } from '../metrics/recording-metrics.ts';
import { Recorder } from './recorder.ts';
import { createRecordedTraces } from './recorded-traces.ts';

/** Largest total of bytes of bodies and answers that this ingress holds for recordings. */
const roomBytes = 32 * 1024 * 1024;

/** Maximum bytes that are recorded of the body of a request, and of its answer; what follows is cut. */
const recordedBytes = 1024 * 1024;

/** Opens the store of recorded requests and, if recording is switched on, the recorder, with their metrics. */
export function openRecording({
  config,
  prefix,
  serving,
  tracing,
  metricsRegistry: registry,
  log,
  releases,
}: IngressContext) {
  const store = new Recordings(serving.storedRedis.redis, prefix, {
    bounds: toRecordingBounds(config),
    keys: serving.ownerKeys,
    report: serving.reportUnreadable,
  });
  const isOn = config.RECORDINGS !== 'off';
  const isTraced = tracing !== undefined && config.RECORDINGS === 'traced';
  // The metrics exist even if recording is switched off.
  const count = { recorded: createRecordingCounter(registry), traced: createTracedCounter(registry) };
  const recorder = new Recorder({
    recordings: store,
    bytes: recordedBytes,
    roomBytes,
    count: count.recorded,
    traces: isTraced ? createRecordedTraces({ formats: clientFormats, count: count.traced, log }) : undefined,
    log,
  });
  registerRecorderMetrics(registry, recorder);
  releases.add('recordings', () => recorder.close());
  return {
    recordings: {
      /** Present even if recording is switched off, so that earlier recordings can be read and deleted. */
      store,
      isOn,
      isTraced,
    },
    /** Undefined if recording is switched off. */
    recorder: isOn ? recorder : undefined,
  };
}
