import type { Comparison } from '../compare.ts';
import type { Flatness } from '../measure-flatness.ts';
import type { OpenStreams } from '../measure-open-streams.ts';

export interface Results {
  machine: { cores: number; node: string };
  /** Requests that do not stream, one at a time. */
  single: Comparison;
  /** Requests that do not stream, 32 at a time. */
  busy: Comparison;
  streams: Comparison;
  flatness: Flatness;
  openStreams: OpenStreams;
}
