import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Logger } from '#shared/core/log.ts';
import { onTestFinished } from 'vitest';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { answerFailure } from '#services/console/api/answer-failure.ts';
import { setActor } from '#services/console/api/actor.ts';
import { mountOperations } from '#services/console/api/operations/mount-operations.ts';
import type { Operation } from '#services/console/api/operations/operation.ts';

/**
 * Serves operations at a server of their own for as long as the running test, and returns its address. The header `x-viewer` of a request
 * says who asks.
 */
export async function serveOperations(
  operations: readonly Operation[],
  { viewers, log }: { viewers: Readonly<Record<string, UsageViewer>>; log: Logger },
): Promise<string> {
  const app = express();
  app.use(express.json());
  app.use((request, response, next) => {
    const id = request.get('x-viewer') ?? '';
    const role = viewers[id]?.isAdmin === true ? 'admin' : 'member';
    setActor(response, { id, name: id, role, teams: new Map(), address: '' });
    next();
  });
  app.use(mountOperations(operations, { pageSize: Infinity }), answerFailure(log));
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
