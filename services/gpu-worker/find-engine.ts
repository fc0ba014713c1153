import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import { detectEngine } from './detect-engine.ts';
import type { EngineHttp } from './engine-http.ts';
import { engineOf } from './engines/engine-of.ts';
import type { Discovery, Engine, EngineKind } from './engines/engine.ts';

export interface FindOptions {
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
export async function findEngine({ http, kind, log, signal, retryMs = 1000 }: FindOptions): Promise<{
  engine: Engine;
  found: Discovery;
}> {
  for (let isFirst = true; ; isFirst = false) {
    const detected = kind === 'auto' ? await detectEngine(http) : kind;
    const engine = detected && engineOf(detected);
    const found = await engine?.discover(http, []).catch((error: unknown) => {
      log.debug({ err: error }, 'the engine did not list its models');
      return undefined;
    });
    if (engine && found) {
      log.info({ engine: engine.kind, models: found.models.map(({ id }) => id) }, 'engine found');
      return { engine, found };
    }
    if (isFirst) log.warn('waiting for the engine: it does not answer yet');
    await sleep(retryMs, undefined, { signal });
  }
}
