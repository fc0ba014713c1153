import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JobEnd } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { translations } from '#shared/translate/translations.ts';
import { createJobHandler } from '#shared/worker/create-job-handler.ts';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import type { Engine } from '#services/gpu-worker/engines/engine.ts';
import { EngineUpstream, type EngineUpstreamOptions } from '#services/gpu-worker/engine-upstream.ts';
import { stopAfterTest } from '../stop-after-test.ts';
import { collectAnswer, grantedJob, type JobFields } from './collect-answer.ts';

export interface RunJob {
  engine: Engine;
  url: string;
  /** Open connections to use; by default the job has its own, closed after it. */
  http?: EngineHttp;
  /** Default: the engine's own report. */
  models?: ModelInfo[];
  options?: Partial<EngineUpstreamOptions>;
}

export interface JobResult {
  end: JobEnd;
  /** All written pieces. */
  pieces: string[];
  /** The data of their server-sent events, without `[DONE]`. */
  events: JsonObject[];
}

/** Timeouts that no standstill of a busy machine exceeds. */
export const longTimeouts = { firstTokenMs: 20_000, idleMs: 20_000, answerMs: 20_000 };

const newHttp = (url: string): EngineHttp => new EngineHttp({ url, connections: 8, connectTimeoutMs: 20_000 });

/** Opens connections to an engine until the end of the running test. */
export function connectEngine({ url }: { url: string }): EngineHttp {
  return stopAfterTest(newHttp(url));
}

/** Serves one job with an engine, as the worker would, and returns the client's answer. */
export async function runJob(
  { engine, url, models, options, http: given }: RunJob,
  job: JobFields,
  signal = new AbortController().signal,
  onPiece: (piece: string) => void = () => undefined,
  onHead: (headers: object) => void = () => undefined,
): Promise<JobResult> {
  const http = given ?? newHttp(url);
  const known = models ?? (await engine.discover(http, [])).models;
  const upstream = new EngineUpstream({
    http,
    engine,
    models: () => known,
    fetchImage: () => Promise.reject(new Error('no image is expected here')),
    onUnreachable: () => undefined,
    translations,
    timeouts: longTimeouts,
    ...options,
  });
  const answer = collectAnswer(onPiece);
  try {
    const handleJob = createJobHandler(upstream);
    const end = await handleJob(
      grantedJob(known[0]?.id ?? '', job),
      { addHeaders: onHead, write: answer.write },
      signal,
    );
    return { end, pieces: answer.pieces, events: answer.events() };
  } finally {
    if (!given) await http.close();
  }
}
