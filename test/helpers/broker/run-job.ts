import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd } from '#shared/broker/contract/job-contract.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { translations } from '#shared/translate/translations.ts';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import type { Engine } from '#services/gpu-worker/engines/engine.ts';
import { createHandleJob, type HandleJobOptions } from '#services/gpu-worker/handle-job.ts';

export interface RunJob {
  engine: Engine;
  url: string;
  /** Connections to use and to leave open; by default the job has its own, closed after it. */
  http?: EngineHttp;
  /** Default: what the engine itself reports. */
  models?: ModelInfo[];
  options?: Partial<HandleJobOptions>;
}

export interface JobResult {
  end: JobEnd;
  /** All that was written, in pieces. */
  pieces: string[];
  /** The data of the server-sent events among it, without `[DONE]`. */
  events: JsonObject[];
}

/** The fields of a job that a test cares for. */
export type JobFields = Partial<Omit<GrantedJob, 'body'>> & { body: JsonObject };

/** Serves one job with an engine, as the worker would, and returns what the client would get. */
export async function runJob(
  { engine, url, models, options, http: given }: RunJob,
  { body, ...fields }: JobFields,
  signal = new AbortController().signal,
  onPiece: (piece: string) => void = () => undefined,
  onHead: (headers: object) => void = () => undefined,
): Promise<JobResult> {
  const http = given ?? new EngineHttp({ url, connections: 8, connectTimeoutMs: 1000 });
  const known = models ?? (await engine.discover(http, [])).models;
  const handleJob = createHandleJob({
    http,
    engine,
    models: () => known,
    fetchImage: () => Promise.reject(new Error('no image is expected here')),
    onUnreachable: () => undefined,
    translations,
    timeouts: { firstTokenMs: 5000, idleMs: 5000, answerMs: 5000 },
    ...options,
  });
  const pieces: string[] = [];
  const job: GrantedJob = {
    id: 'job',
    requestId: 'request',
    operation: 'generate',
    format: 'chat',
    stream: body['stream'] === true,
    model: known[0]?.id ?? '',
    body: Buffer.from(JSON.stringify(body)),
    ...fields,
  };
  const write = (piece: string | Uint8Array): void => {
    const text = typeof piece === 'string' ? piece : Buffer.from(piece).toString();
    pieces.push(text);
    onPiece(text);
  };
  try {
    const end = await handleJob(job, { head: onHead, write }, signal);
    return { end, pieces, events: eventsOf(pieces.join('')) };
  } finally {
    if (!given) await http.close();
  }
}

function eventsOf(text: string): JsonObject[] {
  const events: JsonObject[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
    const event: unknown = JSON.parse(line.slice('data: '.length));
    if (isJsonObject(event)) events.push(event);
  }
  return events;
}
