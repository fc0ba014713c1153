import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMark } from '../load/request-plan.ts';

/** How an engine is sick. */
export type Sickness = '500' | '401' | '400' | 'garbage' | 'hang' | 'slow';

/** One answer that an engine was asked for. Times are those of `performance.now()`. */
export interface Execution {
  id: string;
  engine: number;
  startedAt: number;
  /** When the engine was free of it. */
  endedAt: number | undefined;
}

/** Stands before a healthy engine, can make it sick, and knows every answer that it was asked for. */
export interface EngineFront {
  url: string;
  executions: Execution[];
  sicken(sickness: Sickness | undefined): void;
  /** Breaks all its connections. */
  drop(): void;
  close(): void;
}

const slowMs = 2_000;

/**
 * Starts a front.
 * @param engine the index that its executions carry
 * @param onAsked is called with the id of every request and whether it is poisoned; returns whether it gets an answer
 */
export async function startEngineFront(
  engineUrl: string,
  engine: number,
  onAsked: (id: string, isPoisoned: boolean) => boolean,
): Promise<EngineFront> {
  const executions: Execution[] = [];
  const open = new Set<ServerResponse>();
  const hanging = new Set<ServerResponse>();
  let sickness: Sickness | undefined;

  const relay = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const { method = 'GET', url = '/', headers } = request;
    const onward = send(`${engineUrl}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    onward.end(body);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    if (!request.url?.endsWith('/chat/completions')) return relay(request, response, body);
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
    if (!response.destroyed) relay(request, response, body);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    executions,
    sicken: (now) => {
      sickness = now;
      // An engine that hung is started again: it drops what it held.
      for (const response of hanging) response.destroy();
    },
    drop: () => {
      for (const response of open) response.destroy();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
