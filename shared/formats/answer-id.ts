import { randomUUID } from 'node:crypto';
import type { ClientFormat } from './client-format.ts';

/** Makes the id of an answer, which cannot clash with that of another one. */
export function newAnswerId({ answerIdPrefix }: Pick<ClientFormat, 'answerIdPrefix'>): string {
  return `${answerIdPrefix}${randomUUID().replaceAll('-', '')}`;
}
