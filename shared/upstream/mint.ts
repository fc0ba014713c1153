import { randomUUID } from 'node:crypto';
import type { FormatName } from '#shared/translate/translations.ts';
import type { Minted } from '#shared/translate/translation.ts';

/**
 * What the router itself puts into an answer: an id that the upstream's own cannot clash with, the model, the time.
 * @param client the format that the answer is in
 * @param promptTokens an estimate of the input's tokens, told where the upstream tells none
 */
export function mint(client: FormatName, model: string, promptTokens: number): Minted {
  const random = randomUUID().replaceAll('-', '');
  const id = client === 'messages' ? `msg_${random}` : `chatcmpl-${random}`;
  return { id, model, created: Math.floor(Date.now() / 1000), promptTokens: () => Math.max(1, promptTokens) };
}
