import { setting } from '#shared/core/load-config.ts';

export const recordingSettings = {
  RECORDINGS: setting.choice(
    'Whether teams and keys may be switched to having their prompts and answers recorded, which needs `SEAL_SECRET`: `on` or `off`',
    'off',
    ['off', 'on'],
  ),
  RECORDINGS_TRACES: setting.choice(
    'Whether the messages of recorded requests are sent with their traces to the collector that the variables of OpenTelemetry name: `on` or `off`',
    'off',
    ['off', 'on'],
  ),
  RECORDINGS_HOURS: setting.integer('Hours for which a recorded request is kept', 72, 1, 8_760),
  RECORDING_BYTES: setting.integer(
    'Most bytes that are recorded of the body of a request, and of its answer; what follows is cut',
    1024 * 1024,
    1_024,
    16 * 1024 ** 2,
  ),
  RECORDINGS_KEPT: setting.integer(
    'Most recorded requests of one person, team or key without owner; the oldest go first',
    1_000,
    1,
    100_000,
  ),
  RECORDINGS_OWNER_BYTES: setting.integer(
    'Most bytes in Redis of the recorded requests of one person, team or key without owner; the oldest go first',
    32 * 1024 * 1024,
    4_096,
    64 * 1024 ** 3,
  ),
  RECORDINGS_MAX_BYTES: setting.integer(
    'Most bytes in Redis of all recorded requests; the oldest requests of the owner with the most bytes go first',
    128 * 1024 * 1024,
    4_096,
    1024 ** 4,
  ),
};

export interface RecordingBounds {
  /** Milliseconds for which a recording is kept. */
  keepMs: number;
  /** Maximum of recordings of one owner. */
  ownerCount: number;
  /** Maximum bytes of all recordings of one owner. */
  ownerBytes: number;
  /** Maximum bytes of all recordings of all owners. */
  totalBytes: number;
}

export function toRecordingBounds(config: {
  RECORDINGS_HOURS: number;
  RECORDINGS_KEPT: number;
  RECORDINGS_OWNER_BYTES: number;
  RECORDINGS_MAX_BYTES: number;
}): RecordingBounds {
  return {
    keepMs: config.RECORDINGS_HOURS * 3_600_000,
    ownerCount: config.RECORDINGS_KEPT,
    ownerBytes: config.RECORDINGS_OWNER_BYTES,
    totalBytes: config.RECORDINGS_MAX_BYTES,
  };
}
