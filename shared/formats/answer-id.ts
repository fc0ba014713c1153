import { randomUUID } from 'node:crypto';
import type { ClientFormat } from './client-format.ts';

export function newAnswerId({ answerIdPrefix }: Pick<ClientFormat, 'answerIdPrefix'>): string {
  return `${answerIdPrefix}${randomUUID().replaceAll('-', '')}`;
}
