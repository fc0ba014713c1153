import { randomUUID } from 'node:crypto';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { Minted } from '#shared/translate/translation.ts';

/**
 * The fields of an answer that the router sets itself: an id that cannot clash with the upstream's, the model and the time.
 * @param client format of the answer
 * @param promptTokens estimates the input tokens; called if the upstream reports none
 */
export function mint(client: Pick<ClientFormat, 'answerIdPrefix'>, model: string, promptTokens: () => number): Minted {
  return {
    id: `${client.answerIdPrefix}${randomUUID().replaceAll('-', '')}`,
    model,
    created: Math.floor(Date.now() / 1000),
    promptTokens: () => Math.max(1, promptTokens()),
  };
}
