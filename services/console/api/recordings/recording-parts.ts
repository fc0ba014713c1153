import type { ApiParts } from '../api-parts.ts';

export type RecordingParts = Pick<ApiParts, 'accounts' | 'log' | 'recordings'>;
