import { randomUUID } from 'node:crypto';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { Minted } from '#shared/translate/translation.ts';

/**
 * What the router itself puts into an answer: an id that no id of the upstream's can clash with, the model, the time.
 * @param client the format of the answer
 * @param promptTokens estimates the input's tokens; called when the upstream reports none
 */
export function mint(client: Pick<ClientFormat, 'answerIdPrefix'>, model: string, promptTokens: () => number): Minted {
  return {
    id: `${client.answerIdPrefix}${randomUUID().replaceAll('-', '')}`,
    model,
    created: Math.floor(Date.now() / 1000),
    promptTokens: () => Math.max(1, promptTokens()),
  };
}
