import { randomUUID } from 'node:crypto';
import type { ClientFormat } from './client-format.ts';

/** Returns a new random id for an answer: the format's prefix and a UUID. */
export function newAnswerId({ answerIdPrefix }: Pick<ClientFormat, 'answerIdPrefix'>): string {
  return `${answerIdPrefix}${randomUUID().replaceAll('-', '')}`;
}
