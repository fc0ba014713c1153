import type { JsonObject } from '#shared/core/json.ts';
import { createMultiKeySealer, type Sealer } from '#shared/core/seal.ts';
import { createAnswerId } from '#shared/formats/answer-id.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { AnswerContext } from '#shared/translate/translation.ts';

/** Values of an answer that the ingress has fixed in the job. */
export interface FixedAnswerFields {
  /** The answer's id; undefined if the worker chooses it. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. */
  ownerKey?: string | undefined;
}

export interface AnswerContextOptions {
  model: string;
  job: FixedAnswerFields;
  /** Estimates the input tokens. Called if the upstream does not report them. */
  promptTokens: () => number;
  /** Fields of the request that the translation needs for the answer. */
  recalled?: JsonObject | undefined;
  /** See `AnswerContext.origin`. */
  origin?: string | undefined;
  /** See `AnswerContext.usageChunk`. */
  usageChunk?: boolean | undefined;
}

/**
 * Creates the answer context. It has the fields of an answer that the router sets itself: the model, the time, and an id that cannot clash
 * with ids of the upstream.
 * @param client the client's format, which the answer has
 */
export function createAnswerContext(
  client: Pick<ClientFormat, 'answerIdPrefix'>,
  options: AnswerContextOptions,
): AnswerContext {
  const { model, job, promptTokens, recalled, origin, usageChunk } = options;
  return {
    id: job.answerId ?? createAnswerId(client),
    model,
    created: nowInSeconds(),
    now: nowInSeconds,
    promptTokens: () => Math.max(1, promptTokens()),
    recalled,
    origin,
    usageChunk,
    seal: createOwnerSealer(job)?.seal,
  };
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the function that opens content sealed in earlier answers to the same owner; undefined if the job has no owner's key. */
export function createUnseal(job: FixedAnswerFields): Sealer['unseal'] | undefined {
  return createOwnerSealer(job)?.unseal;
}

function createOwnerSealer({ ownerKey }: FixedAnswerFields): Sealer | undefined {
  const keys = ownerKey?.split('.') ?? [];
  return createMultiKeySealer(keys.map((key) => Buffer.from(key, 'base64url')));
}
