import type { JsonObject } from '#shared/core/json.ts';
import { createMultiKeySealer, createSealer, type Sealer } from '#shared/core/seal.ts';
import { createAnswerId } from '#shared/formats/client-format.ts';
import type { AnswerContext, Translation } from '#shared/translate/translation.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';

/**
 * Creates the answer context, with the answer fields that the router sets itself: the model, the time, and an id that differs from all ids
 * of the upstream.
 * @param request the client's request
 * @param input the best known number of input tokens. Read if the upstream does not report the number
 * @param origin see `AnswerContext.origin`
 */
export function createAnswerContext(
  translation: Pick<Translation, 'client' | 'recallFields'>,
  job: Pick<UpstreamJob, 'model' | 'answerId' | 'ownerKey'>,
  request: JsonObject,
  input: { readonly tokens: number },
  origin?: string,
): AnswerContext {
  return {
    id: job.answerId ?? createAnswerId(translation.client),
    model: job.model,
    created: readClockSeconds(),
    now: readClockSeconds,
    promptTokens: () => Math.max(1, input.tokens),
    recalled: translation.recallFields?.(request),
    origin,
    seal: createSeal(job),
  };
}

function readClockSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/**
 * Creates the function that opens content sealed in earlier answers to the same owner; returns undefined if the job has no owner's key. The
 * first call derives the keys, because few requests have such content.
 */
export function createUnseal({ ownerKey }: Pick<UpstreamJob, 'ownerKey'>): Sealer['unseal'] | undefined {
  if (ownerKey === undefined) return undefined;
  let sealer: Sealer | undefined;
  return (sealed) => {
    sealer ??= createMultiKeySealer(readKeys(ownerKey));
    return sealer?.unseal(sealed);
  };
}

function createSeal({ ownerKey }: Pick<UpstreamJob, 'ownerKey'>): Sealer['seal'] | undefined {
  const [newest] = ownerKey === undefined ? [] : readKeys(ownerKey);
  if (!newest) return undefined;
  let sealer: Sealer | undefined;
  return (text) => {
    sealer ??= createSealer(newest);
    return sealer.seal(text);
  };
}

/** Returns the owner's keys, the newest first. */
function readKeys(ownerKey: string): Buffer[] {
  return ownerKey.split('.').map((key) => Buffer.from(key, 'base64url'));
}

/** The fields of a job that the request to the upstream and the answer depend on. See `GrantedJob` of the broker contract. */
export interface UpstreamJob {
  model: string;
  stream: boolean;
  headers?: Readonly<Record<string, string>> | undefined;
  /** The answer's id; undefined if the worker chooses it. */
  answerId?: string | undefined;
  ownerKey?: string | undefined;
  unread?: { inputTokens: number } | undefined;
  trace?: TraceSpan | undefined;
}
