import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import {
  audioTranslationsUpstream,
  transcriptionsUpstream,
  imageEditsUpstream,
} from '#shared/translate/same-format/same-formats.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';

/** A request without any input. An engine that serves the path refuses such a request without inference. */
interface Probe {
  path: string;
  body: JsonObject;
  /** Format that encodes the body as a form; undefined if the path accepts JSON. */
  formFormat?: HttpUpstreamFormat;
}

/** Files without content, for paths that need a file. */
const emptySound = { name: 'silence.wav', type: 'audio/wav', bytes: 1, start: '', data: '' };
const emptyImage = { ...emptySound, name: 'nothing.png', type: 'image/png' };

/**
 * The probe for text generation and completion, because an engine that completes texts also generates answers. A conversation without
 * messages cannot be a probe, because a template adds text to it.
 */
const completionProbe: Probe = { path: '/v1/completions', body: { prompt: [] } };
const probes: Record<ModelOperation, Probe> = {
  generate: completionProbe,
  complete: completionProbe,
  embed: { path: '/v1/embeddings', body: { input: [] } },
  rank: { path: '/v1/rerank', body: { query: '', documents: [] } },
  moderate: { path: '/v1/moderations', body: { input: [] } },
  draw: { path: '/v1/images/generations', body: { prompt: '' } },
  redraw: { path: '/v1/images/edits', body: { image: emptyImage, prompt: '' }, formFormat: imageEditsUpstream },
  speak: { path: '/v1/audio/speech', body: { input: '' } },
  transcribe: { path: '/v1/audio/transcriptions', body: { file: emptySound }, formFormat: transcriptionsUpstream },
  translate: { path: '/v1/audio/translations', body: { file: emptySound }, formFormat: audioTranslationsUpstream },
};

/** Statuses of vLLM and llama.cpp for a path that they lack, or that is switched off. */
const absentStatuses: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * Finds the operations that a model of vLLM or llama.cpp supports, by requests without input. A model that serves none of the probed paths
 * is assumed to answer conversations, because all other operations are ruled out. (Not every engine that behaves like vLLM has
 * `/v1/completions`.)
 * @param query query string appended to the paths
 * @throws UpstreamAnswerError if the engine fails, or has unloaded the model
 * @throws the connection's errors
 */
export async function probeOperations(http: EngineHttp, model: string, query = ''): Promise<ModelOperation[]> {
  const paths = Map.groupBy(modelOperations, (operation) => probes[operation]);
  const servedOperations = await Promise.all(
    Array.from(paths, async ([probe, operations]) => ((await servesPath(http, model, probe, query)) ? operations : [])),
  );
  const operationSet = new Set(servedOperations.flat());
  if (operationSet.size === 0) return ['generate'];
  return modelOperations.filter((operation) => operationSet.has(operation));
}

async function servesPath(
  http: EngineHttp,
  model: string,
  { path, body, formFormat }: Probe,
  query: string,
): Promise<boolean> {
  const request = { model, ...body };
  const form = formFormat?.encode?.(request, `rtr-${randomUUID()}`);
  const text = form ? Buffer.concat(form.body).toString() : JSON.stringify(request);
  const headers = form && { 'content-type': form.contentType };
  const { status, body: answer } = await http.post(path + query, text, undefined, headers);
  if (readMessage(answer).startsWith('model is not loaded'))
    throw new UpstreamAnswerError('the engine has unloaded the model');
  if (absentStatuses.has(status) || isUnsupported(answer)) return false;
  // Some engines answer an empty file with status 500.
  if (status < 500 || (formFormat && status === 500)) return true;
  throw new UpstreamAnswerError(`the engine answered ${path} with status ${status}`);
}

/**
 * Whether the answer says that the model does not support the path. Older versions of vLLM have all paths, and send this answer with status
 * 400.
 */
function isUnsupported(answer: unknown): boolean {
  return /^The model does not support .* API/.test(readMessage(answer));
}

function readMessage(answer: unknown): string {
  const error = isJsonObject(answer) && isJsonObject(answer['error']) ? answer['error'] : answer;
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : '';
}
