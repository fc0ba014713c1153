import { setting } from '#shared/core/load-config.ts';
import { computeStoredBounds, type StoredBounds } from '#shared/store/stored-bounds.ts';

export const recordingSettings = {
  RECORDINGS: setting.choice(
    'Whether teams and keys may be switched to having their prompts and answers recorded, which needs `SEAL_SECRET`: `off`, `on`, or `traced`, which also sends the messages of recorded requests with their traces to the collector that the variables of OpenTelemetry name',
    'off',
    ['off', 'on', 'traced'],
  ),
  RECORDINGS_HOURS: setting.integer('Hours for which a recorded request is kept', 72, 1, 8_760),
};

export interface RecordingBounds extends StoredBounds {
  /** Milliseconds for which a recording is kept. */
  keepMs: number;
  /** Maximum of recordings of one owner. */
  ownerCount: number;
}

export function toRecordingBounds(
  config: Parameters<typeof computeStoredBounds>[1] & { RECORDINGS_HOURS: number },
): RecordingBounds {
  return {
    keepMs: config.RECORDINGS_HOURS * 3_600_000,
    ownerCount: 1_000,
    ...computeStoredBounds('recordings', config),
  };
}
