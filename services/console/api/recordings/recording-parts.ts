import type { ApiParts } from '../api-parts.ts';

/** What operations on recordings need. */
export type RecordingParts = Pick<ApiParts, 'accounts' | 'log' | 'recordings'>;
