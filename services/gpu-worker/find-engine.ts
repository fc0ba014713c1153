import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import { detectEngine } from './detect-engine.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Discovery, Engine, EngineKind } from './engines/engine.ts';
import { llamaCpp } from './engines/llama-cpp.ts';
import { lmStudio } from './engines/lm-studio.ts';
import { ollama } from './engines/ollama.ts';
import { openai } from './engines/openai.ts';
import { sglang } from './engines/sglang.ts';
import { vllm } from './engines/vllm.ts';

export interface FindEngineOptions {
  http: EngineHttp;
  kind: EngineKind | 'auto';
  log: Logger;
  signal: AbortSignal;
  /** Milliseconds between two tries. */
  retryMs?: number;
}

/**
 * Waits until an engine answers and lists its models. An engine may take minutes to load its model, and worker and engine may start in any
 * order.
 * @throws the signal's reason if the signal aborts
 */
export async function findEngine({ http, kind, log, signal, retryMs = 1000 }: FindEngineOptions): Promise<{
  engine: Engine;
  discovery: Discovery;
}> {
  for (let isFirst = true; ; isFirst = false) {
    const engineKind = kind === 'auto' ? await detectEngine(http) : kind;
    const engine = engineKind && selectEngine(engineKind);
    const discovery = await engine?.discover(http, []).catch((error: unknown) => {
      log.debug({ err: error }, 'the engine did not list its models');
      return undefined;
    });
    if (engine && discovery) {
      log.info({ engine: engine.kind, models: discovery.models.map(({ id }) => id) }, 'engine found');
      return { engine, discovery };
    }
    if (isFirst) log.warn('waiting for the engine: it does not answer yet');
    await sleep(retryMs, undefined, { signal });
  }
}

const engines: Record<EngineKind, Engine> = {
  vllm,
  sglang,
  'llama-cpp': llamaCpp,
  ollama,
  'lm-studio': lmStudio,
  openai,
};

/** Returns the engine of a kind. To add a kind, add its name to `engineKinds`, add a file for it, and add a line here. */
export function selectEngine(kind: EngineKind): Engine {
  return engines[kind];
}
