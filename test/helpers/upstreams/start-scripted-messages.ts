import type { JsonObject } from '#shared/core/json.ts';
import { startMessagesUpstream } from './start-messages-upstream.ts';

/** A messages upstream that answers with given blocks, whatever it is asked. */
export interface ScriptedMessages {
  /** Base URL for `PROVIDER_URL`. */
  url: string;
  /** The requests for messages that came, in order. */
  readonly requests: JsonObject[];
  stop(): Promise<void>;
}

/**
 * Starts the upstream.
 * @param model the only model of its list
 * @param answers the blocks of each answer; after the last one, it answers with that again
 */
export async function startScriptedMessages(
  model: string,
  answers: readonly JsonObject[][],
): Promise<ScriptedMessages> {
  const { url, calls, stop } = await startMessagesUpstream(
    [model],
    (_, at) => answers.at(Math.min(at, answers.length - 1)) ?? [],
  );
  return {
    url: `${url}/v1`,
    get requests() {
      return calls.map(({ body }) => body);
    },
    stop,
  };
}
