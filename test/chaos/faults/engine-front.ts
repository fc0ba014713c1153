import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { relay } from '../../helpers/servers/relay.ts';
import { serveHttp } from '../../helpers/servers/serve-http.ts';
import { readMark } from '../load/request-plan.ts';

/** The fault of an engine. */
export type Sickness = '500' | '401' | '400' | 'garbage' | 'hang' | 'slow';

/** One answer that an engine was asked for. Times are those of `performance.now()`. */
export interface Execution {
  id: string;
  engine: number;
  startedAt: number;
  /** When the engine had finished it. */
  endedAt: number | undefined;
}

const slowMs = 2_000;

/**
 * Starts a front.
 * @param engine index of the engine, for its executions
 * @param onAsked called with the id of every request and whether it is poisoned; returns whether it gets an answer
 */
export async function startEngineFront(
  engineUrl: string,
  engine: number,
  onAsked: (id: string, isPoisoned: boolean) => boolean,
) {
  const executions: Execution[] = [];
  const open = new Set<ServerResponse>();
  const hanging = new Set<ServerResponse>();
  let sickness: Sickness | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    if (!request.url?.endsWith('/chat/completions')) return void relay(engineUrl, request, response, { body });
    const { id, isPoisoned } = readMark(body.toString());
    const execution: Execution = { id, engine, startedAt: performance.now(), endedAt: undefined };
    executions.push(execution);
    open.add(response);
    response.once('close', () => {
      execution.endedAt = performance.now();
      open.delete(response);
      hanging.delete(response);
    });
    if (!onAsked(id, isPoisoned)) return;
    switch (sickness) {
      case '500':
      case '401':
      case '400':
        response.writeHead(Number(sickness), { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'The engine is sick.', type: 'sick', code: null } }));
        return;
      case 'garbage':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('<html>\n\ndata: {"choices": [\n\n');
        return;
      case 'hang':
        hanging.add(response);
        return;
      case 'slow':
        await sleep(slowMs);
        break;
      case undefined:
        break;
    }
    if (!response.destroyed) relay(engineUrl, request, response, { body });
  };

  const { url, stop } = await serveHttp(answer);
  return {
    url,
    executions,
    sicken: (now: Sickness | undefined) => {
      sickness = now;
      // An engine that hung is started again and drops its open answers.
      for (const response of hanging) response.destroy();
    },
    /** Breaks all its connections. */
    drop: () => {
      for (const response of open) response.destroy();
    },
    stop,
  };
}

/** Stands in front of a healthy engine, can make it faulty, and records every answer that it was asked for. */
export type EngineFront = Awaited<ReturnType<typeof startEngineFront>>;
