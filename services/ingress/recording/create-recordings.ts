import type { Registry } from 'prom-client';
import { toRecordingBounds, type recordingSettings } from '#shared/accounts/recordings/recording-settings.ts';
import { Recordings } from '#shared/accounts/recordings/recordings.ts';
import type { storedSettings } from '#shared/accounts/stored-bounds.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import type { IngressConfig } from '../config.ts';
import { createRecordingCounter, createTracedCounter, registerRecorderMetrics } from '../metrics/recording-metrics.ts';
import { Recorder } from './recorder.ts';
import { createRecordedTraces } from './recorded-traces.ts';

/** Largest total of bytes of bodies and answers that this ingress holds for recordings. */
const roomBytes = 32 * 1024 * 1024;

/** Maximum bytes that are recorded of the body of a request, and of its answer; what follows is cut. */
const recordedBytes = 1024 * 1024;

export interface CreateRecordingsOptions {
  config: Pick<IngressConfig, 'RTR_PREFIX' | keyof typeof recordingSettings | keyof typeof storedSettings>;
  serving: Pick<ServingResources, 'storedRedis' | 'ownerKeys' | 'reportUnreadable'>;
  isTracing: boolean;
  registry: Registry;
  log: Logger;
  releases: Releases;
}

export interface RecordingParts {
  /** Present even if recording is switched off, so that earlier recordings can be read and deleted. */
  store: Recordings;
  isOn: boolean;
  isTraced: boolean;
  /** Undefined if recording is switched off. */
  recorder: Recorder | undefined;
}

/** Creates the store of recorded requests and, if recording is switched on, the recorder, with their metrics. */
export function createRecordings(options: CreateRecordingsOptions): RecordingParts {
  const { config, serving, isTracing, registry, log, releases } = options;
  const store = new Recordings(serving.storedRedis.redis, `${config.RTR_PREFIX}:`, {
    bounds: toRecordingBounds(config),
    keys: serving.ownerKeys,
    report: serving.reportUnreadable,
  });
  const isOn = config.RECORDINGS !== 'off';
  const isTraced = isTracing && config.RECORDINGS === 'traced';
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
  return { store, isOn, isTraced, recorder: isOn ? recorder : undefined };
}
