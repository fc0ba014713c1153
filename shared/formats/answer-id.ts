import { randomUUID } from 'node:crypto';
import type { ClientFormat } from './client-format.ts';

export function createAnswerId({ answerIdPrefix }: Pick<ClientFormat, 'answerIdPrefix'>): string {
  return `${answerIdPrefix}${randomUUID().replaceAll('-', '')}`;
}
